package price_test

import (
	"math"
	"testing"

	"bureau/engine/history"
	"bureau/engine/llm/price"
)

func dollars(f float64) *float64 { return &f }

func TestAModelIsFoundByItsNameAndByWhatIsLeftOfIt(t *testing.T) {
	t.Parallel()
	table := price.Table{
		"azure/gpt-4o": {Input: 1}, "gpt-4o": {Input: 2}, "gpt-4o-2024-05-13": {Input: 3}, "o3": {Input: 4}, "claude-x-5": {Input: 5},
	}
	for model, want := range map[string]float64{
		"azure/gpt-4o": 1, "openai/gpt-4o": 2, "openrouter/openai/gpt-4o": 2, "gpt-4o-2024-05-13": 3, "gpt-4o-2025-01-31": 2,
		"gpt-4o-mini": 2, "gpt-4o-mini-2024-07-18": 2, "o3-2025-04-16": 4, "claude-x-5-20260101": 5,
		"unknown": 0, "gpt": 0, "": 0, "/": 0, "-": 0, "gpt-4o-mini-search": 0,
	} {
		p, ok := table.Find(model)
		if p.Input != want || ok != (want != 0) {
			t.Errorf("%q: %v, %v; want %v", model, p.Input, ok, want)
		}
	}
}

func TestARequestIsPricedByItsOwnTokens(t *testing.T) {
	t.Parallel()
	tiered := price.Price{Input: 1, Output: 2, Above: map[int64]price.Tier{
		272_000: {Input: dollars(2), Output: dollars(3)}, 1_000_000: {Input: dollars(4)},
	}}
	for name, c := range map[string]struct {
		price price.Price
		usage history.Usage
		want  float64
	}{
		"input and output": {price.Price{Input: 1, Output: 2}, history.Usage{InputTokens: 1e6, OutputTokens: 5e5}, 2},
		"cached": {
			price.Price{Input: 1, Output: 2, Cached: dollars(0.1)}, history.Usage{InputTokens: 1e6, CachedTokens: 4e5}, 0.64,
		},
		"cached without a price of its own": {price.Price{Input: 1}, history.Usage{InputTokens: 1e6, CachedTokens: 4e5}, 1},
		"cached for nothing":                {price.Price{Input: 1, Cached: dollars(0)}, history.Usage{InputTokens: 1e6, CachedTokens: 1e6}, 0},
		"more cached than input":            {price.Price{Input: 1, Cached: dollars(0.5)}, history.Usage{InputTokens: 10, CachedTokens: 1e6}, 0.5},
		"reasoning":                         {price.Price{Output: 2, Reasoning: 3}, history.Usage{OutputTokens: 1e6, ReasoningTokens: 5e5}, 3.5},
		"below a tier":                      {tiered, history.Usage{InputTokens: 150_000}, 0.15},
		"at a tier":                         {tiered, history.Usage{InputTokens: 272_000}, 0.272},
		"above a tier":                      {tiered, history.Usage{InputTokens: 272_001, OutputTokens: 1e6}, 0.544002 + 3},
		"above two tiers":                   {tiered, history.Usage{InputTokens: 2e6, OutputTokens: 1e6}, 8 + 2},
	} {
		if got := c.price.Of(c.usage); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	// Two requests that pass a threshold only together are both priced below it.
	if got := 2 * tiered.Of(history.Usage{InputTokens: 150_000, OutputTokens: 1_000}); math.Abs(got-0.304) > 1e-9 {
		t.Errorf("two requests: %v", got)
	}
}

func TestCheckFindsWhatIsNoPrice(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]price.Price{
		"negative": {Input: -1}, "not a number": {Output: math.NaN()}, "infinite": {Cached: dollars(math.Inf(1))},
		"tier": {Above: map[int64]price.Tier{5: {Output: dollars(-2)}}}, "threshold": {Above: map[int64]price.Tier{0: {}}},
	} {
		if p.Check() == nil {
			t.Errorf("%s: nothing is wrong", name)
		}
	}
	if err := (price.Price{Input: 1, Output: 2, Cached: dollars(0)}).Check(); err != nil {
		t.Error(err)
	}
}
