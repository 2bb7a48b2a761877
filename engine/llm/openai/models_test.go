package openai_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"bureau/engine/llm"
	"bureau/engine/llm/llmtest"
	"bureau/engine/llm/openai"
)

// paths serves a body for each path, and 404 elsewhere.
func paths(t testing.TB, bodies map[string]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := bodies[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func configOf(base string) openai.Config {
	return openai.Config{Ref: llm.Ref{Provider: "acme"}, Provider: openai.Custom("acme", base, "")}
}

func TestListModels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, path, body, want string }{
		{"OpenAI", "/v1/models", `{"object":"list","data":[{"id":"b","created":1},{"id":"a","created":1}]}`, "[{a 0} {b 0}]"},
		{"bare list of Together", "/v1/models", `[{"id":"a","created":1.5,"context_length":8192}]`, "[{a 8192}]"},
		{"OpenRouter", "/v1/models", `{"data":[{"id":"x/a:free","context_length":131072,"created":"2024"}]}`, "[{x/a:free 131072}]"},
		{"vLLM", "/v1/models", `{"data":[{"id":"a","max_model_len":4096}]}`, "[{a 4096}]"},
		{"llama.cpp", "/v1/models", `{"models":[{"name":"x"}],"data":[{"id":"a.gguf","meta":{"n_ctx":2048,"n_ctx_train":32768}}]}`, "[{a.gguf 2048}]"},
		{"Groq", "/v1/models", `{"data":[{"id":"a","context_window":4096.0}]}`, "[{a 4096}]"},
		{"Mistral", "/v1/models", `{"data":[{"id":"a","max_context_length":"32768"},{"id":"a"}]}`, "[{a 32768}]"},
		{"Gemini", "/v1/models", `{"data":[{"id":"models/gemini-2.5-pro"}]}`, "[{gemini-2.5-pro 0}]"},
		{"Ollama of old", "/api/tags", `{"models":[{"name":"qwen3:8b","model":"qwen3:8b"}]}`, "[{qwen3:8b 0}]"},
		{"names alone", "/v1/models", `{"data":["a",{"id":null},{"x":1},null,"b"]}`, "[{a 0} {b 0}]"},
		{"none", "/v1/models", `{"data":[]}`, "[]"},
		{"escapes", "/v1/models", `{"data":[{"id":"a\u001b[31mb"},{"id":"c"}]}`, "[{c 0}]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			models, err := openai.ListModels(context.Background(), configOf(paths(t, map[string]string{c.path: c.body})+"/v1"))
			if got := fmt.Sprint(models); err != nil || got != c.want {
				t.Errorf("%s, %v; want %s", got, err, c.want)
			}
		})
	}
}

func TestListModelsErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, base string
		kind       llm.Kind
		message    string
	}{
		{"down", closedPort(t) + "/v1", llm.KindConnect, "refused"},
		{"404", paths(t, nil) + "/v1", llm.KindNotFound, "404"},
		{"page", paths(t, map[string]string{"/v1/models": "<html>hello</html>"}) + "/v1", llm.KindProtocol, "<html>hello"},
		{"error in a 200", paths(t, map[string]string{"/v1/models": `{"error":{"message":"bad key","code":401}}`}) + "/v1", llm.KindAuth, "bad key"},
		{"other JSON", paths(t, map[string]string{"/v1/models": `{"status":"ok"}`}) + "/v1", llm.KindProtocol, "no list of models"},
		{"empty", paths(t, map[string]string{"/v1/models": ``}) + "/v1", llm.KindProtocol, "no list of models"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			models, err := openai.ListModels(context.Background(), configOf(c.base))
			var e *llm.Error
			if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(e.Message, c.message) {
				t.Errorf("%v, %v; want %s with %q", models, err, c.kind, c.message)
			}
		})
	}
}

func TestListModelsCancelled(t *testing.T) {
	t.Parallel()
	silent := openai.Config{Ref: llm.Ref{Provider: "acme"}, Provider: openai.Custom("acme", "http://127.0.0.1:9/v1", ""), Transport: slow(time.Hour)}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := openai.ListModels(ctx, silent); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	call := llmtest.Response{Calls: []llmtest.Call{{Name: "ping", Arguments: `{"word":"hello"}`}}}
	noTools := func(r *llmtest.Request) llmtest.Response {
		if len(r.Tools) > 0 {
			return llmtest.Response{Status: 400, Body: `{"error":{"message":"gemma does not support tools"}}`}
		}
		return llmtest.Response{Text: "hello"}
	}
	fixed := func(resp llmtest.Response) func(*llmtest.Request) llmtest.Response {
		return func(*llmtest.Request) llmtest.Response { return resp }
	}
	for _, c := range []struct {
		name                      string
		answer                    func(*llmtest.Request) llmtest.Response
		reachable, streams, tools bool
		kind                      llm.Kind
	}{
		{"all", fixed(call), true, true, true, ""},
		{"text only", fixed(llmtest.Response{Text: "hello"}), true, true, false, ""},
		{"takes no tools", noTools, true, true, false, ""},
		{"does not stream", fixed(llmtest.Response{Body: `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`}), true, false, false, ""},
		{"fails", fixed(llmtest.Response{Status: 500, Body: "boom"}), true, false, false, llm.KindServer},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.NewServer(t, c.answer)
			config := configOf(s.URL)
			config.Ref.Model = "m"
			got := openai.Probe(context.Background(), config)
			noneRefused(t, s)
			if got.Reachable != c.reachable || got.Streams != c.streams || got.Tools != c.tools || (got.FirstToken > 0) != (c.kind == "") {
				t.Errorf("%+v", got)
			}
			if c.kind != "" {
				var e *llm.Error
				if !errors.As(got.Err, &e) || e.Kind != c.kind {
					t.Errorf("error %v", got.Err)
				}
			} else if got.Err != nil {
				t.Errorf("error %v", got.Err)
			}
		})
	}
	config := configOf(closedPort(t) + "/v1")
	config.Ref.Model = "m"
	if got := openai.Probe(context.Background(), config); got.Reachable || got.Err == nil {
		t.Errorf("%+v", got)
	}
}

func TestProviders(t *testing.T) {
	t.Parallel()
	want := strings.Fields("openai azure ollama lmstudio llamacpp vllm openrouter groq mistral deepseek gemini anthropic xai together")
	if got := len(openai.Providers()); got != len(want) {
		t.Errorf("%d providers, want %d", got, len(want))
	}
	for _, name := range want {
		p, ok := openai.Lookup(name)
		if !ok || p.Name != name {
			t.Errorf("%s is not known", name)
			continue
		}
		if p.BaseURL == "" && name != "azure" {
			t.Errorf("%s has no base URL", name)
		}
		if p.NeedsKey == p.IsLocal() {
			t.Errorf("%s needs a key: %v; is local: %v", name, p.NeedsKey, p.IsLocal())
		}
		if p.NeedsKey && p.KeyEnv == "" {
			t.Errorf("%s needs a key, but names no variable", name)
		}
		if p.IsLocal() && (!p.Dialect.OneSystemFirst || p.Start == "") {
			t.Errorf("%s is a local server without its dialect or its start", name)
		}
	}
	if _, ok := openai.Lookup("acme"); ok {
		t.Error("acme is known")
	}
	for base, want := range map[string][2]bool{ // loopback, strict templates
		"http://127.0.0.1:1234/v1": {true, true}, "http://localhost/v1": {true, true}, "http://[::1]:80/v1": {true, true},
		"http://192.168.1.7:8080/v1": {false, true}, "http://gpu-box:8000/v1": {false, true}, "http://gpu.local/v1": {false, true},
		"https://api.example.com/v1": {false, false}, "https://8.8.8.8/v1": {false, false}, "": {false, false},
	} {
		p := openai.Custom("acme", base, "")
		if p.IsLoopback() != want[0] || p.Dialect.OneSystemFirst != want[1] {
			t.Errorf("%s: loopback %v, one system first %v", base, p.IsLoopback(), p.Dialect.OneSystemFirst)
		}
	}
}
