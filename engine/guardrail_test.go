package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bureau/engine/history"
	"bureau/engine/llm/llmtest"
)

// guarded is an agency of A, which may ask B, with these keys of A and of B.
func guarded(a, b string) string {
	return fmt.Sprintf("agents:\n  A: {instructions: I am A%s}\n  B: {instructions: I am B%s}\ncommunication_flows: [A > B]\n", a, b)
}

const (
	friendly = ", input_guardrails: [{deny: secret, message: Not here.}]"
	raising  = ", input_guardrails: [{deny: secret, message: Not here., raise: true}]"
	polite   = ", output_guardrails: [{deny: damn, message: Be polite.}]"
)

// origins are the rows of the session that have an origin, in short.
func (b *bench) origins() []string {
	var list []string
	for _, m := range b.rows() {
		if m.Origin != "" {
			list = append(list, fmt.Sprintf("%s %s %s: %s", m.Agent, m.Role, m.Origin, m.Content))
		}
	}
	return list
}

// guardrailLines are the lines G of the conformance table. Here a message is judged before a model is asked, so that nothing of a
// refused one has to be taken back.
var guardrailLines = lines{
	letter: "G", last: 19,
	leftOut: map[string]string{
		"G07": noPythonAPI, "G08": "an agency is never changed after it was loaded",
		"G12": "streaming and non-streaming are one path: G10 is it",
		"G17": "a message is judged before the run begins, so a refused run has no descendants: G05 is it",
		"G18": "nothing is ever taken back from the log: G01 and X16 show the guidance at both levels",
		"G19": "nothing is ever taken back from the log",
	},
	covered: map[string]func(*testing.T){
		"G01": func(t *testing.T) {
			b := newBench(t, guarded(friendly, ""), nil)
			if got := b.ok("A", "a secret").Text; got != "Not here." {
				t.Errorf("answer %q", got)
			}
			equal(t, "rows", b.lines(), []string{"A< user: a secret", "A< input_guardrail_message"})
			equal(t, "guidance", b.origins(), []string{"A assistant input_guardrail_message: Not here."})
			if n := len(b.server.Requests()); n != 0 {
				t.Errorf("a refused message reached a model %d times", n)
			}
		},
		"G02": func(t *testing.T) {
			b := newBench(t, guarded(raising, ""), nil)
			_, err := b.say("A", "a secret")
			if code(err) != history.CodeFailed || err.Error() != "Not here." {
				t.Errorf("error %v", err)
			}
			equal(t, "rows", b.lines(), []string{"A< user: a secret", "A< input_guardrail_error"})
			equal(t, "guidance", b.origins(), []string{"A system input_guardrail_error: Not here."})
		},
		"G03": func(t *testing.T) {
			b := newBench(t, guarded(raising, ""), nil)
			_, _ = b.say("A", "a secret")
			last := b.told()[len(b.told())-1]
			if last.Type != history.EventRunError || last.Message != "Not here." || last.Code != history.CodeFailed {
				t.Errorf("last event %+v", last)
			}
		},
		"G04": func(t *testing.T) {
			b := newBench(t, guarded(friendly, ""), nil)
			b.ok("A", "a secret")
			var told []string
			for _, e := range b.told() {
				if e.Type == history.EventTextEnd {
					told = append(told, fmt.Sprintf("%s %s %s", e.Role, e.Origin, e.Content))
				}
			}
			equal(t, "messages", told, []string{"user  a secret", "assistant input_guardrail_message Not here."})
			if last := b.told()[len(b.told())-1]; last.Type != history.EventRunFinished || last.Result != "Not here." {
				t.Errorf("last event %+v", last)
			}
		},
		"G05": func(t *testing.T) {
			b := newBench(t, guarded(friendly, ""), play{"A": first("done", send("c1", "B", "help"))})
			b.ok("A", "a secret")
			for _, row := range b.rows() {
				if row.CallerAgent != "" || row.Type != history.TypeMessage {
					t.Errorf("a row of a refused run: %s", line(row))
				}
			}
		},
		"G06": func(t *testing.T) {
			b := newBench(t, guarded(raising+", validation_attempts: 2", ""), nil)
			_, _ = b.say("A", "a secret")
			if n := len(b.origins()); n != 1 {
				t.Errorf("refused %d times", n)
			}
		},
		"G09": func(t *testing.T) {
			b := newBench(t, guarded(friendly, ""), nil)
			b.ok("A", "a secret")
			b.ok("A", "hello")
			equal(t, "heard", heard(b.asked("A")[0]), []string{"user: a secret", "assistant: Not here.", "user: hello"})
		},
		"G10": func(t *testing.T) {
			b := newBench(t, guarded(polite, ""), play{"A": inTurn(text("damn"), text("fine"))})
			if got := b.ok("A", "hi").Text; got != "fine" {
				t.Errorf("answer %q", got)
			}
			equal(t, "rows", b.lines(), []string{"A< user: hi", "A< assistant: damn", "A< output_guardrail_error", "A< assistant: fine"})
			asked := b.asked("A")
			if len(asked) != 2 {
				t.Fatalf("%d model calls", len(asked))
			}
			last := asked[1].Messages[len(asked[1].Messages)-1]
			if last.Role != "system" || !strings.Contains(last.Content, "Be polite.") {
				t.Errorf("the second try ends with %+v", last)
			}
		},
		"G11": func(t *testing.T) {
			b := newBench(t, guarded(polite+", validation_attempts: 0", ""), play{"A": says("damn")})
			_, err := b.say("A", "hi")
			if code(err) != history.CodeFailed || !strings.Contains(err.Error(), "Be polite") {
				t.Errorf("error %v", err)
			}
			if got := b.lines(); len(got) != 4 || got[1] != "A< assistant: damn" {
				t.Errorf("rows %q", got)
			}
		},
		"G13": func(t *testing.T) {
			b := newBench(t, guarded(polite, ""), play{"A": says("damn")})
			_, err := b.say("A", "hi")
			if code(err) != history.CodeFailed || len(b.asked("A")) != 2 {
				t.Errorf("%v after %d attempts", err, len(b.asked("A")))
			}
			want := []string{"A< user: hi", "A< assistant: damn", "A< output_guardrail_error", "A< assistant: damn", "A< output_guardrail_error"}
			equal(t, "rows", b.lines()[:5], want)
		},
		"G14": func(t *testing.T) {
			b := newBench(t, guarded(", tools: [look]"+polite, ""), play{"A": inTurn(calls(call("c1", "look", "{}")), text("damn"), text("fine"))}, gives("look", "seen"))
			b.ok("A", "hi")
			want := []string{"A< user: hi", "A< call look", "A< output: seen", "A< assistant: damn", "A< output_guardrail_error", "A< assistant: fine"}
			equal(t, "rows", b.lines(), want)
		},
		"G15": func(t *testing.T) { // what stood before a refused message stays
			b := newBench(t, guarded(friendly, ""), play{"A": first("done", send("c1", "B", "help"))})
			b.ok("A", "hello")
			before := b.lines()
			b.ok("A", "a secret")
			after := b.lines()
			equal(t, "before", after[:len(before)], before)
			equal(t, "after", after[len(before):], []string{"A< user: a secret", "A< input_guardrail_message"})
		},
		"G16": func(t *testing.T) {
			b := newBench(t, guarded("", friendly), play{"A": first("done", send("c1", "B", "a secret"))})
			b.ok("A", "hi")
			want := []string{"A< user: hi", "A< call send_message", "B<A user: a secret", "B<A input_guardrail_message", "A< output: Not here.", "A< assistant: done"}
			equal(t, "rows", b.lines(), want)
		},
	},
}

// A guardrail in a nested run tells the sender what it tells the user at the top.
var nestedGuardrails = map[string]func(*testing.T){
	"X16": func(t *testing.T) {
		b := newBench(t, guarded("", friendly), play{"A": first("done", send("c1", "B", "a secret"))})
		b.ok("A", "hi")
		equal(t, "outputs", b.outputs("A"), []string{"Not here."})
	},
	"X17": func(t *testing.T) {
		b := newBench(t, guarded("", raising), play{"A": first("done", send("c1", "B", "a secret"))})
		b.ok("A", "hi")
		equal(t, "outputs", b.outputs("A"), []string{"Error: B could not answer: Not here."})
		equal(t, "guidance", b.origins(), []string{"B system input_guardrail_error: Not here."})
	},
	"X18": func(t *testing.T) {
		b := newBench(t, guarded("", polite), play{"A": first("done", send("c1", "B", "help")), "B": says("damn it")})
		b.ok("A", "hi")
		got := b.outputs("A")
		if len(got) != 1 || !strings.HasPrefix(got[0], "Error: B could not answer: ") || !strings.Contains(got[0], "Be polite") ||
			strings.Contains(got[0], "damn") {
			t.Errorf("outputs %q", got)
		}
	},
	"H20": func(t *testing.T) {
		yaml := "agents:\n  A: {instructions: I am A}\n  B: {instructions: I am B" + raising + "}\ncommunication_flows: [{A > B: handoff}]\n"
		b := newBench(t, yaml, play{"A": first("", handoff("c1", "B"))})
		if got := b.ok("A", "a secret").Text; !strings.Contains(got, "B answers") {
			t.Errorf("answer %q", got)
		}
	},
}

// Who answers after a handoff is held by his own rules, and a refused answer brings the conversation back to the agent that the turn
// began with.
func TestRefusedAnswerAfterAHandoff(t *testing.T) {
	t.Parallel()
	yaml := "agents:\n  A: {instructions: I am A, validation_attempts: 2}\n  B: {instructions: I am B" + polite + ", validation_attempts: 0}\n" +
		"communication_flows: [{A > B: handoff}]\n"
	b := newBench(t, yaml, play{
		"A": func(r *llmtest.Request) llmtest.Response {
			if r.Messages[len(r.Messages)-1].Role == "user" {
				return calls(handoff("c1", "B"))
			}
			return calls(handoff("c2", "B"))
		},
		"B": inTurn(text("damn"), text("fine")),
	})
	result := b.ok("A", "hi")
	if result.Text != "fine" || result.Agent != "B" {
		t.Errorf("result %+v", result)
	}
	want := []string{
		"A< user: hi", "A< call transfer_to_B", `A< output: {"assistant":"B"}`, "B< handoff_reminder", "B< assistant: damn",
		"A< output_guardrail_error", "A< call transfer_to_B", `A< output: {"assistant":"B"}`, "B< handoff_reminder", "B< assistant: fine",
	}
	equal(t, "rows", b.lines(), want)
	var control []string
	for _, e := range b.told() {
		if e.Type == history.EventCustom && e.Name == history.CustomRecipient {
			control = append(control, e.Agent)
		}
	}
	equal(t, "control", control, []string{"A", "B", "A", "B"})
}

// The rules that need no other program, at their edges.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rule, message, refused string }{
		{"{deny: '(?i)pass ?word'}", "my PassWord", "(?i)pass ?word"},
		{"{deny: x}", "y", ""},
		{"{allow: '^ticket-[0-9]+$'}", "ticket-1", ""},
		{"{allow: '^ticket-[0-9]+$'}", "a ticket", "lacks"},
		{"{max_length: 3}", "äöü", ""},
		{"{max_length: 3}", "äöüß", "4 characters; at most 3"},
		{"{json_schema: {type: object, required: [a], properties: {a: {type: integer}}}}", `{"a": 1}`, ""},
		{"{json_schema: {type: object, required: [a], properties: {a: {type: integer}}}}", `{"b": 1}`, "a"},
		{"{json_schema: {type: object}}", "no object", "JSON object"},
	} {
		b := newBench(t, guarded(", input_guardrails: ["+c.rule+"]", ""), nil)
		got := b.ok("A", c.message).Text
		if refused := strings.HasPrefix(got, "This message was not accepted"); refused != (c.refused != "") || !strings.Contains(got, c.refused) {
			t.Errorf("%s: %q is answered by %q", c.rule, c.message, got)
		}
	}
}

// The first rule that is broken counts.
func TestRulesInOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t, guarded(", input_guardrails: [{max_length: 100}, {deny: b, message: second}, {deny: a, message: third}]", ""), nil)
	if got := b.ok("A", "ab").Text; got != "second" {
		t.Errorf("answer %q", got)
	}
}

// A model that judges is asked like any other: its requests are counted, and what it cannot say lets nothing pass.
func TestModelThatJudges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		judge   []llmtest.Response
		answer  string
		code    history.Code
		request int
	}{
		{"yes", []llmtest.Response{text(`{"answer":"yes","reason":"It is."}`)}, "A answers hi", "", 1},
		{"no", []llmtest.Response{text(`{"answer":"no","reason":"It is about birds."}`)}, "This message was not accepted: It is about birds.", "", 1},
		{"in words", []llmtest.Response{text("No. It is about birds.")}, "This message was not accepted: It is about birds.", "", 1},
		{"in a fence", []llmtest.Response{text("```json\n{\"answer\":\"yes\",\"reason\":\"ok\"}\n```")}, "A answers hi", "", 1},
		{"once unsure", []llmtest.Response{text("Maybe."), text("yes")}, "A answers hi", "", 2},
		{"never sure", []llmtest.Response{text("Maybe.")}, "", history.CodeModel, 2},
		{"refused", []llmtest.Response{fault(401, "no key")}, "", history.CodeModel, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			judge := inTurn(c.judge...)
			asked := 0
			b := newBench(t, guarded(`, input_guardrails: [{judge: "Is it about fish?"}]`, ""), play{"A": func(r *llmtest.Request) llmtest.Response {
				if !strings.Contains(r.System, "Is it about fish?") {
					return text("A answers " + r.Last)
				}
				asked++
				if r.Fields["response_format"] == nil || !strings.Contains(r.Last, "hi") {
					t.Errorf("the judge is asked %s", r.Body)
				}
				return judge(r)
			}})
			result, err := b.say("A", "hi")
			if result.Text != c.answer || code(err) != c.code || asked != c.request {
				t.Errorf("%q, %v after %d questions", result.Text, err, asked)
			}
			total := int64(asked)
			if c.answer == "A answers hi" {
				total++
			}
			if usage, err := b.store.Usage(t.Context(), b.session); err != nil || usage.Requests != total || result.Usage.Requests != total {
				t.Errorf("%d requests counted, %d in the result, %v", usage.Requests, result.Usage.Requests, err)
			}
			if rows := b.lines(); slices.ContainsFunc(rows, func(s string) bool { return strings.Contains(s, "judge") }) {
				t.Errorf("rows %q", rows)
			}
		})
	}
}
