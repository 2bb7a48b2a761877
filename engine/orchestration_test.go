package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bureau/engine/history"
	"bureau/engine/llm/llmtest"
)

// Names that fold to the same ASCII, or to none, get tool names of their own, and each leads to the right agent.
func TestAgentsOfAnyNameAreReached(t *testing.T) {
	t.Parallel()
	names := []string{
		"風林火山 Agent", "疾風迅雷 Agent", "规划", "Billing Agent", "billing-agent", "billing.agent", "Note Taker", "a/b", "🦊", "🐻", "é", "e\u0300",
		strings.Repeat("long ", 12) + "one", strings.Repeat("long ", 12) + "two",
	}
	var yaml strings.Builder
	yaml.WriteString("agents:\n  A: {instructions: x}\n")
	flows := []string{}
	for _, name := range names {
		fmt.Fprintf(&yaml, "  %q: {instructions: x}\n", name)
		flows = append(flows, fmt.Sprintf("  - \"A > %s\"\n  - {\"A > %s\": handoff}\n", name, name))
	}
	yaml.WriteString("communication_flows:\n" + strings.Join(flows, ""))
	legal := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	var tool atomic.Value
	tool.Store("")
	b := newBench(t, yaml.String(), play{"A": func(r *llmtest.Request) llmtest.Response {
		if name := tool.Load().(string); name != "" {
			return calls(call("", name, "{}"))
		}
		return text("f")
	}})
	b.ok("A", "hi")
	offered := b.asked("A")[0].Tools
	seen := map[string]bool{}
	for _, o := range offered {
		if seen[o.Name] || !legal.MatchString(o.Name) {
			t.Errorf("the tool name %q is there twice or not legal", o.Name)
		}
		seen[o.Name] = true
	}
	for _, o := range offered {
		var schema struct {
			Properties map[string]struct{ Const string } `json:"properties"`
		}
		if err := json.Unmarshal(o.Parameters, &schema); err != nil {
			t.Fatal(err)
		}
		name := schema.Properties["recipient_agent"].Const
		if name == "" {
			continue
		}
		tool.Store(o.Name)
		if got := b.ok("A", "move").Agent; got != name {
			t.Errorf("%s leads to %q, not to %q", o.Name, got, name)
		}
	}
	again := b.newEngine(b.parse(yaml.String()))
	tool.Store("")
	if _, err := again.Turn(t.Context(), turnOf(b.session, "A", "hi")); err != nil {
		t.Fatal(err)
	}
	asked := b.asked("A")
	equal(t, "tool names after a restart", toolNames(asked[len(asked)-1]), toolNames(asked[0]))
	for _, r := range b.server.Requests() {
		for _, m := range r.Messages {
			if raw, ok := m.Fields["name"]; ok {
				t.Errorf("a message has the name %s", raw)
			}
		}
	}
}

func TestHandoffBesideAnotherTool(t *testing.T) {
	t.Parallel()
	add, move := call("c1", "add", `{"x":5,"y":7}`), handoff("c2", "B")
	for _, order := range [][]llmtest.Call{{add, move}, {move, add}} {
		b := newBench(t, "agents:\n  A: {instructions: x, tools: [add]}\n  B: {instructions: x}\ncommunication_flows: [A > B: handoff]\n",
			play{"A": inTurn(calls(order...))}, gives("add", "12"))
		b.ok("A", "what's 5+7, and I want to talk to B")
		request := b.asked("B")[0]
		if !strings.Contains(string(request.Body), "12") {
			t.Errorf("B does not know the sum: %q", heard(request))
		}
		var ids []string
		for _, m := range b.rows() {
			if m.Type == history.TypeOutput {
				ids = append(ids, m.CallID)
			}
		}
		equal(t, "outputs in call order", ids, []string{order[0].ID, order[1].ID})
	}
}

func TestAgentsThatOnlyHandOver(t *testing.T) {
	t.Parallel()
	hands := func(to string) func(*llmtest.Request) llmtest.Response {
		return func(*llmtest.Request) llmtest.Response { return calls(handoff("", to)) }
	}
	yaml := agentsOf("A B", "A > B: handoff", "B > A: handoff") + "limits: {max_handoffs: 3}\n"

	b := newBench(t, yaml, play{"A": hands("B"), "B": hands("A")})
	_, err := b.say("A", "hi")
	if code(err) != history.CodeLimit {
		t.Errorf("the turn ended with %v", err)
	}
	holds(t, "the error", fmt.Sprint(err), "max_handoffs", "A > B > A > B")
	equal(t, "who got control", b.reminders(history.OriginHandoffReminder), []string{"B", "A", "B"})
	if limits := b.custom("limit"); len(limits) == 0 || limits[0]["limit"] != "max_handoffs" {
		t.Errorf("limit events %v", limits)
	}
	if got := b.hasControl(); got != "B" {
		t.Errorf("control is with %s", got)
	}

	told := newBench(t, yaml, play{"A": hands("B"), "B": func(r *llmtest.Request) llmtest.Response {
		if results := r.Results(); len(results) > 0 && strings.Contains(results[len(results)-1], "max_handoffs") {
			return text("I answer myself")
		}
		return calls(handoff("h", "A"), handoff("h2", "A"))
	}})
	if got := told.ok("A", "hi").Text; got != "I answer myself" {
		t.Errorf("answer %q", got)
	}

	nested := newBench(t, agentsOf("Top A B", "Top > A", "A > B: handoff", "B > A: handoff")+"limits: {max_handoffs: 3}\n",
		play{"Top": first("f", send("c", "A", "m")), "A": hands("B"), "B": hands("A")})
	if got := nested.ok("Top", "hi").Text; got != "f" {
		t.Errorf("answer %q", got)
	}
	holds(t, "what the sender is told", nested.outputs("Top")[0], "Error: ", "max_handoffs")
}

func TestAgentsThatAlwaysDelegate(t *testing.T) {
	t.Parallel()
	// Everybody asks everybody, and answers only when a message is refused.
	delegates := func(r *llmtest.Request) llmtest.Response {
		if len(r.Results()) > 0 {
			return text("enough")
		}
		var list []llmtest.Call
		tool, _ := r.Tool("send_message")
		for _, name := range regexp.MustCompile(`"[A-D]"`).FindAllString(string(tool.Parameters), -1) {
			list = append(list, send("", strings.Trim(name, `"`), "the same again"))
		}
		return calls(list...)
	}
	everybody := []string{}
	for _, from := range "ABCD" {
		for _, to := range "ABCD" {
			if from != to {
				everybody = append(everybody, fmt.Sprintf("%c > %c", from, to))
			}
		}
	}
	for name, flows := range map[string][]string{"max_depth": {"A > B > C > D > A"}, "max_runs": everybody} {
		limits := map[string]string{"max_depth": "{max_depth: 2}", "max_runs": "{max_runs: 7}"}[name]
		b := newBench(t, agentsOf("A B C D", flows...)+"limits: "+limits+"\n", play{"A": delegates, "B": delegates, "C": delegates, "D": delegates})
		if got := b.ok("A", "hi").Text; got != "enough" {
			t.Errorf("%s: answer %q", limits, got)
		}
		runs, refused := map[string]bool{}, 0
		for _, m := range b.rows() {
			runs[m.RunID] = true
			if m.Type == history.TypeOutput && strings.Contains(m.Content, name) {
				refused++
				holds(t, "the refusal", m.Content, "Error: ", map[string]string{"max_depth": "2", "max_runs": "7"}[name])
			}
		}
		if name == "max_runs" && len(runs) != 7 || refused == 0 {
			t.Errorf("%s: %d runs, %d refusals", limits, len(runs), refused)
		}
		if events := b.custom("limit"); len(events) != refused || refused > 0 && events[0]["limit"] != name {
			t.Errorf("%s: %d events for %d refusals: %v", limits, len(events), refused, events)
		}
		depth := map[string]int{"": 0}
		for _, e := range b.told() {
			if e.Type == history.EventSubagentStarted {
				depth[e.SubagentRunID] = depth[e.ParentSubagentRunID] + 1
				if name == "max_depth" && depth[e.SubagentRunID] > 2 {
					t.Errorf("%s: a run at depth %d", limits, depth[e.SubagentRunID])
				}
			}
		}
	}
}

// A stream that breaks is a failure with its cause and the words until then; siblings are untouched.
func TestChildWhoseStreamBreaks(t *testing.T) {
	t.Parallel()
	broken := llmtest.Response{Raw: []byte(`data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"half an answer"}}]}` +
		"\n\n" + `data: {"error":{"message":"the plan does not allow this","type":"invalid_request_error","code":401}}` + "\n\n")}
	b := newBench(t, agentsOf("A B C", "A > B", "A > C"), play{
		"A": func(r *llmtest.Request) llmtest.Response {
			if len(r.Results()) == 0 && r.Last != "again" {
				return calls(send("c1", "B", "m"), send("c2", "C", "n"))
			}
			return text("f")
		}, "B": inTurn(broken),
	})
	b.ok("A", "hi")
	out := b.outputs("A")
	holds(t, "the output", out[0], "Error: ", "the plan does not allow this", "half an answer")
	if strings.Count(out[0], "half an answer") != 1 {
		t.Errorf("the words are told more than once: %s", out[0])
	}
	if out[1] != "C answers n" {
		t.Errorf("the sibling's output is %q", out[1])
	}
	ends := 0
	for _, e := range b.told() {
		if e.Type == history.EventSubagentError {
			ends++
			if e.Agent != "B" || e.Code != history.CodeModel || e.Usage == nil {
				t.Errorf("the end is %+v", e)
			}
		}
	}
	if ends != 1 {
		t.Errorf("%d nested runs failed", ends)
	}
	b.ok("A", "again")
}

func TestCancelReachesEveryDescendant(t *testing.T) {
	t.Parallel()
	var started atomic.Int32
	look := fake{"look", func(context.Context, string) (string, error) { started.Add(1); return "seen", nil }}
	hangs := func(s string) func(*llmtest.Request) llmtest.Response {
		return func(r *llmtest.Request) llmtest.Response {
			if r.Last == "go on" {
				return text("fine")
			}
			return llmtest.Response{Text: s, ChunkSize: 100, Hang: true}
		}
	}
	p := play{
		"A": func(r *llmtest.Request) llmtest.Response {
			if r.Last == "go on" {
				return text("fine")
			}
			return calls(send("c1", "B", "m"), send("c2", "D", "o"))
		},
		"B": func(r *llmtest.Request) llmtest.Response {
			if len(r.Results()) == 0 {
				return llmtest.Response{Text: "B began", Calls: []llmtest.Call{call("c3", "look", "{}")}}
			}
			return calls(send("c4", "C", "n"), call("c5", "look", "{}"))
		},
		"C": hangs("C got this far"), "D": hangs("D got this far"),
	}
	b := newBench(t, "agents:\n  A: {instructions: x}\n  B: {instructions: x, tools: [look]}\n  C: {instructions: x}\n  D: {instructions: x}\n"+
		"communication_flows: [A > B > C, A > D]\n", p, look)
	stop := make(chan struct{})
	one, two := b.when("C", history.EventTextContent), b.when("D", history.EventTextContent)
	go func() {
		<-one
		<-two
		close(stop)
	}()
	_, err := b.stopped("A", "hi", stop)
	before := started.Load()
	for deadline := time.Now().Add(10 * time.Second); b.server.Open() > 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if open := b.server.Open(); open > 0 {
		t.Errorf("%d streams are open", open)
	}
	outputs := b.outputs("A")
	holds(t, "what is kept of B", outputs[0], "Error: ", "stopped by the user", "B began", "made: 3")
	holds(t, "what is kept of D", outputs[1], "Error: ", "stopped by the user", "D got this far")
	holds(t, "what is kept of C", b.outputs("B")[1], "Error: ", "stopped by the user", "C got this far")
	b.goesOn(err)
	if after := started.Load(); after != before {
		t.Errorf("%d tools were started after the stop", after-before)
	}
	for _, m := range b.rows() {
		if m.Agent == "C" && m.Role == history.RoleAssistant && m.Status != history.StatusInterrupted {
			t.Errorf("C's words are %s", m.Status)
		}
	}
}

// The guard of a busy recipient is gone after an error, and is the session's own.
func TestBusyRecipientIsFreeAgain(t *testing.T) {
	t.Parallel()
	for _, way := range []llmtest.Response{fault(400, "no"), {Text: "half", Hang: true}} {
		b := newBench(t, twoAgents, play{
			"A": inTurn(calls(send("", "B", "m1")), text("f"), calls(send("", "B", "m2")), text("f"), text("f")), "B": inTurn(way, text("r")),
		})
		if way.Hang {
			_, _ = b.stopped("A", "one", b.when("B", history.EventTextContent))
		} else {
			b.ok("A", "one")
		}
		b.ok("A", "two")
		b.ok("A", "three")
		out := b.outputs("A")
		if out[len(out)-1] != "r" {
			t.Errorf("outputs %q", out)
		}
	}
}

// An agent that gets control is sent no call of a tool that it lacks, and no text that looks like one.
func TestReceiverIsSentOnlyCallsOfItsOwnTools(t *testing.T) {
	t.Parallel()
	b := newBench(t, "agents:\n  A: {instructions: I am A, tools: [look, own]}\n  B: {instructions: I am B, tools: [look]}\ncommunication_flows: [A > B: handoff]\n",
		play{"A": func(r *llmtest.Request) llmtest.Response {
			if len(r.Results()) == 0 {
				return llmtest.Response{Text: "I am looking.", Calls: []llmtest.Call{call("c1", "look", "{}"), call("c2", "own", `{"x":"y"}`)}}
			}
			return calls(handoff("h", "B"))
		}}, gives("look", "seen"), gives("own", "result of own"))
	b.ok("A", "hi")
	request := b.asked("B")[0]
	for _, m := range request.Messages {
		for _, c := range m.Calls {
			if _, ok := request.Tool(c.Name); !ok {
				t.Errorf("B is sent a call of %s", c.Name)
			}
		}
		if m.Role == "assistant" && (strings.Contains(m.Content, "own") || strings.Contains(m.Content, "transfer") || strings.Contains(m.Content, "A:")) {
			t.Errorf("an assistant message says %q", m.Content)
		}
	}
	holds(t, "B's input", strings.Join(heard(request), "\n"), "assistant: I am looking. +look", "tool: seen",
		`system: For your information: the agent "A" used its own tool "own"`, "result of own")
	if !strings.HasPrefix(request.System, "I am B") || strings.Contains(request.System, "I am A") {
		t.Errorf("B's system prompt %q", request.System)
	}
	for _, m := range b.rows() {
		if m.Type == history.TypeCall && m.Agent != "A" {
			t.Errorf("the author of %s has changed", line(m))
		}
	}
}

// The tree of runs can be rebuilt from the events alone, and the first words of the deepest run are told before it ends.
func TestEventsTellTheTreeOfRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t, agentsOf("A B C D", "A > B > C", "A > D"), play{
		"A": first("f", send("c1", "B", "m"), send("c2", "D", "o")), "B": first("r", send("c3", "C", "n")),
	})
	top := b.ok("A", "hi")
	rows := map[int64]history.Message{}
	for _, m := range b.rows() {
		rows[m.ID] = m
	}
	parents := map[string]string{}
	for i, e := range b.told() {
		if e.RunID != top.RunID || e.SessionID != b.session || e.At == 0 || e.Agent == "" {
			t.Errorf("event %d lacks its labels: %+v", i, e)
		}
		if m, ok := rows[e.MessageID]; e.MessageID != 0 {
			run := e.SubagentRunID
			if run == "" {
				run = e.RunID
			}
			if !ok || m.RunID != run || m.Agent != e.Agent || m.CallerAgent != e.CallerAgent || m.ParentCallID != e.ParentCallID {
				t.Errorf("event %d tells of %s with other labels: %+v", i, line(m), e)
			}
		}
		if e.SubagentRunID == "" {
			continue
		}
		if e.Type == history.EventSubagentStarted {
			parents[e.SubagentRunID] = e.ParentSubagentRunID
		}
		if above, known := parents[e.SubagentRunID]; !known || above != e.ParentSubagentRunID {
			t.Errorf("event %d has the parent %q, its run began under %q", i, e.ParentSubagentRunID, above)
		}
	}
	for _, m := range rows {
		if m.ParentRunID != "" {
			want := parents[m.RunID]
			if want == "" {
				want = top.RunID
			}
			if m.ParentRunID != want {
				t.Errorf("%s: the events have the parent %s, the row %s", line(m), want, m.ParentRunID)
			}
		}
	}
	if len(parents) != 3 {
		t.Errorf("%d nested runs", len(parents))
	}
	story := b.story()
	if slices.Index(story, "C text start") > slices.Index(story, "C nested finished") {
		t.Errorf("order: %q", story)
	}
}
