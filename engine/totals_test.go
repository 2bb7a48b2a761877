package engine_test

import (
	"context"
	"math"
	"sync"
	"testing"

	"bureau/engine"
	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/llm/llmtest"
	"bureau/engine/llm/price"
	"bureau/store"
)

// meter is the fake server's own count: what it has told of in whole answers, and what that cost.
type meter struct {
	prices price.Table

	mu       sync.Mutex
	usage    history.Usage
	dollars  float64
	requests int64
}

// count makes each answer of a model take a number of tokens of its own, and adds up those that are delivered.
func (m *meter) count(model string, answer func(*llmtest.Request) llmtest.Response) func(*llmtest.Request) llmtest.Response {
	return func(r *llmtest.Request) llmtest.Response {
		response := answer(r)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.requests++
		n := int(m.requests)
		u := llmtest.Usage{Input: 1000 * n, Cached: 100 * n, Output: 10 + n, Reasoning: n}
		response.Usage = &u
		if response.Status == 0 && !response.Hang {
			usage := history.Usage{
				InputTokens: int64(u.Input), CachedTokens: int64(u.Cached), OutputTokens: int64(u.Output), ReasoningTokens: int64(u.Reasoning),
			}
			m.usage = m.usage.Add(usage)
			p, _ := m.prices.Find(model)
			m.dollars += p.Of(usage)
		}
		return response
	}
}

// Totals are what the server counted, over a tree of three levels in which each agent's model has its own price, with a
// request that failed, a reply that was empty, a stream that the user cut off, and a restart.
func TestTotalsAtThePriceOfEachModel(t *testing.T) {
	t.Parallel()
	cached, dearer := 0.1, 9.0
	m := &meter{prices: price.Table{
		"A": {Input: 1, Output: 5, Cached: &cached}, "B": {Input: 2, Output: 7, Reasoning: 3},
		"C": {Input: 4, Output: 11, Above: map[int64]price.Tier{5000: {Input: &dearer}}},
	}}
	script := play{
		"A": m.count("A", inTurn(calls(send("", "B", "m1")), text("f1"), calls(send("", "B", "m2")), text("f3"))),
		"B": m.count("B", inTurn(calls(send("", "C", "n1")), llmtest.Response{}, text("b"), calls(send("", "C", "n2")), text("b3"))),
		"C": m.count("C", inTurn(fault(500, "down"), text("c"), llmtest.Response{Text: "cut off", Hang: true}, text("c3"))),
	}
	b := setup{price: func(ref llm.Ref, u history.Usage) *float64 {
		p, ok := m.prices.Find(ref.Model)
		if !ok {
			return nil
		}
		cost := p.Of(u)
		return &cost
	}}.bench(t, agentsOf("A B C", "A > B > C"), script)

	var turns history.Usage
	add := func(result engine.Result) { turns = turns.Add(result.Usage) }
	add(b.ok("A", "one"))

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cut := b.when("C", history.EventTextContent)
	go func() { <-cut; cancel() }()
	result, err := b.engine.Turn(ctx, engine.Input{SessionID: b.session, Recipient: "A", Text: "two"})
	if code(err) != history.CodeInterrupted {
		t.Fatal(err)
	}
	add(result)

	again, err := store.Open(t.Context(), b.store.Path()) // as another process would
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.Close() })
	b.setup.log = func(*store.Store) engine.Log { return again }
	b.engine = b.newEngine(b.agency)
	add(b.ok("A", "three"))

	total, err := again.Usage(t.Context(), b.session)
	if err != nil {
		t.Fatal(err)
	}
	tokens, dollars, err := again.Spent(t.Context(), b.session)
	if err != nil {
		t.Fatal(err)
	}
	want := m.usage
	want.Requests = m.requests
	for name, got := range map[string]history.Usage{"the turns": turns, "the session": total} {
		cost := got.Cost
		got.Cost = nil
		if cost == nil || got != want || math.Abs(*cost-m.dollars) > 1e-9 {
			t.Errorf("%s took %+v, $%v; the server counted %+v, $%v", name, got, cost, want, m.dollars)
		}
	}
	if tokens != want.Tokens() || math.Abs(dollars-m.dollars) > 1e-9 {
		t.Errorf("spent %d tokens, $%v", tokens, dollars)
	}
	if n := int64(len(b.server.Requests())); n != want.Requests || n < 11 {
		t.Errorf("%d requests", n)
	}
}
