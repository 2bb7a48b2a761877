package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"bureau/agencies"
	"bureau/engine/history"
	"bureau/engine/llm"
)

// maxWait bounds what all tries of one model call wait in sum, where the server names no wait; maxServerWait is the longest
// wait that a server may name.
const (
	maxWait       = 15 * time.Second
	maxServerWait = 60 * time.Second
	maxTries      = 3
)

// emptyNudge goes with the second try after a reply that held nothing.
const emptyNudge = "Your last reply was empty. Answer in words, or call one of your tools."

// summaryNudge goes with the last chance of a run that another agent waits for and that has ended without a word.
const summaryNudge = "Your work has ended without an answer, and a colleague waits for one. Write now, in words, what you have found " +
	"and done, and what is open. Call no tool."

// overflowShare is the part of the window that the prompt may take after a server found it too long.
const overflowShare = 0.4

// said is a reply as it was written down.
type said struct {
	text  string
	calls []*history.Message
	// cut tells that the output limit ended the reply.
	cut bool
}

// modelOf is the model that an agent runs on. That there is none is the model's failure.
func (e *Engine) modelOf(ctx context.Context, agent agencies.Agent) (llm.Model, error) {
	model, err := e.options.Model(ctx, agent)
	var fault *llm.Error
	switch {
	case err == nil || errors.As(err, &fault):
		return model, err
	case ctx.Err() != nil:
		return nil, interruption(ctx)
	}
	return nil, &Error{Code: history.CodeModel, Message: err.Error(), Hint: advice(err), Err: err}
}

// ask calls the model of the agent that has control, again where that may help, and writes down what it says as it says it.
// The nudge goes with the first try.
func (r *run) ask(ctx context.Context, nudge string) (said, error) {
	t := r.turn
	model, err := t.engine.modelOf(ctx, r.role.agent)
	if err != nil {
		return said{}, err
	}
	share, waited := 1.0, time.Duration(0)
	for try := 1; ; try++ {
		before := r.noted()
		request, err := r.prompt(ctx, model, share, nudge)
		if err != nil {
			return said{}, err
		}
		reply, err := r.once(ctx, model, request)
		if err == nil || ctx.Err() != nil {
			return reply, err
		}
		wait, again := r.retry(err, try, share < 1, &waited)
		if !again {
			return said{}, err
		}
		r.forget(before)
		var fault *llm.Error
		_ = errors.As(err, &fault) // only such are tried again
		switch fault.Kind {
		case llm.KindOverflow:
			share = overflowShare
		case llm.KindEmpty:
			nudge = emptyNudge
		}
		t.emit(r, history.Event{Type: history.EventCustom, Name: history.CustomRetry, Value: map[string]any{
			"attempt": try + 1, "of": maxTries, "wait": wait.Seconds(), "reason": fault.Error(),
		}})
		if err := sleep(ctx, wait); err != nil {
			return said{}, interruption(ctx)
		}
		if err := r.admit(ctx); err != nil {
			return said{}, err
		}
	}
}

// retry decides whether a failed try is followed by another, and after what wait.
func (r *run) retry(err error, try int, shortened bool, waited *time.Duration) (time.Duration, bool) {
	var fault *llm.Error
	if !errors.As(err, &fault) || try >= maxTries {
		return 0, false
	}
	if fault.Kind == llm.KindOverflow {
		return 0, !shortened
	}
	if try > llm.Retries(err) {
		return 0, false
	}
	if fault.RetryAfter > 0 {
		return fault.RetryAfter, fault.RetryAfter <= maxServerWait
	}
	wait := time.Second << (2 * (try - 1)) // 1 s, 4 s
	if fault.Kind == llm.KindEmpty || fault.Kind == llm.KindModelFault {
		wait = 0
	}
	wait += time.Duration(rand.Int64N(int64(wait/4) + 1))
	wait = min(wait, maxWait-*waited)
	*waited += wait
	return wait, true
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// once sends one request and writes down its reply.
func (r *run) once(ctx context.Context, model llm.Model, request llm.Request) (said, error) {
	started := micros()
	streaming, stop := context.WithCancel(ctx)
	defer stop()
	rec := newRecorder(ctx, stop, r, model)
	reply, err := model.Stream(streaming, request, rec.take)
	rec.close()
	switch {
	case rec.err != nil:
		err = rec.err
	case err == nil:
		err = checkReply(model.Ref(), reply)
	}
	r.record(ctx, model, reply, started, err)
	for _, warning := range reply.Warnings {
		r.warn("%s", warning)
	}
	if err != nil {
		status := history.StatusFailed
		if ctx.Err() != nil {
			status, err = history.StatusInterrupted, interruption(ctx)
		}
		rec.abandon(status)
		return said{}, err
	}
	r.noticeCut(model, request, reply)
	s, err := rec.finish(reply)
	if s.cut && len(s.calls) == 0 {
		r.warn("The answer of %s was cut off at the output limit; max_output_tokens in its model_settings raises it.", r.role.agent.Name)
	}
	return s, err
}

// checkReply refuses a reply that holds nothing, which must never become a part of the history.
func checkReply(ref llm.Ref, reply llm.Reply) error {
	if strings.TrimSpace(reply.Text) != "" || len(reply.Calls) > 0 {
		return nil
	}
	switch reply.Finish {
	case llm.FinishLength:
		return &llm.Error{
			Kind: llm.KindRequest, Ref: ref, Message: "the output limit was reached before the model had said anything",
			Hint: "Raise max_output_tokens in the agent's model_settings, or the context length of the server (num_ctx).",
		}
	case llm.FinishFilter:
		return &llm.Error{Kind: llm.KindFilter, Ref: ref, Message: "the server's content filter withheld the answer"}
	default:
		return &llm.Error{Kind: llm.KindEmpty, Ref: ref, Message: "the model's reply was empty"}
	}
}

// record stores what the request took, whatever came of it.
func (r *run) record(ctx context.Context, model llm.Model, reply llm.Reply, started int64, err error) {
	usage := reply.Usage
	usage.Requests = 1
	usage.Cost = r.turn.engine.options.Price(model.Ref(), usage)
	r.account(model.Ref(), usage)
	total := r.total()
	r.turn.emit(r, history.Event{Type: history.EventCustom, Name: history.CustomUsage, Value: total, Usage: &total})
	outcome := history.OutcomeOK
	switch {
	case ctx.Err() != nil:
		outcome = history.OutcomeCancelled
	case err != nil:
		outcome = history.OutcomeFailed
	}
	request := &history.Request{
		SessionID: r.turn.input.SessionID, RunID: r.id, TraceID: r.turn.traceID, Agent: r.role.agent.Name,
		Provider: model.Ref().Provider, Model: model.Ref().Model, Usage: usage, StartedAt: started, EndedAt: micros(), Outcome: outcome,
	}
	if err := r.turn.engine.options.Log.RecordRequest(context.WithoutCancel(ctx), request); err != nil {
		r.warn("What a request took could not be stored: %v", err)
	}
}

func (r *run) warn(format string, args ...any) {
	r.turn.emit(r, history.Event{
		Type: history.EventCustom, Name: history.CustomWarning, Value: map[string]any{"message": fmt.Sprintf(format, args...)},
	})
}
