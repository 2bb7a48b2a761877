package engine

import (
	"context"
	"errors"
	"strings"
	"sync"

	"bureau/engine/history"
)

// ErrNotRunning tells that a run cannot be spoken to, or stopped, because it is not under way.
var ErrNotRunning = errors.New("it is not at work any more")

// liveRuns are the runs that are under way in all sessions.
type liveRuns struct {
	mu   sync.Mutex
	runs map[string]*run // by id
	tops map[string]*run // the top run of each session's turn
}

// enter makes a run reachable; the returned function ends that.
func (l *liveRuns) enter(r *run) (leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	session := r.turn.input.SessionID
	l.runs[r.id] = r
	if r.parent == nil {
		l.tops[session] = r
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.runs, r.id)
		if l.tops[session] == r {
			delete(l.tops, session)
		}
	}
}

func (l *liveRuns) find(id string) *run {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.runs[id]
}

// Steer says something to the agent that has control in a session's turn. It hears it between two of its model calls: where it
// has just answered, it answers again. What a run that fails has not heard is on record all the same. The error is
// ErrNotRunning where nothing is under way that could hear it.
func (e *Engine) Steer(session, text string) error {
	e.live.mu.Lock()
	top := e.live.tops[session]
	e.live.mu.Unlock()
	return top.tell(text)
}

// SteerRun says something to the agent of one run, nested or not, as Steer does.
func (e *Engine) SteerRun(runID, text string) error { return e.live.find(runID).tell(text) }

// CancelRun stops one run with all below it. Whoever waits for a nested one is told that the user stopped it, and what it had
// said, and goes on. The error is ErrNotRunning where it is not under way.
func (e *Engine) CancelRun(runID string) error {
	r := e.live.find(runID)
	if r == nil {
		return ErrNotRunning
	}
	r.cancel(errInterrupted)
	return nil
}

// tell leaves words for the run, which may be nil.
func (r *run) tell(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("the message is empty")
	}
	if r == nil {
		return ErrNotRunning
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.deaf {
		return ErrNotRunning
	}
	r.inbox = append(r.inbox, text)
	return nil
}

// hear writes down what the user has said to the run meanwhile.
func (r *run) hear(ctx context.Context) error {
	r.mu.Lock()
	words := r.inbox
	r.inbox = nil
	r.mu.Unlock()
	if len(words) == 0 {
		return nil
	}
	rows := make([]*history.Message, len(words))
	for i, text := range words {
		rows[i] = &history.Message{
			Type: history.TypeMessage, Role: history.RoleUser, Content: text, Extra: history.Extra{Steering: true, ByUser: r.caller != ""},
		}
	}
	return r.turn.append(ctx, r, rows...)
}

// open begins hearing, or begins it again where an answer was not accepted.
func (r *run) open() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deaf = false
}

// close ends hearing where nothing is left to be heard; with force in any case.
func (r *run) close(force bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deaf = r.deaf || force || len(r.inbox) == 0
	return r.deaf
}
