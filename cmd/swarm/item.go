package swarm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// item is one item of a chat as it was written, its labels read.
type item struct {
	index  int
	fields map[string]json.RawMessage

	kind, role                string
	agent, caller             string // caller is empty for the user
	run, parentCall, trace    string
	protocol, origin          string
	callID, name, toolCallID  string
	status                    string
	at                        int64
	calls                     []chatCall // tool_calls of an assistant message of Chat Completions
	content, arguments, given json.RawMessage
}

// chatCall is a call in an assistant message of Chat Completions.
type chatCall struct {
	id, name  string
	arguments json.RawMessage
}

// labels are the keys that the framework adds to an item of the Responses API.
var labels = []string{
	"agent", "callerAgent", "timestamp", "agent_run_id", "parent_run_id", "run_trace_id", "history_protocol", "message_origin", "citations",
}

// The kinds of items that become rows of their own type; all others become notes.
const (
	kindMessage   = "message"
	kindCall      = "function_call"
	kindOutput    = "function_call_output"
	kindReasoning = "reasoning"
)

func readItem(raw json.RawMessage) (item, error) {
	var it item
	if err := json.Unmarshal(raw, &it.fields); err != nil || it.fields == nil {
		return item{}, fmt.Errorf("an item is an object, not %s", short(raw))
	}
	for _, field := range []struct {
		name string
		into *string
	}{
		{"type", &it.kind}, {"role", &it.role}, {"agent", &it.agent}, {"callerAgent", &it.caller}, {"agent_run_id", &it.run},
		{"parent_run_id", &it.parentCall}, {"run_trace_id", &it.trace}, {"history_protocol", &it.protocol},
		{"message_origin", &it.origin}, {"call_id", &it.callID}, {"name", &it.name}, {"tool_call_id", &it.toolCallID}, {"status", &it.status},
	} {
		value, ok := it.fields[field.name]
		if !ok || string(value) == "null" {
			continue
		}
		if err := json.Unmarshal(value, field.into); err != nil {
			return item{}, fmt.Errorf("%s is a text, not %s", field.name, short(value))
		}
	}
	// A time is a diagnosis: one that cannot be read is none.
	var at json.Number
	if json.Unmarshal(it.fields["timestamp"], &at) == nil {
		if n, err := at.Int64(); err == nil && n > 0 {
			it.at = n
		}
	}
	it.content, it.arguments, it.given = it.fields["content"], it.fields["arguments"], it.fields["output"]
	if it.kind == "" && it.role != "" {
		it.kind = kindMessage
	}
	return it, it.check()
}

// check refuses an item that says too little to become a row.
func (it *item) check() error {
	switch it.kind {
	case "":
		return errors.New("an item has a type or a role, this one has neither")
	case kindMessage:
		return it.checkMessage()
	case kindCall, kindOutput:
		if it.callID == "" {
			return fmt.Errorf("a %s has a call_id", it.kind)
		}
		if it.kind == kindCall && it.name == "" {
			return errors.New("a function_call has a name")
		}
	}
	return nil
}

func (it *item) checkMessage() error {
	switch it.role {
	case "user", "assistant", "system", "developer":
	case "tool":
		if it.toolCallID == "" {
			return errors.New("a message of the role tool has a tool_call_id")
		}
	case "":
		return errors.New("a message has a role")
	default:
		return fmt.Errorf("there is no role %q: it is user, assistant, system, developer or tool", it.role)
	}
	raw := it.fields["tool_calls"]
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var calls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	}
	if err := json.Unmarshal(raw, &calls); err != nil {
		return fmt.Errorf("tool_calls is a list of calls, not %s", short(raw))
	}
	for i, call := range calls {
		if call.ID == "" || call.Function.Name == "" {
			return fmt.Errorf("tool_calls[%d] has an id, and a function with a name", i)
		}
		it.calls = append(it.calls, chatCall{call.ID, call.Function.Name, call.Function.Arguments})
	}
	return nil
}

// short is the beginning of a JSON value, for a message.
func short(raw json.RawMessage) string {
	const limit = 60
	text := strings.Join(strings.Fields(string(raw)), " ")
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}
