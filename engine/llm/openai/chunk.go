package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"bureau/engine/history"
)

// chunk is one frame of an answer, read as leniently as servers write: what has the wrong type is passed over, not refused.
type chunk struct {
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage"`
	XGroq   struct {
		Usage *usage `json:"usage"`
	} `json:"x_groq"`
	Error     json.RawMessage `json:"error"`
	Citations json.RawMessage `json:"citations"`
}

type choice struct {
	Delta        delta  `json:"delta"`
	Message      delta  `json:"message"`
	FinishReason text   `json:"finish_reason"`
	Usage        *usage `json:"usage"`
}

type delta struct {
	Content          content             `json:"content"`
	Refusal          content             `json:"refusal"`
	ReasoningContent content             `json:"reasoning_content"`
	Reasoning        content             `json:"reasoning"`
	Thinking         content             `json:"thinking"`
	ReasoningDetails []json.RawMessage   `json:"reasoning_details"`
	ToolCalls        oneOrMany[callPart] `json:"tool_calls"`
	FunctionCall     *callFunction       `json:"function_call"`
	ExtraContent     json.RawMessage     `json:"extra_content"`
	Annotations      json.RawMessage     `json:"annotations"`
}

// decodeChunk reads one JSON value; a list gives one chunk for each of its elements.
func decodeChunk(data []byte, on func(*chunk, []byte) error) error {
	if len(data) > 0 && data[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(data, &list); err != nil {
			return err
		}
		for _, element := range list {
			if err := decodeChunk(element, on); err != nil {
				return err
			}
		}
		return nil
	}
	var c chunk
	err := json.Unmarshal(data, &c)
	if wrong, ok := err.(*json.UnmarshalTypeError); ok && wrong.Field == "choices" {
		// One object stands for a list of one.
		var single struct {
			Choices oneOrMany[choice] `json:"choices"`
		}
		err = json.Unmarshal(data, &single)
		c.Choices = single.Choices
	}
	if lenient(err) != nil {
		return err
	}
	return on(&c, data)
}

// lenient passes over a type error: json.Unmarshal has filled in all else.
func lenient(err error) error {
	if _, ok := err.(*json.UnmarshalTypeError); ok {
		return nil
	}
	return err
}

// oneOrMany is a list, or one element that stands for a list of one.
type oneOrMany[T any] []T

func (l *oneOrMany[T]) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '[':
		return lenient(json.Unmarshal(b, (*[]T)(l)))
	case '{':
		*l = make([]T, 1)
		return lenient(json.Unmarshal(b, &(*l)[0]))
	}
	return nil
}

// text is a string; anything else is its JSON, and null nothing.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	*t = text(rawText(b))
	return nil
}

// rawText is a JSON string's text, nothing for null and what is absent, and else the JSON itself.
func rawText(b []byte) string {
	if len(b) == 0 || string(b) == "null" {
		return ""
	}
	if b[0] == '"' {
		return unquote(b)
	}
	return string(b)
}

// unquote is the text of a string in valid JSON.
func unquote(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 && utf8.Valid(b) {
		return string(b[1 : len(b)-1])
	}
	var s string
	_ = json.Unmarshal(b, &s) // b has been checked to be JSON
	return s
}

// content is text that may come in parts, of which some may be thinking.
type content struct{ text, thinking string }

func (c *content) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		c.text = unquote(b)
	case '[':
		var parts []json.RawMessage
		if err := json.Unmarshal(b, &parts); err != nil {
			return err
		}
		for _, part := range parts {
			var p content
			if err := p.UnmarshalJSON(part); err != nil {
				return err
			}
			c.text += p.text
			c.thinking += p.thinking
		}
	case '{':
		var part struct {
			Type     text    `json:"type"`
			Text     content `json:"text"`
			Thinking content `json:"thinking"`
			Content  content `json:"content"`
		}
		if err := lenient(json.Unmarshal(b, &part)); err != nil {
			return err
		}
		said := part.Text.text + part.Content.text
		c.thinking = part.Thinking.text + part.Thinking.thinking + part.Text.thinking + part.Content.thinking
		if strings.Contains(string(part.Type), "thinking") || strings.Contains(string(part.Type), "reasoning") {
			c.thinking += said
		} else {
			c.text = said
		}
	}
	return nil
}

// callPart is a piece of a tool call, with the fields that are none of the usual.
type callPart struct {
	id       string
	index    int
	hasIndex bool
	function callFunction
	wire     map[string]json.RawMessage
}

func (p *callPart) UnmarshalJSON(b []byte) error {
	if b[0] != '{' {
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	for name, value := range fields {
		switch name {
		case "id":
			p.id = rawText(value)
		case "index":
			var n number
			n.parse(value)
			p.index, p.hasIndex = int(n.value), n.ok
		case "type":
		case "function":
			if err := lenient(json.Unmarshal(value, &p.function)); err != nil {
				return err
			}
		case "name", "arguments":
			if _, ok := fields["function"]; !ok {
				if err := lenient(json.Unmarshal(b, &p.function)); err != nil {
					return err
				}
			}
		default:
			if string(value) != "null" {
				if p.wire == nil {
					p.wire = map[string]json.RawMessage{}
				}
				p.wire[name] = value
			}
		}
	}
	return nil
}

type callFunction struct {
	Name      text      `json:"name"`
	Arguments arguments `json:"arguments"`
}

// arguments is JSON as text; an object is its compact JSON.
type arguments string

func (a *arguments) UnmarshalJSON(b []byte) error {
	if b[0] == '{' || b[0] == '[' {
		var compact bytes.Buffer
		if err := json.Compact(&compact, b); err != nil {
			return err
		}
		*a = arguments(compact.String())
		return nil
	}
	*a = arguments(rawText(b))
	return nil
}

// number is a whole number, also when it is written as a float or a string.
type number struct {
	value int64
	ok    bool
}

func (n *number) UnmarshalJSON(b []byte) error {
	n.parse(b)
	return nil
}

func (n *number) parse(b []byte) {
	if i, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		n.value, n.ok = i, true
		return
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(rawText(b)), 64)
	if err == nil && f >= -1e15 && f <= 1e15 {
		n.value, n.ok = int64(f), true
	}
}

// usage is the token counts under their several names.
type usage struct {
	PromptTokens     number `json:"prompt_tokens"`
	CompletionTokens number `json:"completion_tokens"`
	InputTokens      number `json:"input_tokens"`
	OutputTokens     number `json:"output_tokens"`
	CacheHit         number `json:"prompt_cache_hit_tokens"`
	CachedTokens     number `json:"cached_tokens"`
	PromptDetails    struct {
		CachedTokens number `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		ReasoningTokens number `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	InputDetails struct {
		CachedTokens number `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		ReasoningTokens number `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// counts is the usage in the words of all parts.
func (u *usage) counts() history.Usage {
	return history.Usage{
		InputTokens:     first(u.PromptTokens, u.InputTokens),
		OutputTokens:    first(u.CompletionTokens, u.OutputTokens),
		CachedTokens:    first(u.PromptDetails.CachedTokens, u.InputDetails.CachedTokens, u.CacheHit, u.CachedTokens),
		ReasoningTokens: first(u.CompletionDetails.ReasoningTokens, u.OutputDetails.ReasoningTokens),
	}
}

// first returns the first number that is there and not below 0.
func first(numbers ...number) int64 {
	for _, n := range numbers {
		if n.ok && n.value > 0 {
			return n.value
		}
	}
	return 0
}
