package openai

import (
	"context"
	"encoding/json"
	"strings"

	"bureau/engine/llm"
)

// askChat sends the request over Chat Completions.
func (m *Model) askChat(ctx context.Context, x *exchange, to *llm.Accumulator, req llm.Request, h habits) (incoming, rawStream, error) {
	wire, edits := m.build(req, h)
	x.at, x.edits = m.chatURL(), edits
	stream, err := m.client(x).CreateChatCompletionStream(ctx, wire)
	return &answer{exchange: x, accumulator: to}, stream, err
}

// answer is an answer of Chat Completions on its way in.
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

func (a *answer) whole() bool { return a.reason != "" && a.chosen }

func (a *answer) take(raw []byte) error { return decodeChunk(raw, a.takeChunk) }

// takeChunk takes one chunk.
func (a *answer) takeChunk(c *chunk, raw []byte) error {
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
	a.accumulator.Usage(u.counts())
}

func (a *answer) finish(reply llm.Reply) (llm.Reply, error) {
	reply.Wire, reply.Citations = a.details.into(reply.Wire), a.sources
	fail := func(kind llm.Kind, message, hint string) (llm.Reply, error) {
		return reply, &llm.Error{Kind: kind, Ref: a.ref, Message: message, Hint: hint}
	}
	where := shown(a.at)
	switch {
	case a.frames.count > 0 && !a.chosen && !a.frames.done && reply.IsEmpty():
		return fail(llm.KindProtocol, where+" answered with something that is no chat completion", a.baseHint())
	case a.reason == "" && !a.frames.done && !a.frames.whole:
		return reply, a.truncated(where)
	case strings.Contains(a.reason, "malformed_function_call"):
		return fail(llm.KindModelFault, "the model wrote a call that its server could not read ("+safeText(a.reason, 80)+")", "try again, or choose another model")
	case a.reason == "model_context_window_exceeded":
		return fail(llm.KindOverflow, "the prompt is longer than the model's window", a.hint(llm.KindOverflow, fault{}))
	case a.reason == "insufficient_system_resource", strings.HasPrefix(a.reason, "error"):
		return fail(llm.KindServer, "the server ended the answer because of an error of its own ("+safeText(a.reason, 80)+")", "")
	}
	return a.judge(reply, a.reason)
}
