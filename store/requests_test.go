package store_test

import (
	"errors"
	"reflect"
	"testing"

	"bureau/engine/history"
	"bureau/store"
)

func TestUsageIsTheSumOfRequests(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	newSession(t, s, "s1")
	cost := func(v float64) *float64 { return &v }
	for i, c := range []struct {
		agent, model string
		cost         *float64
	}{{"B", "m1", cost(1)}, {"A", "m1", cost(2)}, {"B", "m1", cost(4)}, {"A", "m2", nil}, {"A", "m2", cost(8)}} {
		n := int64(i + 1)
		r := history.Request{
			SessionID: "s1", RunID: "r", TraceID: "t", Agent: c.agent, Provider: "p", Model: c.model, StartedAt: n, EndedAt: n * 2, Outcome: history.OutcomeFailed,
			Usage: history.Usage{InputTokens: n, OutputTokens: 10 * n, CachedTokens: 100 * n, ReasoningTokens: 1000 * n, Requests: 1, Cost: c.cost},
		}
		if err := s.RecordRequest(t.Context(), &r); err != nil || r.ID == 0 {
			t.Fatal(r.ID, err)
		}
		if got, err := s.LastRequest(t.Context(), "s1", c.agent); err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("last request %+v, %v\nwant %+v", got, err, r)
		}
		total, err := s.Usage(t.Context(), "s1")
		if sum := n * (n + 1) / 2; err != nil || total.InputTokens != sum || total.ReasoningTokens != 1000*sum || total.Requests != n || (total.Cost == nil) != (n > 3) {
			t.Errorf("after %d: %+v, %v", n, total, err)
		}
	}
	of := func(agent, model string, n, requests int64, cost *float64) store.AgentUsage {
		return store.AgentUsage{Agent: agent, Provider: "p", Model: model, Usage: history.Usage{
			InputTokens: n, OutputTokens: 10 * n, CachedTokens: 100 * n, ReasoningTokens: 1000 * n, Requests: requests, Cost: cost,
		}}
	}
	want := []store.AgentUsage{of("B", "m1", 4, 2, cost(5)), of("A", "m1", 2, 1, cost(2)), of("A", "m2", 9, 2, nil)}
	if got, err := s.UsageBy(t.Context(), "s1"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	if got, err := s.Usage(t.Context(), "none"); err != nil || got != (history.Usage{}) {
		t.Errorf("of nothing: %+v, %v", got, err)
	}
	if _, err := s.LastRequest(t.Context(), "s1", "C"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("last request of nobody: %v", err)
	}
	if err := s.RecordRequest(t.Context(), &history.Request{SessionID: "none"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a request of no session: %v", err)
	}
}
