package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"bureau/engine/history"
	"bureau/engine/llm"
)

// exchange is one request on its way: what go-openai sends through. It rewrites what go-openai cannot express, turns
// whatever is no answer into an *llm.Error, and gives the answer out as clean frames.
type exchange struct {
	*endpoint
	protocol history.Protocol
	at       *url.URL
	edits    edits
	cancel   context.CancelCauseFunc

	frames *frames
	watch  *watchdog
}

// Do sends the request. Its errors are *llm.Error, which go-openai passes on as they are.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	if body, err = x.edits.apply(body); err != nil {
		return nil, &llm.Error{Kind: llm.KindRequest, Ref: x.ref, Message: "the request cannot be written as JSON: " + err.Error(), Err: err}
	}
	ctx := req.Context()
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, x.at.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out.Header.Set("Content-Type", "application/json")
	out.Header.Set("Accept", "text/event-stream")
	out.Header.Set("Cache-Control", "no-cache")
	if err := x.authorise(out.Header); err != nil {
		return nil, err
	}
	x.watch = newWatchdog(x.timeouts, x.expire)
	resp, err := x.http.Do(out)
	if err != nil {
		return nil, x.connectError(err)
	}
	// A body that knows nothing of the context is closed under its reader.
	answer := resp.Body
	stop := context.AfterFunc(ctx, func() { _ = answer.Close() })
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		defer stop()
		return nil, x.statusError(resp)
	}
	x.frames = newFrames(&watchedBody{Reader: answer, watch: x.watch})
	resp.Body = &frameBody{Reader: x.frames, close: func() error {
		stop()
		return answer.Close()
	}}
	return resp, nil
}

// expire ends the request because the server was silent for too long.
func (x *exchange) expire(limit time.Duration, began bool) {
	e := &llm.Error{Kind: llm.KindTimeout, Ref: x.ref}
	if began {
		e.Message = fmt.Sprintf("%s went silent in the middle of the answer for %s", shown(x.base), limit)
		e.Hint = "if the server is only slow, raise the idle limit in the configuration"
	} else {
		e.Message = fmt.Sprintf("%s sent nothing of an answer for %s", shown(x.base), limit)
		e.Hint = "if the server is only slow (a large model, a long prompt), raise the limit for the first byte in the configuration"
	}
	x.cancel(e)
}

// statusError is the error of a response that is no success. It reads and closes the body.
func (x *exchange) statusError(resp *http.Response) error {
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return x.redirectError(resp)
	}
	// What could not be read of it is not worth an error of its own: the status says enough.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	trimmed := bytes.TrimSpace(body)
	if len(trimmed) > 0 && trimmed[0] == '<' {
		return x.fault(fault{status: resp.StatusCode, message: x.webPage(trimmed), page: true}, resp.Header)
	}
	f, ok := parseFault(trimmed)
	if !ok {
		f = fault{message: string(trimmed)}
	}
	f.status = resp.StatusCode
	if f.message == "" {
		f.message = strings.TrimSpace(strings.TrimPrefix(resp.Status, fmt.Sprint(resp.StatusCode)))
		f.silent = true
	}
	return x.fault(f, resp.Header)
}

func (x *exchange) redirectError(resp *http.Response) error {
	target := "another address that it does not name"
	if u, err := resp.Location(); err == nil {
		target = shown(u)
	}
	return &llm.Error{
		Kind: llm.KindProtocol, Ref: x.ref, Status: resp.StatusCode,
		Message: fmt.Sprintf("%s redirects to %s; a redirect is not followed, because the key would go with it", shown(x.at), target),
		Hint:    "if that address is right, set it as the provider's base URL",
	}
}

func (x *exchange) webPage(page []byte) string {
	return fmt.Sprintf("%s is a web page; check the base URL: %s", shown(x.at), safeText(string(page), 80))
}

// readError is the error of a stream that broke off or was none.
func (x *exchange) readError(err error) error {
	where := shown(x.at)
	protocol := func(format string, args ...any) error {
		return &llm.Error{
			Kind: llm.KindProtocol, Ref: x.ref, Message: x.clean(fmt.Sprintf(format, args...)), Err: err,
			Hint: "check the base URL and that the server speaks " + x.language(),
		}
	}
	var sample []byte
	if x.frames != nil {
		sample = x.frames.sample
	}
	switch {
	case errors.Is(err, errWebPage):
		e := protocol("%s", x.webPage(sample)).(*llm.Error)
		e.Hint = x.baseHint()
		return e
	case errors.Is(err, errNotStream):
		return protocol("%s answered with something that is no event stream: %s", where, safeText(string(sample), 80))
	case errors.Is(err, errBroken):
		return protocol("%s sent broken JSON: %s", where, safeText(string(sample), 80))
	case errors.Is(err, errTooLong), errors.Is(err, errTooMuch):
		return protocol("%s: %v", where, err)
	case errors.Is(err, errNoBody):
		return &llm.Error{Kind: llm.KindEmpty, Ref: x.ref, Message: where + " answered with an empty body", Err: err}
	default:
		return &llm.Error{
			Kind: llm.KindTruncated, Ref: x.ref, Err: err,
			Message: x.clean(fmt.Sprintf("the connection to %s ended in the middle of the answer: %v", where, err)),
		}
	}
}

// language is the protocol's name for people.
func (x *exchange) language() string {
	if x.protocol == history.ProtocolResponses {
		return "the Responses API"
	}
	return "Chat Completions"
}

// baseHint suggests what base URLs usually end in.
func (e *endpoint) baseHint() string {
	if path := strings.Trim(e.base.Path, "/"); path == "" {
		return "most servers want a base URL that ends in /v1: try " + shown(e.base.JoinPath("v1"))
	}
	return "check the provider's base URL"
}

// watchedBody tells the watchdog of every byte, and ends what has no end.
type watchedBody struct {
	io.Reader
	watch *watchdog
	total int64
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if n > 0 {
		b.watch.bytes()
	}
	if b.total += int64(n); b.total > maxAnswer {
		return n, errTooMuch
	}
	return n, err
}

// frameBody is the body that go-openai reads.
type frameBody struct {
	io.Reader
	close func() error
}

func (b *frameBody) Close() error { return b.close() }

// watchdog ends a request whose server is silent. Before the first token only a token counts; after it every byte does.
type watchdog struct {
	mu     sync.Mutex
	timer  *time.Timer
	limits Timeouts
	limit  time.Duration
	began  bool
}

func newWatchdog(limits Timeouts, expire func(limit time.Duration, began bool)) *watchdog {
	w := &watchdog{limits: limits, limit: limits.FirstByte}
	w.timer = time.AfterFunc(time.Hour, func() {
		w.mu.Lock()
		limit, began := w.limit, w.began
		w.mu.Unlock()
		expire(limit, began)
	})
	w.restart()
	return w
}

func (w *watchdog) restart() {
	if w.limit > 0 {
		w.timer.Reset(w.limit)
	} else {
		w.timer.Stop()
	}
}

// first notes the first token.
func (w *watchdog) first() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.began, w.limit = true, w.limits.Idle
	w.restart()
}

// bytes notes that something came.
func (w *watchdog) bytes() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.began {
		w.restart()
	}
}

// finishing shortens the patience: the answer is whole, only the server's own end is missing.
func (w *watchdog) finishing() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit == 0 || w.limit > afterFinish {
		w.limit = afterFinish
		w.restart()
	}
}

func (w *watchdog) stop() { w.timer.Stop() }

// afterFinish is how long a stream may stay open and silent after the reason for its end.
const afterFinish = 30 * time.Second
