package openai

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"unicode/utf8"

	"bureau/engine/llm"

	goopenai "github.com/sashabaranov/go-openai"
)

// placeholder is the model that go-openai sees: it refuses by itself what it thinks that some models cannot do.
const placeholder = "model"

// reasoningField is the key in a reply's Wire that keeps the name of the field that its reasoning came in. It is never sent.
const reasoningField = "reasoning_field"

// contentForm is how an assistant message with calls and no text writes its content.
type contentForm int

const (
	contentAbsent contentForm = iota
	contentEmpty
	contentNull
)

// edits is what go-openai's request cannot say, by field name.
type edits struct {
	fields   map[string]json.RawMessage
	messages map[int]messageEdits
}

type messageEdits struct {
	fields map[string]json.RawMessage
	calls  map[int]map[string]json.RawMessage
}

// build makes the request of go-openai, and the edits to it, in the server's dialect and with the habits learned.
func (m *Model) build(req llm.Request, h habits) (goopenai.ChatCompletionRequest, edits) {
	dialect := m.provider.Dialect
	dialect.OneSystemFirst = dialect.OneSystemFirst || h.oneSystemFirst
	out := goopenai.ChatCompletionRequest{Model: placeholder, Stop: req.Settings.Stop, Seed: req.Settings.Seed}
	e := edits{fields: map[string]json.RawMessage{}, messages: map[int]messageEdits{}}
	e.set("model", m.ref.Model)
	messages, format := m.format(req, h)
	if format != nil {
		e.set("response_format", map[string]any{"type": "json_schema", "json_schema": format})
	}
	for i, message := range dialect.shape(messages) {
		wire, edit := m.message(message, h)
		out.Messages = append(out.Messages, wire)
		if edit.fields != nil || edit.calls != nil {
			e.messages[i] = edit
		}
	}
	for _, tool := range req.Tools {
		out.Tools = append(out.Tools, goopenai.Tool{Type: goopenai.ToolTypeFunction, Function: &goopenai.FunctionDefinition{
			Name: tool.Name, Description: tool.Description, Parameters: dialect.parameters(tool.Parameters),
		}})
	}
	if h.whole {
		e.set("stream", false)
	} else if !h.noStreamOptions {
		out.StreamOptions = &goopenai.StreamOptions{IncludeUsage: true}
	}
	settings := req.Settings
	// Zero is a temperature, and go-openai would leave it out.
	if settings.Temperature != nil && !h.noTemperature {
		e.set("temperature", *settings.Temperature)
	}
	if settings.TopP != nil && !h.noTopP {
		e.set("top_p", *settings.TopP)
	}
	if settings.MaxOutputTokens > 0 {
		if dialect.MaxCompletionTokens != h.otherLimitName {
			out.MaxCompletionTokens = settings.MaxOutputTokens
		} else {
			e.set("max_tokens", settings.MaxOutputTokens) // the old name is what many servers know
		}
	}
	out.ReasoningEffort = settings.ReasoningEffort
	if settings.ParallelToolCalls != nil && len(req.Tools) > 0 {
		out.ParallelToolCalls = *settings.ParallelToolCalls
	}
	return out, e
}

// message is one message of the request, and the edits to it. No message has a name: servers refuse most that agents have.
func (m *Model) message(message llm.Message, h habits) (goopenai.ChatCompletionMessage, messageEdits) {
	out := goopenai.ChatCompletionMessage{Role: string(message.Role), Content: message.Content, ToolCallID: message.CallID}
	var edit messageEdits
	if message.Role != llm.RoleAssistant {
		return out, edit
	}
	for i, call := range message.Calls {
		args := call.Arguments
		if strings.TrimSpace(args) == "" {
			args = "{}"
		}
		out.ToolCalls = append(out.ToolCalls, goopenai.ToolCall{
			ID: call.ID, Type: goopenai.ToolTypeFunction, Function: goopenai.FunctionCall{Name: call.Name, Arguments: args},
		})
		if len(call.Wire) > 0 {
			if edit.calls == nil {
				edit.calls = map[int]map[string]json.RawMessage{}
			}
			edit.calls[i] = call.Wire
		}
	}
	fields := map[string]json.RawMessage{}
	if message.Content == "" && len(message.Calls) > 0 {
		switch h.content {
		case contentEmpty:
			fields["content"] = json.RawMessage(`""`)
		case contentNull:
			fields["content"] = json.RawMessage(`null`)
		}
	}
	for name, value := range message.Wire {
		if name != reasoningField && name != "reasoning_details" {
			fields[name] = value
		}
	}
	if m.returnsReasoning(h) && len(message.Calls) > 0 {
		m.addReasoning(fields, message)
	}
	if len(fields) > 0 {
		edit.fields = fields
	}
	return out, edit
}

func (m *Model) returnsReasoning(h habits) bool {
	return m.provider.Dialect.ReturnReasoning != h.otherReasoning
}

// addReasoning puts the reasoning of a message back into the field that it came in.
func (m *Model) addReasoning(fields map[string]json.RawMessage, message llm.Message) {
	if details, ok := message.Wire["reasoning_details"]; ok {
		fields["reasoning_details"] = details
		return
	}
	name := "reasoning_content"
	if raw, ok := message.Wire[reasoningField]; ok {
		if json.Unmarshal(raw, &name) != nil || name == "" {
			return
		}
	} else if message.Reasoning == "" {
		return
	}
	if value, err := json.Marshal(message.Reasoning); err == nil {
		fields[name] = value
	}
}

// set edits a field of the request. The value must be one that always marshals.
func (e edits) set(name string, value any) {
	if raw, err := marshal(value); err == nil {
		e.fields[name] = raw
	}
}

// apply rewrites a request body.
func (e edits) apply(body []byte) ([]byte, error) {
	var request map[string]json.RawMessage
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, err
	}
	maps.Copy(request, e.fields)
	if len(e.messages) > 0 {
		var messages []json.RawMessage
		if err := json.Unmarshal(request["messages"], &messages); err != nil {
			return nil, err
		}
		for i, edit := range e.messages {
			edited, err := edit.apply(messages[i])
			if err != nil {
				return nil, err
			}
			messages[i] = edited
		}
		edited, err := marshal(messages)
		if err != nil {
			return nil, err
		}
		request["messages"] = edited
	}
	out, err := marshal(request)
	if err != nil || utf8.Valid(out) {
		return out, err
	}
	return []byte(strings.ToValidUTF8(string(out), "\ufffd")), nil
}

// marshal is a value as JSON in which what a server sent stands as it came: nothing in it is escaped for a web page.
func marshal(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

func (e messageEdits) apply(body []byte) ([]byte, error) {
	var message map[string]json.RawMessage
	if err := json.Unmarshal(body, &message); err != nil {
		return nil, err
	}
	for name, value := range e.fields {
		// What a server once sent never takes the place of what the message says.
		if _, ok := message[name]; !ok {
			message[name] = value
		}
	}
	if len(e.calls) > 0 {
		var calls []map[string]json.RawMessage
		if err := json.Unmarshal(message["tool_calls"], &calls); err != nil {
			return nil, err
		}
		for i, fields := range e.calls {
			for name, value := range fields {
				if _, ok := calls[i][name]; !ok {
					calls[i][name] = value
				}
			}
		}
		edited, err := marshal(calls)
		if err != nil {
			return nil, err
		}
		message["tool_calls"] = edited
	}
	return marshal(message)
}
