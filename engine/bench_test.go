package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"bureau/engine/history"
	"bureau/engine/llm"
)

// answers is a model in memory that answers at once.
func answers(with string) *scripted {
	return &scripted{window: 128_000, answer: func(_ context.Context, _ int, _ llm.Request, on func(llm.Delta)) (llm.Reply, error) {
		return utter(on, with)
	}}
}

// delegates is a model in memory that asks B whatever it is told, and then answers.
func delegates() *scripted {
	return &scripted{window: 128_000, answer: func(_ context.Context, _ int, req llm.Request, on func(llm.Delta)) (llm.Reply, error) {
		if req.Messages[len(req.Messages)-1].Role == llm.RoleUser {
			return invoke(on, send("", "B", "m"))
		}
		return utter(on, "f")
	}}
}

// forget drops what a benchmark does not look at.
func (b *bench) forget(models ...*scripted) {
	b.mu.Lock()
	b.events = nil
	b.mu.Unlock()
	for _, m := range models {
		m.mu.Lock()
		m.requests = nil
		m.mu.Unlock()
	}
}

// One turn of a fresh session: all but the model.
func BenchmarkTurn(b *testing.B) {
	for name, sender := range map[string]*scripted{"answer": answers("r"), "delegation": delegates()} {
		b.Run(name, func(b *testing.B) {
			receiver := answers("r")
			bench := setup{model: func(agent string) llm.Model { return map[string]llm.Model{"A": sender, "B": receiver}[agent] }}.bench(b, twoAgents, nil)
			for n := 0; b.Loop(); n++ {
				b.StopTimer()
				session := fmt.Sprint("s", n)
				bench.begin(session)
				b.StartTimer()
				if _, err := bench.engine.Turn(b.Context(), turnOf(session, "A", "hi")); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				bench.forget(sender, receiver)
				b.StartTimer()
			}
		})
	}
}

// One turn of a session of 100,000 rows, with windows of several sizes.
func BenchmarkTurnOfLongSession(b *testing.B) {
	rows := make([]history.Message, 0, 100_000)
	for i := range 50_000 {
		rows = append(rows, record("r0", "", fmt.Sprintf("user A question %d", i), "assistant A "+strings.Repeat("some words of an answer ", 10))...)
	}
	for _, window := range []int{8_000, 128_000, 1_000_000} {
		b.Run(fmt.Sprint(window), func(b *testing.B) {
			model := answers("r")
			model.window = window
			bench := setup{model: only(model), rows: rows}.bench(b, agentsOf("A"), nil)
			bench.abandoned = true
			messages := 0
			for b.Loop() {
				if _, err := bench.engine.Turn(b.Context(), turnOf(bench.session, "A", "hi")); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				messages = len(model.requests[0].Messages)
				bench.forget(model)
				b.StartTimer()
			}
			b.ReportMetric(float64(messages), "messages")
		})
	}
}

// Deltas of one reply from the model to the events, rows on disk kept up.
func BenchmarkDeltas(b *testing.B) {
	const deltas = 10_000
	model := &scripted{answer: func(_ context.Context, _ int, _ llm.Request, on func(llm.Delta)) (llm.Reply, error) {
		for range deltas {
			on(llm.Delta{Text: "word "})
		}
		return llm.Reply{Text: strings.Repeat("word ", deltas), Finish: llm.FinishStop}, nil
	}}
	bench := setup{model: only(model)}.bench(b, agentsOf("A"), nil)
	bench.abandoned = true
	for n := 0; b.Loop(); n++ {
		session := fmt.Sprint("s", n)
		bench.begin(session)
		if _, err := bench.engine.Turn(b.Context(), turnOf(session, "A", "hi")); err != nil {
			b.Fatal(err)
		}
		bench.forget(model)
	}
	b.ReportMetric(float64(b.N)*deltas/b.Elapsed().Seconds(), "deltas/s")
}
