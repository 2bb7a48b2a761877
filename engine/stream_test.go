package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"bureau/engine"
	"bureau/engine/history"
	"bureau/engine/llm/llmtest"
)

// story is the events in short, without deltas and what is told of the user's and the senders' words: who, what, which call.
func (b *bench) story() []string {
	var list []string
	for _, e := range b.told() {
		switch {
		case e.Type == history.EventTextContent, e.Type == history.EventCallArgs, e.Role == history.RoleUser:
		case e.Type == history.EventCustom && e.Name != history.CustomHandoff:
		default:
			short := strings.NewReplacer("TEXT_MESSAGE_", "text ", "TOOL_CALL_", "call ", "SUBAGENT_", "nested ", "RUN_", "run ").Replace(string(e.Type))
			if e.Type == history.EventCustom {
				short = fmt.Sprint(e.Value)
			}
			list = append(list, strings.TrimSpace(e.Agent+" "+strings.ToLower(short)+" "+e.CallID))
		}
	}
	return list
}

// stopped runs a turn whose context ends when stop is received from, and returns how it ended.
func (b *bench) stopped(to, text string, stop <-chan struct{}) (engine.Result, error) {
	ctx, cancel := context.WithCancel(b.t.Context())
	defer cancel()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return b.engine.Turn(ctx, turnOf(b.session, to, text))
}

// goesOn checks that a turn ended as interrupted, that all rows are settled, and that the next turn works.
func (b *bench) goesOn(err error) {
	b.t.Helper()
	if code(err) != history.CodeInterrupted {
		b.t.Errorf("the turn ended with %v", err)
	}
	for _, m := range b.rows() {
		if m.Status == history.StatusStreaming {
			b.t.Errorf("still streaming: %s", line(m))
		}
	}
	b.ok("A", "go on")
}

const lookers = "agents:\n  A: {instructions: x, tools: [look]}\n  B: {instructions: x, tools: [look]}\n  C: {instructions: x, tools: [look]}\n" +
	"communication_flows: [A > B > C, A > C]\n"

var streamLines = lines{
	letter: "V", last: 19, more: []string{"V17b"},
	leftOut: map[string]string{
		"V06": noPythonAPI, "V11": "tools give one result and put nothing of their own into the stream",
		"V19": "streaming and non-streaming are one path", "V17": "a turn is stopped by its context, which ends once and for good; Finish is closed once",
	},
	covered: map[string]func(*testing.T){
		"V01": func(t *testing.T) {
			b := newBench(t, lookers, play{
				"A": inTurn(calls(call("c1", "look", "{}")), calls(send("c2", "B", "m")), text("f")), "B": first("r", call("c3", "look", "{}")),
			}, gives("look", "seen"))
			b.ok("A", "hi")
			equal(t, "events", b.story(), []string{
				"A run started", "A call start c1", "A call end c1", "A call result c1", "A call start c2", "A call end c2",
				"B nested started", "B call start c3", "B call end c3", "B call result c3", "B text start", "B text end", "B nested finished",
				"A call result c2", "A text start", "A text end", "A run finished",
			})
		},
		"V02": func(t *testing.T) {
			b := newBench(t, twoAgents, play{"A": inTurn(calls(send("c1", "B", "m1")), calls(send("c2", "B", "m2")), text("f"))})
			b.ok("A", "hi")
			nested := func(id string) []string {
				return []string{
					"A call start " + id, "A call end " + id, "B nested started", "B text start", "B text end", "B nested finished", "A call result " + id,
				}
			}
			want := append([]string{"A run started"}, append(nested("c1"), nested("c2")...)...)
			equal(t, "events", b.story(), append(want, "A text start", "A text end", "A run finished"))
		},
		"V03": func(t *testing.T) {
			b := newBench(t, lookers, play{
				"A": first("f", send("c1", "B", "m")), "B": first("r", send("c2", "C", "n")), "C": first("s", call("c3", "look", "{}")),
			}, gives("look", "seen"))
			b.ok("A", "hi")
			equal(t, "events", b.story(), []string{
				"A run started", "A call start c1", "A call end c1", "B nested started", "B call start c2", "B call end c2", "C nested started",
				"C call start c3", "C call end c3", "C call result c3", "C text start", "C text end", "C nested finished", "B call result c2",
				"B text start", "B text end", "B nested finished", "A call result c1", "A text start", "A text end", "A run finished",
			})
		},
		"V04": func(t *testing.T) {
			b := newBench(t, lookers, play{"A": first("f", send("c1", "B", "m"), send("c2", "C", "n"))}, gives("look", ""))
			b.ok("A", "hi")
			at := map[string]int{}
			for i, e := range b.story() {
				at[e] = i
			}
			for agent, id := range map[string]string{"B": "c1", "C": "c2"} {
				if at["A call end "+id] >= at[agent+" nested started"] || at[agent+" nested finished"] >= at["A call result "+id] {
					t.Errorf("order: %q", b.story())
				}
			}
		},
		"V05": func(t *testing.T) {
			b := newBench(t, twoAgents, play{"A": first("f", send("c1", "B", "m"))})
			b.ok("A", "hi")
			for _, e := range b.told() {
				if nested := e.Agent == "B"; nested != (e.ParentCallID == "c1") || nested != (e.SubagentRunID != "") || nested != (e.CallerAgent == "A") {
					t.Errorf("%s of %s: parent call %q, run %q, caller %q", e.Type, e.Agent, e.ParentCallID, e.SubagentRunID, e.CallerAgent)
				}
			}
		},
		"V07": func(t *testing.T) {
			b := newBench(t, twoAgents, play{"A": first("f", send("c1", "B", "m"))})
			b.ok("A", "hi")
			for _, e := range b.told() {
				isCall := strings.HasPrefix(string(e.Type), "TOOL_CALL")
				if isCall != (e.CallID == "c1") || isCall && e.Name != "send_message" {
					t.Errorf("%s has the call %q of %q", e.Type, e.CallID, e.Name)
				}
				if isRow := isCall || strings.HasPrefix(string(e.Type), "TEXT"); isRow != (e.MessageID != 0) {
					t.Errorf("%s tells of row %d", e.Type, e.MessageID)
				}
			}
		},
		"V08": func(t *testing.T) {
			b := newBench(t, lookers, play{"A": func(r *llmtest.Request) llmtest.Response {
				if len(r.Results()) == 0 {
					return llmtest.Response{Text: "looking", Calls: []llmtest.Call{call("c1", "look", "{}"), call("c2", "look", "{}")}}
				}
				return text("f")
			}}, gives("look", "seen"))
			b.ok("A", "hi")
			equal(t, "events", b.story(), []string{
				"A run started", "A text start", "A call start c1", "A call start c2", "A text end", "A call end c1", "A call end c2",
				"A call result c1", "A call result c2", "A text start", "A text end", "A run finished",
			})
			equal(t, "rows", b.lines(), []string{
				"A< user: hi", "A< assistant: looking", "A< call look", "A< call look", "A< output: seen", "A< output: seen", "A< assistant: f",
			})
		},
		"V09": func(t *testing.T) {
			b := newBench(t, handsOver, play{"A": inTurn(calls(handoff("h", "B")))})
			b.ok("A", "hi")
			equal(t, "events", b.story(), []string{
				"A run started", "A call start h", "A call end h", "A call result h", "B text start", "B text end", // the reminder
				"B map[from:a to:b]", "B text start", "B text end", "B run finished",
			})
		},
		"V10": func(t *testing.T) {
			b := newBench(t, twoAgents, nil)
			result := b.ok("A", "hi")
			told := b.told()
			if last := told[len(told)-1]; last.Type != history.EventRunFinished || last.Result != result.Text || *last.Usage != result.Usage {
				t.Errorf("the last event is %+v, the result %+v", last, result)
			}
		},
		"V12": func(t *testing.T) { // a call that was cut off is kept as interrupted, and never sent
			b := newBench(t, lookers, play{"A": inTurn(llmtest.Response{Calls: []llmtest.Call{call("c1", "look", `{"x":1}`)}, Hang: true}, text("f"))},
				gives("look", "seen"))
			_, err := b.stopped("A", "hi", b.when("A", history.EventCallArgs))
			equal(t, "rows", b.lines(), []string{"A< user: hi", "A< call look (interrupted)"})
			b.goesOn(err)
			equal(t, "A's next input", heard(b.asked("A")[1]), []string{"user: hi", "user: go on"})
		},
		"V13": func(t *testing.T) {
			b := newBench(t, lookers, play{"A": inTurn(
				llmtest.Response{Text: "looking", Calls: []llmtest.Call{call("c1", "look", "{}")}}, llmtest.Response{Text: "half a sentence", Hang: true}, text("f"),
			)}, gives("look", "seen"))
			result := b.when("A", history.EventCallResult)
			stop := make(chan struct{})
			go func() {
				<-result
				<-b.when("A", history.EventTextContent)
				close(stop)
			}()
			_, err := b.stopped("A", "hi", stop)
			rows := b.lines()
			equal(t, "rows", rows[:4], []string{"A< user: hi", "A< assistant: looking", "A< call look", "A< output: seen"})
			holds(t, "the fifth row", rows[4], "A< assistant: half", "(interrupted)")
			b.goesOn(err)
		},
		"V14": func(t *testing.T) {
			b := newBench(t, twoAgents, play{"A": inTurn(calls(send("c1", "B", "m")), text("f")), "B": inTurn(llmtest.Response{Text: "half a sentence", Hang: true})})
			_, err := b.stopped("A", "hi", b.when("B", history.EventTextContent))
			rows := b.lines()
			equal(t, "rows", rows[:3], []string{"A< user: hi", "A< call send_message", "B<A user: m"})
			holds(t, "the partial answer", rows[3], "B<A assistant: half", "(interrupted)")
			holds(t, "the output", rows[4], "A< output: Error: B was stopped", "half")
			b.goesOn(err)
		},
		"V15": func(t *testing.T) {
			finish := make(chan struct{})
			b := newBench(t, twoAgents, play{"A": first("f", send("c1", "B", "m")), "B": func(*llmtest.Request) llmtest.Response {
				close(finish)
				return text("r")
			}})
			input := turnOf(b.session, "A", "hi")
			input.Finish = finish
			_, err := b.engine.Turn(t.Context(), input)
			equal(t, "rows", b.lines(), []string{"A< user: hi", "A< call send_message", "B<A user: m", "B<A assistant: r", "A< output: r"})
			if code(err) != history.CodeInterrupted || len(b.asked("A")) != 1 {
				t.Errorf("A was asked %d times, the turn ended with %v", len(b.asked("A")), err)
			}
		},
		"V16": func(t *testing.T) {
			finish := make(chan struct{})
			b := newBench(t, twoAgents, play{"A": func(*llmtest.Request) llmtest.Response {
				close(finish)
				return text("r")
			}})
			input := turnOf(b.session, "A", "hi")
			input.Finish = finish
			if result, err := b.engine.Turn(t.Context(), input); err != nil || result.Text != "r" {
				t.Errorf("the turn ended with %q, %v", result.Text, err)
			}
		},
		"V17b": func(t *testing.T) {
			b := newBench(t, twoAgents, nil)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := b.engine.Turn(ctx, turnOf(b.session, "A", "hi"))
			if code(err) != history.CodeInterrupted || len(b.server.Requests()) != 0 || len(b.rows()) != 0 {
				t.Errorf("ended with %v after %d requests, rows %q", err, len(b.server.Requests()), b.lines())
			}
		},
		"V18": func(t *testing.T) { // wherever it is stopped, the next turn works
			for n := range 7 {
				b := newBench(t, lookers, play{
					"A": func(r *llmtest.Request) llmtest.Response {
						if r.Last != "go on" && len(r.Results()) == 0 {
							return llmtest.Response{Text: "to B", Calls: []llmtest.Call{send("", "B", "m"), call("", "look", "{}")}}
						}
						return text("f")
					},
					"B": first("r", send("", "C", "n")),
				}, gives("look", "seen"))
				stop := make(chan struct{})
				seen := 0
				b.mu.Lock()
				b.watching = append(b.watching, func(history.Event) bool {
					if seen++; seen > 4*n {
						close(stop)
						return true
					}
					return false
				})
				b.mu.Unlock()
				_, err := b.stopped("A", "hi", stop)
				if err != nil {
					b.goesOn(err)
				}
			}
		},
	},
}
