// Package price knows what requests of models cost: a table of prices by model name, how a name finds its entry, and the sum
// for one request. It knows no provider and reads no file. Its values are plain data, safe to share once they are made.
package price

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"bureau/engine/history"
)

// Price is what a million tokens of one model cost, in US dollars.
type Price struct {
	Input  float64 `yaml:"input"`
	Output float64 `yaml:"output"`
	// Cached is for input that the server had in its cache; nil is the price of other input.
	Cached *float64 `yaml:"cached"`
	// Reasoning is added for each reasoning token, which servers count as output as well; 0 where output says it all.
	Reasoning float64 `yaml:"reasoning"`
	// Above has other prices for requests with more input tokens than its key says.
	Above map[int64]Tier `yaml:"above"`
}

// Tier is what is different in requests with a long input; nil is as without.
type Tier struct {
	Input     *float64 `yaml:"input"`
	Output    *float64 `yaml:"output"`
	Cached    *float64 `yaml:"cached"`
	Reasoning *float64 `yaml:"reasoning"`
}

// Table has prices by model name: as it is on the wire, or with the provider before it.
type Table map[string]Price

const million = 1e6

// Of is what one request cost, in US dollars. The tier is chosen by the request's own input.
func (p Price) Of(u history.Usage) float64 {
	p = p.at(u.InputTokens)
	cached := p.Input
	if p.Cached != nil {
		cached = *p.Cached
	}
	return (float64(max(u.InputTokens-u.CachedTokens, 0))*p.Input + float64(u.CachedTokens)*cached +
		float64(u.OutputTokens)*p.Output + float64(u.ReasoningTokens)*p.Reasoning) / million
}

// at applies the tier with the highest threshold below a number of input tokens.
func (p Price) at(input int64) Price {
	over := int64(-1)
	for threshold := range p.Above {
		if threshold < input {
			over = max(over, threshold)
		}
	}
	tier, ok := p.Above[over]
	if !ok {
		return p
	}
	p.Input, p.Output = *cmp.Or(tier.Input, &p.Input), *cmp.Or(tier.Output, &p.Output)
	p.Cached, p.Reasoning = cmp.Or(tier.Cached, p.Cached), *cmp.Or(tier.Reasoning, &p.Reasoning)
	return p
}

// Check says what is wrong with a price; nil is nothing.
func (p Price) Check() error {
	for _, n := range []struct {
		name  string
		value *float64
	}{{"input", &p.Input}, {"output", &p.Output}, {"cached", p.Cached}, {"reasoning", &p.Reasoning}} {
		if err := checkAmount(n.name, n.value); err != nil {
			return err
		}
	}
	for _, threshold := range slices.Sorted(maps.Keys(p.Above)) {
		if threshold < 1 {
			return fmt.Errorf("above %d: the number of input tokens must be positive", threshold)
		}
		tier := p.Above[threshold]
		for name, value := range map[string]*float64{
			"input": tier.Input, "output": tier.Output, "cached": tier.Cached, "reasoning": tier.Reasoning,
		} {
			if err := checkAmount(name, value); err != nil {
				return fmt.Errorf("above %d: %w", threshold, err)
			}
		}
	}
	return nil
}

func checkAmount(name string, dollars *float64) error {
	if dollars != nil && !(*dollars >= 0 && !math.IsInf(*dollars, 1)) { // NaN is refused too
		return fmt.Errorf("%s must be an amount in US dollars, not %v", name, *dollars)
	}
	return nil
}

var date = regexp.MustCompile(`-\d{4}-\d{2}-\d{2}$`)

// Find looks a model up: by its whole name, what follows the last slash, that without a date at its end, and that without
// its last part. It is false for a model whose price is not known.
func (t Table) Find(model string) (Price, bool) {
	if p, ok := t[model]; ok {
		return p, true
	}
	bare := model[strings.LastIndex(model, "/")+1:]
	if p, ok := t[bare]; ok {
		return p, true
	}
	undated := date.ReplaceAllString(bare, "")
	if p, ok := t[undated]; ok {
		return p, true
	}
	if i := strings.LastIndex(undated, "-"); i > 0 {
		p, ok := t[undated[:i]]
		return p, ok
	}
	return Price{}, false
}
