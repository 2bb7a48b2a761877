package engine

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"bureau/agencies"
	"bureau/engine/history"
	"bureau/engine/llm"
)

// sessionLimit stands before the name of a limit that holds for a whole session.
const sessionLimit = "session_limits."

// spending is what the runs of a turn have taken together, and what they may.
type spending struct {
	mu      sync.Mutex
	started time.Time
	// idle is how long the user took to answer questions.
	idle time.Duration

	calls   int
	tokens  int64
	dollars float64 // of the requests whose price is known
	// before is what the session's turns before this one took.
	tokensBefore  int64
	dollarsBefore float64

	// limits are those of the turn, as they are raised; session those of the session, shared with its later turns.
	limits  agencies.Limits
	session *agencies.SessionLimits
	// stopped is why no model is called any more in this turn.
	stopped *Error
	warned  bool // that a price is not known
}

// openSpending begins the account of a turn.
func (e *Engine) openSpending(ctx context.Context, session string) (*spending, error) {
	s := &spending{started: time.Now(), limits: e.options.Agency.Limits, session: e.sessions.limits(session, e.options.Agency.SessionLimits)}
	if e.options.Agency.SessionLimits != (agencies.SessionLimits{}) {
		var err error
		if s.tokensBefore, s.dollarsBefore, err = e.options.Log.Spent(context.WithoutCancel(ctx), session); err != nil {
			return s, fmt.Errorf("read what the session has taken: %w", err)
		}
	}
	return s, nil
}

// sessionBudgets keeps the limits of sessions as the user raised them, from turn to turn.
type sessionBudgets struct {
	mu     sync.Mutex
	raised map[string]*agencies.SessionLimits
}

func (b *sessionBudgets) limits(session string, configured agencies.SessionLimits) *agencies.SessionLimits {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.raised[session] == nil {
		b.raised[session] = &configured
	}
	return b.raised[session]
}

// pause stops the clock of the turn, of which one run at a time makes use; the returned function starts it again.
func (s *spending) pause() (resume func()) {
	began := time.Now()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.idle += time.Since(began)
	}
}

// add counts a request. It tells whether its unknown price is to be warned of: once a turn, where money is limited.
func (s *spending) add(u history.Usage) (warn bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens += u.Tokens()
	if u.Cost != nil {
		s.dollars += *u.Cost
		return false
	}
	warn = !s.warned && u.Tokens() > 0 && (s.limits.MaxCost > 0 || s.session.MaxCost > 0)
	s.warned = s.warned || warn
	return warn
}

// bound is one limit of the account.
type bound struct {
	name      string
	used, max float64
	message   string
	raise     func(by float64)
}

// exceeded is the first limit that is reached and not in passed; nil for none. mu is held.
func (s *spending) exceeded(passed map[string]bool) *bound {
	l, session := &s.limits, s.session
	elapsed := time.Since(s.started) - s.idle
	tokens, dollars := s.tokensBefore+s.tokens, s.dollarsBefore+s.dollars
	for _, b := range []bound{
		{
			"max_turn_calls", float64(s.calls), float64(l.MaxTurnCalls), fmt.Sprintf("this turn has made %d of %d calls of models", s.calls, l.MaxTurnCalls),
			func(by float64) { l.MaxTurnCalls += int(by) },
		},
		{
			"max_tokens", float64(s.tokens), float64(l.MaxTokens), fmt.Sprintf("this turn has taken %d tokens of %d", s.tokens, l.MaxTokens),
			func(by float64) { l.MaxTokens += int(by) },
		},
		{
			"max_cost", s.dollars, l.MaxCost, fmt.Sprintf("this turn has cost $%.4f of $%.4f", s.dollars, l.MaxCost),
			func(by float64) { l.MaxCost += by },
		},
		{
			"max_seconds", elapsed.Seconds(), float64(l.MaxSeconds), fmt.Sprintf("this turn has taken %.0f seconds of %d", elapsed.Seconds(), l.MaxSeconds),
			func(by float64) { l.MaxSeconds += int(by) },
		},
		{
			sessionLimit + "max_tokens", float64(tokens), float64(session.MaxTokens),
			fmt.Sprintf("this session has taken %d tokens of %d", tokens, session.MaxTokens),
			func(by float64) { session.MaxTokens += int(by) },
		},
		{
			sessionLimit + "max_cost", dollars, session.MaxCost, fmt.Sprintf("this session has cost $%.4f of $%.4f", dollars, session.MaxCost),
			func(by float64) { session.MaxCost += by },
		},
	} {
		if b.max > 0 && b.used >= b.max && !passed[b.name] {
			return &b
		}
	}
	return nil
}

// admit lets one more model call of a run pass, or says which limit of the turn or the session refuses it. At a limit the user
// is asked, where there is somebody to ask.
func (r *run) admit(ctx context.Context) error {
	s, passed := r.turn.spending, map[string]bool{}
	for {
		b, err := s.take(passed)
		if b == nil {
			return err
		}
		if err := r.askToGoOn(ctx, passed); err != nil {
			return err
		}
	}
}

// take counts a call where no limit is reached.
func (s *spending) take(passed map[string]bool) (*bound, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped != nil {
		return nil, s.stopped
	}
	if b := s.exceeded(passed); b != nil {
		return b, nil
	}
	s.calls++
	return nil, nil
}

// askToGoOn asks about the limit that is reached when it is this run's turn to ask: another run's answer may have settled it.
func (r *run) askToGoOn(ctx context.Context, passed map[string]bool) error {
	t, s := r.turn, r.turn.spending
	done, err := r.await(ctx)
	if err != nil {
		return err
	}
	defer done()
	s.mu.Lock()
	b, stopped := s.exceeded(passed), s.stopped
	s.mu.Unlock()
	if b == nil || stopped != nil {
		return nil
	}
	answer, err := t.decide(ctx, r, Question{Limit: b.name, Message: b.message, Used: b.used, Max: b.max})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch answer.Verdict {
	case Raise:
		b.raise(answer.By)
		// What was taken meanwhile, or a raise by too little, must not ask again at once.
		passed[b.name] = true
	case Once:
		passed[b.name] = true
	default:
		s.stopped = limited("the limit %s is reached: %s", b.name, b.message)
		if strings.HasPrefix(b.name, sessionLimit) { // another turn would end on it at once
			s.stopped.Hint = "Raise it under session_limits in the agency file, or begin a new session."
		}
		_ = r.overLimit(b.name, s.stopped)
	}
	return nil
}

// account counts a request of the run, and tells once where its price is not known.
func (r *run) account(ref llm.Ref, u history.Usage) {
	r.spend(u)
	if r.turn.spending.add(u) {
		r.warn("The price of %s is not known: it counts towards limits of tokens, not of cost. "+
			"It can be set under providers in config.yaml.", ref)
	}
}
