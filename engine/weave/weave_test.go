package weave_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/weave"
)

// thread makes rows with ids from texts such as "user A hello", "call A c1 look", "output A c1 seen" and "assistant B hi".
func thread(texts ...string) []history.Message {
	var rows []history.Message
	for i, text := range texts {
		part := append(strings.SplitN(text, " ", 4), "", "", "")
		m := history.Message{
			ID: int64(i + 1), Agent: part[1], RunID: "r", Type: history.TypeMessage, Role: history.Role(part[0]), Status: history.StatusCompleted,
			Content: strings.TrimSpace(part[2] + " " + part[3]),
		}
		switch part[0] {
		case "call":
			m.Type, m.Role, m.CallID, m.Name, m.Arguments, m.Content = history.TypeCall, "", part[2], part[3], "{}", ""
		case "output":
			m.Type, m.Role, m.CallID, m.Content = history.TypeOutput, "", part[2], part[3]
		case "reasoning":
			m.Type, m.Role = history.TypeReason, ""
		}
		rows = append(rows, m)
	}
	return rows
}

// newest gives rows as the log does: newest first. It counts what is read.
func newest(rows []history.Message, read *int) iter.Seq2[history.Message, error] {
	return func(yield func(history.Message, error) bool) {
		for _, row := range slices.Backward(rows) {
			if read != nil {
				*read++
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

func prompt(t testing.TB, rows []history.Message, view weave.View) []llm.Message {
	t.Helper()
	messages, err := weave.Prompt(newest(rows, nil), view)
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

func short(messages []llm.Message) []string {
	lines := []string{}
	for _, m := range messages {
		text := string(m.Role) + ": " + m.Content
		for _, c := range m.Calls {
			text += " +" + c.ID + " " + c.Name
		}
		if m.CallID != "" {
			text += " (" + m.CallID + ")"
		}
		lines = append(lines, text)
	}
	return lines
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	note := `system: For your information: the agent "B" used its own tool "own", which you do not have. The outcome was: `
	interrupted := func(rows []history.Message, at ...int) []history.Message {
		for _, i := range at {
			rows[i].Status = history.StatusInterrupted
		}
		return rows
	}
	ofRun := func(rows []history.Message, run string, at ...int) []history.Message {
		for _, i := range at {
			rows[i].RunID = run
		}
		return rows
	}
	under := func(rows []history.Message, call string, at ...int) []history.Message {
		for _, i := range at {
			rows[i].ParentCallID, rows[i].RunID, rows[i].CallerAgent = call, "r"+call, "B"
		}
		return rows
	}
	for name, c := range map[string]struct {
		rows []history.Message
		view weave.View
		want []string
	}{
		"nothing": {nil, weave.View{}, []string{}},
		"system and nudge": {thread("user A hi"), weave.View{System: "You are A.", Nudge: "Speak."}, []string{
			"system: You are A.", "user: hi", "system: Speak.",
		}},
		"words, calls and outputs": {
			thread("user A hi", "assistant A looking", "call A c1 look", "call A c2 look", "output A c1 one", "output A c2 two", "assistant A done", "user A more"),
			weave.View{}, []string{
				"user: hi", "assistant: looking +c1 look +c2 look", "tool: one (c1)", "tool: two (c2)", "assistant: done", "user: more",
			},
		},
		"outputs out of order": {
			thread("user A hi", "call A c1 look", "call A c2 look", "output A c2 two", "output A c1 one"),
			weave.View{}, []string{"user: hi", "assistant:  +c1 look +c2 look", "tool: one (c1)", "tool: two (c2)"},
		},
		"a call without an output": {
			thread("user A hi", "call A c1 look", "user A more"),
			weave.View{}, []string{"user: hi", "assistant:  +c1 look", "tool: " + weave.Interrupted + " (c1)", "user: more"},
		},
		"a call under way": {
			thread("user A hi", "call A c1 look", "call A c2 look", "output A c2 two"),
			weave.View{InFlight: func(id string) bool { return id == "c1" }}, []string{"user: hi", "assistant:  +c2 look", "tool: two (c2)"},
		},
		"an output without a call, and a second one": {
			thread("user A hi", "output A c0 lost", "call A c1 look", "output A c1 one", "output A c1 again"),
			weave.View{}, []string{"user: hi", "assistant:  +c1 look", "tool: one (c1)"},
		},
		"one id for two calls": {
			thread("user A hi", "call A c1 look", "output A c1 one", "call A c1 look", "output A c1 two"),
			weave.View{}, []string{"user: hi", "assistant:  +c1 look", "tool: one (c1)", "assistant:  +c1_2 look", "tool: two (c1_2)"},
		},
		"ids that differ in what is no text": {
			thread("user A hi", "call A \xff look", "output A \xff one", "call A \xfe look", "output A \xfe two"),
			weave.View{}, []string{"user: hi", "assistant:  +\ufffd look", "tool: one (\ufffd)", "assistant:  +\ufffd_2 look", "tool: two (\ufffd_2)"},
		},
		"an empty output, and blank words": {
			thread("user A hi", "assistant A", "call A c1 look", "output A c1"),
			weave.View{}, []string{"user: hi", "assistant:  +c1 look", "tool: (no output) (c1)"},
		},
		"cut off words stay, cut off calls do not": {
			interrupted(thread("user A hi", "assistant A half", "call A c1 look", "user A more"), 1, 2),
			weave.View{}, []string{"user: hi", "assistant: half", "user: more"},
		},
		"another agent's words and calls": {
			thread("user A hi", "assistant B I look", "call B c1 look", "call B c2 own", "output B c1 one", "output B c2 two"),
			weave.View{Tools: []llm.Tool{{Name: "look"}}}, []string{"user: hi", "assistant: I look +c1 look", "tool: one (c1)", note + "two"},
		},
		"another agent's words without a call that can be sent": {
			thread("user A hi", "assistant B I look", "call B c2 own", "output B c2 two", "user A more"),
			weave.View{}, []string{"user: hi", "assistant: I look", note + "two", "user: more"},
		},
		"words of a sibling at the end": {
			ofRun(thread("user A hi", "assistant A half of another run"), "other", 1), weave.View{}, []string{"user: hi"},
		},
		"two replies in a row": {
			thread("user A hi", "assistant A one", "assistant A two", "user A more"),
			weave.View{}, []string{"user: hi", "assistant: one", "assistant: two", "user: more"},
		},
		"a question asked back, for who asked": {
			under(thread("user A q", "call A c2 look", "user B back?", "assistant B yes", "output A c2 yes"), "c2", 2, 3),
			weave.View{}, []string{"user: q", "assistant:  +c2 look", "tool: yes (c2)"},
		},
		"a question asked back, for who answered": {
			under(thread("user B q", "call B c2 own", "user A back?", "assistant A yes", "output B c2 yes", "assistant B good", "user A more"), "c2", 2, 3),
			weave.View{}, []string{"user: q", "user: back?", "assistant: yes", "assistant: good", "user: more"},
		},
		"a question that is being answered by who asked, after a handoff": {
			under(thread("user A q", "call A c2 look", "user B back?", "system A you now"), "c2", 2, 3),
			weave.View{InFlight: func(id string) bool { return id == "c2" }}, []string{"user: q", "user: back?", "system: you now"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.view.Agent = "A"
			if got := short(prompt(t, c.rows, c.view)); !slices.Equal(got, c.want) {
				t.Errorf("\n got %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestPromptPassesOnWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	_, err := weave.Prompt(func(yield func(history.Message, error) bool) { yield(history.Message{}, broken) }, weave.View{})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestCallsAreMadeSound(t *testing.T) {
	t.Parallel()
	rows := thread("user A hi", "call A c1 look", "call A c2 look", "call A c3 look")
	rows[1].Name, rows[1].Arguments = "名 前"+strings.Repeat("x", 80), `{"x":`
	rows[2].Name, rows[2].Arguments = "", "null"
	rows[3].CallID, rows[3].Arguments = "", `{"x":"`+"\xff"+`"}`
	messages := prompt(t, rows, weave.View{Agent: "A"})
	calls := messages[1].Calls
	if got := calls[0]; got.Name != "___"+strings.Repeat("x", 61) || got.Arguments != "{}" {
		t.Errorf("the first call is %+v", got)
	}
	if got := calls[1]; got.Name == "" || got.Arguments != "{}" {
		t.Errorf("the second call is %+v", got)
	}
	if got := calls[2]; got.ID == "" || got.Arguments != `{"x":"`+"\ufffd"+`"}` {
		t.Errorf("the third call is %+v", got)
	}
}

// What a server wants back goes back to the provider that sent it, with calls only, and to no other.
func TestWhatAServerWantsBack(t *testing.T) {
	t.Parallel()
	rows := thread("user A hi", "reasoning A I think", "assistant A looking", "call A c1 look", "output A c1 one", "reasoning A again", "assistant A done", "user A more")
	for i := range rows {
		rows[i].Extra = history.Extra{Model: "one/x/y", Wire: map[string]json.RawMessage{"sign": json.RawMessage(fmt.Sprint(i))}}
	}
	for provider, want := range map[string]string{"one": "I think 1 3", "other": "", "on": ""} {
		messages := prompt(t, rows, weave.View{Agent: "A", Provider: provider})
		got := strings.TrimSpace(fmt.Sprintf("%s %s %s", messages[1].Reasoning, messages[1].Wire["sign"], messages[1].Calls[0].Wire["sign"]))
		if got != want {
			t.Errorf("%s gets back %q, want %q", provider, got, want)
		}
		if m := messages[3]; m.Content != "done" || m.Reasoning != "" || m.Wire != nil {
			t.Errorf("with words alone %s gets back %+v", provider, m)
		}
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	var texts []string
	for i := range 300 {
		texts = append(texts, fmt.Sprintf("user A question %d", i), "assistant A "+strings.Repeat("word ", 50))
	}
	rows := thread(append(texts, "system A you are A now", "user A last")...)
	rows[len(rows)-2].Origin = history.OriginRecipientReminder

	read := 0
	messages, err := weave.Prompt(newest(rows, &read), weave.View{Agent: "A", System: "You are A.", Budget: 1000, Nudge: "Speak up."})
	if err != nil {
		t.Fatal(err)
	}
	if got := weave.Tokens(messages); got > 1000 || got < 900 {
		t.Errorf("%d tokens for a budget of 1000", got)
	}
	if read > 60 {
		t.Errorf("%d rows were read for a budget of 1000 tokens", read)
	}
	if messages[1].Role != llm.RoleUser {
		t.Errorf("the history begins with %q", short(messages)[1])
	}

	equal := func(what string, budget int, view weave.View, want ...string) {
		t.Helper()
		view.Agent, view.Budget = "A", budget
		if got := short(prompt(t, rows, view)); !slices.Equal(got, want) {
			t.Errorf("%s\n got %q\nwant %q", what, got, want)
		}
	}
	equal("the turn alone, with its reminder", 30, weave.View{}, "system: you are A now", "user: last")
	equal("what is always there", 1, weave.View{}, "system: you are A now", "user: last")

	asked := thread("user A q", "call A c2 look", "user B back?", "assistant B "+strings.Repeat("word ", 100), "output A c2 yes")
	for i := range asked[2:4] {
		asked[2+i].CallerAgent, asked[2+i].ParentCallID, asked[2+i].RunID = "A", "c2", "inner"
	}
	for i := range asked {
		if asked[i].CallerAgent == "" {
			asked[i].CallerAgent = "B"
		}
	}
	rows = asked
	equal("a question asked back in little room", 40, weave.View{Caller: "B"}, "user: q", "assistant:  +c2 look", "tool: yes (c2)")

	steps := []string{"user A hi"}
	for i := range 20 {
		steps = append(steps, fmt.Sprintf("call A c%d look", i), fmt.Sprintf("output A c%d %s", i, strings.Repeat("word ", 30)))
	}
	rows = thread(steps...)
	messages = prompt(t, rows, weave.View{Agent: "A", Budget: 200})
	if got := weave.Tokens(messages); got > 200 {
		t.Errorf("%d tokens of a long turn for a budget of 200", got)
	}
	got := short(messages)
	if got[0] != "user: hi" || !strings.Contains(got[1], "earlier steps") || !strings.HasSuffix(got[len(got)-1], "(c19)") {
		t.Errorf("a long turn is %q", got)
	}
	if one := short(prompt(t, rows, weave.View{Agent: "A", Budget: 1})); len(one) != 4 || !strings.HasSuffix(one[3], "(c19)") {
		t.Errorf("the shortest form of a turn is %q", one)
	}
}

func TestEstimate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "word": 1, "four words of prose": 3, "12345": 3, "世界世界": 3, "internationalisation": 4, "\n\n\n": 2, "((((": 1, "\xff\xff": 1,
	} {
		if got := weave.Estimate(text); got != want {
			t.Errorf("Estimate(%q) = %d, want %d", text, got, want)
		}
	}
}
