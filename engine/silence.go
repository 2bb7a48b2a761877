package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// silence ends a nested run in which nothing happens. A run is not silent while one below it is at work, which has a limit of
// its own, nor while it waits for the user.
type silence struct {
	run    *run
	limit  time.Duration
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	ended bool
}

// life is when something happened in a run last, how many runs are at work below it, and whether it waits for the user.
type life struct {
	last  atomic.Int64 // nanoseconds since 1970
	below atomic.Int64
	waits atomic.Bool
}

// touch notes that something happened: in the run, and thereby in those that wait for it.
func (r *run) touch() {
	now := time.Now().UnixNano()
	for ; r != nil; r = r.parent {
		r.life.last.Store(now)
	}
}

// watch begins to watch a nested run, whose context cancel ends. The returned function ends that.
func (r *run) watch(cancel context.CancelCauseFunc) (stop func()) {
	seconds := r.role.agent.MaxSilence
	if seconds == 0 {
		seconds = r.turn.engine.options.Agency.Limits.MaxSilence
	}
	r.touch()
	r.parent.life.below.Add(1)
	s := &silence{run: r, limit: time.Duration(seconds) * time.Second, cancel: cancel}
	if s.limit > 0 {
		s.mu.Lock()
		s.timer = time.AfterFunc(s.limit, s.look)
		s.mu.Unlock()
	}
	return func() {
		s.mu.Lock()
		s.ended = true
		if s.timer != nil {
			s.timer.Stop()
		}
		s.mu.Unlock()
		r.parent.life.below.Add(-1)
	}
}

// look ends the run, or looks again when that could be due.
func (s *silence) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	idle := time.Since(time.Unix(0, s.run.life.last.Load()))
	switch {
	case s.run.life.below.Load() > 0, s.run.life.waits.Load():
		s.run.touch()
		s.timer.Reset(s.limit)
	case idle < s.limit:
		s.timer.Reset(s.limit - idle)
	default:
		s.cancel(limited("the limit max_silence is reached: nothing has happened for %s", s.limit))
	}
}
