package weave_test

import (
	"encoding/json"
	"testing"

	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/weave"
)

// TestWhatGoesBackUnchanged: only what the same provider sent over the same protocol goes back to it, and over the Responses
// API only all of a reply of the agent's own.
func TestWhatGoesBackUnchanged(t *testing.T) {
	t.Parallel()
	rows := func(protocol history.Protocol, model string) []history.Message {
		rows := thread("user A hello", "reasoning A hm", "assistant A hi", "call A c1 look", "call A c2 look", "output A c1 seen", "output A c2 seen", "assistant A end", "user A more")
		for i := range rows {
			rows[i].Protocol, rows[i].Extra.Model = protocol, model
			if rows[i].Type != history.TypeOutput && rows[i].Role != history.RoleUser && rows[i].Content != "hi" {
				rows[i].Extra.Wire = map[string]json.RawMessage{"x": json.RawMessage("1")}
			}
		}
		return rows
	}
	look := []llm.Tool{{Name: "look"}}
	const chat, responses = history.ProtocolChatCompletions, history.ProtocolResponses
	for _, c := range []struct {
		name     string
		rows     []history.Message
		view     weave.View
		said     bool // the words before the calls
		calls    int
		end      bool // the words alone
		inFlight string
	}{
		{"chat to chat", rows(chat, "p/m"), weave.View{Agent: "A", Provider: "p", Protocol: chat}, true, 2, false, ""},
		{"responses to responses", rows(responses, "p/m"), weave.View{Agent: "A", Provider: "p", Protocol: responses}, true, 2, true, ""},
		{"another model of the provider", rows(responses, "p/n"), weave.View{Agent: "A", Provider: "p", Protocol: responses}, true, 2, true, ""},
		{"responses to chat", rows(responses, "p/m"), weave.View{Agent: "A", Provider: "p", Protocol: chat}, false, 0, false, ""},
		{"chat to responses", rows(chat, "p/m"), weave.View{Agent: "A", Provider: "p", Protocol: responses}, false, 0, false, ""},
		{"another provider", rows(responses, "q/m"), weave.View{Agent: "A", Provider: "p", Protocol: responses}, false, 0, false, ""},
		{"a provider whose name begins alike", rows(responses, "pp/m"), weave.View{Agent: "A", Provider: "p", Protocol: responses}, false, 0, false, ""},
		{"another agent over chat", rows(chat, "p/m"), weave.View{Agent: "B", Provider: "p", Protocol: chat}, false, 2, false, ""},
		{"another agent over responses", rows(responses, "p/m"), weave.View{Agent: "B", Provider: "p", Protocol: responses}, false, 0, false, ""},
		{"a call that is being carried out", rows(responses, "p/m"), weave.View{Agent: "A", Provider: "p", Protocol: responses}, false, 0, true, "c1"},
		{"the same over chat", rows(chat, "p/m"), weave.View{Agent: "A", Provider: "p", Protocol: chat}, true, 1, false, "c1"},
	} {
		c.view.Tools = look
		c.view.InFlight = func(id string) bool { return id == c.inFlight }
		said, calls, end := false, 0, false
		for _, m := range prompt(t, c.rows, c.view) {
			switch {
			case m.Content == "hi":
				said = m.Wire != nil
			case m.Content == "end":
				end = m.Wire != nil
			}
			for _, call := range m.Calls {
				if call.Wire != nil {
					calls++
				}
			}
		}
		if said != c.said || calls != c.calls || end != c.end {
			t.Errorf("%s: the words %v, %d calls, the end %v; want %v, %d, %v", c.name, said, calls, end, c.said, c.calls, c.end)
		}
	}
}
