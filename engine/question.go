package engine

import (
	"context"

	"bureau/engine/history"
)

// Question is what a run asks the user before it goes on: a limit is reached, or an agent repeats itself.
type Question struct {
	SessionID string
	// RunID and Agent are those of the run that asks.
	RunID, Agent string
	// Limit is the key of the limit in the agency file, that of a session with "session_limits." before it, or LimitRepeated.
	Limit string
	// Message says what has happened, in a sentence without a full stop.
	Message string
	// Used and Max are in the limit's own unit: tokens, US dollars, seconds, calls. Both are 0 for LimitRepeated.
	Used, Max float64
}

// LimitRepeated is the name of the limit on calls that are repeated with the same result.
const LimitRepeated = "repeated_calls"

// Verdict says how a turn goes on after a question.
type Verdict int

// The verdicts. Stop is the answer where nobody is there to be asked.
const (
	// Stop ends the run, and at a budget the whole turn; all that is done is kept.
	Stop Verdict = iota
	// Once lets one model call, or one reply's calls, pass.
	Once
	// Raise adds to the limit; of LimitRepeated it is not asked again in this turn.
	Raise
)

// Answer is what the user decided. By is what Raise adds to the limit, in its unit; what is not more than 0 counts as Once.
type Answer struct {
	Verdict Verdict
	By      float64
}

// await lets one run of the turn ask at a time. The returned function lets the next one ask.
func (r *run) await(ctx context.Context) (func(), error) {
	r.life.waits.Store(true)
	goOn := func() {
		r.touch()
		r.life.waits.Store(false)
	}
	select {
	case r.turn.floor <- struct{}{}:
		return func() { <-r.turn.floor; goOn() }, nil
	case <-ctx.Done():
		goOn()
		return nil, interruption(ctx)
	}
}

// decide puts a question to the user while the run waits; the turn's clock stands still. The floor is the caller's.
func (t *turn) decide(ctx context.Context, r *run, q Question) (Answer, error) {
	decide := t.engine.options.Decide
	if decide == nil {
		return Answer{}, nil
	}
	q.SessionID, q.RunID, q.Agent = t.input.SessionID, r.id, r.role.agent.Name
	resume := t.spending.pause()
	defer resume()
	t.emit(r, history.Event{Type: history.EventCustom, Name: history.CustomQuestion, Value: map[string]any{
		"limit": q.Limit, "message": q.Message, "used": q.Used, "max": q.Max,
	}})
	answer := decide(ctx, q)
	if ctx.Err() != nil {
		return Answer{}, interruption(ctx)
	}
	if answer.Verdict == Raise && !(answer.By > 0) && q.Limit != LimitRepeated {
		answer.Verdict = Once
	}
	return answer, nil
}
