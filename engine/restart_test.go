package engine_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"bureau/engine"
	"bureau/engine/history"
	"bureau/engine/llm"
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
	b.store = s
	b.stores = append(b.stores, s)
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

// What a session took is what its servers counted: over three levels of runs, each at its own model's price, with a failed
// try, a stream that was cancelled before it told its usage, and a restart.
func TestTotalsAreTheServersOwnCount(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var counted history.Usage
	var cost float64
	prices := map[string]float64{"A": 1, "B": 10, "C": 100}
	// bill answers, and counts what it told of the answer's usage.
	bill := func(r *llmtest.Request, input, output int, answer llmtest.Response) llmtest.Response {
		mu.Lock()
		defer mu.Unlock()
		answer.Usage = &llmtest.Usage{Input: input, Output: output, Cached: input / 2, Reasoning: output / 2}
		counted.InputTokens += int64(input)
		counted.OutputTokens += int64(output)
		counted.CachedTokens += int64(input / 2)
		counted.ReasoningTokens += int64(output / 2)
		cost += prices[r.Model] * float64(input+output)
		return answer
	}
	pass := func(to string, input int) func(*llmtest.Request) llmtest.Response {
		return func(r *llmtest.Request) llmtest.Response {
			if len(r.Results()) > 0 {
				return bill(r, input+1, 4, text(strings.Join(r.Results(), "")))
			}
			return bill(r, input, 2, calls(send("", to, r.Last)))
		}
	}
	tries := 0
	b := setup{price: func(ref llm.Ref, u history.Usage) *float64 {
		cost := prices[ref.Model] * float64(u.InputTokens+u.OutputTokens)
		return &cost
	}}.bench(t, agentsOf("A B C", "A > B > C"), play{"A": pass("B", 100), "B": pass("C", 1000), "C": func(r *llmtest.Request) llmtest.Response {
		mu.Lock()
		tries++
		first := tries == 1
		mu.Unlock()
		switch {
		case first:
			return llmtest.Response{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After-Ms": {"1"}}, Body: `{"error":{"message":"loading"}}`}
		case r.Last == "hang":
			return llmtest.Response{Text: "half a word", Hang: true}
		}
		return bill(r, 7, 3, text("found"))
	}})
	check := func(when string) {
		t.Helper()
		got, err := b.store.Usage(t.Context(), b.session)
		if err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		want := counted
		want.Requests = int64(len(b.server.Requests()))
		if got.Cost == nil || *got.Cost != cost {
			t.Errorf("%s: cost %v, want %v", when, got.Cost, cost)
		}
		got.Cost = nil
		if got != want {
			t.Errorf("%s: %+v, the servers counted %+v", when, got, want)
		}
	}
	result := b.ok("A", "find it")
	check("after a turn with a second try")
	if result.Usage.InputTokens != counted.InputTokens || result.Usage.Requests != 6 {
		t.Errorf("the turn took %+v, the servers counted %+v", result.Usage, counted)
	}

	ctx, stop := context.WithCancel(t.Context())
	speaking := b.when("C", history.EventTextContent)
	go func() { <-speaking; stop() }()
	_, err := b.engine.Turn(ctx, engine.Input{SessionID: b.session, Recipient: "A", Text: "hang"})
	if code(err) != history.CodeInterrupted {
		t.Errorf("the turn ended with %v", err)
	}
	check("after a cancelled stream")

	b.restart()
	check("after a restart")
	b.ok("A", "find it again")
	check("after one more turn")
}

// Reasoning and signatures go back to the provider that sent them and to no other, also when the session goes back to it.
func TestWhatAProviderSentComesBackToItAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t, looks, play{"A": func(r *llmtest.Request) llmtest.Response {
		if len(r.Results()) == 0 {
			return llmtest.Response{Reasoning: "thought of " + r.Last, Calls: []llmtest.Call{call("c_"+r.Last, "look", "{}")}}
		}
		return text("f")
	}}, gives("look", "seen"))
	on := func(provider, message string) *llmtest.Request {
		t.Helper()
		b.setup.model = func(agent string) llm.Model {
			m, err := openai.New(openai.Config{
				Ref:      llm.Ref{Provider: provider, Model: agent},
				Provider: openai.Provider{Name: provider, BaseURL: b.server.URL, Dialect: openai.Dialect{ReturnReasoning: true}},
			})
			if err != nil {
				t.Error(err)
			}
			return m
		}
		b.engine = b.newEngine(b.agency)
		b.ok("A", message)
		requests := b.asked("A")
		return requests[len(requests)-1]
	}
	thoughts := func(r *llmtest.Request) []string {
		var list []string
		for _, m := range r.Messages {
			if raw, ok := m.Fields["reasoning_content"]; ok {
				list = append(list, string(raw))
			}
		}
		return list
	}
	on("one", "1")
	equal(t, "what the other is sent", thoughts(on("two", "2")), []string{`"thought of 2"`})
	equal(t, "what the first is sent again", thoughts(on("one", "3")), []string{`"thought of 1"`, `"thought of 3"`})
}
