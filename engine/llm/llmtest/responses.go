package llmtest

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Item is one item of the input of a request over the Responses API.
type Item struct {
	Type string
	ID   string
	// Raw is the item as it came; Fields are its fields.
	Raw    json.RawMessage
	Fields map[string]json.RawMessage
}

func (i Item) text(field string) string {
	var text string
	_ = json.Unmarshal(i.Fields[field], &text) // what is no text is refused by the rules
	return text
}

// parseResponses reads a request of the Responses API; it always returns one, however little of it could be read.
func parseResponses(body []byte) (*Request, *refusal) {
	r := &Request{Body: body, Responses: true}
	if !utf8.Valid(body) {
		return r, refuse("the body is not valid UTF-8")
	}
	if err := json.Unmarshal(body, &r.Fields); err != nil {
		return r, refuse("the body is not a JSON object: %v", err)
	}
	if err := json.Unmarshal(r.Fields["model"], &r.Model); err != nil || r.Model == "" {
		return r, refuse("missing required parameter: 'model'")
	}
	var input []json.RawMessage
	if err := json.Unmarshal(r.Fields["input"], &input); err != nil {
		return r, refuse("input is not a list of items: %v", err)
	}
	var system []string
	if raw, ok := r.Fields["instructions"]; ok {
		var instructions string
		if json.Unmarshal(raw, &instructions) != nil {
			return r, refuse("instructions is not a string")
		}
		system = append(system, instructions)
		r.Messages = append(r.Messages, Message{Role: "system", Content: instructions})
	}
	for i, raw := range input {
		item := Item{Raw: raw}
		if json.Unmarshal(raw, &item.Fields) != nil || item.Fields == nil {
			return r, refuse("input[%d] is not an object", i)
		}
		item.Type, item.ID = item.text("type"), item.text("id")
		if item.Type == "" && item.text("role") != "" {
			item.Type = "message"
		}
		r.Items = append(r.Items, item)
		r.addMessage(item)
		if item.Type == "message" {
			switch item.text("role") {
			case "system", "developer":
				system = append(system, contentText(item.Fields["content"]))
			case "user":
				r.Last = contentText(item.Fields["content"])
			}
		}
	}
	r.System = strings.Join(system, "\n\n")
	return r, r.parseInlineTools()
}

// addMessage adds what an item comes to as a message: a call belongs to the assistant's message right before it.
func (r *Request) addMessage(item Item) {
	switch item.Type {
	case "message":
		r.Messages = append(r.Messages, Message{Role: item.text("role"), Content: contentText(item.Fields["content"]), Fields: item.Fields})
	case "function_call":
		if n := len(r.Messages); n == 0 || r.Messages[n-1].Role != "assistant" {
			r.Messages = append(r.Messages, Message{Role: "assistant", Fields: item.Fields})
		}
		last := &r.Messages[len(r.Messages)-1]
		last.Calls = append(last.Calls, Call{ID: item.text("call_id"), Name: item.text("name"), Arguments: item.text("arguments")})
	case "function_call_output":
		r.Messages = append(r.Messages, Message{
			Role: "tool", ToolCallID: item.text("call_id"), Content: item.text("output"), Fields: item.Fields,
		})
	}
}

func (r *Request) parseInlineTools() *refusal {
	raw, ok := r.Fields["tools"]
	if !ok {
		return nil
	}
	var tools []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &tools); err != nil {
		return refuse("tools: %v", err)
	}
	for i, fields := range tools {
		item := Item{Fields: fields}
		for name := range fields {
			if !slices.Contains([]string{"type", "name", "description", "parameters", "strict"}, name) {
				return refuse("unknown parameter: 'tools[%d].%s'", i, name)
			}
		}
		if item.text("type") != "function" {
			return refuse("tools[%d].type is not function", i)
		}
		if string(fields["strict"]) != "false" && !isStrictSchema(fields["parameters"]) {
			return refuse("invalid schema for function %q: in a strict one 'additionalProperties' is required to be supplied and to be false", item.text("name"))
		}
		r.Tools = append(r.Tools, Tool{Name: item.text("name"), Description: item.text("description"), Parameters: fields["parameters"]})
	}
	return nil
}

func isStrictSchema(raw json.RawMessage) bool {
	var schema struct {
		Additional *bool `json:"additionalProperties"`
	}
	return json.Unmarshal(raw, &schema) == nil && schema.Additional != nil && !*schema.Additional
}
