package script_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bureau/engine/llm/script"
)

// server speaks like a model server: a stream that ends, one that breaks off, an error with headers, a list.
func server(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Set-Cookie", "session=very-secret-cookie-1")
		w.Header().Set("X-Ratelimit-Remaining-Requests", "7")
		switch {
		case r.URL.Path == "/v1/models":
			_, _ = fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
		case bytes.Contains(body, []byte("too fast")):
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = fmt.Fprint(w, `{"error":{"message":"slow down"}}`)
		case bytes.Contains(body, []byte("wrong key")):
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			for _, word := range []string{"héllo", "世界", "🙂"} {
				event := fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", word)
				// Pieces that cut characters, as a network does.
				for len(event) > 0 {
					n := min(len(event), 42)
					_, _ = io.WriteString(w, event[:n])
					w.(http.Flusher).Flush()
					event = event[n:]
				}
			}
			if bytes.Contains(body, []byte("break")) {
				panic(http.ErrAbortHandler)
			}
			_, _ = io.WriteString(w, "data: [DONE]\n\n")
		}
	}))
	t.Cleanup(s.Close)
	return s
}

type answer struct {
	status int
	header http.Header
	body   string
	err    error
}

// send posts a body, or gets when there is none.
func send(t *testing.T, transport http.RoundTripper, url, body, key string) answer {
	t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return answer{err: err}
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(b), err}
}

func chat(model, message string) string {
	return fmt.Sprintf(`{"stream":true,"model":%q,"messages":[{"role":"system","content":"s"},{"role":"user","content":%q}],"tools":[]}`, model, message)
}

func TestRecordThenReplay(t *testing.T) {
	t.Parallel()
	s := server(t)
	file := filepath.Join(t.TempDir(), "cassette.jsonl")
	cassette, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	recorder := script.Record(cassette, transport)

	bodies := []string{chat("m", "one"), chat("m", "two"), chat("m", "too fast"), chat("m", "break"), ""}
	var recorded []answer
	for _, body := range bodies {
		url := s.URL + "/v1/chat/completions"
		if body == "" {
			url = s.URL + "/v1/models"
		}
		recorded = append(recorded, send(t, recorder, url, body, ""))
	}
	s.Close()
	dead := send(t, recorder, s.URL+"/v1/chat/completions", chat("m", "dead"), "")
	if dead.err == nil {
		t.Fatal("a closed server answered")
	}
	if err := cassette.Close(); err != nil {
		t.Fatal(err)
	}
	if a := recorded[0]; a.status != 200 || !strings.Contains(a.body, "世界") || a.err != nil {
		t.Fatalf("recorded %+v", a)
	}
	if recorded[3].err == nil {
		t.Fatal("the broken stream was whole")
	}

	player, err := script.Replay(file)
	if err != nil {
		t.Fatal(err)
	}
	// Out of order: what is asked decides, and keys of the body may be in another order.
	for _, i := range []int{4, 3, 2, 1, 0} {
		// Another server, and another base path.
		url := "http://replay.invalid/api/v3/chat/completions"
		if bodies[i] == "" {
			url = "http://replay.invalid/api/v3/models"
		}
		got, want := send(t, player, url, reorder(t, bodies[i]), ""), recorded[i]
		if got.status != want.status || got.body != want.body || (got.err == nil) != (want.err == nil) {
			t.Errorf("request %d replayed as %+v\nrecorded as %+v", i, got, want)
		}
		if got.header.Get("Set-Cookie") != "" || got.header.Get("Retry-After") != want.header.Get("Retry-After") ||
			got.header.Get("X-Ratelimit-Remaining-Requests") != "7" || got.header.Get("Content-Type") != want.header.Get("Content-Type") {
			t.Errorf("request %d replayed with headers %v", i, got.header)
		}
	}
	if got := send(t, player, "http://replay.invalid/chat/completions", chat("m", "dead"), ""); got.err == nil || !strings.Contains(got.err.Error(), "as recorded") {
		t.Errorf("the refused connection replayed as %+v", got)
	}
}

func reorder(t *testing.T, body string) string {
	t.Helper()
	if body == "" {
		return ""
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(v)
	return string(b)
}

func TestNoSecretReachesTheCassette(t *testing.T) {
	t.Parallel()
	const key = "s3cret/of+the\"user=="
	secrets := []string{
		"sk-proj-abcdefghij0123456789", "gsk_abcdefghij0123456789", "AIzaSyA0123456789abcdefghij", "ghp_abcdefghijklmnopqrst0123",
		"hf_abcdefghijklmnopqrst", "xai-abcdefghijklmnop0123", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMDAw",
		"abc123def456ghi", "plainpassword", "queryvalue1",
	}
	said := fmt.Sprintf("keys: %s\n%s %s\t%s %s %s %s; Authorization: Bearer %s, DB_PASSWORD=%s, see http://x.test/a?b=1&api_key=%s&c=2",
		secrets[0], secrets[1], secrets[2], secrets[3], secrets[4], secrets[5], secrets[6], secrets[7], secrets[8], secrets[9])
	quoted, _ := json.Marshal(said + " and my own: " + key)

	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Location", "/next?api_key=queryvalue1")
		w.Header().Set("X-Request-Id", r.Header.Get("X-Api-Key"))
		for i := range body { // byte by byte: no piece holds a whole secret
			_, _ = w.Write(body[i : i+1])
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(s.Close)
	var cassette bytes.Buffer
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	recorder := script.Record(&cassette, transport)
	body := `{"messages":[{"role":"user","content":` + string(quoted) + `}]}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/"+secrets[0]+"/chat?key=short&alt=sse", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("X-Api-Key", "another-secret-value")
	req.SetBasicAuth("user", key)
	req.Header.Set("Api-Key", key)
	resp, err := recorder.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	echoed, err := io.ReadAll(resp.Body)
	if err != nil || string(echoed) != body {
		t.Fatalf("the recording changed what the client reads: %q, %v", echoed, err)
	}
	_ = resp.Body.Close()

	var line struct {
		Request  struct{ Path, Query string }
		Response struct {
			Headers map[string][]string
			Chunks  []struct{ Text string }
		}
	}
	if err := json.Unmarshal(cassette.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	var replayed strings.Builder
	for _, c := range line.Response.Chunks {
		replayed.WriteString(c.Text)
	}
	text := cassette.String() + replayed.String() + fmt.Sprint(line.Response.Headers)
	for _, secret := range append(secrets, key, `s3cret/of+the\"user`, "another-secret-value", "short") {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in the cassette", secret)
		}
	}
	if !strings.Contains(text, "c=2") || !strings.Contains(line.Request.Query, "alt=sse") || strings.Count(replayed.String(), "[masked]") < len(secrets) {
		t.Errorf("too much is masked, or too little: %s", replayed.String())
	}
	if !json.Valid([]byte(replayed.String())) {
		t.Error("masking broke the JSON of the body")
	}
}

func TestRecorderThatCannotWrite(t *testing.T) {
	t.Parallel()
	s := server(t)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	recorder := script.Record(full{}, transport)
	if a := send(t, recorder, s.URL+"/v1/models", "", ""); a.err != nil || a.status != 200 {
		t.Errorf("the exchange did not go on: %+v", a)
	}
	if a := send(t, recorder, s.URL+"/v1/models", "", ""); a.err == nil || !strings.Contains(a.err.Error(), "disk full") {
		t.Errorf("the next request was not refused: %+v", a)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestCancelledRequestIsNotAFailure(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		<-release
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(release) })
	var cassette bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/x", nil)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	resp, err := script.Record(&cassette, transport).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resp.Body.Read(make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(resp.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("read after the cancel: %v", err)
	}
	_ = resp.Body.Close()
	if got := cassette.String(); !strings.Contains(got, "data: 1") || strings.Contains(got, "canceled") || strings.Count(got, "\n") != 1 {
		t.Errorf("cassette %s", got)
	}
}

const (
	lineHello = `{"version":1,"request":{"method":"POST","path":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"user","content":"hello"}]}},"response":{"status":200,"chunks":[{"at_ms":1000,"text":"one"},{"at_ms":3000,"text":"two"}]}}`
	lineBye   = `{"version":1,"request":{"method":"POST","path":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"user","content":"bye"}]}},"response":{"status":200,"chunks":[{"at_ms":0,"text":"ciao"}]}}`
)

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cassette.jsonl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestReplayPicks(t *testing.T) {
	t.Parallel()
	const url = "http://replay.invalid/v1/chat/completions"
	ask := func(model, text string) string {
		return `{"model":"` + model + `","messages":[{"role":"user","content":"` + text + `"}]}`
	}
	type step struct{ body, want string }
	tests := []struct {
		name    string
		options []script.ReplayOption
		steps   []step
	}{
		{"the same request", nil, []step{{ask("m", "bye"), "ciao"}, {ask("m", "hello"), "onetwo"}}},
		{"another model", nil, []step{{ask("replay", "bye"), "ciao"}, {ask("replay", "hello"), "onetwo"}}},
		{"the next unused", nil, []step{{ask("m", "?"), "onetwo"}, {ask("m", "?"), "ciao"}}},
		{"all used", nil, []step{{ask("m", "bye"), "ciao"}, {ask("m", "hello"), "onetwo"}, {ask("m", "hello!"), `! differs at messages[0].content: "hello" was recorded, "hello!" is asked for`}}},
		{"strict", []script.ReplayOption{script.Strict()}, []step{{ask("m", "bye"), "ciao"}, {ask("x", "hello"), `! number 1, differs at model: "m" was recorded, "x" is asked for`}}},
		{"strict, used", []script.ReplayOption{script.Strict()}, []step{{ask("m", "bye"), "ciao"}, {ask("m", "bye"), "! differs at"}}},
		{"missing part", []script.ReplayOption{script.Strict()}, []step{{`{"model":"m"}`, "! differs at messages, which is missing"}}},
		{"one more message", []script.ReplayOption{script.Strict()}, []step{{`{"model":"m","messages":[{"role":"user","content":"bye"},{}]}`, "! number 2, differs at messages[1]: 1 entries were recorded, 2 are asked for"}}},
		{"new part", []script.ReplayOption{script.Strict()}, []step{{`{"model":"m","messages":[{"role":"user","content":"bye"}],"tools":[]}`, "! differs at tools, which was not recorded"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			player, err := script.Replay(write(t, lineHello+"\n\n"+lineBye+"\n"), test.options...)
			if err != nil {
				t.Fatal(err)
			}
			for i, step := range test.steps {
				got := send(t, player, url, step.body, "")
				want, fails := strings.CutPrefix(step.want, "! ")
				if fails && (got.err == nil || !strings.Contains(got.err.Error(), want) || !strings.Contains(got.err.Error(), "cassette.jsonl")) {
					t.Errorf("step %d: %v\nwant %s", i, got.err, want)
				}
				if !fails && (got.err != nil || got.body != want) {
					t.Errorf("step %d: %q, %v; want %q", i, got.body, got.err, want)
				}
			}
			if got := send(t, player, "http://replay.invalid/v1/models", "", ""); got.err == nil || !strings.Contains(got.err.Error(), "holds no GET /models; it holds POST /chat/completions") {
				t.Errorf("another endpoint: %v", got.err)
			}
		})
	}
}

func TestReplayTiming(t *testing.T) {
	t.Parallel()
	file := write(t, lineHello)
	for factor, want := range map[float64]time.Duration{0: 0, 1: 3 * time.Second, 0.1: 300 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			player, err := script.Replay(file, script.Timed(factor))
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			got := send(t, player, "http://replay.invalid/v1/chat/completions", `{}`, "")
			if took := time.Since(start); got.body != "onetwo" || took != want {
				t.Errorf("factor %v: %q after %v, want %v", factor, got.body, took, want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		player, err := script.Replay(file, script.Timed(1))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		start := time.Now()
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://replay.invalid/v1/chat/completions", nil)
		resp, err := player.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		b, err := io.ReadAll(resp.Body)
		if string(b) != "one" || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 2*time.Second {
			t.Errorf("cancelled: %q, %v after %v", b, err, time.Since(start))
		}
	})
}

func TestHostileCassettes(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"":                      "holds no exchange",
		"\n\n":                  "holds no exchange",
		"hello":                 ":1: not an exchange in JSON",
		lineHello + "\n{\"vers": ":2: not an exchange in JSON",
		`{"version":2}`:         "version 2 is unknown",
		`[]`:                    "not an exchange in JSON",
		`null`:                  "version 0 is unknown",
		`{"version":1}`:         "the request has no method",
		`{"version":1,"request":{"method":"GET","path":"x"}}`:                                                                                     `the path "x" of the request does not begin with /`,
		`{"version":1,"request":{"method":"GET","path":"/x"}}`:                                                                                    "neither a response nor an error",
		`{"version":1,"request":{"method":"GET","path":"/x"},"error":"e","response":{"status":200}}`:                                              "both a response and an error",
		`{"version":1,"request":{"method":"GET","path":"/x"},"response":{"status":99}}`:                                                           "the status 99",
		`{"version":1,"request":{"method":"GET","path":"/x"},"response":{"status":200,"chunks":[{"at_ms":5,"text":"a"},{"at_ms":4,"text":"b"}]}}`: "chunk 1 comes at 4 ms",
		`{"version":1,"request":{"method":"GET","path":"/x"},"response":{"status":200,"chunks":[{"at_ms":-5,"text":"a"}]}}`:                       "chunk 0 comes at -5 ms",
		`{"version":1,"request":{"method":"GET","path":"/x"},"response":{"status":200,"chunks":[{"at_ms":9000000000000,"text":"a"}]}}`:            "more than a day",
		`{"version":1,"request":{"method":"GET","path":"/x"},"response":{"status":200,"chunks":[{"text":"a","base64":"YQ=="}]}}`:                  "both text and base64",
		`{"version":1,"request":{"method":"GET","path":"/x"},"response":{"status":200,"chunks":[{"base64":"*"}]}}`:                                "not an exchange in JSON",
	}
	for text, want := range tests {
		if _, err := script.Replay(write(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
	dir := t.TempDir()
	if _, err := script.Replay(dir); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := script.Replay(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestRecordAndReplayAtOnce(t *testing.T) {
	t.Parallel()
	s := server(t)
	var cassette bytes.Buffer
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	recorder := script.Record(&cassette, transport)
	all := func(transport http.RoundTripper, url string) {
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				if a := send(t, transport, url, chat("m", fmt.Sprint("number ", i)), ""); a.err != nil || !strings.Contains(a.body, "[DONE]") {
					t.Errorf("%d: %+v", i, a)
				}
			})
		}
		wg.Wait()
	}
	all(recorder, s.URL+"/v1/chat/completions")
	if n := strings.Count(cassette.String(), "\n"); n != 12 {
		t.Errorf("%d lines", n)
	}
	player, err := script.Replay(write(t, cassette.String()), script.Strict())
	if err != nil {
		t.Fatal(err)
	}
	all(player, "http://replay.invalid/v1/chat/completions")
}
