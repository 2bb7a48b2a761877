package engine_test

import (
	"math"
	"testing"

	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/llm/llmtest"
	"bureau/engine/llm/price"
)

var usageLines = lines{
	letter: "U", last: 12,
	leftOut: map[string]string{
		"U06": "every request is priced by itself when it is made; there is no aggregate whose tier would be in doubt",
		"U07": "usage has no count of tokens that are written to a cache: no server of the protocol tells it",
		"U09": "prices are a part of the program and of a checked configuration; faults in them are told at the start, see package cmd",
		"U10": noPythonAPI,
		"U11": "the terminal has its own display of usage, see package tui",
	},
	covered: map[string]func(*testing.T){
		"U01": func(t *testing.T) {
			b := newBench(t, agentsOf("A"), nil)
			if result, err := b.say("nobody", "hi"); err == nil || result.Usage != (history.Usage{}) {
				t.Errorf("%+v, %v", result.Usage, err)
			}
		},
		"U02": func(t *testing.T) {
			thinks := &llmtest.Usage{Input: 10, Output: 5, Reasoning: 3}
			b := newBench(t, agentsOf("A B", "A > B"), play{
				"A": inTurn(llmtest.Response{Calls: []llmtest.Call{send("", "B", "m")}, Usage: &llmtest.Usage{Input: 1, Output: 1}},
					llmtest.Response{Text: "f", Usage: &llmtest.Usage{Input: 2, Output: 2}}),
				"B": inTurn(llmtest.Response{Text: "b", Usage: thinks}),
			})
			usage := b.ok("A", "hi").Usage
			if usage.InputTokens != 13 || usage.OutputTokens != 8 || usage.ReasoningTokens != 3 || usage.Requests != 3 {
				t.Errorf("%+v", usage)
			}
		},
		"U03": func(t *testing.T) { pricedTree(t, "A > B", send("", "B", "m"), 150*(1+2+1)) },
		"U04": func(t *testing.T) {
			cached := 0.5
			p := price.Price{Input: 2, Output: 10, Cached: &cached, Reasoning: 1}
			u := history.Usage{InputTokens: 100, CachedTokens: 40, OutputTokens: 20, ReasoningTokens: 10}
			if got := p.Of(u) * 1e6; math.Abs(got-(60*2+40*0.5+20*10+10*1)) > 1e-9 {
				t.Errorf("%v", got)
			}
		},
		"U05": func(t *testing.T) { // two requests of 150,000 tokens below a tier at 272,000
			dear := 2.0
			prices := price.Table{"A": {Input: 1, Above: map[int64]price.Tier{272_000: {Input: &dear}}}}
			b := setup{price: priced(prices)}.bench(t, agentsOf("A"), play{
				"A": inTurn(llmtest.Response{Text: "f", Usage: &llmtest.Usage{Input: 150_000}}),
			})
			cost := *b.ok("A", "one").Usage.Cost + *b.ok("A", "two").Usage.Cost
			if math.Abs(cost-0.3) > 1e-9 {
				t.Errorf("$%v", cost)
			}
		},
		"U08": func(t *testing.T) {
			table := price.Table{"azure/gpt-4o": {Input: 1}, "gpt-4o": {Input: 2}}
			for model, want := range map[string]float64{
				"azure/gpt-4o": 1, "openai/gpt-4o": 2, "gpt-4o-2024-05-13": 2, "gpt-4o-mini": 2, "unknown": 0,
			} {
				if p, ok := table.Find(model); p.Input != want || ok != (want > 0) {
					t.Errorf("%s: %v", model, p.Input)
				}
			}
		},
		// After a handoff each reply is priced at the model that made it, grandchildren count, and so do children side by side.
		"U12": func(t *testing.T) {
			pricedTree(t, "A > B: handoff", handoff("", "B"), 150*(1+2))
			prices := price.Table{"A": {Input: 1, Output: 1}, "B": {Input: 2, Output: 2}, "C": {Input: 4, Output: 4}, "D": {Input: 8, Output: 8}}
			b := setup{price: priced(prices)}.bench(t, agentsOf("A B C D", "A > B > D", "A > C"), play{
				"A": first("f", send("", "B", "m"), send("", "C", "m")), "B": first("b", send("", "D", "m")),
			})
			usage := b.ok("A", "hi").Usage
			if usage.Requests != 6 || math.Abs(*usage.Cost*1e6-150*(2*1+2*2+4+8)) > 1e-9 {
				t.Errorf("%+v, $%v", usage, *usage.Cost)
			}
		},
	},
}

// priced prices by a table, whoever serves the model.
func priced(table price.Table) func(llm.Ref, history.Usage) *float64 {
	return func(ref llm.Ref, u history.Usage) *float64 {
		p, ok := table.Find(ref.Model)
		if !ok {
			return nil
		}
		cost := p.Of(u)
		return &cost
	}
}

// pricedTree runs two agents, of which B's model costs twice as much; want is in millionths of a dollar.
func pricedTree(t *testing.T, flow string, call llmtest.Call, want float64) {
	t.Helper()
	b := setup{price: priced(price.Table{"A": {Input: 1, Output: 1}, "B": {Input: 2, Output: 2}})}.bench(t, agentsOf("A B", flow), play{
		"A": first("f", call), "B": func(*llmtest.Request) llmtest.Response { return text("b") },
	})
	if cost := *b.ok("A", "hi").Usage.Cost * 1e6; math.Abs(cost-want) > 1e-9 {
		t.Errorf("cost %v, want %v", cost, want)
	}
}
