package openai_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"bureau/engine/llm"
	"bureau/engine/llm/openai"
)

func TestHeadersAndAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		provider openai.Provider
		key      string
		url      string
		header   map[string]string
	}{
		{name: "bearer", provider: openai.Provider{Name: "x", BaseURL: "https://api.example.com/v1/"}, key: "k1234",
			url: "https://api.example.com/v1/chat/completions", header: map[string]string{"Authorization": "Bearer k1234", "Api-Key": ""}},
		{name: "no key", provider: openai.Provider{Name: "x", BaseURL: "https://api.example.com"}, url: "https://api.example.com/chat/completions",
			header: map[string]string{"Authorization": ""}},
		{name: "query is kept", provider: openai.Provider{Name: "x", BaseURL: "https://api.example.com/v1?api-version=x&y=1"},
			url: "https://api.example.com/v1/chat/completions?api-version=x&y=1"},
		{name: "azure", provider: azure("https://res.openai.azure.com", ""), key: "k1234", url: "https://res.openai.azure.com/openai/v1/chat/completions",
			header: map[string]string{"Api-Key": "k1234", "Authorization": ""}},
		{name: "azure with a path", provider: azure("https://res.openai.azure.com/openai/v1/", ""), key: "k1234",
			url: "https://res.openai.azure.com/openai/v1/chat/completions"},
		{name: "azure classic", provider: azure("https://res.openai.azure.com", "2024-10-21"), key: "k1234",
			url: "https://res.openai.azure.com/openai/deployments/m/chat/completions?api-version=2024-10-21", header: map[string]string{"Api-Key": "k1234"}},
		{name: "azure classic with a path", provider: azure("https://res.openai.azure.com/openai", "2024-10-21"), key: "k1234",
			url: "https://res.openai.azure.com/openai/deployments/m/chat/completions?api-version=2024-10-21"},
		{name: "headers", provider: openai.Provider{Name: "x", BaseURL: "https://api.example.com", Headers: map[string]string{"X-Team": "red"}},
			url: "https://api.example.com/chat/completions", header: map[string]string{"X-Team": "red", "Accept": "text/event-stream", "Content-Type": "application/json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var sent *http.Request
			m := modelOf(t, "", func(config *openai.Config) {
				config.Provider = c.provider
				config.Key = func() string { return c.key + "\n" }
				config.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
					sent = r
					return response(say("hi") + done), nil
				})
			})
			ask(t, m, hello)
			if got := sent.URL.String(); got != c.url || sent.Method != http.MethodPost {
				t.Errorf("%s %s, want POST %s", sent.Method, got, c.url)
			}
			for name, want := range c.header {
				if got := sent.Header.Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
}

func azure(base, version string) openai.Provider {
	p, _ := openai.Lookup("azure")
	p.BaseURL, p.APIVersion = base, version
	return p
}

func TestConfigurationErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, base, model, want string
	}{
		{"no model", "http://127.0.0.1:1", "", "the model's name is empty"},
		{"no base", "", "m", `provider "acme" has no base URL`},
		{"no scheme", "localhost:11434/v1", "m", "is no http or https address"},
		{"other scheme", "ftp://example.com", "m", "is no http or https address"},
		{"not an address", "http://user:hunter2@exa mple", "m", "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := openai.New(openai.Config{Ref: llm.Ref{Provider: "acme", Model: c.model}, Provider: openai.Provider{Name: "acme", BaseURL: c.base}})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error %v, want %q", err, c.want)
			}
			var e *llm.Error
			if c.model != "" && (!errors.As(err, &e) || !strings.Contains(e.Hint, "base_url under providers: acme")) {
				t.Errorf("%v does not say where the address is set", err)
			}
		})
	}
}
