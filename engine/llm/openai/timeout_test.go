package openai_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bureau/engine/llm"
	"bureau/engine/llm/llmtest"
	"bureau/engine/llm/openai"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func response(body string) *http.Response {
	return streamed(io.NopCloser(strings.NewReader(body)))
}

func streamed(body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}
}

// step is what a slow server does: wait, then send.
type step struct {
	wait time.Duration
	send string
}

// slow is a transport whose answer's headers come after a wait, and its body step by step; then it stays open.
func slow(headers time.Duration, steps ...step) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(headers):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
		reader, writer := io.Pipe()
		go func() {
			for _, s := range steps {
				time.Sleep(s.wait)
				if _, err := writer.Write([]byte(s.send)); err != nil {
					return
				}
			}
		}()
		return streamed(reader), nil
	})
}

func TestSilence(t *testing.T) {
	const short, long = 10 * time.Second, time.Minute
	limits := openai.Timeouts{FirstByte: long, Idle: short}
	text := step{0, say("hi")}
	for _, c := range []struct {
		name      string
		base      string
		limits    openai.Timeouts
		headers   time.Duration
		steps     []step
		wantAfter time.Duration
		kind      llm.Kind
		text      string
		message   string
	}{
		{name: "no headers", limits: limits, headers: time.Hour, wantAfter: long, kind: llm.KindTimeout, message: "sent nothing of an answer for 1m0s"},
		{name: "headers and no body", limits: limits, headers: time.Second, wantAfter: long, kind: llm.KindTimeout, message: "sent nothing"},
		{name: "keep-alives are no token", limits: limits, steps: []step{{30 * time.Second, ": ping\n\n"}, {20 * time.Second, ": ping\n\n"}, {20 * time.Second, ": ping\n\n"}},
			wantAfter: long, kind: llm.KindTimeout, message: "sent nothing"},
		{name: "frames without a token are none", limits: limits, steps: []step{{30 * time.Second, piece(`{"role":"assistant","content":""}`)}, {25 * time.Second, say("hi") + done}},
			wantAfter: 55 * time.Second, text: "hi"},
		{name: "silence after a token", limits: limits, steps: []step{{50 * time.Second, say("hi")}}, wantAfter: 60 * time.Second, kind: llm.KindTimeout, text: "hi",
			message: "went silent in the middle of the answer for 10s"},
		{name: "keep-alives are no silence", limits: limits, steps: []step{text, {8 * time.Second, ": ping\n\n"}, {8 * time.Second, ": ping\n\n"}, {8 * time.Second, finish("stop") + done}},
			wantAfter: 24 * time.Second, text: "hi"},
		{name: "slow tokens", limits: limits, steps: []step{{55 * time.Second, say("h")}, {9 * time.Second, say("i")}, {9 * time.Second, finish("stop") + done}},
			wantAfter: 73 * time.Second, text: "hi"},
		{name: "done and the connection stays open", limits: limits, steps: []step{{0, say("hi") + finish("stop") + done}}, text: "hi"},
		{name: "finish and the connection stays open", limits: openai.Timeouts{Idle: -1}, steps: []step{{0, say("hi") + finish("stop")}}, wantAfter: 30 * time.Second, text: "hi"},
		{name: "error and the connection stays open", limits: limits, steps: []step{text, {0, `data: {"error":{"message":"boom"}}` + "\n"}}, text: "hi", kind: llm.KindServer, message: "boom"},
		{name: "no limits", limits: openai.Timeouts{FirstByte: -1, Idle: -1}, headers: 5 * time.Hour, steps: []step{{5 * time.Hour, say("hi")}, {5 * time.Hour, done}},
			wantAfter: 15 * time.Hour, text: "hi"},
		{name: "defaults on this machine", base: "http://127.0.0.1:9/v1", steps: []step{{29 * time.Minute, say("hi")}, {time.Hour, done}},
			wantAfter: 34 * time.Minute, kind: llm.KindTimeout, text: "hi"},
		{name: "defaults elsewhere", base: "https://api.example.com/v1", headers: time.Hour, wantAfter: 5 * time.Minute, kind: llm.KindTimeout},
		{name: "defaults elsewhere after a token", base: "https://api.example.com/v1", steps: []step{text}, wantAfter: 2 * time.Minute, kind: llm.KindTimeout, text: "hi"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				base := c.base
				if base == "" {
					base = "http://127.0.0.1:9/v1"
				}
				m := modelOf(t, base, func(config *openai.Config) {
					config.Timeouts, config.Transport = c.limits, slow(c.headers, c.steps...)
				})
				start := time.Now()
				reply, err := m.Stream(t.Context(), hello, func(llm.Delta) {})
				if took := time.Since(start); took != c.wantAfter {
					t.Errorf("it took %s, want %s", took, c.wantAfter)
				}
				if reply.Text != c.text {
					t.Errorf("text %q, want %q", reply.Text, c.text)
				}
				if c.kind == "" {
					if err != nil {
						t.Errorf("error %v", err)
					}
				} else {
					checkError(t, err, rawCase{kind: c.kind, message: []string{c.message}})
				}
				time.Sleep(24 * time.Hour) // lets what is left of the server end
			})
		})
	}
}

func TestCancel(t *testing.T) {
	for name, transport := range map[string]http.RoundTripper{
		"before the headers": slow(time.Hour),
		"before a token":     slow(0),
		"after a token":      slow(0, step{0, say("hi")}),
		"between tokens":     slow(0, step{0, say("hi")}, step{time.Hour, say("more")}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := modelOf(t, "http://127.0.0.1:9/v1", func(c *openai.Config) { c.Transport = transport })
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(3*time.Second, cancel)
				start := time.Now()
				reply, err := m.Stream(ctx, hello, func(llm.Delta) {})
				if !errors.Is(err, context.Canceled) || time.Since(start) != 3*time.Second {
					t.Errorf("error %v after %s", err, time.Since(start))
				}
				if len(reply.Calls) > 0 || strings.HasPrefix(name, "after") && reply.Text != "hi" {
					t.Errorf("reply %+v", reply)
				}
				time.Sleep(2 * time.Hour)
			})
		})
	}
	t.Run("by a deadline", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := modelOf(t, "http://127.0.0.1:9/v1", func(c *openai.Config) { c.Transport = slow(time.Hour) })
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := m.Stream(ctx, hello, func(llm.Delta) {}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
		})
	})
}

// TestCancelReachesTheServer over a real connection: the server sees the client go.
func TestCancelReachesTheServer(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, func(*llmtest.Request) llmtest.Response { return llmtest.Response{Text: "hi", Hang: true} })
	m := against(t, s, "acme")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	reply, err := m.Stream(ctx, hello, func(llm.Delta) { cancel() })
	if !errors.Is(err, context.Canceled) || reply.Text != "hi" {
		t.Errorf("%+v, %v", reply, err)
	}
	for s.Open() > 0 {
		time.Sleep(time.Millisecond)
	}
}

// endless is a body of comments without end.
type endless struct{ line []byte }

func (e endless) Read(p []byte) (int, error) { return copy(p, e.line), nil }

func TestAnswerWithoutEnd(t *testing.T) {
	t.Parallel()
	m := modelOf(t, "http://127.0.0.1:9/v1", func(c *openai.Config) {
		c.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
			body := io.MultiReader(strings.NewReader(say("hi")), endless{[]byte(":" + strings.Repeat("x", 1<<13) + "\n")})
			return streamed(io.NopCloser(body)), nil
		})
	})
	reply, err := m.Stream(context.Background(), hello, func(llm.Delta) {})
	checkError(t, err, rawCase{kind: llm.KindProtocol, message: []string{"256 MiB"}})
	if reply.Text != "hi" {
		t.Errorf("text %q", reply.Text)
	}
}

// FuzzStream feeds arbitrary bytes in arbitrary pieces: never a panic, always a typed error or an answer, and the same
// one however the bytes are cut.
func FuzzStream(f *testing.F) {
	for _, cases := range [][]rawCase{framingCases(), callCases(), contentCases(), errorCases()} {
		for _, c := range cases {
			if len(c.raw) < 4096 {
				f.Add([]byte(c.raw), 1)
			}
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte, size int) {
		wholeAndInPieces(t, raw, max(size, 1))
	})
}

// wholeAndInPieces holds an answer that comes in one piece against the same in pieces of a size.
func wholeAndInPieces(t *testing.T, raw []byte, size int, change ...func(*openai.Config)) {
	t.Helper()
	type outcome struct {
		reply string
		kind  llm.Kind
	}
	run := func(body io.Reader) outcome {
		m := modelOf(t, "http://127.0.0.1:9/v1", func(c *openai.Config) {
			c.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return streamed(io.NopCloser(body)), nil })
			for _, f := range change {
				f(c)
			}
		})
		var deltas []llm.Delta
		reply, err := m.Stream(context.Background(), hello, func(d llm.Delta) { deltas = append(deltas, d) })
		checkDeltas(t, deltas, reply)
		out := outcome{reply: reply.Text + "|" + reply.Reasoning}
		for _, call := range reply.Calls {
			out.reply += "|" + call.ID + call.Name + call.Arguments
		}
		var e *llm.Error
		if errors.As(err, &e) {
			out.kind = e.Kind
		} else if err != nil {
			t.Fatalf("error %T: %v", err, err)
		}
		return out
	}
	whole, cut := run(bytes.NewReader(raw)), run(&inPieces{raw, size})
	if whole != cut {
		t.Errorf("whole %+v, in pieces of %d %+v", whole, size, cut)
	}
}

// inPieces reads size bytes at a time.
type inPieces struct {
	rest []byte
	size int
}

func (r *inPieces) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.rest[:min(r.size, len(r.rest))])
	r.rest = r.rest[n:]
	return n, nil
}
