package cmd

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"bureau/agencies"
	"bureau/engine"
	"bureau/engine/history"
	"bureau/store"
	"bureau/tui"
)

// session is an open session of the terminal.
type session struct {
	backend *backend
	agency  *agencies.Agency
	engine  *engine.Engine
	models  *models
	hold    *store.Hold
	letGo   func()
	turns   sync.WaitGroup
	closed  chan struct{}

	mu       sync.Mutex
	readOnly string
	info     history.Session
	isNew    bool
	stop     context.CancelFunc // of the turn under way; nil without one
}

var _ tui.Session = (*session)(nil)

// Info is the session as it is now.
func (s *session) Info() history.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	info := s.info
	if s.isNew {
		info.ID = ""
	}
	return info
}

// ReadOnly says why nothing can be sent.
func (s *session) ReadOnly() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readOnly
}

// watch stops writing to a session that another process has taken over, as it may when this one was suspended.
func (s *session) watch() {
	select {
	case <-s.closed:
		return
	case <-s.hold.Lost():
	}
	s.mu.Lock()
	s.readOnly = "Another process has taken over this session while this one was not running."
	s.mu.Unlock()
	s.Stop()
}

// Model says what runs for an agent.
func (s *session) Model(agent string) tui.ModelInfo {
	a, ok := s.agency.Agent(agent)
	if !ok {
		return tui.ModelInfo{}
	}
	c, known := s.models.current(a)
	if !known {
		return tui.ModelInfo{}
	}
	return tui.ModelInfo{Ref: c.ref, Offline: c.offline, Window: s.models.window(c.ref)}
}

// Rows returns rows of a conversation, oldest first.
func (s *session) Rows(ctx context.Context, t history.Thread, before int64, limit int) ([]history.Message, error) {
	rows, err := s.backend.store.Rows(ctx, s.id(), t, before, limit)
	slices.Reverse(rows)
	return rows, err
}

func (s *session) id() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info.ID
}

// Conversations lists the pairs that have talked.
func (s *session) Conversations(ctx context.Context) ([]history.Conversation, error) {
	return s.backend.store.Conversations(ctx, s.id())
}

// Delegations tells of the runs that calls started.
func (s *session) Delegations(ctx context.Context, callIDs []string) ([]history.Delegation, error) {
	return s.backend.store.Delegations(ctx, s.id(), callIDs)
}

// LastDelegation is the newest run of a pair.
func (s *session) LastDelegation(ctx context.Context, t history.Thread) (history.Delegation, error) {
	return s.backend.store.LastDelegation(ctx, s.id(), t)
}

// Usage is what the session took, and what the last request of the agent that has control held.
func (s *session) Usage(ctx context.Context) (history.Usage, int64, error) {
	total, err := s.backend.store.Usage(ctx, s.id())
	if err != nil {
		return total, 0, err
	}
	last, err := s.backend.store.LastRequest(ctx, s.id(), s.Info().Recipient)
	if errors.Is(err, store.ErrNotFound) {
		return total, 0, nil
	}
	return total, last.Usage.Tokens(), err
}

// Send starts a turn.
func (s *session) Send(recipient, text string, once bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.readOnly != "":
		return errors.New(s.readOnly)
	case s.stop != nil:
		return errors.New("a turn is under way")
	}
	ctx, stop := context.WithCancel(context.Background())
	if err := s.store(ctx, text); err != nil {
		stop()
		return err
	}
	s.stop = stop
	input := engine.Input{SessionID: s.info.ID, Recipient: recipient, Text: text, Once: once}
	s.turns.Go(func() {
		defer stop()
		s.turn(ctx, input)
	})
	return nil
}

// store brings a new session on disk before its first message; mu is held.
func (s *session) store(ctx context.Context, text string) error {
	if !s.isNew {
		return nil
	}
	s.info.Title = titleOf(text)
	if err := s.backend.store.CreateSession(ctx, s.info); err != nil {
		return err
	}
	s.isNew = false
	return nil
}

// turn carries one message to its answer. What breaks inside ends the turn, never the terminal.
func (s *session) turn(ctx context.Context, input engine.Input) {
	defer func() {
		if fault := recover(); fault != nil {
			s.backend.log.Error("A turn broke", "fault", fault, "stack", string(debug.Stack()))
			s.publish(history.Event{
				Type: history.EventRunError, SessionID: input.SessionID, Agent: input.Recipient, Code: history.CodeFailed,
				Message: fmt.Sprintf("the turn broke: %v", fault), Hint: "The log says more; what was said is kept.",
			})
		}
	}()
	if _, err := s.engine.Turn(ctx, input); err != nil {
		s.backend.log.Info("A turn ended without an answer", "session", input.SessionID, "error", err.Error())
	}
}

// publish passes an event on to the terminal. Once that is told of the end of a turn, the next one may start.
func (s *session) publish(e history.Event) {
	switch {
	case e.SubagentRunID != "":
	case e.Type == history.EventCustom && e.Name == history.CustomRecipient:
		s.mu.Lock()
		s.info.Recipient = e.Agent
		s.mu.Unlock()
	case e.Type == history.EventRunFinished || e.Type == history.EventRunError:
		s.mu.Lock()
		s.stop = nil
		s.mu.Unlock()
	}
	s.backend.feed.Publish(e)
}

// Stop cancels the turn under way.
func (s *session) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		s.stop()
	}
}

// Export writes the session to a file in the working folder.
func (s *session) Export(ctx context.Context, format string) (string, error) {
	info := s.Info()
	if info.ID == "" {
		return "", errors.New("there is nothing to export before the first message")
	}
	if !slices.Contains(exportFormats, format) {
		return "", fmt.Errorf("there is no format %q%s", format, suggest(format, exportFormats))
	}
	path := exportName(s.backend.program.folder, info, format)
	return path, exportFile(ctx, s.backend.store, info, format, path)
}

// Close stops what runs, waits for its last row, and lets go of the session.
func (s *session) Close() error {
	s.Stop()
	s.turns.Wait()
	close(s.closed)
	if s.letGo != nil {
		s.letGo()
	}
	if s.hold != nil {
		return s.hold.Release()
	}
	return nil
}
