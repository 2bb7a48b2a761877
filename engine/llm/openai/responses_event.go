package openai

import (
	"encoding/json"
	"strings"
)

// event is one frame of an answer of the Responses API, read as leniently as servers write. Which fields an event has is
// decided by its type.
type event struct {
	Type text `json:"type"`
	// Object is "response" in an answer that came whole, without a stream.
	Object       text            `json:"object"`
	ItemID       text            `json:"item_id"`
	OutputIndex  number          `json:"output_index"`
	ContentIndex number          `json:"content_index"`
	SummaryIndex number          `json:"summary_index"`
	Delta        json.RawMessage `json:"delta"`
	Text         content         `json:"text"`
	Refusal      content         `json:"refusal"`
	Arguments    arguments       `json:"arguments"`
	Name         text            `json:"name"`
	Part         *outputPart     `json:"part"`
	Item         json.RawMessage `json:"item"`
	Response     json.RawMessage `json:"response"`
}

// outputPart is a piece of a message, or of reasoning.
type outputPart struct {
	Type    text    `json:"type"`
	Text    content `json:"text"`
	Refusal content `json:"refusal"`
	// Annotations name sources of the text.
	Annotations json.RawMessage `json:"annotations"`
}

func (p *outputPart) said() string { return p.Text.text + p.Text.thinking + p.Refusal.text }

// outputItem is an item of an answer as far as its meaning goes; what goes back to the server is the item as it came.
type outputItem struct {
	Type      text                  `json:"type"`
	ID        text                  `json:"id"`
	CallID    text                  `json:"call_id"`
	Name      text                  `json:"name"`
	Arguments arguments             `json:"arguments"`
	Role      text                  `json:"role"`
	Encrypted text                  `json:"encrypted_content"`
	Content   oneOrMany[outputPart] `json:"content"`
	Summary   oneOrMany[outputPart] `json:"summary"`
}

// outcome is the response object, of which the last event of a stream carries a whole one.
type outcome struct {
	Status     text              `json:"status"`
	Output     []json.RawMessage `json:"output"`
	Usage      *usage            `json:"usage"`
	Error      json.RawMessage   `json:"error"`
	Incomplete struct {
		Reason text `json:"reason"`
	} `json:"incomplete_details"`
}

// The types of the items that an answer of text and function calls is made of.
const (
	itemMessage   = "message"
	itemReasoning = "reasoning"
	itemCall      = "function_call"
	itemOutput    = "function_call_output"
)

// decodeLeniently passes over what has the wrong type; its errors are of what is no JSON at all.
func decodeLeniently(raw []byte, into any) error { return lenient(json.Unmarshal(raw, into)) }

// deltaText is a delta of text, which some servers wrap in an object.
func (e *event) deltaText() string {
	if len(e.Delta) == 0 {
		return ""
	}
	var c content
	if c.UnmarshalJSON(e.Delta) != nil {
		return ""
	}
	return c.text + c.thinking
}

// deltaArguments is a delta of arguments; an object is all of them at once.
func (e *event) deltaArguments() string {
	if len(e.Delta) == 0 {
		return ""
	}
	var a arguments
	if a.UnmarshalJSON(e.Delta) != nil {
		return ""
	}
	return string(a)
}

// saidIn is the texts of the parts, each with something in it, as they are put together everywhere.
func saidIn(parts []outputPart) string {
	var said []string
	for i := range parts {
		if text := parts[i].said(); text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, betweenText)
}
