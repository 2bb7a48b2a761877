package tui_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"bureau/engine/history"
	"bureau/tui"
)

// stage is a backend in memory. A test plays turns on it; whatever is told by events stands in its rows as well, as the
// engine has it.
type stage struct {
	agency tui.Agency
	feed   *tui.Feed
	model  tui.ModelInfo

	mu       sync.Mutex
	session  history.Session
	rows     []history.Message
	runs     []*history.Delegation
	usage    history.Usage
	window   int64
	draft    tui.Draft
	drafts   int
	inputs   []string
	others   []history.Session
	sent     []sent
	stops    int
	closed   int
	readOnly string
	sendErr  error
	record   []history.Event
	// onSend plays a turn when the user has sent something.
	onSend func(to, text string)
	calls  int
	silent bool // events are recorded and not told
}

type sent struct {
	to, text string
	once     bool
}

func newStage() *stage {
	return &stage{
		feed: tui.NewFeed(),
		agency: tui.Agency{
			Name: "tour", Description: "Shows what an agency does, on the folder that it is started in.",
			Agents: []tui.Agent{
				{Name: "Guide", Description: "Answers, and asks the others", EntryPoint: true, Tools: []string{"current_time"}},
				{Name: "Scout", Description: "Looks at the folder", Tools: []string{"list_directory", "read_file"}},
				{Name: "Checker", Description: "Verifies what was found"},
				{Name: "Concierge", Description: "Takes the conversation over", EntryPoint: true},
			},
			Flows: []tui.Flow{
				{From: "Guide", To: "Scout"}, {From: "Guide", To: "Checker"}, {From: "Scout", To: "Checker"},
				{From: "Guide", To: "Concierge", Handoff: true}, {From: "Concierge", To: "Guide", Handoff: true},
			},
		},
		model:   tui.ModelInfo{Ref: "openai/gpt-5-mini", Window: 128000},
		session: history.Session{Agency: "tour", Recipient: "Guide"},
	}
}

func (s *stage) Agency() tui.Agency { return s.agency }

func (s *stage) Open(_ context.Context, id string) (tui.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id != "" && id != s.session.ID {
		return nil, fmt.Errorf("no session %s", id)
	}
	if id == "" {
		s.session.ID, s.rows, s.runs = "", nil, nil
	}
	return s, nil
}

func (s *stage) Fork(ctx context.Context, id string) (tui.Session, error) {
	s.mu.Lock()
	s.readOnly, s.session.ID = "", "copyofsession"
	s.mu.Unlock()
	return s, nil
}

func (s *stage) Sessions(_ context.Context, query string, _ int) ([]history.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []history.Session
	for _, o := range append([]history.Session{s.session}, s.others...) {
		if o.ID != "" && strings.Contains(o.Title+o.Agency, query) {
			found = append(found, o)
		}
	}
	return found, nil
}

func (s *stage) Rename(_ context.Context, _, title string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session.Title = title
	return nil
}

func (s *stage) Delete(context.Context, string) error { return errors.New("held elsewhere") }

func (s *stage) Inputs(context.Context, int) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.inputs), nil
}

func (s *stage) AddInput(_ context.Context, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inputs = append([]string{text}, s.inputs...)
	return nil
}

func (s *stage) Info() history.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session
}

func (s *stage) ReadOnly() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readOnly
}

func (s *stage) Model(string) tui.ModelInfo { return s.model }

func (s *stage) Rows(_ context.Context, t history.Thread, before int64, limit int) ([]history.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []history.Message
	for i := len(s.rows) - 1; i >= 0 && len(found) < limit; i-- {
		if t.Holds(s.rows[i]) && (before == 0 || s.rows[i].ID < before) {
			found = append(found, s.rows[i])
		}
	}
	slices.Reverse(found)
	return found, nil
}

func (s *stage) Conversations(context.Context) ([]history.Conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []history.Conversation
	for _, row := range s.rows {
		t := row.Thread()
		if t.IsUser() {
			continue
		}
		i := slices.IndexFunc(list, func(c history.Conversation) bool { return c.Thread == t })
		if i < 0 {
			i = len(list)
			list = append(list, history.Conversation{Thread: t, FirstID: row.ID})
		}
		list[i].LastID = row.ID
		list[i].Rows++
	}
	return list, nil
}

func (s *stage) Delegations(_ context.Context, callIDs []string) ([]history.Delegation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []history.Delegation
	for _, d := range s.runs {
		if slices.Contains(callIDs, d.ParentCallID) {
			list = append(list, *d)
		}
	}
	return list, nil
}

func (s *stage) LastDelegation(_ context.Context, t history.Thread) (history.Delegation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range slices.Backward(s.runs) {
		if history.Pair(d.From, d.To) == t {
			return *d, nil
		}
	}
	return history.Delegation{}, nil
}

func (s *stage) Usage(context.Context) (history.Usage, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.usage, s.window, nil
}

func (s *stage) Draft(context.Context) (tui.Draft, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draft, nil
}

func (s *stage) SaveDraft(_ context.Context, d tui.Draft) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draft = d
	s.drafts++
	return nil
}

func (s *stage) Send(to, text string, once bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sendErr != nil {
		return s.sendErr
	}
	s.sent = append(s.sent, sent{to, text, once})
	if s.session.ID == "" {
		s.session.ID = "sessionid123"
	}
	if s.onSend != nil {
		go s.onSend(to, text)
	}
	return nil
}

func (s *stage) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stops++
}

func (s *stage) Export(_ context.Context, format string) (string, error) {
	return "session." + format, nil
}

func (s *stage) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed++
	return nil
}
