package openai_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"bureau/engine/llm"
	"bureau/engine/llm/llmtest"
	"bureau/engine/llm/openai"
)

// failure streams once and returns the typed error.
func failure(t testing.TB, m *openai.Model) *llm.Error {
	t.Helper()
	_, err := m.Stream(context.Background(), hello, func(llm.Delta) {})
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %T %v", err, err)
	}
	return e
}

// closedPort is an address of this machine where nobody listens.
func closedPort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return "http://" + l.Addr().String()
}

func TestServerIsDown(t *testing.T) {
	t.Parallel()
	base := closedPort(t)
	p, _ := openai.Lookup("ollama")
	p.BaseURL = base + "/v1"
	e := failure(t, modelOf(t, "", func(c *openai.Config) { c.Provider = p }))
	if e.Kind != llm.KindConnect || !strings.Contains(e.Message, "cannot reach "+base+"/v1: the connection is refused") || !strings.Contains(e.Hint, "ollama serve") {
		t.Errorf("%+v", e)
	}
	if llm.Retries(e) == 0 {
		t.Error("it is not tried again")
	}
}

func TestConnectionErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		err     error
		message string
	}{
		{"no such host", &net.DNSError{Err: "no such host", Name: "api.example.com", IsNotFound: true}, "no address is known for api.example.com"},
		{"proxy", &net.OpError{Op: "proxyconnect", Err: errors.New("connection refused")}, "the proxy cannot be reached"},
		{"dial timeout", &net.OpError{Op: "dial", Err: timeoutError{}}, "it does not answer"},
		{"reset", errors.New("read: connection reset by peer with secret-key-12345"), "connection reset by peer with [key]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := failure(t, modelOf(t, "https://user:hunter2@api.example.com/v1?token=tok", func(config *openai.Config) {
				config.Key = func() string { return "secret-key-12345" }
				config.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return nil, c.err })
			}))
			if e.Kind != llm.KindConnect || !strings.Contains(e.Message, c.message) {
				t.Errorf("%+v", e)
			}
			if all := e.Error() + e.Hint; strings.Contains(all, "hunter2") || strings.Contains(all, "tok=") || strings.Contains(all, "secret-key") {
				t.Errorf("a secret is in %q", all)
			}
		})
	}
}

type timeoutError struct{}

func (timeoutError) Error() string   { return "i/o timeout" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

func TestCertificateOfAnUnknownAuthority(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	e := failure(t, modelOf(t, server.URL+"/v1"))
	if e.Kind != llm.KindProtocol || !strings.Contains(e.Message, "issued by O=Acme Co") || !strings.Contains(e.Hint, "SSL_CERT_FILE") {
		t.Errorf("%+v", e)
	}
	if llm.Retries(e) != 0 {
		t.Error("a certificate that is not trusted is tried again")
	}
}

func TestHTTPSofAPlainServer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	e := failure(t, modelOf(t, strings.Replace(server.URL, "http:", "https:", 1)+"/v1"))
	if !strings.Contains(e.Message, "does not speak https") || !strings.Contains(e.Hint, "http://") {
		t.Errorf("%+v", e)
	}
}

// TestNoKeyGoesElsewhere: a redirect to another server is reported, and that server never asked.
func TestNoKeyGoesElsewhere(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header.Get("Authorization") }))
	t.Cleanup(other.Close)
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(first.Close)
	m := modelOf(t, first.URL+"/v1", func(c *openai.Config) { c.Key = func() string { return "secret-key-12345" } })
	if e := failure(t, m); e.Kind != llm.KindProtocol || !strings.Contains(e.Message, other.URL) {
		t.Errorf("%+v", e)
	}
	select {
	case key := <-asked:
		t.Errorf("the other server was asked, with %q", key)
	default:
	}
}

func TestKeyThatIsMissing(t *testing.T) {
	t.Parallel()
	p, _ := openai.Lookup("openai")
	for _, key := range []func() string{nil, func() string { return "" }, func() string { return " \n" }, func() string { return "abc\x00def" }} {
		e := failure(t, modelOf(t, "", func(c *openai.Config) {
			c.Provider, c.Key = p, key
			c.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
				t.Error("a request was sent")
				return nil, errors.New("none")
			})
		}))
		if e.Kind != llm.KindAuth || !strings.Contains(e.Hint, "OPENAI_API_KEY") {
			t.Errorf("%+v", e)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	soon := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
	past := time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)
	for _, c := range []struct {
		name   string
		header map[string]string
		text   string
		min    time.Duration
		max    time.Duration
	}{
		{"none", nil, "slow down", 0, 0},
		{"seconds", map[string]string{"Retry-After": "7"}, "", 7 * time.Second, 7 * time.Second},
		{"fraction", map[string]string{"Retry-After": "0.5"}, "", 500 * time.Millisecond, 500 * time.Millisecond},
		{"a day", map[string]string{"Retry-After": "86400"}, "", 24 * time.Hour, 24 * time.Hour},
		{"date", map[string]string{"Retry-After": soon}, "", 30 * time.Second, 90 * time.Second},
		{"date in the past", map[string]string{"Retry-After": past}, "", 0, 0},
		{"milliseconds win", map[string]string{"Retry-After-Ms": "1500", "Retry-After": "9"}, "", 1500 * time.Millisecond, 1500 * time.Millisecond},
		{"negative", map[string]string{"Retry-After": "-5"}, "", 0, 0},
		{"nonsense", map[string]string{"Retry-After": "soon"}, "", 0, 0},
		{"endless", map[string]string{"Retry-After": "1e300"}, "", 365 * 24 * time.Hour, 365 * 24 * time.Hour},
		{"not a number", map[string]string{"Retry-After": "NaN"}, "", 0, 0},
		{"in the text", nil, "Please retry after 45 seconds.", 45 * time.Second, 45 * time.Second},
		{"in the text, compound", nil, "Please try again in 7m12.5s. Visit", 432500 * time.Millisecond, 432500 * time.Millisecond},
		{"in the text, milliseconds", nil, "try again in 250ms", 250 * time.Millisecond, 250 * time.Millisecond},
		{"in the text, minutes", nil, "Try again in 2 minutes", 2 * time.Minute, 2 * time.Minute},
		{"header before text", map[string]string{"Retry-After": "3"}, "retry after 45 seconds", 3 * time.Second, 3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{}
			for name, value := range c.header {
				header.Set(name, value)
			}
			s := llmtest.NewServer(t, func(*llmtest.Request) llmtest.Response {
				return llmtest.Response{Status: 429, Header: header, Body: `{"error":{"message":` + quoted(c.text) + `}}`}
			})
			e := failure(t, against(t, s, "acme"))
			if e.Kind != llm.KindRateLimit || e.RetryAfter < c.min || e.RetryAfter > c.max {
				t.Errorf("%s after %s, want %s to %s", e.Kind, e.RetryAfter, c.min, c.max)
			}
			if named := e.RetryAfter.Round(time.Second); named > 0 && !strings.Contains(e.Hint, "wait "+named.String()) {
				t.Errorf("a wait of %s is told as %q", named, e.Hint)
			}
			if len(s.Requests()) != 1 {
				t.Errorf("%d requests", len(s.Requests()))
			}
		})
	}
}

// TestOverflow: the words of all vendors, and the guard against a rate limit that speaks of tokens.
func TestOverflow(t *testing.T) {
	t.Parallel()
	for vendor, text := range map[string]string{
		"OpenAI":      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
		"OpenAI new":  "Your input exceeds the context window of this model. Please adjust your input and try again.",
		"vLLM":        "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
		"vLLM new":    "This model's maximum context length is 8192 tokens. However, your prompt contains at least 9000 input tokens.",
		"llama.cpp":   "the request exceeds the available context size, try increasing it",
		"LM Studio":   "The number of tokens to keep from the initial prompt is greater than the context length.",
		"Ollama":      "prompt too long; exceeded max context length by 100 tokens",
		"Anthropic":   "prompt is too long: 210000 tokens > 200000 maximum",
		"Anthropic 2": "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
		"Gemini":      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
		"Groq":        "Please reduce the length of the messages or completion.",
		"Mistral":     "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
		"xAI":         "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
		"Together":    "Input is longer than the model's context length (8193).",
		"OpenRouter":  "This endpoint's maximum allowed input length of 8192 tokens was exceeded",
		"GitHub":      "Request body too large for gpt-4.1 model. Max size: 8000 tokens.",
		"Copilot":     "prompt token count of 130000 exceeds the limit of 128000",
		"Kimi":        "Your request exceeded model token limit: 131072",
		"MiniMax":     "invalid params, context window exceeds limit",
	} {
		for _, status := range []int{400, 429} {
			s := llmtest.NewServer(t, func(*llmtest.Request) llmtest.Response {
				return llmtest.Response{Status: status, Body: `{"error":{"message":` + quoted(text) + `}}`}
			})
			e := failure(t, against(t, s, "acme"))
			if want := map[int]llm.Kind{400: llm.KindOverflow, 429: llm.KindRateLimit}[status]; e.Kind != want {
				t.Errorf("%s, %d: %s, want %s", vendor, status, e.Kind, want)
			}
		}
	}
	s := llmtest.NewServer(t, answerHello, llmtest.Window(10))
	if e := failure(t, against(t, s, "acme")); e.Kind != llm.KindOverflow || e.Code != "context_length_exceeded" || e.Hint == "" {
		t.Errorf("%+v", e)
	}
}
