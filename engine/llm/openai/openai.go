// Package openai asks models over Chat Completions or the Responses API, as many servers speak them, each a little
// differently. It goes through go-openai, of which it is the only importer, behind a transport of its own that makes any
// server's stream safe: framing, truncation, errors inside a 200, web pages, silence. It knows servers and their habits, and
// nothing of agents, rows or tools' meaning. A Model is safe for concurrent use; what it learns of its server it keeps for
// itself.
package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"bureau/engine/history"
	"bureau/engine/llm"

	goopenai "github.com/sashabaranov/go-openai"
)

// Model is a model of a server, asked in one of its protocols.
type Model struct {
	*endpoint
	protocol history.Protocol
	window   int

	mu     sync.Mutex
	habits habits
}

// New returns the model of a configuration. It reads no environment and sends nothing; its errors are those of the
// configuration.
func New(c Config) (*Model, error) {
	if c.Ref.Model == "" {
		return nil, errNoModel
	}
	e, err := newEndpoint(c)
	if err != nil {
		return nil, err
	}
	protocol := cmp.Or(c.API, history.ProtocolChatCompletions)
	if protocol != history.ProtocolChatCompletions && protocol != history.ProtocolResponses {
		return nil, fmt.Errorf("there is no API %q: it is %s or %s", c.API, history.ProtocolChatCompletions, history.ProtocolResponses)
	}
	return &Model{endpoint: e, protocol: protocol, window: c.Window}, nil
}

// Ref is the model's reference.
func (m *Model) Ref() llm.Ref { return m.ref }

// Protocol is the one that was configured.
func (m *Model) Protocol() history.Protocol { return m.protocol }

// Window is the size of the context window that was configured; 0 where it is not known.
func (m *Model) Window() int { return m.window }

// IsLocal tells whether the server is on this machine or in its own network.
func (m *Model) IsLocal() bool { return m.provider.IsLocal() }

// Stream asks the model. A request that the server refuses for a habit of its own (the name of the output limit, a
// temperature, the form of a message) is sent again in the other form, and the habit remembered: that is no retry, for the
// model has not seen it. A reply that comes with an error has no calls, for they may be half.
func (m *Model) Stream(ctx context.Context, req llm.Request, on func(llm.Delta)) (llm.Reply, error) {
	reply, _, err := m.stream(ctx, req, on)
	return reply, err
}

// stream is Stream, and tells besides whether the answer came as a stream.
func (m *Model) stream(ctx context.Context, req llm.Request, on func(llm.Delta)) (llm.Reply, bool, error) {
	m.mu.Lock()
	h := m.habits
	m.mu.Unlock()
	before := h
	var tried habitSet
	told := false
	tell := func(d llm.Delta) { told = true; on(d) }
	for {
		reply, streamed, err := m.once(ctx, req, h, tell)
		var refused *llm.Error
		again := err != nil && errors.As(err, &refused) && h.adapt(m.protocol, refused, req, &tried)
		if again && !told {
			continue
		}
		switch {
		case err == nil:
			reply.Warnings = h.learned(before, m.ref)
			h.whole = false // it was that one answer
		case again && h.whole: // what was told cannot be taken back; the caller's next try comes in one piece
		default:
			return reply, streamed, err
		}
		if h != before {
			m.mu.Lock()
			m.habits = h
			m.mu.Unlock()
		}
		return reply, streamed, err
	}
}

// once sends the request one time.
func (m *Model) once(parent context.Context, req llm.Request, h habits, on func(llm.Delta)) (llm.Reply, bool, error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	x := &exchange{endpoint: m.endpoint, protocol: m.protocol, cancel: cancel}
	defer x.stop()
	accumulator := llm.NewAccumulator(toolNames(req.Tools), on)
	ask := m.askChat
	if m.protocol == history.ProtocolResponses {
		ask = m.askResponses
	}
	in, stream, err := ask(ctx, x, accumulator, req, h)
	if err == nil {
		defer func() { _ = stream.Close() }()
		err = x.readAll(stream, in)
	}
	reply := accumulator.Reply()
	if err == nil {
		reply, err = in.finish(reply)
	}
	if err != nil {
		reply.Calls = nil
		err = x.cause(parent, ctx, err)
	}
	return reply, x.frames != nil && !x.frames.whole, err
}

// incoming is an answer on its way in, in one of the protocols.
type incoming interface {
	// take takes one frame. Its errors are *llm.Error, or say that the frame is no JSON.
	take(raw []byte) error
	// whole tells whether all of the answer has come, so that only the formal end of the stream can be missing.
	whole() bool
	// finish judges an answer that ended without an error: whether it is whole, and whether it is one.
	finish(llm.Reply) (llm.Reply, error)
}

// rawStream is a stream of go-openai's.
type rawStream interface {
	RecvRaw() ([]byte, error)
	Close() error
}

// client is go-openai over one exchange, which knows the address and the key itself.
func (m *Model) client(x *exchange) *goopenai.Client {
	config := goopenai.DefaultConfig("")
	config.HTTPClient = x
	config.EmptyMessagesLimit = 1 << 30
	return goopenai.NewClientWithConfig(config)
}

func toolNames(tools []llm.Tool) []string {
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = tool.Name
	}
	return names
}

// cause is what the error is to the caller: the context's own, the watchdog's, or the server's.
func (x *exchange) cause(parent, ctx context.Context, err error) error {
	if parent.Err() != nil {
		return parent.Err()
	}
	var e *llm.Error
	if ctx.Err() != nil && errors.As(context.Cause(ctx), &e) {
		return e
	}
	if errors.As(err, &e) {
		return e
	}
	return &llm.Error{Kind: llm.KindRequest, Ref: x.ref, Message: x.clean(err.Error()), Err: err}
}

func (x *exchange) stop() {
	if x.watch != nil {
		x.watch.stop()
	}
}

// readAll takes the frames until the end of the stream.
func (x *exchange) readAll(stream rawStream, in incoming) error {
	for {
		raw, err := stream.RecvRaw()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			if in.whole() && !isProtocolFault(err) {
				return nil // only the formal end is missing
			}
			return x.readError(err)
		}
		if err := in.take(raw); err != nil {
			var own *llm.Error
			if errors.As(err, &own) {
				return own
			}
			x.frames.sample = raw
			return x.readError(errBroken)
		}
	}
}

func isProtocolFault(err error) bool {
	return errors.Is(err, errBroken) || errors.Is(err, errTooLong) || errors.Is(err, errTooMuch)
}

// The words for why an answer ends, beside those that say what they are.
var (
	lengthReasons = []string{"length", "max_tokens", "max_output_tokens", "token_limit"}
	filterReasons = []string{"content_filter", "safety", "recitation", "prohibited_content", "blocklist", "spii", "sensitive"}
	stopReasons   = []string{"stop", "end_turn", "eos", "eos_token", "stop_sequence", "complete", "completed", "tool_calls", "tool_use", "function_call"}
)

func (x *exchange) truncated(where string) error {
	return &llm.Error{
		Kind: llm.KindTruncated, Ref: x.ref, Message: "the answer of " + where + " ended in the middle: the server closed the stream without a finish",
	}
}

// judge decides by the server's word for why an answer ended, which may be empty, whether it is one.
func (x *exchange) judge(reply llm.Reply, reason string) (llm.Reply, error) {
	switch {
	case slices.Contains(filterReasons, reason):
		reply.Finish = llm.FinishFilter
		if reply.IsEmpty() {
			return reply, &llm.Error{
				Kind: llm.KindFilter, Ref: x.ref, Message: "the answer was withheld by the provider's content filter", Hint: x.hint(llm.KindFilter, fault{}),
			}
		}
	case slices.Contains(lengthReasons, reason):
		reply.Finish = llm.FinishLength
		if reply.IsEmpty() {
			return x.nothingBeforeLimit(reply)
		}
	case reply.IsEmpty():
		message := "the model gave an empty answer"
		if reply.Reasoning != "" {
			message = "the model thought, but gave no answer"
		}
		if reason != "" && !slices.Contains(stopReasons, reason) {
			message += " (" + safeText(reason, 80) + ")"
		}
		return reply, &llm.Error{Kind: llm.KindEmpty, Ref: x.ref, Message: message, Hint: "try again, or choose another model"}
	case len(reply.Calls) > 0:
		reply.Finish = llm.FinishToolCalls
	default:
		reply.Finish = llm.FinishStop
	}
	return reply, nil
}

// nothingBeforeLimit is for an answer that its limit ended before it began: asking again ends the same.
func (x *exchange) nothingBeforeLimit(reply llm.Reply) (llm.Reply, error) {
	e := &llm.Error{
		Kind: llm.KindRequest, Ref: x.ref, Message: "the model reached its output limit while it was thinking, before it answered",
		Hint: "raise max_output_tokens in the agent's model_settings, or lower its reasoning effort",
	}
	if reply.Reasoning == "" && reply.Usage.OutputTokens == 0 {
		e.Kind = llm.KindOverflow
		e.Message = "the model had no room for an answer: the prompt fills its window"
		e.Hint = x.hint(llm.KindOverflow, fault{})
	}
	return reply, e
}
