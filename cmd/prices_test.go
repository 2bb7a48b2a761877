package cmd

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bureau/engine/history"
	"bureau/engine/llm"
)

func TestShippedPricesAreAmounts(t *testing.T) {
	t.Parallel()
	if len(shippedPrices()) < 10 {
		t.Fatalf("%d prices", len(shippedPrices()))
	}
	for name, p := range shippedPrices() {
		if err := p.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if p.Input <= 0 || p.Output < p.Input || p.Cached != nil && *p.Cached >= p.Input {
			t.Errorf("%s: %+v", name, p)
		}
		for over, tier := range p.Above {
			if tier.Input == nil || *tier.Input <= p.Input || *tier.Output <= p.Output || over < 1000 {
				t.Errorf("%s above %d: %+v", name, over, tier)
			}
		}
	}
}

func TestPriceOfARequest(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	config := `providers:
  openai: {models: {gpt-5-mini: {price: {input: 7, output: 8}}, gpt-5: {window: 9}}}
  workshop:
    base_url: http://127.0.0.1:1/v1
    models: {big: {price: {input: 1, cached: 0.5, output: 2, reasoning: 3, above: {1000: {input: 10}}}}}
  groq: {base_url: "http://127.0.0.1:2/v1"}
`
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := readConfig(path, true)
	if err != nil {
		t.Fatal(err)
	}
	m := &models{config: c, env: environment{process: func(string) (string, bool) { return "", false }}}
	for ref, want := range map[string]float64{
		"script/tour": 0, "replay/x": 0,
		"openai/gpt-5-mini": 7, "openai/gpt-5-mini-2025-08-07": 7, // the configuration comes first
		"openai/gpt-5": 1.25, "azure/gpt-5": 1.25, "openrouter/openai/gpt-5-nano": 0.05, "anthropic/claude-opus-4-5-20251101": 5,
		"workshop/big": 10, "gemini/gemini-2.5-pro": 2.5,
		"workshop/gpt-5": -1, "groq/gpt-5": -1, "ollama/gpt-5": -1, "openai/nothing": -1, // not known
	} {
		r, err := parseRef(ref)
		if err != nil {
			t.Fatal(err)
		}
		got := m.price(r, history.Usage{InputTokens: 1e6, Requests: 1})
		if (got == nil) != (want < 0) || got != nil && math.Abs(*got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", ref, got, want)
		}
	}
	u := history.Usage{InputTokens: 1000, CachedTokens: 400, OutputTokens: 100, ReasoningTokens: 50}
	if got := m.price(llm.Ref{Provider: "workshop", Model: "big"}, u); math.Abs(*got-(600+200+200+150)/1e6) > 1e-12 {
		t.Errorf("%v", *got)
	}
}

func TestFaultsOfPrices(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{inputs: 1}":                    `unknown key "inputs"; did you mean input?`,
		"{above: {-5: {input: 1}}}":      "a number above 0 is expected, not -5",
		"{above: {many: {input: 1}}}":    `a whole number is expected, not "many"`,
		"{above: {5: {input: -1}}}":      "a price of 0 or more is expected, not -1",
		"{above: {5: {above: {6: {}}}}}": `unknown key "above"`,
	} {
		var c config
		faults := checkConfig("c.yaml", []byte("providers: {openai: {models: {m: {price: "+text+"}}}}"), &c)
		if len(faults) != 1 || !strings.Contains(faults[0], want) {
			t.Errorf("%s: %q", text, faults)
		}
	}
}
