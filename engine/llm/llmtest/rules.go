package llmtest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// rules is what a server refuses beyond what all refuse.
type rules struct {
	refuseNull       bool
	refuseEmpty      bool
	requireContent   bool
	strictTemplate   bool
	shortIDs         bool
	requireReasoning bool
	window           int
}

var (
	legalName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	shortID   = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

	requestFields = strings.Fields(`model messages tools tool_choice stream stream_options temperature top_p max_tokens
		max_completion_tokens stop seed parallel_tool_calls reasoning_effort n presence_penalty frequency_penalty response_format`)
	messageFields = strings.Fields(`role content name refusal tool_calls tool_call_id reasoning_content reasoning
		reasoning_details extra_content`)
)

// check returns why the request is refused, or nil. It reads reasoning: what was thought before each call, by its id.
func (rules rules) check(r *Request, reasoning map[string]string) *refusal {
	for name := range r.Fields {
		if !slices.Contains(requestFields, name) {
			return refuse("unrecognized request argument supplied: %s", name)
		}
	}
	for _, check := range []func(*Request) *refusal{checkTools, checkFormat, checkMessages, checkCalls, rules.checkContent} {
		if fault := check(r); fault != nil {
			return fault
		}
	}
	if rules.strictTemplate {
		if fault := checkTemplate(r); fault != nil {
			return fault
		}
	}
	if rules.shortIDs {
		if fault := checkShortIDs(r); fault != nil {
			return fault
		}
	}
	if rules.requireReasoning {
		if fault := checkReasoning(r, reasoning); fault != nil {
			return fault
		}
	}
	return rules.checkWindow(r)
}

func (rules rules) checkWindow(r *Request) *refusal {
	if tokens := len(r.Body) / 4; rules.window > 0 && tokens > rules.window {
		fault := refuse("this model's maximum context length is %d tokens, but the messages came to %d tokens", rules.window, tokens)
		fault.code = "context_length_exceeded"
		return fault
	}
	return nil
}

func checkTools(r *Request) *refusal {
	seen := map[string]bool{}
	for i, tool := range r.Tools {
		if !legalName.MatchString(tool.Name) {
			return refuse("tools[%d].function.name %q does not match %s", i, tool.Name, legalName)
		}
		if seen[tool.Name] {
			return refuse("tools[%d].function.name %q is there twice", i, tool.Name)
		}
		seen[tool.Name] = true
		var schema struct {
			Type any `json:"type"`
		}
		if err := json.Unmarshal(tool.Parameters, &schema); err != nil || schema.Type != "object" {
			return refuse("tools[%d].function.parameters is not a JSON Schema of type object", i)
		}
	}
	if len(r.Tools) == 0 {
		for _, name := range []string{"parallel_tool_calls", "tool_choice"} {
			if _, ok := r.Fields[name]; ok {
				return refuse("%s is only allowed when tools are specified", name)
			}
		}
	}
	return nil
}

func checkMessages(r *Request) *refusal {
	if len(r.Messages) == 0 {
		return refuse("messages is empty")
	}
	for i, m := range r.Messages {
		for name := range m.Fields {
			if !slices.Contains(messageFields, name) {
				return refuse("messages[%d].%s is an unknown field", i, name)
			}
		}
		if raw, ok := m.Fields["name"]; ok {
			var name string
			if json.Unmarshal(raw, &name) != nil || !legalName.MatchString(name) {
				return refuse("messages[%d].name %s does not match %s", i, raw, legalName)
			}
		}
		if raw := m.Fields["content"]; len(raw) > 0 && raw[0] != '"' && raw[0] != '[' && string(raw) != "null" {
			return refuse("messages[%d].content is neither text nor a list of parts", i)
		}
		switch m.Role {
		case "system", "developer", "user", "tool":
			if len(m.Calls) > 0 {
				return refuse("messages[%d] has tool_calls, but its role is %s", i, m.Role)
			}
			if _, ok := m.Fields["content"]; !ok {
				return refuse("messages[%d].content is missing", i)
			}
		case "assistant":
			if m.Content == "" && len(m.Calls) == 0 {
				return refuse("messages[%d] is an assistant message with neither content nor tool_calls", i)
			}
		default:
			return refuse("messages[%d].role %q is unknown", i, m.Role)
		}
		if m.Role != "tool" && m.ToolCallID != "" {
			return refuse("messages[%d] has a tool_call_id, but its role is %s", i, m.Role)
		}
	}
	if last := r.Messages[len(r.Messages)-1]; last.Role == "assistant" {
		return refuse("the last message is the assistant's: there is nothing to answer")
	}
	return nil
}

// checkCalls holds calls and their answers against each other.
func checkCalls(r *Request) *refusal {
	used := map[string]bool{}
	var waiting []string // ids of the calls that the next messages must answer
	for i, m := range r.Messages {
		if m.Role == "tool" {
			at := slices.Index(waiting, m.ToolCallID)
			if at < 0 {
				return refuse("messages[%d]: a message with role tool must answer a call of the assistant message right before; %q does not",
					i, m.ToolCallID)
			}
			waiting = slices.Delete(waiting, at, at+1)
			continue
		}
		if len(waiting) > 0 {
			return refuse("messages[%d]: an assistant message with tool_calls must be followed by tool messages for each; %s is not answered",
				i, strings.Join(waiting, ", "))
		}
		for j, call := range m.Calls {
			if used[call.ID] {
				return refuse("messages[%d].tool_calls[%d].id %q is used twice", i, j, call.ID)
			}
			used[call.ID] = true
			if !legalName.MatchString(call.Name) {
				return refuse("messages[%d].tool_calls[%d].function.name %q does not match %s", i, j, call.Name, legalName)
			}
			var object map[string]json.RawMessage
			if err := json.Unmarshal([]byte(call.Arguments), &object); err != nil || object == nil {
				return refuse("messages[%d].tool_calls[%d].function.arguments is not a JSON object: %s", i, j, call.Arguments)
			}
			waiting = append(waiting, call.ID)
		}
	}
	if len(waiting) > 0 {
		return refuse("the last assistant message has tool_calls that are not answered: %s", strings.Join(waiting, ", "))
	}
	return nil
}

func (rules rules) checkContent(r *Request) *refusal {
	for i, m := range r.Messages {
		raw, ok := m.Fields["content"]
		switch {
		case !ok && rules.requireContent:
			return refuse("messages[%d].content: field required", i)
		case ok && string(raw) == "null" && rules.refuseNull:
			return refuse("messages[%d]: invalid message content type: <nil>", i)
		case ok && m.Content == "" && string(raw) != "null" && rules.refuseEmpty:
			return refuse("messages[%d]: the text content is empty", i)
		}
	}
	return nil
}

// checkTemplate demands one system message in front and then the two sides in turn, the user's first.
func checkTemplate(r *Request) *refusal {
	side := "assistant"
	for i, m := range r.Messages {
		switch m.Role {
		case "system", "developer":
			if i > 0 {
				return refuse("messages[%d]: the system message must be at the beginning", i)
			}
		case "user", "assistant":
			afterTool := m.Role == "assistant" && i > 0 && r.Messages[i-1].Role == "tool"
			if m.Role == side && !afterTool {
				return refuse("messages[%d]: conversation roles must alternate user/assistant/user/assistant", i)
			}
			side = m.Role
		}
	}
	return nil
}

func checkShortIDs(r *Request) *refusal {
	for i, m := range r.Messages {
		for _, call := range m.Calls {
			if !shortID.MatchString(call.ID) {
				return refuse("messages[%d]: tool call id was %s but must be a-z, A-Z, 0-9, with a length of 9", i, call.ID)
			}
		}
		if m.Role == "user" && i > 0 && r.Messages[i-1].Role == "tool" {
			return refuse("messages[%d]: unexpected role 'user' after role 'tool'", i)
		}
	}
	return nil
}

func checkReasoning(r *Request, reasoning map[string]string) *refusal {
	for i, m := range r.Messages {
		for _, call := range m.Calls {
			want, ok := reasoning[call.ID]
			if !ok {
				continue
			}
			var got string
			if json.Unmarshal(m.Fields["reasoning_content"], &got) != nil || got != want {
				return refuse("messages[%d]: the reasoning_content in the thinking mode must be passed back to the API", i)
			}
		}
	}
	return nil
}
