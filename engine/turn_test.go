package engine_test

import (
	"strings"
	"sync"
	"testing"

	"bureau/engine"
	"bureau/engine/history"
	"bureau/engine/llm/llmtest"
)

const looks = "agents:\n  A: {instructions: I am A, tools: [look]}\n  B: {instructions: I am B}\ncommunication_flows: [A > B]\n"

// ends checks that a message to an agent is refused before anything is stored.
func ends(to, message string, parts ...string) func(*testing.T) {
	return func(t *testing.T) {
		b := newBench(t, agentsOf("A B", "A > B"), nil)
		_, err := b.say(to, message)
		if code(err) != history.CodeFailed {
			t.Fatalf("the turn ended with %v", err)
		}
		holds(t, "the error", err.Error(), parts...)
		if rows := b.lines(); len(rows) > 0 {
			t.Errorf("stored: %q", rows)
		}
		told := b.told()
		if last := told[len(told)-1]; last.Type != history.EventRunError || last.Code != history.CodeFailed {
			t.Errorf("the last event is %+v", last)
		}
	}
}

var turnLines = lines{
	letter: "E", last: 29,
	leftOut: map[string]string{
		"E05": "an agent without instructions is a fault of the file", "E10": noPythonAPI,
		"E12": "a turn has no variables of its own: what a tool sets is the session's", "E13": "a turn is given no variables that it could change", "E14": noPythonAPI, "E15": noPythonAPI, "E16": "an agent runs within a session; T14 shows that sessions share nothing",
		"E17": "a turn begins with one text; several messages of the user in a row, as imports have them, are in R05 and X19",
		"E24": noPythonAPI, "E28": noAttachments, "E29": noAttachments,
	},
	covered: map[string]func(*testing.T){
		"E11": sharedVariables["E11"], "E23": toolAnswers["E23"],
		"E01": func(t *testing.T) {
			b := newBench(t, twoAgents, play{"A": inTurn(calls(sendWith("", "B", "m", "More.")), calls(send("", "B", "m")), text("f"))})
			b.ok("A", "hi")
			equal(t, "B's prompts", []string{b.asked("B")[0].System, b.asked("B")[1].System}, []string{"I am B\n\nMore.", "I am B"})
		},
		"E02": func(t *testing.T) {
			b := newBench(t, "shared_instructions: Shared.\n"+twoAgents, play{"A": first("f", sendWith("", "B", "m", "More."))})
			b.ok("A", "hi")
			equal(t, "B's prompt", []string{b.asked("B")[0].System}, []string{"Shared.\n\nI am B\n\n---\n\nMore."})
		},
		"E03": func(t *testing.T) {
			b := newBench(t, "shared_instructions: Old.\n"+twoAgents, nil)
			b.ok("A", "one")
			b.engine = b.newEngine(b.parse("shared_instructions: New.\n" + twoAgents))
			b.ok("A", "two")
			equal(t, "A's prompts", []string{b.asked("A")[0].System, b.asked("A")[1].System}, []string{"Old.\n\nI am A", "New.\n\nI am A"})
		},
		"E04": func(t *testing.T) {
			b := newBench(t, "shared_instructions: Shared.\n"+twoAgents, play{"A": inTurn(
				calls(send("", "B", "m")), calls(call("", "send_message", `{"recipient_agent":"B","message":"m","additional_instructions":null}`)), text("f"),
			)})
			b.ok("A", "hi")
			for _, r := range b.asked("B") {
				equal(t, "B's prompt", []string{r.System}, []string{"Shared.\n\nI am B"})
			}
		},
		"E06": sends(twoAgents, "send_message", `{"recipient_agent":"B","message":"m","additional_instructions":5}`, "additional_instructions", "string"),
		"E07": ends("X", "hi", `"X"`, "no agent"),
		"E08": ends("a", "hi", `"a"`, "no agent"),
		"E09": ends("", "hi", "no agent"),
		"E18": func(t *testing.T) {
			ends("A", "", "empty")(t)
			ends("A", " \n\t", "empty")(t)
		},
		"E19": func(t *testing.T) { // an error of the model ends the run with a failed row, and the next turn works
			b := newBench(t, twoAgents, play{"A": inTurn(fault(400, "burst"), text("r"))})
			_, err := b.say("A", "one")
			if code(err) != history.CodeModel {
				t.Errorf("the turn ended with %v", err)
			}
			holds(t, "the error", err.Error(), "burst", "strict/A")
			rows := b.rows()
			if len(rows) != 2 || rows[1].Status != history.StatusFailed || rows[1].Origin != history.OriginError || rows[1].Extra.Code != "model" {
				t.Errorf("rows %q", b.lines())
			}
			b.ok("A", "two")
			equal(t, "A's next input", heard(b.asked("A")[1]), []string{"user: one", "user: two"})
		},
		"E20": func(t *testing.T) {
			b := newBench(t, looks, play{"A": inTurn(calls(call("c", "look", "{}")), fault(400, "burst"))}, gives("look", "seen"))
			result, err := b.say("A", "one")
			if code(err) != history.CodeModel || result.Text != "" {
				t.Errorf("the turn ended with %q, %v", result.Text, err)
			}
			equal(t, "what is kept", b.lines()[:3], []string{"A< user: one", "A< call look", "A< output: seen"})
		},
		"E21": sends(twoAgents, "nope", `{}`, `"nope"`, "send_message"),
		"E22": func(t *testing.T) {
			b := newBench(t, looks+"limits: {max_calls: 1}\n", play{"A": inTurn(calls(call("c", "look", "{}")))}, gives("look", "seen"))
			_, err := b.say("A", "one")
			if code(err) != history.CodeLimit {
				t.Errorf("the turn ended with %v", err)
			}
			holds(t, "the error", err.Error(), "max_calls", "1")
			equal(t, "what is kept", b.lines()[:3], []string{"A< user: one", "A< call look", "A< output: seen"})
		},
		"E25": func(t *testing.T) {
			b := newBench(t, "shared_instructions: Shared.\n"+twoAgents, play{"A": first("f", send("", "B", "m"))})
			several(t, b, b.engine, b.engine)
		},
		"E26": func(t *testing.T) {
			b := newBench(t, twoAgents, play{"A": first("f", send("", "B", "m"))})
			several(t, b, b.engine, b.newEngine(b.parse(twoAgents)))
		},
		"E27": func(t *testing.T) {
			b := newBench(t, "shared_instructions: Shared.\n"+twoAgents, play{"A": first("f", sendWith("", "B", "m", "More."))})
			several(t, b, b.engine, b.engine)
			b.ok("B", "after")
			for i, r := range b.asked("B") {
				want := "Shared.\n\nI am B\n\n---\n\nMore."
				if i == len(b.asked("B"))-1 {
					want = "Shared.\n\nI am B"
				}
				equal(t, "B's prompt", []string{r.System}, []string{want})
			}
		},
	},
}

// several runs a turn in each of eight sessions at once, with the engines in turn, and checks that none saw another.
func several(t *testing.T, b *bench, engines ...*engine.Engine) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range 8 {
		session := strings.Repeat("x", i+1)
		b.begin(session)
		wg.Go(func() {
			if result, err := engines[i%len(engines)].Turn(t.Context(), turnOf(session, "A", "hi "+session)); err != nil || result.Text != "f" {
				t.Errorf("session %s: %q, %v", session, result.Text, err)
			}
		})
	}
	wg.Wait()
	for i := range 8 {
		rows, err := b.store.All(t.Context(), strings.Repeat("x", i+1), 0, 100)
		if err != nil || len(rows) != 6 {
			t.Errorf("session %d has %d rows, %v", i, len(rows), err)
		}
	}
}

// A mention addresses an agent once: who has control does not change.
func TestMessageForOneTurnLeavesControlWhereItIs(t *testing.T) {
	t.Parallel()
	b := newBench(t, agentsOf("A B"), nil)
	input := turnOf(b.session, "B", "hi")
	input.Once = true
	if _, err := b.engine.Turn(t.Context(), input); err != nil {
		t.Fatal(err)
	}
	if got := b.hasControl(); got != "A" || len(b.custom("recipient")) != 0 {
		t.Errorf("control is with %s, events %v", got, b.custom("recipient"))
	}
}

// A tool that breaks is an error for the model; the other calls of the reply keep their results.
func TestToolsThatFail(t *testing.T) {
	t.Parallel()
	b := newBench(t, "agents:\n  A: {instructions: x, tools: [good, bad, worse]}\n", play{"A": func(r *llmtest.Request) llmtest.Response {
		if len(r.Results()) == 0 {
			return calls(call("c1", "bad", "{}"), call("c2", "good", `{"z":1}`), call("c3", "worse", "{}"))
		}
		return text("f")
	}}, gives("good", "fine"), failing("bad", "no such file"), breaking("worse"))
	b.ok("A", "hi")
	out := b.outputs("A")
	if len(out) != 3 {
		t.Fatalf("outputs %q", out)
	}
	holds(t, "the failure", out[0], "Error: ", "no such file")
	holds(t, "the result", out[1], "fine")
	holds(t, "the break", out[2], "Error: ", "index out of range")
	b.ok("A", "again")
}
