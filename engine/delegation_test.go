package engine_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"bureau/engine/history"
	"bureau/engine/llm/llmtest"
)

var twoAgents = agentsOf("A B", "A > B")

var threeLevels = play{
	"A": first("f", send("c1", "B", "plan")), "B": first("planned", send("c2", "C", "work")), "C": says("worked"),
}

var delegationLines = lines{
	letter: "X", last: 28,
	leftOut: map[string]string{
		"X15": "streaming and non-streaming are one path: X14 is it",
	},
	covered: map[string]func(*testing.T){
		"X16": nestedGuardrails["X16"], "X17": nestedGuardrails["X17"], "X18": nestedGuardrails["X18"],
		"X21": toolAnswers["X21"], "X22": sharedVariables["X22"], "X26": runsAlone["X26"],
		"X01": func(t *testing.T) {
			b := newBench(t, twoAgents, play{"A": first("final", send("c1", "B", "do it")), "B": says("done")})
			if result := b.ok("A", "hi"); result.Text != "final" || result.Agent != "A" {
				t.Errorf("result %q of %s", result.Text, result.Agent)
			}
			equal(t, "rows", b.lines(), []string{
				"A< user: hi", "A< call send_message", "B<A user: do it", "B<A assistant: done", "A< output: done", "A< assistant: final",
			})
		},
		"X02": func(t *testing.T) {
			b := newBench(t, twoAgents, play{"A": first("final", send("c1", "B", "do it"))})
			result := b.ok("A", "hi")
			for _, m := range b.rows() {
				nested := m.CallerAgent != ""
				if nested != (m.ParentCallID == "c1") || nested != (m.ParentRunID == result.RunID) || nested == (m.RunID == result.RunID) {
					t.Errorf("labels of %s: run %q, parent %q %q", line(m), m.RunID, m.ParentRunID, m.ParentCallID)
				}
			}
		},
		"X03": func(t *testing.T) {
			b := newBench(t, agentsOf("A B C", "A > B > C"), threeLevels)
			b.ok("A", "hi")
			runs := map[string]string{}
			for _, m := range b.rows() {
				runs[m.Agent] = m.RunID
				want := map[string]string{"A": "", "B": "c1", "C": "c2"}[m.Agent]
				if m.ParentCallID != want {
					t.Errorf("%s has the parent call %q, want %q", line(m), m.ParentCallID, want)
				}
				if above := map[string]string{"B": "A", "C": "B"}[m.Agent]; m.ParentRunID != runs[above] {
					t.Errorf("%s has the parent run %q, want that of %s", line(m), m.ParentRunID, above)
				}
			}
		},
		"X04": func(t *testing.T) {
			b := newBench(t, twoAgents, play{"A": inTurn(calls(send("c1", "B", "m1")), text("f1"), calls(send("c2", "B", "m2")), text("f2"))})
			b.ok("A", "one")
			b.ok("A", "two")
			equal(t, "B's second input", heard(b.asked("B")[1]), []string{"user: m1", "assistant: B answers m1", "user: m2"})
		},
		"X05": func(t *testing.T) {
			b := newBench(t, twoAgents, play{"A": inTurn(text("noted"), calls(send("c1", "B", "m")), text("f"))})
			b.ok("A", "the secret is 42")
			b.ok("A", "ask B")
			if body := string(b.asked("B")[0].Body); strings.Contains(body, "42") || strings.Contains(body, "I am A") {
				t.Errorf("B was sent %s", body)
			}
		},
		"X06": func(t *testing.T) {
			b := newBench(t, agentsOf("A B C", "A > B", "A > C"), play{"A": inTurn(
				calls(send("c1", "B", "m1")), calls(send("c2", "C", "m2")), calls(send("c3", "B", "m3")), text("f"),
			)})
			b.ok("A", "hi")
			equal(t, "C's input", heard(b.asked("C")[0]), []string{"user: m2"})
			equal(t, "B's second input", heard(b.asked("B")[1]), []string{"user: m1", "assistant: B answers m1", "user: m3"})
		},
		"X07": func(t *testing.T) {
			b := newBench(t, twoAgents, play{"A": inTurn(calls(sendWith("c1", "B", "m", "Be brief.")), calls(send("c2", "B", "m2")), text("f"))})
			b.ok("A", "hi")
			if got := b.asked("B")[0].System; got != "I am B\n\nBe brief." {
				t.Errorf("B's system prompt %q", got)
			}
			if got := b.asked("B")[1].System; got != "I am B" {
				t.Errorf("B's system prompt for the next message %q", got)
			}
			for _, m := range b.rows() {
				if strings.Contains(m.Content, "Be brief.") {
					t.Errorf("stored: %s", line(m))
				}
			}
		},
		"X08": func(t *testing.T) {
			b := newBench(t, "shared_instructions: Shared.\n"+twoAgents, play{"A": first("f", sendWith("c1", "B", "m", "More."))})
			b.ok("A", "hi")
			if got := b.asked("B")[0].System; got != "Shared.\n\nI am B\n\n---\n\nMore." {
				t.Errorf("B's system prompt %q", got)
			}
		},
		"X09": func(t *testing.T) {
			b := newBench(t, twoAgents, play{"A": first("f", send("c1", "B", "m1"), send("c2", "b", "m2"))})
			b.ok("A", "hi")
			out := b.outputs("A")
			if len(out) != 2 || out[0] != "B answers m1" {
				t.Fatalf("outputs %q", out)
			}
			holds(t, "the second output", out[1], "Error: ", "B is still working")
			if n := len(b.asked("B")); n != 1 {
				t.Errorf("B was asked %d times", n)
			}
		},
		"X10": func(t *testing.T) {
			p := play{"A": first("f", send("c1", "B", "m1"), send("c2", "C", "m2")), "C": says("quick")}
			b := newBench(t, agentsOf("A B C", "A > B", "A > C"), p)
			quick := b.when("C", history.EventSubagentFinished)
			p["B"] = func(*llmtest.Request) llmtest.Response { return llmtest.Response{Text: "slow", Gate: quick} }
			b.ok("A", "hi")
			equal(t, "outputs", b.outputs("A"), []string{"slow", "quick"})
			answers := []string{}
			for _, m := range b.rows() {
				if m.CallerAgent == "A" && m.Role == "assistant" {
					answers = append(answers, m.Content)
				}
			}
			equal(t, "nested answers", answers, []string{"quick", "slow"})
		},
		"X11": func(t *testing.T) {
			both := make(chan struct{}, 2)
			go_ := make(chan struct{})
			b := newBench(t, twoAgents, play{"A": first("f", send("", "B", "m")), "B": func(*llmtest.Request) llmtest.Response {
				both <- struct{}{}
				return llmtest.Response{Text: "r", Gate: go_}
			}})
			b.begin("other")
			other := b.newEngine(b.agency)
			var wg sync.WaitGroup
			wg.Go(func() { b.ok("A", "one") })
			wg.Go(func() {
				if _, err := other.Turn(t.Context(), turnOf("other", "A", "two")); err != nil {
					t.Error(err)
				}
			})
			<-both
			<-both
			close(go_)
			wg.Wait()
			equal(t, "outputs", b.outputs("A"), []string{"r"})
		},
		"X12": func(t *testing.T) {
			b := newBench(t, agentsOf("A B", "A > B", "B > A"), play{
				"A": inTurn(calls(send("c1", "B", "q1")), calls(send("c3", "B", "again?")), text("inner"), text("f")),
				"B": inTurn(calls(send("c2", "A", "clarify?")), text("r")),
			})
			if got := b.ok("A", "hi").Text; got != "f" {
				t.Errorf("answer %q", got)
			}
			out := b.outputs("A")
			holds(t, "the inner output", out[0], "Error: ", "B is still working")
			if out[1] != "r" || b.outputs("B")[0] != "inner" {
				t.Errorf("outputs of A %q, of B %q", out, b.outputs("B"))
			}
		},
		"X13": func(t *testing.T) {
			b := newBench(t, twoAgents, play{
				"A": inTurn(calls(send("c1", "B", "m1")), calls(send("c2", "B", "m2")), text("f")),
				"B": inTurn(fault(400, "no"), text("r")),
			})
			b.ok("A", "hi")
			if out := b.outputs("A"); out[1] != "r" {
				t.Errorf("outputs %q", out)
			}
		},
		"X14": func(t *testing.T) {
			b := newBench(t, twoAgents, play{"A": first("f", send("c1", "B", "m")), "B": inTurn(fault(400, "the model has burst"))})
			if got := b.ok("A", "hi").Text; got != "f" {
				t.Errorf("answer %q", got)
			}
			holds(t, "the output", b.outputs("A")[0], "Error: ", "B", "the model has burst")
		},
		"X19": func(t *testing.T) {
			b := newBench(t, twoAgents, play{
				"A": inTurn(calls(send("c1", "B", "m1")), calls(send("c2", "B", "m2")), text("f")),
				"B": inTurn(fault(400, "no"), text("r")),
			})
			b.ok("A", "hi")
			equal(t, "B's second input", heard(b.asked("B")[1]), []string{"user: m1", "user: m2"})
			if rows := b.lines(); !strings.HasSuffix(rows[3], "(failed)") {
				t.Errorf("the failure is no row: %q", rows)
			}
		},
		"X20": func(t *testing.T) {
			b := newBench(t, twoAgents, play{"A": first("f", send("c1", "B", "m")), "B": says("")})
			b.ok("A", "hi")
			holds(t, "the output of an empty answer", b.outputs("A")[0], "Error: ", "B", "empty")
		},
		"X23": func(t *testing.T) { // nested runs obey the limits
			again := gives("again", "once more")
			b := newBench(t, "agents:\n  A: {instructions: x}\n  B: {instructions: x, tools: [again]}\ncommunication_flows: [A > B]\nlimits: {max_calls: 2}\n",
				play{"A": first("f", send("c1", "B", "m")), "B": func(*llmtest.Request) llmtest.Response { return calls(call("", "again", "{}")) }}, again)
			b.ok("A", "hi")
			holds(t, "the output", b.outputs("A")[0], "Error: ", "max_calls", "made: 2")
			if n := len(b.asked("B")); n != 2 {
				t.Errorf("B was asked %d times", n)
			}
		},
		"X24": func(t *testing.T) {
			b := newBench(t, agentsOf("A B", "A > B", "B > A"), play{
				"A": inTurn(calls(send("c1", "B", "q1")), text("clear"), text("f"), calls(send("c3", "B", "q2")), text("f2")),
				"B": inTurn(calls(send("c2", "A", "clarify?")), text("r"), text("r2")),
			})
			b.ok("A", "hi")
			equal(t, "A's input within", heard(b.asked("A")[1]), []string{"user: q1", "user: clarify?"})
			equal(t, "B's input after", heard(b.asked("B")[1]), []string{"user: q1", "assistant:  +send_message", "tool: clear"})
			b.ok("A", "more")
			equal(t, "B's input later", heard(b.asked("B")[2]), []string{
				"user: q1", "assistant:  +send_message", "tool: clear", "assistant: r", "user: q2",
			})
		},
		"X25": func(t *testing.T) {
			b := newBench(t, agentsOf("A B C", "A > B", "B > C: handoff"), play{
				"A": inTurn(calls(send("c1", "B", "m1")), calls(send("c2", "B", "m2")), text("f")),
				"B": inTurn(calls(handoff("c3", "C")), text("r")), "C": says("C was here"),
			})
			b.ok("A", "hi")
			equal(t, "outputs", b.outputs("A"), []string{"C was here", "r"})
			for _, m := range b.rows() {
				if m.Agent == "C" && (m.CallerAgent != "A" || m.ParentCallID != "c1") {
					t.Errorf("labels of %s: %q", line(m), m.ParentCallID)
				}
			}
			if body := string(b.asked("B")[1].Body); strings.Contains(body, "C was here") {
				t.Errorf("B was sent %s", body)
			}
			holds(t, "what C was sent", string(b.asked("C")[0].Body), "m1", "handed over to you")
		},
		"X27": func(t *testing.T) {
			b := newBench(t, agentsOf("A B C", "A > B", "A > C"), play{"A": func(r *llmtest.Request) llmtest.Response {
				switch results := r.Results(); {
				case len(results) == 0:
					return calls(send("c1", "B", "find"))
				case results[0] == "facts":
					return calls(send("c2", "C", "write up facts"))
				default:
					return text("done: " + results[0])
				}
			}, "B": says("facts"), "C": says("report on facts")})
			if got := b.ok("A", "hi").Text; got != "done: report on facts" {
				t.Errorf("answer %q", got)
			}
		},
		"X28": func(t *testing.T) {
			b := newBench(t, agentsOf("A B C", "A > B", "A > C"), play{"A": first("f", send("c1", "B", "m1"), send("c2", "C", "m2"))})
			b.ok("A", "hi")
			var kinds []string
			for _, m := range b.rows() {
				if m.CallerAgent == "" {
					kinds = append(kinds, string(m.Type)+m.CallID)
				}
			}
			equal(t, "A's rows", kinds, []string{
				"message", "function_callc1", "function_callc2", "function_call_outputc1", "function_call_outputc2", "message",
			})
			equal(t, "what A was told", b.asked("A")[1].Results(), []string{"B answers m1", "C answers m2"})
		},
	},
}

// While one run that was handed over to C is under way, A's own message to C goes on in the same rows: neither loses what
// the other does.
func TestRunThatWasHandedOverKeepsItsRowsBesideASibling(t *testing.T) {
	t.Parallel()
	var sibling <-chan struct{}
	b := newBench(t, "agents:\n  A: {instructions: x}\n  B: {instructions: x}\n  C: {instructions: x, tools: [look]}\n"+
		"communication_flows: [A > B, A > C, B > C: handoff]\n", play{
		"A": first("f", send("c1", "B", "m1"), send("c2", "C", "m2")),
		"B": inTurn(calls(handoff("h", "C"))),
		"C": func(r *llmtest.Request) llmtest.Response {
			switch {
			case r.Last == "m2":
				return text("sibling")
			case len(r.Results()) == 0:
				return calls(call("look", "look", "{}"))
			default:
				return text("saw " + strings.Join(r.Results(), "|"))
			}
		},
	}, fake{"look", func(ctx context.Context, _ string) (string, error) {
		select {
		case <-sibling:
		case <-ctx.Done():
		}
		return "the view", nil
	}})
	sibling = b.when("C", history.EventSubagentFinished)
	b.ok("A", "hi")
	equal(t, "outputs", b.outputs("A"), []string{"saw the view", "sibling"})
}
