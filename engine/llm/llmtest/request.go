package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"
)

// Request is one request that the server received.
type Request struct {
	Model    string
	Messages []Message
	Tools    []Tool
	// System is the texts of all system and developer messages, joined by a blank line.
	System string
	// Last is the text of the last user message.
	Last string
	// Fields holds every top-level field as it came.
	Fields map[string]json.RawMessage
	Header http.Header
	Body   []byte

	// Responses tells that it came over the Responses API: Messages are then what its input comes to in messages, the
	// instructions first, and Items the input itself.
	Responses bool
	Items     []Item

	number int // of the request at its server, from 1
}

// Message is one message of a request.
type Message struct {
	Role string
	// Content is the text; of content parts, their texts joined.
	Content    string
	Calls      []Call
	ToolCallID string
	// Fields holds every field of the message as it came.
	Fields map[string]json.RawMessage
}

// Call is a tool call: of an assistant message in a request, or in a Response.
type Call struct {
	// ID of a response's call; empty means call_1, call_2 and so on.
	ID        string
	Name      string
	Arguments string
	// Extra is further fields of the call, by name: a thought signature, for instance.
	Extra map[string]json.RawMessage
}

// Tool is a tool that the request offers.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage
}

// Tool tells whether a tool of that name is offered.
func (r *Request) Tool(name string) (Tool, bool) {
	for _, tool := range r.Tools {
		if tool.Name == name {
			return tool, true
		}
	}
	return Tool{}, false
}

// Results returns the contents of the tool messages at the end of the request, in order: what the last calls gave.
func (r *Request) Results() []string {
	var out []string
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role == "tool"; i-- {
		out = append([]string{r.Messages[i].Content}, out...)
	}
	return out
}

// refusal is why a request is not accepted.
type refusal struct{ message, code string }

func refuse(format string, args ...any) *refusal {
	return &refusal{message: fmt.Sprintf(format, args...), code: "invalid_value"}
}

// parse reads a request; it always returns one, however little of it could be read.
func parse(body []byte) (*Request, *refusal) {
	r := &Request{Body: body}
	if !utf8.Valid(body) {
		return r, refuse("the body is not valid UTF-8")
	}
	if err := json.Unmarshal(body, &r.Fields); err != nil {
		return r, refuse("the body is not a JSON object: %v", err)
	}
	if err := json.Unmarshal(r.Fields["model"], &r.Model); err != nil || r.Model == "" {
		return r, refuse("model is missing")
	}
	var messages []map[string]json.RawMessage
	if err := json.Unmarshal(r.Fields["messages"], &messages); err != nil {
		return r, refuse("messages is not a list of objects: %v", err)
	}
	var system []string
	for i, fields := range messages {
		m := Message{Fields: fields, Content: contentText(fields["content"])}
		_ = json.Unmarshal(fields["role"], &m.Role) // an unknown role is refused by the rules
		if raw, ok := fields["tool_call_id"]; ok {
			if err := json.Unmarshal(raw, &m.ToolCallID); err != nil {
				return r, refuse("messages[%d].tool_call_id is not a string", i)
			}
		}
		var fault *refusal
		if m.Calls, fault = parseCalls(i, fields["tool_calls"]); fault != nil {
			return r, fault
		}
		switch m.Role {
		case "system", "developer":
			system = append(system, m.Content)
		case "user":
			r.Last = m.Content
		}
		r.Messages = append(r.Messages, m)
	}
	r.System = strings.Join(system, "\n\n")
	return r, r.parseTools()
}

func parseCalls(message int, raw json.RawMessage) ([]Call, *refusal) {
	if len(raw) == 0 {
		return nil, nil
	}
	var calls []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &calls); err != nil || len(calls) == 0 {
		return nil, refuse("messages[%d].tool_calls is not a list of at least one object", message)
	}
	var out []Call
	for i, fields := range calls {
		where := fmt.Sprintf("messages[%d].tool_calls[%d]", message, i)
		var call Call
		var kind string
		var function struct {
			Name      *string `json:"name"`
			Arguments *string `json:"arguments"`
		}
		if json.Unmarshal(fields["id"], &call.ID) != nil || call.ID == "" {
			return nil, refuse("%s.id is missing", where)
		}
		if json.Unmarshal(fields["type"], &kind) != nil || kind != "function" {
			return nil, refuse("%s.type is not function", where)
		}
		decoder := json.NewDecoder(bytes.NewReader(fields["function"]))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&function); err != nil || function.Name == nil || function.Arguments == nil {
			return nil, refuse("%s.function is not {name, arguments} as strings", where)
		}
		call.Name, call.Arguments = *function.Name, *function.Arguments
		for name, value := range fields {
			switch name {
			case "id", "type", "function":
			case "extra_content":
				call.Extra = map[string]json.RawMessage{name: value}
			default:
				return nil, refuse("%s.%s is an unknown field", where, name)
			}
		}
		out = append(out, call)
	}
	return out, nil
}

func (r *Request) parseTools() *refusal {
	raw, ok := r.Fields["tools"]
	if !ok {
		return nil
	}
	var tools []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
			Strict      *bool           `json:"strict"`
		} `json:"function"`
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&tools); err != nil {
		return refuse("tools: %v", err)
	}
	if len(tools) == 0 {
		return refuse("tools is empty")
	}
	for i, tool := range tools {
		if tool.Type != "function" {
			return refuse("tools[%d].type is not function", i)
		}
		f := tool.Function
		r.Tools = append(r.Tools, Tool{Name: f.Name, Description: f.Description, Parameters: f.Parameters})
	}
	return nil
}

func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	for _, part := range parts {
		text += part.Text
	}
	return text
}
