package engine_test

import (
	"strings"
	"testing"

	"bureau/engine/history"
	"bureau/engine/llm/llmtest"
	"bureau/engine/llm/openai"
)

const verdict = ", output_type: {type: object, required: [ok, why], additionalProperties: false, properties: {ok: {type: boolean}, why: {type: string}}}"

// An answer of a type is asked for by the server's own setting, checked, and given on as bare JSON; a sender gets it as JSON too.
func TestStructuredAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, said, want string }{
		{"bare", `{"ok": true, "why": "fine"}`, `{"ok": true, "why": "fine"}`},
		{"in a fence", "Here it is:\n```json\n{\"ok\": true, \"why\": \"fine\"}\n```\nBye.", `{"ok": true, "why": "fine"}`},
		{"mended", `{"ok": "true", "why": "fine", "more": 1}`, `{"ok":true,"why":"fine"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, guarded("", verdict), play{"A": first("done", send("c1", "B", "m")), "B": says(c.said)})
			if got := b.ok("B", "hi").Text; got != c.want {
				t.Errorf("answer %q", got)
			}
			b.ok("A", "hi")
			equal(t, "outputs", b.outputs("A"), []string{c.want})
			format := string(b.asked("B")[0].Fields["response_format"])
			holds(t, "the request", format, `"json_schema"`, `"strict":true`, `"why"`)
			if a := b.asked("A")[0].Fields["response_format"]; a != nil {
				t.Errorf("A has no type, and is asked for %s", a)
			}
			if rows := b.lines(); rows[1] != "B< assistant: "+c.said {
				t.Errorf("the row does not hold what the model said: %q", rows[1])
			}
		})
	}
}

// An answer that does not fit is told what is wrong, within validation_attempts.
func TestAnswerThatDoesNotFit(t *testing.T) {
	t.Parallel()
	b := newBench(t, guarded(verdict+", validation_attempts: 2", ""), play{"A": inTurn(text("no object"), text(`{"ok": 5}`), text(`{"ok": false, "why": "x"}`))})
	if got := b.ok("A", "hi").Text; got != `{"ok": false, "why": "x"}` {
		t.Errorf("answer %q", got)
	}
	told := b.origins()
	if len(told) != 2 {
		t.Fatalf("told %q", told)
	}
	holds(t, "the first word", told[0], "A system output_guardrail_error", "JSON", `"required":["ok","why"]`)
	holds(t, "the second word", told[1], "ok", "boolean", "why")

	b = newBench(t, guarded(verdict+", validation_attempts: 0", ""), play{"A": says("no object")})
	if _, err := b.say("A", "hi"); code(err) != history.CodeFailed || len(b.asked("A")) != 1 {
		t.Errorf("%v after %d model calls", err, len(b.asked("A")))
	}
}

// The rules for answers see the object as it is given on.
func TestRuleForAStructuredAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t, guarded(verdict+`, output_guardrails: [{deny: '"ok": ?false', message: Say yes.}]`, ""),
		play{"A": inTurn(text(`{"ok": "false", "why": "x"}`), text(`{"ok": true, "why": "x"}`))})
	if got := b.ok("A", "hi").Text; got != `{"ok": true, "why": "x"}` {
		t.Errorf("answer %q", got)
	}
}

// Where a server cannot do both, tools are offered and the type is asked for in words.
func TestStructuredAnswerAndTools(t *testing.T) {
	t.Parallel()
	b := setup{dialect: openai.Dialect{OneSystemFirst: true, FormatOrTools: true}, server: []llmtest.Option{llmtest.StrictTemplate()}}.bench(t,
		guarded(verdict, verdict), play{"A": first(`{"ok": true, "why": "x"}`, send("c1", "B", "m")), "B": says(`{"ok": true, "why": "y"}`)})
	b.ok("A", "hi")
	a := b.asked("A")[0]
	if a.Fields["response_format"] != nil || !strings.Contains(a.System, `"required":["ok","why"]`) {
		t.Errorf("A is asked %s", a.Body)
	}
	if b.asked("B")[0].Fields["response_format"] == nil {
		t.Error("B has no tools, and is asked in words")
	}
}

// An agent says what it wants to be sent, and gets it as lines.
func TestInputOfARecipient(t *testing.T) {
	t.Parallel()
	yaml := func(c string) string {
		return "agents:\n  A: {instructions: I am A}\n" +
			"  B: {instructions: I am B, description: Books, capabilities: [find books, read], cannot_do: [write], " +
			"input: {type: object, required: [topic], properties: {topic: {type: string}, years: {type: integer}}}}\n" + c
	}
	message := func(json string) llmtest.Call {
		return call("c1", "send_message", `{"recipient_agent":"B","message":`+json+`,"additional_instructions":""}`)
	}
	only := yaml("communication_flows: [A > B]\n")
	for _, c := range []struct{ name, sent, heard, refused string }{
		{"an object", `{"years":3,"topic":"fish"}`, "topic: fish\nyears: 3", ""},
		{"an object as a text", `"{\"topic\":\"fish\"}"`, "topic: fish", ""},
		{"a number as a text", `{"topic":"fish","years":"3"}`, "topic: fish\nyears: 3", ""},
		{"more than it knows", `{"topic":"fish","also":[1]}`, "topic: fish\nalso: [1]", ""},
		{"a text", `"fish"`, "", "must be an object that fits this schema"},
		{"too little", `{"years":3}`, "", "topic"},
		{"nothing", `null`, "", "must be an object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, only, play{"A": first("done", message(c.sent))})
			b.ok("A", "hi")
			if c.refused != "" {
				holds(t, "the output", b.outputs("A")[0], "Error: ", c.refused)
				if n := len(b.asked("B")); n != 0 {
					t.Errorf("B was asked %d times", n)
				}
				return
			}
			if got := b.asked("B")[0].Last; got != c.heard {
				t.Errorf("B heard %q", got)
			}
		})
	}

	b := newBench(t, only, nil)
	b.ok("A", "hi")
	offered := b.asked("A")[0].Tools[0]
	holds(t, "the description", offered.Description, "B: Books Can: find books; read. Cannot: write.")
	holds(t, "the parameters", string(offered.Parameters), `"message":{"type":"object","required":["topic"]`)

	b = newBench(t, yaml("  C: {instructions: I am C}\nsend_message: {name: ask_colleague, description: Ask one.}\ncommunication_flows: [A > B, A > C]\n"),
		play{"A": first("done", call("c1", "ask_colleague", `{"recipient_agent":"C","message":"plain"}`))})
	b.ok("A", "hi")
	offered = b.asked("A")[0].Tools[0]
	if offered.Name != "ask_colleague" || !strings.HasPrefix(offered.Description, "Ask one.\n") {
		t.Errorf("the send tool is %s: %s", offered.Name, offered.Description)
	}
	holds(t, "the parameters", string(offered.Parameters), "anyOf", "C takes a text", "B takes an object with topic, years")
	if got := b.asked("C")[0].Last; got != "plain" {
		t.Errorf("C heard %q", got)
	}
}

// What a server names as sources is on the row, in the event, and never sent back.
func TestCitationsAreKept(t *testing.T) {
	t.Parallel()
	raw := `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Fish.","annotations":[{"type":"url_citation","url_citation":{"url":"https://a.example","title":"A","start_index":0,"end_index":4}}]},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	b := newBench(t, "agents: {A: {instructions: x}}", play{"A": inTurn(llmtest.Response{Raw: []byte(raw)}, text("ok"))})
	b.ok("A", "hi")
	want := history.Citation{URL: "https://a.example", Title: "A", End: 4}
	if got := b.rows()[1].Extra.Sources(); len(got) != 1 || got[0] != want {
		t.Errorf("the row has %+v", got)
	}
	told := 0
	for _, e := range b.told() {
		if len(e.Citations) == 1 && e.Citations[0] == want {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
	b.ok("A", "more")
	if body := string(b.asked("A")[1].Body); strings.Contains(body, "a.example") {
		t.Errorf("sent back: %s", body)
	}
}
