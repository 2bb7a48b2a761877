package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"bureau/engine"
	"bureau/engine/history"
	"bureau/engine/llm/llmtest"
	"bureau/engine/llm/openai"
	"bureau/engine/tool"
	"bureau/store"
)

// stored is a row of a history that was not made by this program's engine.
func stored(kind history.Type, agent, callID, name, content string) history.Message {
	m := history.Message{
		Type: kind, Agent: agent, CallID: callID, Name: name, RunID: "r0", TraceID: "t0",
		Protocol: history.ProtocolChatCompletions, Status: history.StatusCompleted,
	}
	if kind == history.TypeCall {
		m.Arguments = content
	} else {
		m.Content = content
	}
	return m
}

var recordLines = lines{
	letter: "T", last: 38,
	leftOut: map[string]string{
		"T05": noPythonAPI, "T06": noCallbacks, "T07": noCallbacks, "T08": noCallbacks, "T09": noCallbacks, "T10": noCallbacks,
		"T11": noCallbacks, "T12": noCallbacks + "; a row that cannot be written ends the run, see TestRowThatCannotBeWrittenEndsTheTurn",
		"T17": noPythonAPI, "T20": noAttachments, "T22": "no message has the role of a tool: outputs are rows of their own",
		"T25": "history is neutral: no model expects a protocol", "T26": "history is neutral: no thread is incompatible with a model",
		"T30": "nothing on record is ever removed or deduplicated", "T35": "rows are written as they stream; nothing is collected at the end", "T36": noAttachments, "T37": noHostedTools,
	},
	covered: map[string]func(*testing.T){
		"T21": itemLines["T21"], "T28": itemLines["T28"], "T29": itemLines["T29"], "T32": itemLines["T32"], "T33": itemLines["T33"],
		"T01": func(t *testing.T) {
			if rows := newBench(t, agentsOf("A"), nil).rows(); len(rows) != 0 {
				t.Errorf("a new session has %d rows", len(rows))
			}
		},
		"T02": func(t *testing.T) {
			rows := append(record("r0", "", "user A one"),
				stored(history.TypeCall, "A", "c", "t", "{}"), stored(history.TypeCall, "A", "c", "t", "{}"),
				stored(history.TypeOutput, "A", "c", "t", "x"), stored(history.TypeOutput, "A", "c", "t", "x"))
			b := setup{rows: rows}.bench(t, agentsOf("A"), nil)
			before := b.rows()
			b.ok("A", "two")
			b.ok("A", "three")
			after := b.rows()
			for i := range before {
				if line(before[i]) != line(after[i]) || before[i].ID != after[i].ID {
					t.Errorf("row %d changed from %s to %s", i, line(before[i]), line(after[i]))
				}
			}
		},
		"T03": func(t *testing.T) {
			b := newBench(t, agentsOf("A B")+"entry_points: [A, B]\n", nil)
			b.ok("A", "one")
			b.ok("B", "two")
			b.ok("A", "three")
			want := []string{"user: one", "assistant: A answers one", "user: two"}
			equal(t, "B's input", heard(b.asked("B")[0]), want)
			equal(t, "A's input", heard(b.asked("A")[1])[:3], want)
		},
		"T04": func(t *testing.T) {
			b := newBench(t, twoAgents, play{"A": first("f", send("c1", "B", "private"))})
			b.ok("A", "public")
			user, err := b.store.Rows(t.Context(), b.session, history.UserThread, 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			pair, err := b.store.Rows(t.Context(), b.session, history.Pair("A", "B"), 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			if len(user) != 4 || len(pair) != 2 {
				t.Errorf("%d rows with the user, %d between the agents", len(user), len(pair))
			}
			if body := string(b.asked("B")[0].Body); strings.Contains(body, "public") {
				t.Errorf("B was sent %s", body)
			}
		},
		"T13": func(t *testing.T) {
			b := newBench(t, twoAgents, play{"A": inTurn(calls(send("c1", "B", "m1")), text("f1"), calls(send("c2", "B", "m2")), text("f2"))})
			b.ok("A", "one")
			path := b.store.Path()
			if err := b.store.Close(); err != nil {
				t.Fatal(err)
			}
			var err error
			if b.store, err = store.Open(t.Context(), path); err != nil {
				t.Fatal(err)
			}
			b.stores = append(b.stores, b.store)
			b.engine = b.newEngine(b.parse(twoAgents))
			b.ok("A", "two")
			equal(t, "B's input after a restart", heard(b.asked("B")[1]), []string{"user: m1", "assistant: B answers m1", "user: m2"})
			equal(t, "A's input after a restart", heard(b.asked("A")[2]), []string{
				"user: one", "assistant:  +send_message", "tool: B answers m1", "assistant: f1", "user: two",
			})
		},
		"T14": func(t *testing.T) {
			b := newBench(t, agentsOf("A"), nil)
			b.ok("A", "one")
			b.begin("other")
			if _, err := b.engine.Turn(t.Context(), turnOf("other", "A", "two")); err != nil {
				t.Fatal(err)
			}
			equal(t, "the other session's input", heard(b.asked("A")[1]), []string{"user: two"})
		},
		"T15": func(t *testing.T) { // a row is on record when the thing happens
			var b *bench
			b = newBench(t, agentsOf("A"), play{"A": func(*llmtest.Request) llmtest.Response {
				equal(t, "rows when the model is asked", b.lines(), []string{"A< user: hi"})
				return text("r")
			}})
			b.ok("A", "hi")
			equal(t, "rows", b.lines(), []string{"A< user: hi", "A< assistant: r"})
		},
		"T16": func(t *testing.T) {
			var b *bench
			b = newBench(t, twoAgents, play{
				"A": first("f", send("c1", "B", "m")),
				"B": func(*llmtest.Request) llmtest.Response {
					equal(t, "rows when B is asked", b.lines(), []string{"A< user: hi", "A< call send_message", "B<A user: m"})
					return text("r")
				},
			})
			b.ok("A", "hi")
		},
		"T18": func(t *testing.T) {
			b := newBench(t, agentsOf("A B C", "A > B > C"), threeLevels)
			b.ok("A", "hi")
			for _, m := range b.rows() {
				if m.Agent == "" || m.RunID == "" || m.TraceID == "" || m.CreatedAt <= 0 || m.Protocol == "" || m.Status == "" || m.ID == 0 || m.Type == "" {
					t.Errorf("a label is missing: %+v", m)
				}
			}
		},
		"T19": func(t *testing.T) {
			b := newBench(t, agentsOf("A B C", "A > B > C"), threeLevels)
			b.ok("A", "hi")
			for _, r := range b.server.Requests() {
				for _, m := range r.Messages {
					for field := range m.Fields {
						if !slices.Contains([]string{"role", "content", "tool_calls", "tool_call_id"}, field) {
							t.Errorf("a message has the field %s", field)
						}
					}
				}
			}
		},
		"T23": func(t *testing.T) { // a history of both protocols goes on
			rows := record("r0", "", "user A one", "assistant A two")
			rows[0].Protocol = history.ProtocolResponses
			c := stored(history.TypeCall, "A", "c", "look", "{}")
			c.Protocol = history.ProtocolResponses
			b := setup{rows: append(rows, c, stored(history.TypeOutput, "A", "c", "look", "seen"))}.bench(t, agentsOf("A"), nil)
			b.ok("A", "three")
			equal(t, "A's input", heard(b.asked("A")[0]), []string{"user: one", "assistant: two +look", "tool: seen", "user: three"})
		},
		"T24": func(t *testing.T) {
			rows := record("r0", "", "user A one", "assistant A two")
			for i := range rows {
				rows[i].Protocol = history.ProtocolResponses
			}
			b := setup{rows: rows}.bench(t, agentsOf("A"), nil)
			b.ok("A", "three")
			equal(t, "A's input", heard(b.asked("A")[0]), []string{"user: one", "assistant: two", "user: three"})
		},
		"T27": func(t *testing.T) { // repaired when woven, and never on record
			rows := append(record("r0", "", "user A one"), stored(history.TypeOutput, "A", "lost", "t", "orphan"), stored(history.TypeCall, "A", "open", "t", "{}"))
			b := setup{rows: rows}.bench(t, agentsOf("A"), nil)
			for _, message := range []string{"two", "three"} {
				b.ok("A", message)
			}
			for _, r := range b.asked("A") {
				got := heard(r)
				equal(t, "A's input", got[:2], []string{"user: one", "assistant:  +t"})
				holds(t, "the output of the open call", strings.ToLower(got[2]), "tool: ", "interrupted")
			}
			if rows := b.rows(); len(rows) != 3+4 {
				t.Errorf("%d rows: %q", len(rows), b.lines())
			}
		},
		"T31": func(t *testing.T) {
			look := gives("look", "seen")
			b := newBench(t, "agents:\n  A: {instructions: x, tools: [look]}\n", play{
				"A": inTurn(calls(call("same", "look", "{}"), call("same", "look", `{"x":1}`)), calls(call("same", "look", "{}")), text("f")),
			}, look)
			b.ok("A", "hi")
			ids, wire := map[string]int{}, 0
			for _, m := range b.rows() {
				if m.CallID != "" {
					ids[m.CallID]++
				}
				if m.Extra.WireID == "same" {
					wire++
				}
			}
			if len(ids) != 3 || wire != 2 {
				t.Errorf("call ids %v, %d of them replaced", ids, wire)
			}
			for id, n := range ids {
				if n != 2 {
					t.Errorf("%d rows have the id %s", n, id)
				}
			}
			for _, e := range b.told() {
				if e.CallID != "" && ids[e.CallID] == 0 {
					t.Errorf("an event tells of a call %s", e.CallID)
				}
			}
			for _, c := range b.asked("A")[2].Messages[2].Calls {
				if ids[c.ID] == 0 {
					t.Errorf("a request has a call %s", c.ID)
				}
			}
		},
		"T34": func(t *testing.T) {
			b := setup{
				server: []llmtest.Option{llmtest.RequireReasoning()}, dialect: openai.Dialect{ReturnReasoning: true},
			}.bench(t, twoAgents, play{"A": func(r *llmtest.Request) llmtest.Response {
				if len(r.Results()) == 0 {
					return llmtest.Response{Reasoning: "I had better ask.", Calls: []llmtest.Call{send("", "B", "m")}}
				}
				return llmtest.Response{Reasoning: "Good.", Text: "f"}
			}})
			b.ok("A", "one")
			b.ok("A", "two")
			if got := b.lines()[1]; got != "A< reasoning: I had better ask." {
				t.Errorf("the second row is %q", got)
			}
		},
		"T38": func(t *testing.T) { // one trace per turn, nested runs included
			b := newBench(t, twoAgents, play{"A": first("f", send("", "B", "m"))})
			one, two := b.ok("A", "one"), b.ok("A", "two")
			if one.TraceID == two.TraceID {
				t.Error("two turns share a trace")
			}
			for i, m := range b.rows() {
				if want := []string{one.TraceID, two.TraceID}[i/6]; m.TraceID != want {
					t.Errorf("%s has the trace %s, want %s", line(m), m.TraceID, want)
				}
			}
		},
	},
}

// failingLog fails to write a row of a kind.
type failingLog struct {
	*store.Store
	kind history.Type
}

func (l failingLog) AppendAll(ctx context.Context, rows []*history.Message) error {
	for _, m := range rows {
		if m.Type == l.kind {
			return context.DeadlineExceeded
		}
	}
	return l.Store.AppendAll(ctx, rows)
}

func TestRowThatCannotBeWrittenEndsTheTurn(t *testing.T) {
	t.Parallel()
	for _, kind := range []history.Type{history.TypeMessage, history.TypeCall, history.TypeOutput} {
		var ran int
		look := fake{"look", func(context.Context, string) (string, error) { ran++; return "seen", nil }}
		b := setup{
			tools: []tool.Tool{look}, log: func(s *store.Store) engine.Log { return failingLog{s, kind} },
		}.bench(t, "agents:\n  A: {instructions: x, tools: [look]}\n", play{"A": first("f", call("c", "look", "{}"))})
		_, err := b.say("A", "hi")
		if code(err) != history.CodeFailed {
			t.Errorf("%s: the turn ended with %v", kind, err)
		}
		if kind != history.TypeOutput && ran > 0 {
			t.Errorf("%s: a tool ran whose call is not on record", kind)
		}
		ends := 0
		for _, e := range b.told() {
			if e.Type == history.EventRunError {
				ends++
			}
		}
		if ends != 1 {
			t.Errorf("%s: %d end events", kind, ends)
		}
	}
}

// What a killed process left in a file reads as interrupted, and the next turn is accepted.
func TestKilledProcessLeavesASessionThatGoesOn(t *testing.T) {
	t.Parallel()
	rows := append(record("r0", "", "user A one", "assistant A half a"), stored(history.TypeCall, "A", "c", "look", ""))
	for i := range rows[1:] {
		rows[i+1].Status = history.StatusStreaming
	}
	b := newBench(t, agentsOf("A"), nil)
	for i := range rows {
		rows[i].SessionID = b.session
		if err := b.store.Append(t.Context(), &rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	b.ok("A", "two")
	equal(t, "A's input", heard(b.asked("A")[0]), []string{"user: one", "assistant: half a", "user: two"})
	equal(t, "rows", b.lines()[:3], []string{"A< user: one", "A< assistant: half a (interrupted)", "A< call look (interrupted)"})
}

func TestMalformedArgumentsAreNeverCarriedOut(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{
		`{"path": "a.txt", "content": "unterminated`, `{"x": 1,}`, `{'x': 1}`, `{"x":1} {"x":2}`, `[1]`, `{"x":1,"x":2}`, "\xff", `"text"`,
	} {
		ran := 0
		b := newBench(t, "agents:\n  A: {instructions: x, tools: [look]}\n", play{"A": inTurn(calls(call("c", "look", arguments)), text("f"))},
			fake{"look", func(context.Context, string) (string, error) { ran++; return "", nil }})
		b.ok("A", "hi")
		if ran != 0 {
			t.Errorf("%q was carried out", arguments)
		}
		out := b.outputs("A")
		if len(out) != 1 {
			t.Fatalf("%q: outputs %q", arguments, out)
		}
		holds(t, arguments, out[0], "Error: ", "byte", `"type":"object"`)
		m := b.rows()[1]
		if m.Arguments != "{}" || !json.Valid([]byte(m.Arguments)) || m.Extra.RawArguments == "" {
			t.Errorf("%q: stored %q beside %q", arguments, m.Arguments, m.Extra.RawArguments)
		}
	}
}

func TestReplyThatIsCutOffIsNotCarriedOut(t *testing.T) {
	t.Parallel()
	whole := `{"x":"some text","y":[1,2]}`
	for k := 0; k <= len(whole); k += 3 {
		ran := 0
		b := newBench(t, "agents:\n  A: {instructions: x, tools: [look]}\n", play{"A": inTurn(
			llmtest.Response{Calls: []llmtest.Call{call("c", "look", whole[:k])}, Finish: "length"}, text("f"), text("g"),
		)}, fake{"look", func(context.Context, string) (string, error) { ran++; return "", nil }})
		b.ok("A", "one")
		b.ok("A", "two")
		if ran != 0 {
			t.Errorf("cut at %d: carried out", k)
		}
		holds(t, "the output", b.outputs("A")[0], "Error: ", "output limit", "max_output_tokens")
	}
}

func TestToolsThatAreNotThere(t *testing.T) {
	t.Parallel()
	for name, near := range map[string]string{"loook": "look", "": "look", "get_US_A PresidentialInformationService": "look", "LOOK": "look", "transfer_to_Zed": "transfer_to_B"} {
		b := newBench(t, "agents:\n  A: {instructions: x, tools: [look]}\n  B: {instructions: x}\ncommunication_flows: [A > B: handoff]\n",
			play{"A": inTurn(calls(call("c", name, "{}")), calls(call("c2", "look", "{}")), text("f"))}, gives("look", "seen"))
		if got := b.ok("A", "hi").Text; got != "f" {
			t.Errorf("%q: answer %q", name, got)
		}
		holds(t, "the output for "+name, b.outputs("A")[0], "Error: ", near)
		if m := b.rows()[1]; m.Name == "" {
			t.Errorf("%q: stored without a name", name)
		}
	}
}

func TestEmptyAnswersNeverStayOnRecord(t *testing.T) {
	t.Parallel()
	for _, option := range []llmtest.Option{llmtest.RefuseNullContent(), llmtest.RefuseEmptyContent(), llmtest.RequireContent()} {
		b := setup{server: []llmtest.Option{option}, refusals: true}.bench(t, twoAgents, play{
			"A": inTurn(text(""), calls(send("", "B", "m")), text("one"), llmtest.Response{Text: " \n"}, text(""), calls(send("", "B", "m")), text("three")),
		})
		b.ok("A", "first")
		if _, err := b.say("A", "second"); code(err) != history.CodeModel || !strings.Contains(err.Error(), "empty") {
			t.Errorf("two empty answers: %v", err)
		}
		if got := b.ok("A", "third").Text; got != "three" {
			t.Errorf("answer %q", got)
		}
		for _, m := range b.rows() {
			if m.Type == history.TypeMessage && strings.TrimSpace(m.Content) == "" {
				t.Errorf("stored: %s", line(m))
			}
		}
		holds(t, "the second try", b.asked("A")[1].System, "empty")
	}
}
