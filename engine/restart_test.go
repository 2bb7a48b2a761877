package engine_test

import (
	"encoding/json"
	"testing"

	"bureau/engine/llm/llmtest"
	"bureau/engine/llm/openai"
	"bureau/engine/tool"
	"bureau/store"
)

// restart closes the database and goes on in the same file, with a new engine and new models.
func (b *bench) restart() {
	b.t.Helper()
	path := b.store.Path()
	if err := b.store.Close(); err != nil {
		b.t.Fatal(err)
	}
	s, err := store.Open(b.t.Context(), path)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { s.Close() })
	b.store = s
	b.engine = b.newEngine(b.agency)
}

// What a server wants back with a call comes back unchanged in every later request, also after a restart.
func TestSignaturesGoBackAfterARestart(t *testing.T) {
	t.Parallel()
	signature := json.RawMessage(`{"google":{"thought_signature":"SIG+/=\u00e9","n":1.50}}`)
	b := newBench(t, looks, play{"A": func(r *llmtest.Request) llmtest.Response {
		if r.Last == "one" && len(r.Results()) == 0 {
			return calls(llmtest.Call{ID: "c", Name: "look", Arguments: "{}", Extra: map[string]json.RawMessage{"extra_content": signature}})
		}
		return text("f")
	}}, gives("look", "seen"))
	b.ok("A", "one")
	b.restart()
	b.ok("A", "two")
	requests := b.asked("A")
	if len(requests) != 3 {
		t.Fatalf("%d requests", len(requests))
	}
	for _, r := range requests[1:] {
		if got := r.Messages[2].Calls[0].Extra["extra_content"]; !sameJSON(t, got, signature) {
			t.Errorf("the signature went back as %s", got)
		}
	}
}

// Reasoning goes back with its calls where the server demands it, also after a restart.
func TestReasoningGoesBackAfterARestart(t *testing.T) {
	t.Parallel()
	const thought = "First look,\nthen “answer”."
	b := setup{
		tools: []tool.Tool{gives("look", "seen")}, dialect: openai.Dialect{ReturnReasoning: true},
		server: []llmtest.Option{llmtest.RequireReasoning()},
	}.bench(t, looks, play{"A": func(r *llmtest.Request) llmtest.Response {
		if r.Last == "one" && len(r.Results()) == 0 {
			return llmtest.Response{Reasoning: thought, Calls: []llmtest.Call{call("c", "look", "{}")}}
		}
		return text("f")
	}})
	b.ok("A", "one")
	b.restart()
	b.ok("A", "two")
	requests := b.asked("A")
	if len(requests) != 3 {
		t.Fatalf("%d requests", len(requests))
	}
	for _, r := range requests[1:] {
		var got string
		if err := json.Unmarshal(r.Messages[2].Fields["reasoning_content"], &got); err != nil || got != thought {
			t.Errorf("the reasoning went back as %s", r.Messages[2].Fields["reasoning_content"])
		}
	}
}

func sameJSON(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}
