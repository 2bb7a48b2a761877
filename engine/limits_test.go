package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"bureau/engine/history"
	"bureau/engine/llm/llmtest"
)

// Each limit: who is told, how the top run ends, what is kept, which event tells it.
func TestLimits(t *testing.T) {
	t.Parallel()
	looking := func(*llmtest.Request) llmtest.Response { return calls(call("", "look", "{}")) }
	asks := func(to string) func(*llmtest.Request) llmtest.Response {
		return func(r *llmtest.Request) llmtest.Response {
			if len(r.Results()) == 0 {
				return calls(send("", to, "m"))
			}
			return text("f")
		}
	}
	twice := func(to string) func(*llmtest.Request) llmtest.Response {
		return inTurn(calls(send("", to, "m1")), calls(send("", to, "m2")), text("f"))
	}
	for name, c := range map[string]struct {
		limits string
		play   play
		code   history.Code // of the top run
		limit  string
		agent  string // who is told in an output; empty for the user alone
		rows   int    // completed rows
		models int    // requests in all
	}{
		"calls of the top run":       {"max_calls: 2", play{"A": looking}, history.CodeLimit, "max_calls", "", 5, 2},
		"calls of a nested run":      {"max_calls: 2", play{"A": asks("B"), "B": looking}, "", "max_calls", "A", 9, 4},
		"calls of a turn":            {"max_turn_calls: 3", play{"A": looking}, history.CodeLimit, "max_turn_calls", "", 7, 3},
		"calls of a turn, below":     {"max_turn_calls: 3", play{"A": asks("B"), "B": looking}, history.CodeLimit, "max_turn_calls", "A", 8, 3},
		"runs":                       {"max_runs: 2", play{"A": twice("B")}, "", "max_runs", "A", 8, 4},
		"depth":                      {"max_depth: 1", play{"A": asks("B"), "B": asks("C")}, "", "max_depth", "B", 8, 4},
		"handoffs of the top run":    {"max_handoffs: 1", play{"A": inTurn(calls(handoff("", "C"))), "C": inTurn(calls(handoff("", "A")))}, history.CodeLimit, "max_handoffs", "C", 8, 3},
		"handoffs, and then a word":  {"max_handoffs: 1", play{"A": inTurn(calls(handoff("", "C"))), "C": inTurn(calls(handoff("", "A")), text("f"))}, "", "max_handoffs", "C", 7, 3},
		"handoffs with words to say": {"max_handoffs: 1", play{"A": inTurn(llmtest.Response{Text: "to C", Calls: []llmtest.Call{handoff("", "C")}}, text("f")), "C": inTurn(llmtest.Response{Text: "to A", Calls: []llmtest.Call{handoff("", "A")}})}, "", "", "", 10, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "agents:\n  A: {instructions: x, tools: [look]}\n  B: {instructions: x, tools: [look]}\n  C: {instructions: x}\n"+
				"communication_flows: [A > B > C, A > C: handoff, C > A: handoff]\nlimits: {"+c.limits+"}\n", c.play, gives("look", "seen"))
			result, err := b.say("A", "hi")
			if code(err) != c.code || c.code == "" && result.Text != "f" {
				t.Errorf("ended with %q, %v", result.Text, err)
			}
			_, number, _ := strings.Cut(c.limits, ": ")
			if c.code != "" {
				holds(t, "the error", err.Error(), c.limit, number)
			}
			told := strings.Join(b.outputs(c.agent), "\n")
			if c.agent != "" {
				holds(t, "what "+c.agent+" is told", told, "Error: ", c.limit, number)
			}
			events := b.custom("limit")
			if c.limit == "" && len(events) > 0 || c.limit != "" && (len(events) == 0 || events[0]["limit"] != c.limit || !strings.Contains(fmt.Sprint(events[0]["message"]), number)) {
				t.Errorf("events %v", events)
			}
			completed := 0
			for _, m := range b.rows() {
				if m.Status == history.StatusCompleted {
					completed++
				} else if m.Status != history.StatusFailed || m.Extra.Code != string(history.CodeLimit) {
					t.Errorf("a row %s", line(m))
				}
			}
			if completed != c.rows || len(b.server.Requests()) != c.models {
				t.Errorf("%d rows, %d requests: %q", completed, len(b.server.Requests()), b.lines())
			}
		})
	}
}
