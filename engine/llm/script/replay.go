package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"bureau/engine/history"
)

// ReplayOption changes how a cassette is replayed.
type ReplayOption func(*player)

// Timed lets the chunks of a body come with the pauses that they came with, times the factor. Without it nothing waits.
func Timed(factor float64) ReplayOption {
	return func(p *player) { p.factor = max(0, factor) }
}

// Strict refuses a request that was not recorded just so, where otherwise the next exchange of the same endpoint answers.
func Strict() ReplayOption {
	return func(p *player) { p.strict = true }
}

// Replay returns a transport that answers from a cassette, without a network. Each exchange answers once: the first unused one whose
// endpoint, model, messages and tools are the request's; else the first that differs in the model alone; else, as outputs
// of tools change from day to day, the next unused one of the same endpoint. When none is left, the error says which
// recorded request comes nearest and where this one differs from it.
func Replay(file string, options ...ReplayOption) (http.RoundTripper, error) {
	exchanges, err := readCassette(file)
	if err != nil {
		return nil, err
	}
	return newPlayer(file, exchanges, options), nil
}

// ReplayFrom is [Replay] of a cassette that is not at hand as a file, with the name that errors call it by.
func ReplayFrom(name string, r io.Reader, options ...ReplayOption) (http.RoundTripper, error) {
	exchanges, err := decodeCassette(name, r)
	if err != nil {
		return nil, err
	}
	return newPlayer(name, exchanges, options), nil
}

func newPlayer(name string, exchanges []exchange, options []ReplayOption) *player {
	p := &player{file: name}
	for _, option := range options {
		option(p)
	}
	for _, e := range exchanges {
		p.takes = append(p.takes, &take{exchange: e, endpoint: endpoint(e.Request.Method, e.Request.Path), body: essence(e.Request.Body)})
	}
	return p
}

// Protocol is the one that the first request of a model in a cassette was asked in; empty for a transport that is none of Replay's.
func Protocol(transport http.RoundTripper) history.Protocol {
	p, ok := transport.(*player)
	if !ok {
		return ""
	}
	for _, t := range p.takes {
		switch {
		case strings.HasSuffix(t.endpoint, "/responses"):
			return history.ProtocolResponses
		case strings.HasSuffix(t.endpoint, "/chat/completions"):
			return history.ProtocolChatCompletions
		}
	}
	return ""
}

// player answers from takes.
type player struct {
	file   string
	factor float64
	strict bool

	mu    sync.Mutex
	takes []*take
}

// take is an exchange and whether it has answered.
type take struct {
	exchange
	endpoint string
	body     map[string]any
	used     bool
}

// RoundTrip implements http.RoundTripper.
func (p *player) RoundTrip(req *http.Request) (*http.Response, error) {
	raw, err := readBody(req)
	if err != nil {
		return nil, err
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	t, err := p.pick(endpoint(req.Method, req.URL.Path), essence(bodyJSON(mask(raw, credentials(req)))))
	if err != nil {
		return nil, err
	}
	if t.Response == nil {
		return nil, fmt.Errorf("as recorded in %s: %s", p.file, t.Error)
	}
	header := http.Header{}
	for name, values := range t.Response.Headers {
		if keptHeader(name) {
			header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
	}
	status := t.Response.Status
	return &http.Response{
		Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1, Header: header, Request: req,
		Body: &playback{ctx: req.Context(), response: t.Response, factor: p.factor, start: time.Now()},
	}, nil
}

// pick takes the exchange that answers a request.
func (p *player) pick(endpoint string, body map[string]any) (*take, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var otherModel, next, nearest *take
	number, where := 0, ""
	for i, t := range p.takes {
		if t.endpoint != endpoint {
			continue
		}
		at := difference("", t.body, body)
		if at != "" && (nearest == nil || closer(at, where)) {
			nearest, number, where = t, i+1, at
		}
		if t.used {
			continue
		}
		if at == "" {
			t.used = true
			return t, nil
		}
		if otherModel == nil && difference("", without(t.body, "model"), without(body, "model")) == "" {
			otherModel = t
		}
		if next == nil {
			next = t
		}
	}
	switch {
	case p.strict && next != nil, next == nil && nearest != nil:
		return nil, fmt.Errorf("the cassette %s has no unused exchange like this %s: the nearest, number %d, differs at %s",
			p.file, endpoint, number, where)
	case next == nil && p.knows(endpoint):
		return nil, fmt.Errorf("every exchange of the cassette %s that is like this %s has been used", p.file, endpoint)
	case next == nil:
		return nil, fmt.Errorf("the cassette %s holds no %s; it holds %s", p.file, endpoint, strings.Join(p.endpoints(), ", "))
	case otherModel != nil:
		next = otherModel
	}
	next.used = true
	return next, nil
}

func (p *player) knows(endpoint string) bool { return slices.Contains(p.endpoints(), endpoint) }

func (p *player) endpoints() []string {
	var all []string
	for _, t := range p.takes {
		if !slices.Contains(all, t.endpoint) {
			all = append(all, t.endpoint)
		}
	}
	return all
}

// endpoint is the method and the part of the path that any server of the kind shares: what stands before it is the server's own.
func endpoint(method, path string) string {
	for _, known := range []string{"/chat/completions", "/responses", "/embeddings", "/models"} {
		if strings.HasSuffix(strings.TrimSuffix(path, "/"), known) {
			return method + " " + known
		}
	}
	return method + " " + path
}

// essence is what of a body decides whether two requests are alike.
func essence(raw json.RawMessage) map[string]any {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return map[string]any{}
	}
	object, ok := v.(map[string]any)
	if !ok {
		return map[string]any{"body": v}
	}
	kept := map[string]any{}
	for _, key := range []string{"model", "instructions", "messages", "input", "tools"} {
		if value, ok := object[key]; ok {
			kept[key] = value
		}
	}
	return kept
}

func without(m map[string]any, key string) map[string]any {
	rest := map[string]any{}
	for k, v := range m {
		if k != key {
			rest[k] = v
		}
	}
	return rest
}

// playback is a recorded body.
type playback struct {
	ctx      context.Context //nolint:containedctx // a body ends with the request that it answers
	response *recordedResponse
	factor   float64
	start    time.Time

	next   int
	rest   []byte
	closed bool
}

// Read implements io.Reader: a chunk at a time, as it was recorded.
func (b *playback) Read(p []byte) (int, error) {
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	for len(b.rest) == 0 {
		if b.next == len(b.response.Chunks) {
			return 0, b.end()
		}
		c := b.response.Chunks[b.next]
		if err := b.wait(c.AtMS); err != nil {
			return 0, err
		}
		b.next++
		b.rest = c.bytes()
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *playback) end() error {
	switch b.response.Error {
	case "":
		return io.EOF
	case io.ErrUnexpectedEOF.Error():
		return io.ErrUnexpectedEOF
	default:
		return errors.New(b.response.Error)
	}
}

func (b *playback) wait(atMS int64) error {
	due := time.Duration(float64(atMS) * b.factor * float64(time.Millisecond))
	left := due - time.Since(b.start)
	if b.factor == 0 || left <= 0 {
		return nil
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-b.ctx.Done():
		return b.ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Close implements io.Closer.
func (b *playback) Close() error {
	b.closed = true
	return nil
}
