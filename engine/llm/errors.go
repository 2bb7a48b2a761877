package llm

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Kind classifies a failed request.
type Kind string

// The kinds of failure.
const (
	// KindConnect: no connection to the server.
	KindConnect Kind = "connect"
	// KindTimeout: the server went silent past a limit.
	KindTimeout Kind = "timeout"
	// KindRateLimit: 429 that passes with time.
	KindRateLimit Kind = "rate_limit"
	// KindQuota: 402, or 429 that waiting does not cure (billing, a request too large for the plan).
	KindQuota Kind = "quota"
	// KindServer: 5xx, overload, or an error inside a stream.
	KindServer Kind = "server"
	// KindTruncated: the stream ended without a finish.
	KindTruncated Kind = "truncated"
	// KindEmpty: a reply with neither text nor calls.
	KindEmpty Kind = "empty"
	// KindAuth: 401 or 403, or no key.
	KindAuth Kind = "auth"
	// KindNotFound: 404: no such model or no such path.
	KindNotFound Kind = "not_found"
	// KindRequest: the server refuses the request as it is.
	KindRequest Kind = "request"
	// KindOverflow: the prompt is longer than the model's window.
	KindOverflow Kind = "overflow"
	// KindNoTools: the model cannot call tools.
	KindNoTools Kind = "no_tools"
	// KindProtocol: what came is not what such a server sends (a web page, broken JSON).
	KindProtocol Kind = "protocol"
	// KindModelFault: the model produced what its server could not parse (a malformed call).
	KindModelFault Kind = "model_fault"
	// KindFilter: the answer was withheld by a content filter.
	KindFilter Kind = "content_filter"
)

// Error is a failed request of a model: what happened, to which server, and what to do about it.
type Error struct {
	Kind Kind
	// Ref is the model that was asked.
	Ref Ref
	// Status is the HTTP status, or the one that an error inside a stream stands for; 0 where there is none.
	Status int
	// Code is the server's own error code, as text.
	Code string
	// Message is the server's own text or ours, without secrets, at most 2,000 bytes.
	Message string
	// Hint says what to do next; it may be empty.
	Hint string
	// RetryAfter is the wait that the server names; 0 where it names none.
	RetryAfter time.Duration
	// Err is the cause, where there is one.
	Err error
}

// Error says what happened, to what.
func (e *Error) Error() string {
	text := e.Message
	if text == "" && e.Err != nil {
		text = e.Err.Error()
	}
	if e.Status != 0 {
		return fmt.Sprintf("%s: HTTP %d: %s", e.Ref, e.Status, text)
	}
	return fmt.Sprintf("%s: %s", e.Ref, text)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retries says how many more times a request that failed so may be sent: none for what is bound to fail again, one for a
// fault of the model itself, two for what passes with time. The context's end is never tried again.
func Retries(err error) int {
	if errors.Is(err, context.Canceled) {
		return 0
	}
	var e *Error
	if !errors.As(err, &e) {
		return 0
	}
	switch e.Kind {
	case KindConnect, KindTimeout, KindRateLimit, KindServer, KindTruncated:
		return 2
	case KindEmpty, KindModelFault:
		return 1
	default:
		return 0
	}
}
