package engine_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"bureau/engine/history"
	"bureau/engine/llm/llmtest"
)

var handsOver = agentsOf("A B", "A > B: handoff", "B > A: handoff")

// reminders are the stored handoff reminders, as the names of the agents that they are for.
func (b *bench) reminders(origin history.Origin) []string {
	var agents []string
	for _, m := range b.rows() {
		if m.Origin == origin {
			agents = append(agents, m.Agent)
		}
	}
	return agents
}

// hasControl is the agent that the session's next message goes to.
func (b *bench) hasControl() string {
	b.t.Helper()
	s, err := b.store.Session(b.t.Context(), b.session)
	if err != nil {
		b.t.Fatal(err)
	}
	return s.Recipient
}

var handoffLines = lines{
	letter: "H", last: 20,
	leftOut: map[string]string{
		"H08": "a deprecated attribute of the reference",
		"H09": "a reminder is made when control moves, which is never before the user's message is stored",
	},
	covered: map[string]func(*testing.T){
		"H20": nestedGuardrails["H20"],
		"H01": func(t *testing.T) {
			b := newBench(t, handsOver, play{"A": inTurn(calls(handoff("h", "B"))), "B": says("r")})
			if got := b.ok("A", "t1"); got.Text != "r" || got.Agent != "B" {
				t.Errorf("got %+v", got)
			}
		},
		"H02": func(t *testing.T) {
			b := newBench(t, "agents:\n  A: {instructions: x}\n  My Agent: {instructions: x}\ncommunication_flows: [A > My Agent: handoff]\n", nil)
			b.ok("A", "hi")
			tool, _ := b.asked("A")[0].Tool("transfer_to_My_Agent")
			var schema struct {
				Required             []string
				AdditionalProperties *bool
				Properties           map[string]struct{ Const, Type string }
			}
			if err := json.Unmarshal(tool.Parameters, &schema); err != nil {
				t.Fatal(err)
			}
			p := schema.Properties["recipient_agent"]
			if p.Const != "My Agent" || p.Type != "string" || len(schema.Required) != 1 || schema.AdditionalProperties == nil || *schema.AdditionalProperties {
				t.Errorf("schema %s", tool.Parameters)
			}
		},
		"H03": func(t *testing.T) { // the reminder follows the output; a call that B cannot make itself is a note
			b := newBench(t, agentsOf("A B", "A > B: handoff"), play{"A": inTurn(text("old"), calls(handoff("h", "B")))})
			b.ok("A", "t0")
			b.ok("A", "t1")
			got := heard(b.asked("B")[0])
			if len(got) != 5 {
				t.Fatalf("B's input %q", got)
			}
			equal(t, "B's input", got[:3], []string{"user: t0", "assistant: old", "user: t1"})
			holds(t, "the note", got[3], "system: ", `"A"`, `"transfer_to_B"`, `{"assistant":"B"}`)
			holds(t, "the reminder", got[4], "system: ", `You are "B" now`)
		},
		"H04": func(t *testing.T) {
			b := newBench(t, handsOver, play{"A": inTurn(calls(handoff("h", "B"))), "B": says("r")})
			result := b.ok("A", "t1")
			equal(t, "rows", b.lines(), []string{
				"A< user: t1", "A< call transfer_to_B", `A< output: {"assistant":"B"}`, "B< handoff_reminder", "B< assistant: r",
			})
			for _, m := range b.rows() {
				if m.RunID != result.RunID {
					t.Errorf("%s has another run id", line(m))
				}
			}
		},
		"H05": func(t *testing.T) { // right after the output, with the role of a system message
			b := newBench(t, handsOver, play{"A": inTurn(calls(handoff("h", "B")))})
			b.ok("A", "t1")
			m := b.rows()[3]
			if m.Origin != history.OriginHandoffReminder || m.Role != history.RoleSystem || m.Type != history.TypeMessage || m.Agent != "B" {
				t.Errorf("the fourth row is %+v", m)
			}
		},
		"H06": func(t *testing.T) {
			b := newBench(t, "agents:\n  A: {instructions: x}\n  B: {instructions: x, handoff_reminder: Custom.}\ncommunication_flows: [A > B: handoff]\n",
				play{"A": inTurn(calls(handoff("h", "B")))})
			b.ok("A", "t1")
			if m := b.rows()[3]; m.Content != "Custom." || m.Origin != history.OriginHandoffReminder {
				t.Errorf("the reminder is %+v", m)
			}
		},
		"H07": func(t *testing.T) {
			b := newBench(t, "agents:\n  A: {instructions: x}\n  B: {instructions: x, handoff_reminder: \"\"}\ncommunication_flows: [A > B: handoff]\n",
				play{"A": inTurn(calls(handoff("h", "B")))})
			b.ok("A", "t1")
			if got := b.reminders(history.OriginHandoffReminder); got != nil {
				t.Errorf("reminders for %q", got)
			}
		},
		"H10": func(t *testing.T) {
			b := newBench(t, agentsOf("A B C", "A > B: handoff", "B > C: handoff"), play{
				"A": inTurn(calls(handoff("h1", "B"))), "B": inTurn(calls(handoff("h2", "C"))), "C": says("r"),
			})
			if got := b.ok("A", "t1"); got.Text != "r" || got.Agent != "C" {
				t.Errorf("got %+v", got)
			}
			equal(t, "B's tools", toolNames(b.asked("B")[0]), []string{"transfer_to_C"})
			equal(t, "reminders", b.reminders(history.OriginHandoffReminder), []string{"B", "C"})
		},
		"H11": func(t *testing.T) {
			b := newBench(t, handsOver, play{"A": inTurn(calls(handoff("h", "B")), text("back"))})
			b.ok("A", "t1")
			b.ok("A", "t2")
			asked := b.asked("A")
			equal(t, "A's tools after", toolNames(asked[1]), toolNames(asked[0]))
			equal(t, "B's tools", toolNames(b.asked("B")[0]), []string{"transfer_to_A"})
		},
		"H12": func(t *testing.T) {
			b := newBench(t, agentsOf("A B C", "A > B: handoff", "A > C: handoff"), play{"A": inTurn(calls(handoff("h1", "B"), handoff("h2", "C")))})
			if got := b.ok("A", "t1").Agent; got != "B" {
				t.Errorf("%s answered", got)
			}
			out := b.outputs("A")
			if out[0] != `{"assistant":"B"}` {
				t.Errorf("outputs %q", out)
			}
			holds(t, "the second output", out[1], "Error: ", "B", "once")
		},
		"H13": func(t *testing.T) {
			b := newBench(t, "agents:\n  A: {instructions: x, tools: [add]}\n  B: {instructions: x}\ncommunication_flows: [A > B: handoff]\n",
				play{"A": inTurn(calls(call("c1", "add", "{}"), handoff("h", "B")))}, gives("add", "12"))
			if got := b.ok("A", "t1").Agent; got != "B" {
				t.Errorf("%s answered", got)
			}
			equal(t, "outputs", b.outputs("A"), []string{"12", `{"assistant":"B"}`})
		},
		"H14": func(t *testing.T) {
			b := newBench(t, agentsOf("A B C", "A > C", "A > B: handoff"), play{"A": inTurn(calls(send("c1", "C", "m"), handoff("h", "B")))})
			if got := b.ok("A", "t1").Agent; got != "B" {
				t.Errorf("%s answered", got)
			}
			equal(t, "outputs", b.outputs("A"), []string{"C answers m", `{"assistant":"B"}`})
			equal(t, "reminders", b.reminders(history.OriginHandoffReminder), []string{"B"})
		},
		"H15": func(t *testing.T) {
			b := newBench(t, handsOver, play{"A": inTurn(calls(handoff("h1", "B")), text("r")), "B": inTurn(calls(handoff("h2", "A")))})
			if got := b.ok("A", "t1"); got.Text != "r" || got.Agent != "A" {
				t.Errorf("got %+v", got)
			}
			equal(t, "rows", b.lines(), []string{
				"A< user: t1", "A< call transfer_to_B", `A< output: {"assistant":"B"}`, "B< handoff_reminder",
				"B< call transfer_to_A", `B< output: {"assistant":"A"}`, "A< handoff_reminder", "A< assistant: r",
			})
		},
		"H16": func(t *testing.T) { // the session goes on with the agent that has control
			b := newBench(t, handsOver, play{"A": inTurn(calls(handoff("h", "B")))})
			b.ok("A", "t1")
			if got := b.hasControl(); got != "B" {
				t.Errorf("control is with %s", got)
			}
			events := b.custom("recipient")
			if last := events[len(events)-1]; last["agent"] != "B" {
				t.Errorf("recipient events %v", events)
			}
			b.ok("B", "t2")
			if got := b.hasControl(); got != "B" {
				t.Errorf("later, control is with %s", got)
			}
			if got := b.reminders(history.OriginRecipientReminder); got != nil {
				t.Errorf("recipient reminders for %q", got)
			}
		},
		"H17": func(t *testing.T) { // shared instructions for whoever has control; additional ones for the agent they were sent to
			b := newBench(t, "shared_instructions: Shared.\n"+agentsOf("A B C", "A > B", "B > C: handoff"), play{
				"A": first("f", sendWith("c1", "B", "m", "More.")), "B": inTurn(calls(handoff("h", "C"))),
			})
			b.ok("A", "t1")
			if got := b.asked("B")[0].System; got != "Shared.\n\nI am B\n\n---\n\nMore." {
				t.Errorf("B's system prompt %q", got)
			}
			if got := b.asked("C")[0].Messages[0].Content; got != "Shared.\n\nI am C" {
				t.Errorf("C's system prompt %q", got)
			}
		},
		"H18": func(t *testing.T) {
			b := newBench(t, handsOver, nil)
			b.ok("A", "hi")
			holds(t, "the description", b.asked("A")[0].Tools[0].Description, "Hand", "over to B")
		},
		"H19": func(t *testing.T) {
			b := newBench(t, agentsOf("A B C", "A > B", "B > C: handoff"), play{
				"A": func(r *llmtest.Request) llmtest.Response {
					if len(r.Results()) == 0 {
						return calls(send("", "B", r.Last))
					}
					return text(r.Results()[0])
				},
				"B": func(*llmtest.Request) llmtest.Response { return calls(handoff("", "C")) },
				"C": func(r *llmtest.Request) llmtest.Response { return text("C on " + r.Last) },
			})
			for _, message := range []string{"one", "two", "three"} {
				if got := b.ok("A", message).Text; !strings.HasPrefix(got, "C on ") || !strings.HasSuffix(got, message) {
					t.Errorf("answer to %s: %q", message, got)
				}
			}
			if i := slices.IndexFunc(b.rows(), func(m history.Message) bool { return m.Extra.IsError }); i >= 0 {
				t.Errorf("an error: %s", b.lines()[i])
			}
		},
	},
}

// A handoff whose output is stored has happened, also where the user asks the turn to end with the calls under way.
func TestHandoffThatIsOnRecordMovesControl(t *testing.T) {
	t.Parallel()
	finish := make(chan struct{})
	b := newBench(t, handsOver, play{"A": func(*llmtest.Request) llmtest.Response {
		close(finish)
		return calls(handoff("h", "B"))
	}})
	input := turnOf(b.session, "A", "t1")
	input.Finish = finish
	result, err := b.engine.Turn(t.Context(), input)
	if code(err) != history.CodeInterrupted {
		t.Errorf("the turn ended with %v", err)
	}
	if len(b.asked("B")) != 0 {
		t.Error("B was asked")
	}
	equal(t, "outputs", b.outputs("A"), []string{`{"assistant":"B"}`})
	equal(t, "reminders", b.reminders(history.OriginHandoffReminder), []string{"B"})
	if result.Agent != "B" || b.hasControl() != "B" {
		t.Errorf("control is with %s and %s", result.Agent, b.hasControl())
	}
}
