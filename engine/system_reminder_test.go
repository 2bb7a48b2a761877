package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"bureau/engine/llm/llmtest"
)

// reminded tells, for each request of an agent, which of the texts it was reminded of.
func reminded(b *bench, agent string, texts ...string) []string {
	var list []string
	for _, r := range b.asked(agent) {
		found := "-"
		for _, text := range texts {
			for _, m := range r.Messages {
				if m.Role == "system" && m.Content == text {
					found += text
				}
			}
		}
		list = append(list, found)
	}
	return list
}

// tooling answers with so many calls of look one after the other, then in words.
func tooling(n int) func(*llmtest.Request) llmtest.Response {
	return func(r *llmtest.Request) llmtest.Response {
		results := 0
		for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role != "user"; i-- {
			if r.Messages[i].Role == "tool" {
				results++
			}
		}
		if results < n {
			return calls(call("", "look", fmt.Sprintf(`{"x":%d}`, results)))
		}
		return text("done")
	}
}

// systemReminderLines are the lines M of the conformance table.
var systemReminderLines = lines{
	letter: "M", last: 9,
	leftOut: map[string]string{
		"M01": "the faults of the file have their test where the file is read",
		"M05": noHostedTools, "M08": noPythonAPI,
	},
	covered: map[string]func(*testing.T){
		"M02": func(t *testing.T) {
			b := newBench(t, "agents: {A: {instructions: x, system_reminders: Brief!}}", nil)
			b.ok("A", "one")
			b.ok("A", "two")
			equal(t, "reminded", reminded(b, "A", "Brief!"), []string{"-Brief!", "-Brief!"})
		},
		"M03": func(t *testing.T) {
			b := newBench(t, "agents: {A: {instructions: x, tools: [look], system_reminders: [Brief!]}}", play{"A": tooling(1)}, gives("look", "seen"))
			b.ok("A", "one")
			equal(t, "reminded", reminded(b, "A", "Brief!"), []string{"-Brief!", "-"})
			if first := b.asked("A")[0].Messages; first[0].Content != "x" || first[1].Content != "Brief!" || first[2].Content != "one" {
				t.Errorf("the first request is %+v", first)
			}
			for _, row := range b.rows() {
				if strings.Contains(row.Content, "Brief!") {
					t.Errorf("stored: %s", line(row))
				}
			}
		},
		"M04": func(t *testing.T) {
			b := newBench(t, "agents: {A: {instructions: x, tools: [look], system_reminders: [{every_tool_calls: 2, message: 'Stop?'}]}}",
				play{"A": tooling(4)}, gives("look", "seen"))
			b.ok("A", "one")
			b.ok("A", "two")
			equal(t, "reminded", reminded(b, "A", "Stop?"), []string{"-", "-", "-Stop?", "-", "-Stop?", "-", "-", "-Stop?", "-", "-Stop?"})
		},
		"M06": func(t *testing.T) {
			b := newBench(t, "agents:\n  A: {instructions: I am A}\n  B: {instructions: I am B, system_reminders: Brief!}\n  C: {instructions: I am C, system_reminders: Brief!}\n"+
				"communication_flows: [A > B, {A > C: handoff}]\n", play{"A": inTurn(calls(send("", "B", "m")), calls(handoff("", "C")))})
			b.ok("A", "one")
			equal(t, "recipient", reminded(b, "B", "Brief!"), []string{"-"})
			equal(t, "after a handoff", reminded(b, "C", "Brief!"), []string{"-"})
		},
		"M07": func(t *testing.T) {
			yaml := "agents:\n  A: {instructions: I am A, tools: [look], system_reminders: [{every_tool_calls: 2, message: 'Stop?'}]}\n  B: {instructions: I am B, tools: [look]}\n" +
				"communication_flows: [{A > B: handoff}, {B > A: handoff}]\n"
			look := calls(call("", "look", "{}"))
			b := newBench(t, yaml, play{
				"A": inTurn(look, calls(handoff("", "B")), look, text("done")), "B": inTurn(look, calls(handoff("", "A"))),
			}, gives("look", "seen"))
			b.ok("A", "one")
			equal(t, "reminded", reminded(b, "A", "Stop?"), []string{"-", "-", "-", "-Stop?"})
		},
		"M09": func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			look := fake{"look", func(context.Context, string) (string, error) { cancel(); return "seen", nil }}
			b := newBench(t, "agents: {A: {instructions: x, tools: [look], system_reminders: [{every_tool_calls: 1, message: 'Stop?'}]}}",
				play{"A": first("done", call("c", "look", "{}"))}, look)
			if _, err := b.engine.Turn(ctx, turnOf(b.session, "A", "one")); err == nil {
				t.Fatal("it was not stopped")
			}
			b.ok("A", "two")
			equal(t, "reminded", reminded(b, "A", "Stop?"), []string{"-", "-", "-Stop?"}) // the last after a call of the second turn
		},
	},
}

// Several calls at once are counted each, and a reminder is given once for all of them.
func TestReminderAfterCallsAtOnce(t *testing.T) {
	t.Parallel()
	look := call("", "look", "{}")
	b := newBench(t, "variables: {topic: fish}\nagents: {A: {instructions: x, tools: [look], system_reminders: [{every_tool_calls: 2, message: 'On {{topic}}?'}]}}",
		play{"A": inTurn(calls(look, look, look, look, look), calls(look), text("done"))}, gives("look", "seen"))
	b.ok("A", "one")
	equal(t, "reminded", reminded(b, "A", "On fish?"), []string{"-", "-On fish?", "-On fish?"})
}
