package openai

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"bureau/engine/history"
	"bureau/engine/llm"
)

// Config says which model of which server is meant.
type Config struct {
	Ref      llm.Ref
	Provider Provider
	// API is the protocol to ask in; empty is Chat Completions.
	API history.Protocol
	// Key returns the key, or "" where there is none; nil where none is needed. It is asked for every request.
	Key func() string
	// Transport sends the requests; nil means NewTransport of the provider and the timeouts.
	Transport http.RoundTripper
	Timeouts  Timeouts
	// Window is the size of the context window in tokens; 0 where it is not known.
	Window int
}

// Timeouts are the limits of a request. 0 means the default, a negative value none.
type Timeouts struct {
	// Connect is for reaching the server; 10 seconds.
	Connect time.Duration
	// FirstByte is from sending the request to the first token: five minutes, or thirty for a server on this machine,
	// which may have to load the model.
	FirstByte time.Duration
	// Idle is for silence once tokens have come: two minutes, or five on this machine. Keep-alive comments are no silence.
	Idle time.Duration
}

// resolved puts the defaults in; 0 is then no limit.
func (t Timeouts) resolved(p Provider) Timeouts {
	firstByte, idle := 5*time.Minute, 2*time.Minute
	if p.IsLoopback() {
		firstByte, idle = 30*time.Minute, 5*time.Minute
	}
	return Timeouts{
		Connect:   max(cmp.Or(t.Connect, 10*time.Second), 0),
		FirstByte: max(cmp.Or(t.FirstByte, firstByte), 0),
		Idle:      max(cmp.Or(t.Idle, idle), 0),
	}
}

// NewTransport returns the transport that New uses by itself, for those who wrap it. Proxies are taken from the standard
// variables, and never used for this machine; SSL_CERT_FILE and SSL_CERT_DIR name further roots.
func NewTransport(p Provider, t Timeouts) http.RoundTripper {
	connect := t.resolved(p).Connect
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: connect,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 8,
		IdleConnTimeout:     90 * time.Second,
		// A compressed stream arrives in lumps.
		DisableCompression: true,
	}
}

// endpoint is a server as requests reach it.
type endpoint struct {
	provider Provider
	ref      llm.Ref
	base     *url.URL
	key      func() string
	http     *http.Client
	timeouts Timeouts
}

func newEndpoint(c Config) (*endpoint, error) {
	fault := func(format string, args ...any) error {
		return &llm.Error{
			Kind: llm.KindRequest, Ref: c.Ref, Message: fmt.Sprintf(format, args...),
			Hint: fmt.Sprintf("set base_url under providers: %s in config.yaml, such as https://example.com/v1", c.Provider.Name),
		}
	}
	if c.Provider.BaseURL == "" {
		return nil, fault("provider %q has no base URL", c.Provider.Name)
	}
	base, err := url.Parse(strings.TrimSpace(c.Provider.BaseURL))
	if err != nil {
		// The parser's own error repeats the address, which may hold a password.
		return nil, fault("the base URL of provider %q cannot be read", c.Provider.Name)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fault("the base URL of provider %q is no http or https address: %s", c.Provider.Name, shown(base))
	}
	if c.Provider.Name == "azure" && c.Provider.APIVersion == "" && strings.Trim(base.Path, "/") == "" {
		base.Path = "/openai/v1"
	}
	transport := c.Transport
	if transport == nil {
		transport = NewTransport(c.Provider, c.Timeouts)
	}
	return &endpoint{
		provider: c.Provider, ref: c.Ref, base: base, key: c.Key, timeouts: c.Timeouts.resolved(c.Provider),
		http: &http.Client{
			Transport: transport,
			// A redirected POST becomes a GET, and a key might go to another host.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// chatURL is where the requests of the model go.
func (e *endpoint) chatURL() *url.URL {
	if e.provider.APIVersion == "" {
		return e.url("chat", "completions")
	}
	return e.azureURL("deployments", e.ref.Model, "chat", "completions")
}

// responsesURL is where they go over the Responses API, which names a deployment in the body.
func (e *endpoint) responsesURL() *url.URL {
	if e.provider.APIVersion == "" {
		return e.url("responses")
	}
	return e.azureURL("responses")
}

// modelsURL is where the server lists what it offers.
func (e *endpoint) modelsURL() *url.URL {
	if e.provider.APIVersion == "" {
		return e.url("models")
	}
	return e.azureURL("models")
}

// azureURL is an address in Azure's classic form, whose base may be given with or without /openai.
func (e *endpoint) azureURL(path ...string) *url.URL {
	if !strings.HasSuffix(strings.TrimRight(e.base.Path, "/"), "/openai") {
		path = append([]string{"openai"}, path...)
	}
	u := e.url(path...)
	query := u.Query()
	query.Set("api-version", e.provider.APIVersion)
	u.RawQuery = query.Encode()
	return u
}

// url is the base with path elements after it, and the base's own query.
func (e *endpoint) url(elements ...string) *url.URL {
	escaped := make([]string, len(elements))
	for i, element := range elements {
		escaped[i] = url.PathEscape(element)
	}
	return e.base.JoinPath(escaped...)
}

// authorise sets the headers that say who asks.
func (e *endpoint) authorise(header http.Header) error {
	for name, value := range e.provider.Headers {
		header.Set(name, value)
	}
	header.Set("User-Agent", "bureau")
	key := e.secret()
	if key == "" {
		if !e.provider.NeedsKey {
			return nil
		}
		return &llm.Error{
			Kind: llm.KindAuth, Ref: e.ref, Message: fmt.Sprintf("no key for the provider %s", e.provider.Name), Hint: e.keyHint(),
		}
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) {
		return &llm.Error{
			Kind: llm.KindAuth, Ref: e.ref, Hint: e.keyHint(),
			Message: fmt.Sprintf("the key for the provider %s holds characters that no key has", e.provider.Name),
		}
	}
	if name := e.provider.Dialect.KeyHeader; name != "" {
		header.Set(name, key)
	} else {
		header.Set("Authorization", "Bearer "+key)
	}
	return nil
}

func (e *endpoint) secret() string {
	if e.key == nil {
		return ""
	}
	return strings.TrimSpace(e.key())
}

func (e *endpoint) keyHint() string {
	if e.provider.KeyEnv == "" {
		return "configure a key for this provider"
	}
	return fmt.Sprintf("set %s to a valid key of this provider", e.provider.KeyEnv)
}

// shown is a URL as it may be shown: without password and query.
func shown(u *url.URL) string {
	clean := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return safeText(clean.String(), 200)
}

var errNoModel = errors.New("the model's name is empty")
