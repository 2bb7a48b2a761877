package cmd

import (
	_ "embed"
	"fmt"
	"sync"

	"go.yaml.in/yaml/v3"

	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/llm/openai"
	"bureau/engine/llm/price"
)

//go:embed prices.yaml
var priceFile []byte

// shippedPrices are those that the program comes with.
var shippedPrices = sync.OnceValue(func() price.Table {
	var table price.Table
	if err := yaml.Unmarshal(priceFile, &table); err != nil {
		panic(fmt.Sprintf("prices.yaml: %v", err)) // the file is part of the program
	}
	return table
})

// price is what a request cost: nothing offline, what the configuration says, what the program knows, or unknown.
func (m *models) price(ref llm.Ref, u history.Usage) *float64 {
	if ref.Provider == "script" || ref.Provider == "replay" {
		return new(float64)
	}
	p, ok := m.configuredPrices(ref.Provider).Find(ref.Model)
	if !ok && m.isPublic(ref.Provider) {
		p, ok = shippedPrices().Find(ref.String())
	}
	if !ok {
		return nil
	}
	cost := p.Of(u)
	return &cost
}

func (m *models) configuredPrices(provider string) price.Table {
	table := price.Table{}
	for name, model := range m.config.Providers[provider].Models {
		if model.Price != nil {
			table[name] = *model.Price
		}
	}
	return table
}

// isPublic tells whether a provider is a known service at its own address: a server elsewhere may call anything by the name
// of a well-known model, and charge what it likes.
func (m *models) isPublic(provider string) bool {
	known, ok := openai.Lookup(provider)
	if !ok || known.IsLocal() {
		return false
	}
	p, err := m.provider(provider)
	return err == nil && (p.BaseURL == known.BaseURL || known.BaseURL == "")
}
