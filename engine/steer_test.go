package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bureau/engine"
	"bureau/engine/history"
	"bureau/engine/llm/llmtest"
	"bureau/store"
)

// runOf is the id of the newest run of an agent.
func (b *bench) runOf(agent string) string {
	id := ""
	for _, e := range b.told() {
		switch {
		case e.Type == history.EventSubagentStarted && e.Agent == agent:
			id = e.SubagentRunID
		case e.Type == history.EventRunStarted && e.Agent == agent:
			id = e.RunID
		}
	}
	return id
}

// What the user says while a tool runs is heard with its result; while the last answer streams, it is answered too.
func TestSteer(t *testing.T) {
	t.Parallel()
	t.Run("between two calls of the model", func(t *testing.T) {
		t.Parallel()
		var b *bench
		look := fake{"look", func(context.Context, string) (string, error) {
			return "seen", errors.Join(b.engine.Steer(b.session, "and quickly"), b.engine.Steer(b.session, "in French"))
		}}
		b = setup{tools: look.alone()}.bench(t, "agents:\n  A: {instructions: x, tools: [look]}\n", play{"A": inTurn(calls(call("c", "look", "{}")), text("f"))})
		b.ok("A", "hi")
		equal(t, "rows", b.lines(), []string{"A< user: hi", "A< call look", "A< output: seen", "A< user: and quickly", "A< user: in French", "A< assistant: f"})
		equal(t, "what A hears", heard(b.asked("A")[1]), []string{"user: hi", "assistant:  +look", "tool: seen", "user: and quickly", "user: in French"})
		runs := map[string]bool{}
		for _, m := range b.rows() {
			runs[m.RunID] = true
			if m.Origin != "" || m.Extra.ByUser {
				t.Errorf("%+v", m)
			}
		}
		if len(runs) != 1 {
			t.Errorf("the rows belong to %d runs", len(runs))
		}
	})
	t.Run("while the last answer comes", func(t *testing.T) {
		t.Parallel()
		var b *bench
		replies := inTurn(text("one"), text("two"))
		var once sync.Once
		b = newBench(t, agentsOf("A"), play{"A": func(r *llmtest.Request) llmtest.Response {
			once.Do(func() {
				if err := b.engine.Steer(b.session, "wait"); err != nil {
					t.Error(err)
				}
			})
			return replies(r)
		}})
		if result := b.ok("A", "hi"); result.Text != "two" {
			t.Errorf("answered %q", result.Text)
		}
		equal(t, "rows", b.lines(), []string{"A< user: hi", "A< assistant: one", "A< user: wait", "A< assistant: two"})
	})
	t.Run("when nothing runs", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, agentsOf("A"), nil)
		b.ok("A", "hi")
		for what, err := range map[string]error{
			"the session": b.engine.Steer(b.session, "x"), "another": b.engine.Steer("other", "x"), "a run": b.engine.SteerRun(b.runOf("A"), "x"),
			"no run": b.engine.SteerRun("", "x"), "cancel": b.engine.CancelRun(b.runOf("A")),
		} {
			if !errors.Is(err, engine.ErrNotRunning) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if len(b.rows()) != 2 {
			t.Errorf("%q", b.lines())
		}
	})
}

// Words that a run has not heard when it ends are on record, and the next turn hears them.
func TestSteerOfARunThatIsStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var b *bench
	look := fake{"look", func(ctx context.Context, _ string) (string, error) {
		if err := b.engine.Steer(b.session, "not so"); err != nil {
			t.Error(err)
		}
		cancel()
		<-ctx.Done()
		return "", ctx.Err()
	}}
	b = setup{tools: look.alone()}.bench(t, "agents:\n  A: {instructions: x, tools: [look]}\n", play{"A": inTurn(calls(call("c", "look", "{}")), text("f"))})
	if _, err := b.engine.Turn(ctx, engine.Input{SessionID: b.session, Recipient: "A", Text: "hi"}); code(err) != history.CodeInterrupted {
		t.Fatal(err)
	}
	b.ok("A", "go on")
	if got := heard(b.asked("A")[1]); !slices.Equal(got[len(got)-2:], []string{"user: not so", "user: go on"}) {
		t.Errorf("%q", got)
	}
}

// A child hears the user between its calls, knows who speaks, and still does so in the next message of its sender.
func TestSteerAChild(t *testing.T) {
	t.Parallel()
	var b *bench
	look := fake{"look", func(context.Context, string) (string, error) {
		return "seen", b.engine.SteerRun(b.runOf("B"), "look at the roof too")
	}}
	b = setup{tools: look.alone()}.bench(t, "agents:\n  A: {instructions: x}\n  B: {instructions: x, tools: [look]}\ncommunication_flows: [A > B]\n", play{
		"A": inTurn(calls(send("c1", "B", "m")), text("f"), calls(send("c2", "B", "n")), text("f")),
		"B": inTurn(calls(call("c3", "look", "{}")), text("roof"), text("again")),
	})
	b.ok("A", "hi")
	b.ok("A", "more")
	for i, request := range b.asked("B")[1:] {
		holds(t, "what B hears", strings.Join(heard(request), "\n"), "From the user himself", "look at the roof too")
		if i == 0 {
			continue
		}
		if last := request.Last; last != "n" {
			t.Errorf("B is last told %q", last)
		}
	}
	for _, m := range b.rows() {
		if strings.Contains(m.Content, "look at the roof") && (m.CallerAgent != "A" || m.Agent != "B" || !m.Extra.ByUser || m.Origin != "" || m.ParentCallID != "c1") {
			t.Errorf("%+v", m)
		}
	}
	byUser := 0
	for _, e := range b.told() {
		if e.ByUser {
			byUser++
		}
	}
	if byUser != 1 {
		t.Errorf("%d events tell of the user's words", byUser)
	}
}

// One child is cancelled: its sender gets its words, its siblings and the rest go on, and nothing of it calls models any more.
func TestCancelOneChild(t *testing.T) {
	t.Parallel()
	pause := make(chan struct{})
	b := newBench(t, agentsOf("A B C D", "A > B > D", "A > C"), play{
		"A": first("f", send("c1", "B", "m"), send("c2", "C", "m")),
		"B": func(r *llmtest.Request) llmtest.Response {
			return llmtest.Response{Text: "so far", Calls: []llmtest.Call{send("c3", "D", "deep")}}
		},
		"C": func(*llmtest.Request) llmtest.Response { return llmtest.Response{Text: "c", Gate: pause} },
		"D": func(*llmtest.Request) llmtest.Response { return llmtest.Response{Text: "deep words", Hang: true} },
	})
	said := b.when("D", history.EventTextContent)
	go func() {
		<-said
		if err := b.engine.CancelRun(b.runOf("B")); err != nil {
			t.Error(err)
		}
		for b.server.Open() > 1 { // D's stream, below the run that was cancelled, is closed; C's is not
			time.Sleep(time.Millisecond)
		}
		close(pause)
	}()
	b.ok("A", "hi")
	outputs := b.outputs("A")
	holds(t, "what A is told of B", outputs[0], "Error: B was stopped by the user", "made: 1", "so far")
	equal(t, "what A is told of C", outputs[1:], []string{"c"})
	if len(b.asked("B")) != 1 || len(b.asked("D")) != 1 || len(b.asked("A")) != 2 {
		t.Errorf("%d requests", len(b.server.Requests()))
	}
	ended := map[string]history.Code{}
	for _, e := range b.told() {
		if e.Type == history.EventSubagentError {
			ended[e.Agent] = e.Code
		}
	}
	if len(ended) != 2 || ended["B"] != history.CodeInterrupted || ended["D"] != history.CodeInterrupted {
		t.Errorf("%v", ended)
	}
	holds(t, "the rows", strings.Join(b.lines(), "\n"), "D<B assistant: deep words (interrupted)")
}

func TestCancelTheTopRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, agentsOf("A"), play{"A": func(*llmtest.Request) llmtest.Response { return llmtest.Response{Text: "half", Hang: true} }})
	said := b.when("A", history.EventTextContent)
	go func() {
		<-said
		if err := b.engine.CancelRun(b.runOf("A")); err != nil {
			t.Error(err)
		}
	}()
	if _, err := b.say("A", "hi"); code(err) != history.CodeInterrupted {
		t.Errorf("ended with %v", err)
	}
}

// tellPair adds to the sub-conversation in which caller asks an agent.
func (b *bench) tellPair(caller, agent, text string) (engine.Result, error) {
	return b.engine.Turn(b.t.Context(), engine.Input{SessionID: b.session, Caller: caller, Recipient: agent, Text: text})
}

// The user goes on in a sub-conversation: the agent answers there, control stays, the user thread has nothing of it, and both
// know of it when the sender asks again.
func TestUserGoesOnInASubConversation(t *testing.T) {
	t.Parallel()
	b := newBench(t, agentsOf("A B C", "A > B", "C > A", "A > C: handoff"), play{
		"A": inTurn(calls(send("c1", "B", "m")), text("f"), calls(send("c2", "B", "n")), text("f")), "B": inTurn(text("one"), text("two"), text("three")),
	})
	b.ok("A", "hi")
	control := recipient(t, b.store, b.session)
	result, err := b.tellPair("A", "B", "you forgot the roof")
	if err != nil || result.Text != "two" || result.Agent != "B" {
		t.Fatalf("%+v, %v", result, err)
	}
	if got := recipient(t, b.store, b.session); got != control {
		t.Errorf("control went to %s", got)
	}
	rows, err := b.store.Rows(t.Context(), b.session, history.UserThread, 0, 100)
	if err != nil || len(rows) != 4 {
		t.Errorf("the user thread has %d rows, %v", len(rows), err)
	}
	lines := b.lines()
	equal(t, "the new rows", lines[len(lines)-2:], []string{"B<A user: you forgot the roof", "B<A assistant: two"})
	added := b.rows()[len(lines)-2]
	if !added.Extra.ByUser || added.Extra.Steering || added.Origin != "" || added.ParentRunID != "" {
		t.Errorf("%+v", added)
	}
	b.ok("A", "more")
	equal(t, "what B hears", heard(b.asked("B")[2]), []string{
		"user: m", "assistant: one", "user: From the user himself, directly to you:\nyou forgot the roof", "assistant: two", "user: n",
	})
	for _, e := range b.told() {
		if e.RunID == result.RunID && (e.SubagentRunID != "" || e.CallerAgent != "A") {
			t.Errorf("%+v", e)
		}
	}
	for name, pair := range map[string][2]string{"unknown": {"X", "B"}, "with itself": {"B", "B"}, "unknown recipient": {"A", "X"}} {
		if _, err := b.tellPair(pair[0], pair[1], "x"); code(err) != history.CodeFailed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func recipient(t *testing.T, s *store.Store, id string) string {
	t.Helper()
	session, err := s.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return session.Recipient
}
