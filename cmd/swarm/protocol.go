package swarm

import (
	"fmt"
	"slices"
)

// ProtocolError says that a chat holds items of Chat Completions: the framework itself would not go on with it.
type ProtocolError struct {
	// Chat is the first item of Chat Completions; Responses the first of the Responses API, empty where there is none.
	Chat, Responses string
}

// Error says what is mixed, and where.
func (e *ProtocolError) Error() string {
	if e.Responses == "" {
		return fmt.Sprintf("this chat is written in Chat Completions (%s), where items of the Responses API are expected", e.Chat)
	}
	return fmt.Sprintf("this chat mixes two protocols: %s is of the Responses API, %s of Chat Completions", e.Responses, e.Chat)
}

// Hint says what can be done about it.
func (e *ProtocolError) Hint() string {
	if e.Responses == "" {
		return "Take it in with --convert: its calls and their results become items like any others, and plain messages stay as they are. " +
			"Or keep only the messages with a role and a content, and leave out the calls and the messages of the role tool. Nothing was stored."
	}
	return "Take it in with --convert: what is of Chat Completions becomes items like the others, and the rest stays as it is. " +
		"Or remove the items of one protocol from the file; or begin a new chat. Nothing was stored."
}

// Check returns a *ProtocolError for a chat that has to be converted.
func (c *Chat) Check() error {
	var e ProtocolError
	for _, it := range c.items {
		switch look, protocol := it.look(); {
		case protocol == "responses" && e.Responses == "":
			e.Responses = fmt.Sprintf("items[%d] (%s)", it.index, look)
		case protocol == "chat_completions" && e.Chat == "":
			e.Chat = fmt.Sprintf("items[%d] (%s)", it.index, look)
		}
	}
	if e.Chat == "" {
		return nil
	}
	return &e
}

// look tells which protocol an item is of, and by what; none for a plain message, which is of both.
func (it *item) look() (by, protocol string) {
	ownKinds := []string{kindCall, kindOutput, "file_search_call", "code_interpreter_call", "web_search_call"}
	_, hasCallID := it.fields["call_id"]
	_, hasToolCallID := it.fields["tool_call_id"]
	switch {
	case slices.Contains(ownKinds, it.kind):
		return it.kind, "responses"
	case hasCallID:
		return "call_id", "responses"
	case it.role == "tool":
		return "role tool", "chat_completions"
	case hasToolCallID:
		return "tool_call_id", "chat_completions"
	case len(it.calls) > 0:
		return "tool_calls", "chat_completions"
	case it.kind == kindMessage:
		return "", ""
	default:
		return it.kind + ", labelled so", it.protocol
	}
}
