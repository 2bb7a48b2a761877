// Package openai asks models over Chat Completions, as many servers speak it, each a little differently. It goes through
// go-openai, of which it is the only importer, behind a transport of its own that makes any server's stream safe: framing,
// truncation, errors inside a 200, web pages, silence. It knows servers and their habits, and nothing of agents, rows or
// tools' meaning. A Model is safe for concurrent use; what it learns of its server it keeps for itself.
package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"bureau/engine/history"
	"bureau/engine/llm"

	goopenai "github.com/sashabaranov/go-openai"
)

// Model is a model of a Chat Completions server.
type Model struct {
	*endpoint
	window int

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
	return &Model{endpoint: e, window: c.Window}, nil
}

// Ref is the model's reference.
func (m *Model) Ref() llm.Ref { return m.ref }

// Protocol is Chat Completions.
func (m *Model) Protocol() history.Protocol { return history.ProtocolChatCompletions }

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
		again := err != nil && errors.As(err, &refused) && h.adapt(refused, req, &tried)
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
	x := &exchange{endpoint: m.endpoint, at: m.chatURL(), cancel: cancel}
	defer x.stop()
	var wire goopenai.ChatCompletionRequest
	wire, x.edits = m.build(req, h)

	a := answer{exchange: x, accumulator: llm.NewAccumulator(toolNames(req.Tools), on)}
	stream, err := m.client(x).CreateChatCompletionStream(ctx, wire)
	if err == nil {
		defer func() { _ = stream.Close() }()
		err = a.read(stream)
	}
	reply := a.accumulator.Reply()
	if err == nil {
		reply, err = a.finish(reply)
		reply.Citations = a.sources
	}
	if err != nil {
		reply.Calls = nil
		err = x.cause(parent, ctx, err)
	}
	return reply, x.frames != nil && !x.frames.whole, err
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

// answer is one answer on its way in.
type answer struct {
	*exchange
	accumulator *llm.Accumulator
	// reason is why the server says that the answer ends, in its own word; empty until it says so.
	reason string
	// chosen: some frame was one of a chat completion; begun: one had a token in it.
	chosen, begun bool
	// details of the reasoning, to be sent back as they came.
	details details
	sources sources
	field   string // that the reasoning comes in
}

// read takes the frames until the end of the stream.
func (a *answer) read(stream *goopenai.ChatCompletionStream) error {
	for {
		raw, err := stream.RecvRaw()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			if a.reason != "" && a.chosen && !isProtocolFault(err) {
				return nil // the answer is whole; only its formal end is missing
			}
			return a.readError(err)
		}
		if err := decodeChunk(raw, a.take); err != nil {
			var own *llm.Error
			if errors.As(err, &own) {
				return own
			}
			a.frames.sample = raw
			return a.readError(errBroken)
		}
	}
}

func isProtocolFault(err error) bool {
	return errors.Is(err, errBroken) || errors.Is(err, errTooLong) || errors.Is(err, errTooMuch)
}

// take takes one chunk.
func (a *answer) take(c *chunk, raw []byte) error {
	failed := isFault(c.Error)
	if len(c.Choices) == 0 && c.Usage == nil && c.XGroq.Usage == nil && !failed {
		// Frames without choices are many things, errors among them.
		if f, ok := parseFault(raw); ok {
			return a.exchange.fault(f, nil)
		}
		return nil
	}
	a.chosen = a.chosen || len(c.Choices) > 0
	a.sources.addURLs(c.Citations)
	for i := range c.Choices {
		a.takeChoice(&c.Choices[i])
	}
	for _, u := range []*usage{c.XGroq.Usage, c.Usage} {
		a.takeUsage(u)
	}
	if failed {
		f, _ := parseFault(raw)
		return a.exchange.fault(f, nil)
	}
	return nil
}

// isFault tells whether the error field of a chunk says something.
func isFault(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", `""`, "{}", "[]", "false", "0":
		return false
	}
	return true
}

func (a *answer) takeChoice(c *choice) {
	a.takeDelta(&c.Delta)
	a.takeDelta(&c.Message)
	a.takeUsage(c.Usage)
	if !a.begun && a.accumulator.Started() {
		a.begun = true
		a.watch.first()
	}
	if c.FinishReason != "" {
		a.reason = strings.ToLower(string(c.FinishReason))
		a.watch.finishing()
	}
}

func (a *answer) takeDelta(d *delta) {
	a.sources.add(d.Annotations)
	a.takeReasoning(d)
	a.accumulator.Text(d.Content.text)
	a.accumulator.Text(d.Refusal.text)
	for i := range d.ToolCalls {
		p := &d.ToolCalls[i]
		a.accumulator.Call(llm.CallPart{
			Index: p.index, HasIndex: p.hasIndex, ID: p.id, Name: string(p.function.Name),
			Arguments: string(p.function.Arguments), Wire: p.wire,
		})
	}
	if d.FunctionCall != nil {
		a.accumulator.Call(llm.CallPart{
			HasIndex: true, Name: string(d.FunctionCall.Name), Arguments: string(d.FunctionCall.Arguments),
		})
	}
	if len(d.ExtraContent) > 0 && string(d.ExtraContent) != "null" {
		a.accumulator.Wire("extra_content", d.ExtraContent)
	}
}

// takeReasoning takes the reasoning once, under whichever names it comes.
func (a *answer) takeReasoning(d *delta) {
	for _, source := range []struct {
		name string
		from *content
	}{{"reasoning_content", &d.ReasoningContent}, {"reasoning", &d.Reasoning}, {"thinking", &d.Thinking}} {
		said := source.from.text + source.from.thinking
		if said == "" {
			continue
		}
		if a.field == "" {
			a.field = source.name
			a.accumulator.Wire(reasoningField, json.RawMessage(`"`+source.name+`"`))
		}
		a.accumulator.Reasoning(said)
		a.details.add(d.ReasoningDetails)
		return
	}
	a.accumulator.Reasoning(a.details.add(d.ReasoningDetails))
	a.accumulator.Reasoning(d.Content.thinking)
}

func (a *answer) takeUsage(u *usage) {
	if u == nil {
		return
	}
	a.accumulator.Usage(history.Usage{
		InputTokens:     first(u.PromptTokens, u.InputTokens),
		OutputTokens:    first(u.CompletionTokens, u.OutputTokens),
		CachedTokens:    first(u.PromptDetails.CachedTokens, u.CacheHit, u.CachedTokens),
		ReasoningTokens: first(u.CompletionDetails.ReasoningTokens),
	})
}

// The words for why an answer ends, beside those that say what they are.
var (
	lengthReasons = []string{"length", "max_tokens", "max_output_tokens", "token_limit"}
	filterReasons = []string{"content_filter", "safety", "recitation", "prohibited_content", "blocklist", "spii", "sensitive"}
	stopReasons   = []string{"stop", "end_turn", "eos", "eos_token", "stop_sequence", "complete", "completed", "tool_calls", "tool_use", "function_call"}
)

// finish judges an answer that ended without an error: whether it is whole, and whether it is one.
func (a *answer) finish(reply llm.Reply) (llm.Reply, error) {
	reply.Wire = a.details.into(reply.Wire)
	fail := func(kind llm.Kind, message, hint string) (llm.Reply, error) {
		return reply, &llm.Error{Kind: kind, Ref: a.ref, Message: message, Hint: hint}
	}
	where := shown(a.at)
	switch {
	case a.frames.count > 0 && !a.chosen && !a.frames.done && reply.IsEmpty():
		e := &llm.Error{Kind: llm.KindProtocol, Ref: a.ref, Message: where + " answered with something that is no chat completion", Hint: a.baseHint()}
		return reply, e
	case a.reason == "" && !a.frames.done && !a.frames.whole:
		return fail(llm.KindTruncated, "the answer of "+where+" ended in the middle: the server closed the stream without a finish", "")
	case strings.Contains(a.reason, "malformed_function_call"):
		return fail(llm.KindModelFault, "the model wrote a call that its server could not read ("+safeText(a.reason, 80)+")", "try again, or choose another model")
	case a.reason == "model_context_window_exceeded":
		return fail(llm.KindOverflow, "the prompt is longer than the model's window", a.hint(llm.KindOverflow, fault{}))
	case a.reason == "insufficient_system_resource", strings.HasPrefix(a.reason, "error"):
		return fail(llm.KindServer, "the server ended the answer because of an error of its own ("+safeText(a.reason, 80)+")", "")
	case slices.Contains(filterReasons, a.reason):
		reply.Finish = llm.FinishFilter
		if reply.IsEmpty() {
			return fail(llm.KindFilter, "the answer was withheld by the provider's content filter", a.hint(llm.KindFilter, fault{}))
		}
	case slices.Contains(lengthReasons, a.reason):
		reply.Finish = llm.FinishLength
		if reply.IsEmpty() {
			return a.nothingBeforeLimit(reply)
		}
	case reply.IsEmpty():
		message := "the model gave an empty answer"
		if reply.Reasoning != "" {
			message = "the model thought, but gave no answer"
		}
		if a.reason != "" && !slices.Contains(stopReasons, a.reason) {
			message += " (" + safeText(a.reason, 80) + ")"
		}
		return fail(llm.KindEmpty, message, "try again, or choose another model")
	case len(reply.Calls) > 0:
		reply.Finish = llm.FinishToolCalls
	default:
		reply.Finish = llm.FinishStop
	}
	return reply, nil
}

// nothingBeforeLimit is for an answer that its limit ended before it began: asking again ends the same.
func (a *answer) nothingBeforeLimit(reply llm.Reply) (llm.Reply, error) {
	e := &llm.Error{
		Kind: llm.KindRequest, Ref: a.ref, Message: "the model reached its output limit while it was thinking, before it answered",
		Hint: "raise max_output_tokens in the agent's model_settings, or lower its reasoning effort",
	}
	if reply.Reasoning == "" && reply.Usage.OutputTokens == 0 {
		e.Kind = llm.KindOverflow
		e.Message = "the model had no room for an answer: the prompt fills its window"
		e.Hint = a.hint(llm.KindOverflow, fault{})
	}
	return reply, e
}
