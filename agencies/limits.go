package agencies

import "go.yaml.in/yaml/v3"

// The highest of some limits: a day in seconds, tokens, and US dollars.
const (
	day       = 86_400
	maxTokens = 1_000_000_000
	maxCost   = 1_000_000
)

// bounded is a whole number from 1 that a key sets.
type bounded struct {
	key     string
	field   *int
	highest int
}

func (d *decoder) numbers(keys map[string]entry, list []bounded) {
	for _, b := range list {
		if e, ok := keys[b.key]; ok {
			if i := d.integer(e.value, b.key, 1, b.highest); i != nil {
				*b.field = *i
			}
		}
	}
}

func (d *decoder) limits(n *yaml.Node) Limits {
	limits := DefaultLimits
	keys := d.object(n, "limits", limitKeys)
	d.numbers(keys, []bounded{
		{"max_depth", &limits.MaxDepth, 64},
		{"max_runs", &limits.MaxRuns, 10_000},
		{"max_turn_calls", &limits.MaxTurnCalls, 100_000},
		{"max_calls", &limits.MaxCalls, 10_000},
		{"max_handoffs", &limits.MaxHandoffs, 1_000},
		{"max_tokens", &limits.MaxTokens, maxTokens},
		{"max_seconds", &limits.MaxSeconds, day},
		{"max_silence", &limits.MaxSilence, day},
	})
	limits.MaxCost = d.cost(keys)
	return limits
}

func (d *decoder) sessionLimits(n *yaml.Node) SessionLimits {
	var limits SessionLimits
	keys := d.object(n, "session_limits", sessionKeys)
	d.numbers(keys, []bounded{{"max_tokens", &limits.MaxTokens, maxTokens}})
	limits.MaxCost = d.cost(keys)
	return limits
}

// cost reads max_cost; an amount of 0 would stop everything that costs anything.
func (d *decoder) cost(keys map[string]entry) float64 {
	e, ok := keys["max_cost"]
	if !ok {
		return 0
	}
	dollars := d.number(e.value, "max_cost", 0, maxCost)
	switch {
	case dollars == nil:
		return 0
	case *dollars == 0:
		d.fault(at(e.value), "max_cost must be more than 0; without it there is no limit")
	}
	return *dollars
}
