package thread

import (
	"slices"

	"bureau/engine/history"
)

// Session is a session as it is known: its conversations, runs and calls.
type Session struct {
	// Pairs are the sub-conversations in the order of their first message.
	Pairs []*Thread
	// User is the user thread.
	User *Thread
	// Top is the top run of the turn under way, or of the last one that was seen; nil before any.
	Top *Run

	threads map[history.Thread]*Thread
	runs    map[string]*Run
	calls   map[string]*Item
	outputs map[string]output // of calls that are not loaded yet
	started map[string]*Run   // runs by the call that started them
	retries map[string]*Item  // the retry that is shown, by run
	last    map[string]*Item  // the newest item of a run, whose end the next one tells
	gaps    map[history.Thread][]*Item
	sends   func(tool string) bool
}

type output struct {
	id      int64
	text    string
	isError bool
	at      int64
}

// Gap is a row whose text was not told whole: it is to be read again.
type Gap struct {
	Thread history.Thread
	ID     int64
}

// New returns the state of a session of which nothing is known. sends tells whether a tool of that name carries messages.
func New(sends func(tool string) bool) *Session {
	s := &Session{
		threads: map[history.Thread]*Thread{}, runs: map[string]*Run{}, calls: map[string]*Item{},
		outputs: map[string]output{}, started: map[string]*Run{}, retries: map[string]*Item{},
		last: map[string]*Item{}, gaps: map[history.Thread][]*Item{}, sends: sends,
	}
	s.User = &Thread{}
	s.threads[history.UserThread] = s.User
	return s
}

// Thread returns a conversation; nil where it is not known.
func (s *Session) Thread(key history.Thread) *Thread { return s.threads[key] }

// Run returns a run; nil where it is not known.
func (s *Session) Run(id string) *Run { return s.runs[id] }

// Working returns the runs under way, in the order in which they began, the top run first.
func (s *Session) Working() []*Run {
	if s.Top == nil || !s.Top.Working() {
		return nil
	}
	working := []*Run{s.Top}
	for _, t := range s.Pairs {
		for _, run := range t.Runs {
			if run.Working() && run != s.Top {
				working = append(working, run)
			}
		}
	}
	slices.SortStableFunc(working[1:], func(a, b *Run) int { return int(a.Started - b.Started) })
	return working
}

// Gaps returns the rows that are to be read again, and forgets them.
func (s *Session) Gaps() []Gap {
	var gaps []Gap
	for key, items := range s.gaps {
		for _, it := range items {
			if it.gap {
				gaps = append(gaps, Gap{Thread: key, ID: it.ID})
			}
		}
	}
	clear(s.gaps)
	return gaps
}

// thread returns a conversation and makes it where it is new.
func (s *Session) thread(key history.Thread) *Thread {
	t, ok := s.threads[key]
	if !ok {
		t = &Thread{Key: key, Loaded: true}
		s.threads[key] = t
		s.Pairs = append(s.Pairs, t)
	}
	return t
}

// place adds a new item to its conversation and ties it to its run and call.
func (s *Session) place(it *Item, key history.Thread) {
	t := s.thread(key)
	if it.Kind == Call {
		it.Carries = s.carries(it.Name)
		if run := s.started[it.CallID]; run != nil {
			it.Run, it.Carries = run, Message
		}
		if out, ok := s.outputs[it.CallID]; ok {
			delete(s.outputs, it.CallID)
			it.answer(out)
		}
		s.calls[it.CallID] = it
	}
	t.insert(it)
	t.saw(it.ID)
}

func (s *Session) carries(tool string) Carriage {
	switch {
	case len(tool) > len(handoffPrefix) && tool[:len(handoffPrefix)] == handoffPrefix:
		return Control
	case s.sends(tool):
		return Message
	}
	return Nothing
}

// result gives a call its output, or keeps it until the call is known.
func (s *Session) result(callID string, out output) {
	if it := s.calls[callID]; it != nil {
		it.answer(out)
		s.changed(it)
		return
	}
	s.outputs[callID] = out
}

func (it *Item) answer(out output) {
	it.HasOutput, it.Output, it.OutputID, it.IsError, it.Ended = true, out.text, out.id, out.isError, out.at
	it.touch()
}

// changed counts a change to an item that is in its conversation already.
func (s *Session) changed(it *Item) {
	if t := s.threads[(history.Message{Agent: it.Agent, CallerAgent: it.Caller}).Thread()]; t != nil {
		t.Changed++
	}
}

// follow tells the item before in the same run when it ended.
func (s *Session) follow(runID string, it *Item, at int64) {
	if before := s.last[runID]; before != nil && before != it && before.Kind == Reasoning && before.Ended == 0 {
		before.Ended = at
		before.touch()
	}
	if it != nil {
		s.last[runID] = it
	}
}

// touchRun marks everything that shows a run as changed.
func (s *Session) touchRun(run *Run) {
	run.version++
	if it := s.calls[run.CallID]; it != nil && run.CallID != "" {
		it.touch()
		s.changed(it)
	}
	if t := s.threads[run.Thread()]; t != nil {
		t.Changed++
	}
}

// begin makes a run known and ties it to its call.
func (s *Session) begin(run *Run) {
	s.runs[run.ID] = run
	if run.From == "" {
		return
	}
	s.thread(run.Thread()).addRun(run)
	if run.CallID != "" {
		s.started[run.CallID] = run
		if it := s.calls[run.CallID]; it != nil {
			it.Run, it.Carries = run, Message
			it.touch()
			s.changed(it)
		}
	}
}
