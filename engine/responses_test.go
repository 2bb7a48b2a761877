package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/llm/llmtest"
	"bureau/engine/tool"
)

// onlooker is an agency of two agents of which the first has a tool and may send to the second.
const onlooker = "agents:\n  A: {instructions: x, tools: [look]}\n  B: {instructions: x}\nentry_points: [A, B]\ncommunication_flows: [A > B]\n"

// listing is an answer over the Responses API that lists its items at the end and streams nothing.
func listing(items ...string) llmtest.Response {
	return llmtest.Response{Raw: []byte(`data: {"type":"response.completed","response":{"status":"completed","output":[` + strings.Join(items, ",") + "]}}\n\n")}
}

// sentItems is the input of a request in short: type id, and call ids.
func sentItems(r *llmtest.Request) []string {
	var lines []string
	for _, item := range r.Items {
		line := item.Type + " " + item.ID
		if raw, ok := item.Fields["call_id"]; ok {
			line += " " + strings.Trim(string(raw), `"`)
		}
		lines = append(lines, line)
	}
	return lines
}

const (
	encryptedItem = `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAA"}`
	secondItem    = `{"id":"rs_2","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gBBB"}`
	bareItem      = `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}`
	wordsItem     = `{"id":"msg_1","type":"message","role":"assistant","status":"completed","phase":"final_answer","content":[{"type":"output_text","text":"said","annotations":[]}]}`
	lookItem      = `{"id":"fc_1","type":"function_call","status":"completed","call_id":"c1","name":"look","arguments":"{}"}`
)

// replayed is what the model of an agent is sent first after A's answer of these items, and after one more message to the agent.
func replayed(t *testing.T, agent string, items ...string) []string {
	t.Helper()
	// The server did not make these items up itself, and does not take them back: that is the next request's matter.
	b := setup{protocol: history.ProtocolResponses, refusals: true, tools: []tool.Tool{gives("look", "seen")}}.bench(t, onlooker,
		play{"A": inTurn(listing(items...), text("f"))})
	b.ok("A", "one")
	b.ok(agent, "two")
	asked := b.asked(agent)
	if agent == "A" {
		asked = asked[1:]
	}
	return sentItems(asked[0])
}

// itemLines cover what the table says of items of the Responses API.
var itemLines = map[string]func(*testing.T){
	"T21": func(t *testing.T) {
		equal(t, "an id that is the call's", replayed(t, "A", strings.Replace(lookItem, "fc_1", "c1", 1)), []string{"message ", "function_call  c1", "function_call_output  c1"})
		equal(t, "an id of its own", replayed(t, "A", lookItem), []string{"message ", "function_call fc_1 c1", "function_call_output  c1"})
	},
	"T28": func(t *testing.T) { // a call that an agent is only told of takes its reasoning with it
		for _, line := range replayed(t, "B", encryptedItem, secondItem, lookItem) {
			if line != "message " {
				t.Errorf("B is sent the item %q", line)
			}
		}
	},
	"T29": func(t *testing.T) {
		equal(t, "the input", replayed(t, "A", encryptedItem, secondItem, wordsItem), []string{"message ", "reasoning rs_1", "reasoning rs_2", "message msg_1", "message "})
	},
	"T32": func(t *testing.T) { // nothing but the reasoning is lost
		equal(t, "the input", replayed(t, "A", bareItem, lookItem), []string{"message ", "function_call  c1", "function_call_output  c1"})
	},
	"T33": func(t *testing.T) {
		equal(t, "the input", replayed(t, "A", encryptedItem, lookItem), []string{"message ", "reasoning rs_1", "function_call fc_1 c1", "function_call_output  c1"})
	},
}

// A session begins on Chat Completions, goes on over the Responses API and back, and ends on a script; what was exported of it
// is imported into another database and goes on there.
func TestSessionGoesOnWhenTheProtocolChanges(t *testing.T) {
	t.Parallel()
	look := gives("look", "seen")
	answer := func(r *llmtest.Request) llmtest.Response {
		if len(r.Results()) == 0 {
			return llmtest.Response{Reasoning: "I look <first> & ask.", Text: "One moment.", Calls: []llmtest.Call{call("", "look", "{}"), send("", "B", r.Last)}}
		}
		return llmtest.Response{Encrypted: "gAAA+/==", Text: "so: " + strings.Join(r.Results(), ", ")}
	}
	b := setup{tools: []tool.Tool{look}}.bench(t, onlooker, play{"A": answer})
	b.ok("A", "chat one")
	b.setup.protocol = history.ProtocolResponses
	b.ok("A", "responses one")
	b.ok("A", "responses two")
	b.setup.protocol = ""
	b.ok("A", "chat two")
	b.setup.protocol = history.ProtocolResponses
	b.ok("A", "responses three")

	requests := b.asked("A")
	last := sentItems(requests[len(requests)-1])
	reasoning := slices.DeleteFunc(slices.Clone(last), func(line string) bool { return !strings.HasPrefix(line, "reasoning") })
	if len(reasoning) != 5 { // two of each turn over the protocol, and the first of this one
		t.Errorf("%d items of reasoning go back: %q", len(reasoning), last)
	}
	for i, line := range last {
		if strings.HasPrefix(line, "reasoning") && !strings.HasPrefix(last[i+1], "message msg_") {
			t.Errorf("after the reasoning stands %q", last[i+1])
		}
	}
	for _, r := range requests {
		if body := string(r.Body); !r.Responses && (strings.Contains(body, "gAAA") || strings.Contains(body, "msg_")) {
			t.Errorf("Chat Completions is sent items: %s", body)
		}
	}
	protocols := map[string][]string{}
	turn := ""
	for _, m := range b.rows() {
		if m.CallerAgent == "" && m.Role == history.RoleUser {
			turn = m.Content
		}
		if m.Extra.Model != "" && !slices.Contains(protocols[turn], string(m.Protocol)) {
			protocols[turn] = append(protocols[turn], string(m.Protocol))
		}
	}
	for turn, got := range protocols {
		want := history.ProtocolResponses
		if strings.HasPrefix(turn, "chat") {
			want = history.ProtocolChatCompletions
		}
		equal(t, "the protocols of "+turn, got, []string{string(want)})
	}

	script := &scripted{answer: func(_ context.Context, _ int, req llm.Request, on func(llm.Delta)) (llm.Reply, error) {
		for _, m := range req.Messages {
			if len(m.Wire) > 0 {
				t.Errorf("a script is sent %s", m.Wire)
			}
		}
		return utter(on, "the end")
	}}
	b.setup.model = only(script)
	if got := b.ok("A", "script one").Text; got != "the end" {
		t.Errorf("the script said %q", got)
	}

	var exported bytes.Buffer
	encoder := json.NewEncoder(&exported)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(b.rows()); err != nil {
		t.Fatal(err)
	}
	var rows []history.Message
	if err := json.Unmarshal(exported.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		rows[i].ID, rows[i].SessionID = 0, ""
	}
	other := setup{tools: []tool.Tool{look}, rows: rows, protocol: history.ProtocolResponses, at: b.server}.bench(t, onlooker, nil)
	other.ok("A", "responses four")
	requests = other.asked("A")
	got := sentItems(requests[len(requests)-2])
	if !slices.Equal(got[:len(last)], last) {
		t.Errorf("in the other database the same history is\n%q, it was\n%q", got[:len(last)], last)
	}
}

// A process that is killed while a tool works goes on with the reasoning that led to the call, to the byte.
func TestKilledInATurnReplaysItsReasoning(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]llmtest.Response{
		"encrypted alone": {Encrypted: "gAAA+/==", Calls: []llmtest.Call{call("c1", "look", `{"x": "<&>"}`)}},
		"with a summary":  {Reasoning: "hm <b>&amp;</b> \u2028 é", Calls: []llmtest.Call{call("c1", "look", "{}")}},
		"with words":      {Reasoning: "hm", Text: "I look.", Calls: []llmtest.Call{call("c1", "look", "{}")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began, end := make(chan struct{}), make(chan struct{})
			look := fake{"look", func(context.Context, string) (string, error) {
				close(began)
				<-end
				return "seen", nil
			}}
			b := setup{protocol: history.ProtocolResponses, tools: []tool.Tool{look}}.bench(t, onlooker, play{"A": inTurn(answer, text("f"))})
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = b.engine.Turn(t.Context(), turnOf(b.session, "A", "hi"))
			}()
			<-began
			killed := b.copied()
			close(end)
			<-done

			b.store = killed
			b.engine = b.newEngine(b.agency)
			b.abandoned = true
			b.ok("A", "go on")
			requests := b.asked("A")
			asked := requests[len(requests)-1]
			at := slices.IndexFunc(asked.Items, func(i llmtest.Item) bool { return i.Type == "reasoning" })
			if at < 0 {
				t.Fatalf("no reasoning in %q", sentItems(asked))
			}
			if was := itemBefore(requests[1], asked.Items[at].ID); string(asked.Items[at].Raw) != was {
				t.Errorf("sent again as\n%s, it was\n%s", asked.Items[at].Raw, was)
			}
			holds(t, "the output", strings.ToLower(string(asked.Body)), "interrupted")
		})
	}
}

// itemBefore is an item as the request before a restart had it.
func itemBefore(r *llmtest.Request, id string) string {
	for _, item := range r.Items {
		if item.ID == id {
			return string(item.Raw)
		}
	}
	return ""
}
