package openai

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// Provider is a server, or a service, that speaks Chat Completions.
type Provider struct {
	Name string
	// BaseURL is what /chat/completions is appended to; a query in it is kept.
	BaseURL string
	// KeyEnv names the environment variable that holds the key; empty where none is customary.
	KeyEnv string
	// NeedsKey tells that nothing works without a key.
	NeedsKey bool
	// Start says how its server is started, for a message; empty for a service.
	Start string
	// APIVersion selects Azure's classic form, with the model as the deployment in the path.
	APIVersion string
	// Headers go with every request.
	Headers map[string]string
	Dialect Dialect
}

// Dialect is what a server wants otherwise than the others. It shapes a copy of the request only.
type Dialect struct {
	// OneSystemFirst: one system message, in front; later ones become notes in the user's messages; neighbours of one role
	// become one message.
	OneSystemFirst bool
	// ShortCallIDs: call ids are nine letters and digits, and no user message follows a tool's.
	ShortCallIDs bool
	// LongestCallID is how many characters a call id may have; 0 is any number. PlainCallIDs: they are letters, digits, _ and -. Another id,
	// which came from another server, is replaced by one that is the same in every request.
	LongestCallID int
	PlainCallIDs  bool
	// MaxCompletionTokens is the name of the output limit; otherwise it is max_tokens.
	MaxCompletionTokens bool
	// ReturnReasoning: an assistant message with calls carries its reasoning, in the field that it came in.
	ReturnReasoning bool
	// PlainSchemas: a tool's schema may hold no keyword outside of the subset that OpenAPI has.
	PlainSchemas bool
	// FormatOrTools: where tools are offered, the format of the answer is asked for in words. Such a server makes every reply fit the
	// format, so that no tool could be called.
	FormatOrTools bool
	// KeyHeader carries the key; empty means Authorization: Bearer.
	KeyHeader string
}

// Providers returns the providers that are known by name, local servers last.
func Providers() []Provider {
	local := Dialect{OneSystemFirst: true, FormatOrTools: true}
	thinking := Dialect{OneSystemFirst: true, ReturnReasoning: true, FormatOrTools: true}
	return []Provider{
		{Name: "openai", BaseURL: "https://api.openai.com/v1", KeyEnv: "OPENAI_API_KEY", NeedsKey: true,
			Dialect: Dialect{MaxCompletionTokens: true, LongestCallID: 40}},
		{Name: "azure", KeyEnv: "AZURE_OPENAI_API_KEY", NeedsKey: true,
			Dialect: Dialect{MaxCompletionTokens: true, LongestCallID: 40, KeyHeader: "api-key"}},
		{Name: "openrouter", BaseURL: "https://openrouter.ai/api/v1", KeyEnv: "OPENROUTER_API_KEY", NeedsKey: true,
			Dialect: Dialect{ReturnReasoning: true}},
		{Name: "groq", BaseURL: "https://api.groq.com/openai/v1", KeyEnv: "GROQ_API_KEY", NeedsKey: true,
			Dialect: Dialect{MaxCompletionTokens: true}},
		{Name: "mistral", BaseURL: "https://api.mistral.ai/v1", KeyEnv: "MISTRAL_API_KEY", NeedsKey: true,
			Dialect: Dialect{ShortCallIDs: true, OneSystemFirst: true}},
		{Name: "deepseek", BaseURL: "https://api.deepseek.com/v1", KeyEnv: "DEEPSEEK_API_KEY", NeedsKey: true,
			Dialect: Dialect{ReturnReasoning: true}},
		{Name: "gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", KeyEnv: "GEMINI_API_KEY", NeedsKey: true,
			Dialect: Dialect{PlainSchemas: true, FormatOrTools: true}},
		{Name: "anthropic", BaseURL: "https://api.anthropic.com/v1", KeyEnv: "ANTHROPIC_API_KEY", NeedsKey: true,
			Headers: map[string]string{"anthropic-version": "2023-06-01"}, Dialect: Dialect{OneSystemFirst: true, PlainCallIDs: true}},
		{Name: "xai", BaseURL: "https://api.x.ai/v1", KeyEnv: "XAI_API_KEY", NeedsKey: true},
		{Name: "together", BaseURL: "https://api.together.xyz/v1", KeyEnv: "TOGETHER_API_KEY", NeedsKey: true},
		{Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1", Start: "`ollama serve`", Dialect: local},
		{Name: "lmstudio", BaseURL: "http://127.0.0.1:1234/v1", Start: "`lms server start`, or the Developer tab of LM Studio", Dialect: local},
		{Name: "llamacpp", BaseURL: "http://127.0.0.1:8080/v1", Start: "`llama-server --jinja -m MODEL.gguf`", Dialect: thinking},
		{Name: "vllm", BaseURL: "http://127.0.0.1:8000/v1", KeyEnv: "VLLM_API_KEY", Start: "`vllm serve MODEL`", Dialect: thinking},
	}
}

// Lookup returns the provider of that name, in lower case.
func Lookup(name string) (Provider, bool) {
	all := Providers()
	i := slices.IndexFunc(all, func(p Provider) bool { return p.Name == name })
	if i < 0 {
		return Provider{}, false
	}
	return all[i], true
}

// Custom returns a provider of the user's own: a base URL and, where a key is needed, the variable that holds it. A
// server on the own machine or network gets the dialect of strict chat templates.
func Custom(name, baseURL, keyEnv string) Provider {
	p := Provider{Name: name, BaseURL: baseURL, KeyEnv: keyEnv, NeedsKey: keyEnv != "", Dialect: Dialect{ReturnReasoning: true}}
	if p.IsLocal() {
		p.Dialect.OneSystemFirst, p.Dialect.FormatOrTools = true, true
	}
	return p
}

// IsLoopback tells whether the server is on this machine.
func (p Provider) IsLoopback() bool {
	host := p.host()
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// IsLocal tells whether the server is on this machine or in its own network.
func (p Provider) IsLocal() bool {
	host := p.host()
	ip := net.ParseIP(host)
	return p.IsLoopback() || ip != nil && (ip.IsPrivate() || ip.IsLinkLocalUnicast()) ||
		strings.HasSuffix(host, ".local") || host != "" && ip == nil && !strings.Contains(host, ".")
}

func (p Provider) host() string {
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
