package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"bureau/agencies"
	"bureau/engine"
	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/store"
	"bureau/tui"
)

// backend joins the terminal to the store and the engine.
type backend struct {
	program *program
	store   *store.Store
	feed    *tui.Feed
	log     *slog.Logger
	// model is --model.
	model string

	mu     sync.Mutex
	agency *agencies.Agency
}

var _ tui.Backend = (*backend)(nil)

// Agency describes the agency of the session that was opened last.
func (b *backend) Agency() tui.Agency {
	b.mu.Lock()
	a := b.agency
	b.mu.Unlock()
	out := tui.Agency{Name: a.Name, Description: a.Description, Path: a.Path}
	for _, g := range a.Agents {
		out.Agents = append(out.Agents, tui.Agent{
			Name: g.Name, Description: g.Description, EntryPoint: slices.Contains(a.EntryPoints, g.Name), Tools: g.Tools,
			Starters: slices.Concat(g.Starters, g.QuickReplies),
		})
	}
	for _, f := range a.Flows {
		tool := f.Tool
		if tool == "" && !f.Handoff {
			tool = a.SendTool()
		}
		out.Flows = append(out.Flows, tui.Flow{From: f.From, To: f.To, Handoff: f.Handoff, Tool: tool})
	}
	return out
}

// Open opens a session, or begins a new one of the agency that is open.
func (b *backend) Open(ctx context.Context, id string) (tui.Session, error) {
	b.mu.Lock()
	agency := b.agency
	b.mu.Unlock()
	s := &session{backend: b, closed: make(chan struct{}), answers: make(chan engine.Answer, 1)}
	if id == "" {
		now := time.Now().UnixMicro()
		s.isNew = true
		s.info = history.Session{
			ID: history.NewSessionID(), Agency: agency.Name, AgencyPath: agency.Path, Folder: b.program.folder, Model: b.model,
			Recipient: agency.EntryPoints[0], CreatedAt: now, UpdatedAt: now,
		}
	} else {
		v, err := b.store.Session(ctx, id)
		if err != nil {
			return nil, err
		}
		s.info = v
		if v.Agency != agency.Name || v.AgencyPath != agency.Path {
			if agency, err = b.program.agencyOf(v); err != nil {
				return nil, fmt.Errorf("the agency of the session: %w", err)
			}
		}
	}
	if err := s.prepare(ctx, agency); err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.agency = agency
	b.mu.Unlock()
	return s, nil
}

// Fork copies a session and opens the copy.
func (b *backend) Fork(ctx context.Context, id string) (tui.Session, error) {
	v, err := b.store.Fork(ctx, id)
	if err != nil {
		return nil, err
	}
	return b.Open(ctx, v.ID)
}

// Sessions lists sessions of any agency.
func (b *backend) Sessions(ctx context.Context, query string, limit int) ([]history.Session, error) {
	return b.store.Sessions(ctx, store.SessionFilter{Query: query, Limit: limit})
}

// Rename changes a session's title.
func (b *backend) Rename(ctx context.Context, id, title string) error {
	return b.store.SetTitle(ctx, id, title)
}

// Delete deletes a session.
func (b *backend) Delete(ctx context.Context, id string) error { return b.store.DeleteSession(ctx, id) }

// Inputs are the user's earlier messages.
func (b *backend) Inputs(ctx context.Context, limit int) ([]string, error) {
	return b.store.Inputs(ctx, limit)
}

// AddInput adds one.
func (b *backend) AddInput(ctx context.Context, text string) error {
	return b.store.AddInput(ctx, text)
}

// prepare holds the session and makes its engine. One that another process holds, or whose model cannot be had, can be read.
func (s *session) prepare(ctx context.Context, agency *agencies.Agency) error {
	b := s.backend
	s.agency = agency
	hold, err := b.store.Hold(ctx, s.info.ID)
	switch {
	case errors.Is(err, store.ErrHeld):
		s.readOnly = err.Error()
	case err != nil:
		return err
	}
	if s.hold = hold; hold != nil {
		go s.watch()
	}
	if s.models, err = b.program.newModels(agency, cmp.Or(b.model, s.info.Model), 1); err != nil {
		return errors.Join(err, s.Close())
	}
	if s.engine, s.letGo, err = b.program.newEngine(agency, b.store, s.models, s.publish, s.decide); err != nil {
		return errors.Join(err, s.Close())
	}
	s.findModel(ctx)
	return nil
}

// findModelWait is how long opening waits to know which model runs; the search goes on after that.
const findModelWait = 50 * time.Millisecond

func (s *session) findModel(ctx context.Context) {
	found := make(chan struct{})
	go func() {
		defer close(found)
		_, _ = s.models.choose(context.WithoutCancel(ctx), s.agency.Agents[0]) // a failure is told by the turn that needs the model
	}()
	select {
	case <-found:
	case <-time.After(findModelWait):
	}
}

// Draft reads what was typed and not sent.
func (s *session) Draft(ctx context.Context) (tui.Draft, error) {
	text, queue, err := s.backend.store.Draft(ctx, s.draftKey())
	if err != nil {
		return tui.Draft{}, err
	}
	d := tui.Draft{Text: text}
	if len(queue) > 0 {
		if err := json.Unmarshal(queue, &d.Queue); err != nil {
			return d, fmt.Errorf("the messages that waited: %w", err)
		}
	}
	return d, nil
}

// SaveDraft keeps it.
func (s *session) SaveDraft(ctx context.Context, d tui.Draft) error {
	var queue []byte
	if len(d.Queue) > 0 {
		var err error
		if queue, err = json.Marshal(d.Queue); err != nil {
			return err
		}
	}
	return s.backend.store.SaveDraft(ctx, s.draftKey(), d.Text, queue)
}

// draftKey is the session, or the folder and the agency while the session is not stored.
func (s *session) draftKey() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isNew {
		return "new:" + s.info.Agency + ":" + s.info.Folder
	}
	return s.info.ID
}

// window is the context window of a model reference in tokens, 0 for unknown.
func (m *models) window(reference string) int {
	ref, err := parseRef(reference)
	if err != nil || ref.Provider == "script" || ref.Provider == "replay" {
		return 0
	}
	c, err := m.connection(llm.Ref{Provider: ref.Provider, Model: ref.Model})
	if err != nil {
		return 0
	}
	return c.Window
}
