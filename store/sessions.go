package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"bureau/engine/history"

	sqlite3 "modernc.org/sqlite/lib"
)

const (
	insertSession = `INSERT INTO sessions (id, agency, agency_path, folder, title, recipient, model, created_at, updated_at, rank)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(rank), 0) + 1 FROM sessions))`

	selectSessions = `SELECT s.id, s.agency, s.agency_path, s.folder, s.title, s.recipient, s.model, s.created_at, s.updated_at, s.messages,
		h.token, h.machine, h.pid, h.started, h.since, h.beat, h.after_row FROM sessions s `
	joinHolds = ` LEFT JOIN holds h ON h.session_id = s.id `

	selectSession       = selectSessions + joinHolds + `WHERE s.id = ?`
	selectSessionPrefix = selectSessions + `INDEXED BY sqlite_autoindex_sessions_1` + joinHolds + `WHERE s.id >= ?1 AND s.id < ?1 || char(1114111) ORDER BY s.id LIMIT 2`
	selectNewest        = selectSessions + `INDEXED BY sessions_rank` + joinHolds + `ORDER BY s.rank DESC`
	selectNewestOfPlace = selectSessions + `INDEXED BY sessions_place` + joinHolds + `WHERE s.agency = ? AND s.folder = ? ORDER BY s.rank DESC`
	updateTitle         = `UPDATE sessions SET title = ? WHERE id = ?`
	updateRecipient     = `UPDATE sessions SET recipient = ? WHERE id = ?`
	deleteSession       = `DELETE FROM sessions WHERE id = ?`
	deleteHold          = `DELETE FROM holds WHERE session_id = ?`
	copySession         = `INSERT INTO sessions (id, agency, agency_path, folder, title, recipient, model, created_at, updated_at, rank)
		SELECT ?2, agency, agency_path, folder, title || ' (fork)', recipient, model, ?3, ?3, (SELECT max(rank) + 1 FROM sessions) FROM sessions WHERE id = ?1`
	copyMessages = `INSERT INTO messages (session_id, agent, caller_agent, type, role, content, call_id, name, arguments, run_id, parent_run_id,
			parent_call_id, trace_id, origin, protocol, status, extra, created_at)
		SELECT ?2, agent, caller_agent, type, role, content, call_id, name, arguments, run_id, parent_run_id, parent_call_id, trace_id, origin,
			protocol, CASE status WHEN 'streaming' THEN 'interrupted' ELSE status END, extra, created_at
		FROM messages INDEXED BY messages_session WHERE session_id = ?1 ORDER BY id`
)

// SessionFilter says which sessions are listed.
type SessionFilter struct {
	// Agency and Folder are exact; empty is any.
	Agency, Folder string
	// Query is words that must all occur in title, agency or folder, in any case.
	Query string
	// Limit is the most that are listed; 0 is no limit.
	Limit int
}

func (f SessionFilter) matches(s history.Session) bool {
	if f.Agency != "" && f.Agency != s.Agency || f.Folder != "" && f.Folder != s.Folder {
		return false
	}
	text := strings.ToLower(s.Title + "\n" + s.Agency + "\n" + s.Folder)
	for word := range strings.FieldsSeq(strings.ToLower(f.Query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// CreateSession stores a new session, with CreatedAt now when it is 0; UpdatedAt, Messages and Held are not taken from it.
// ErrExists when the id is in use.
func (s *Store) CreateSession(ctx context.Context, v history.Session) error {
	_, err := s.exec(ctx, insertSession, s.sessionArgs(v)...)
	return s.explain("create session", duplicate(err, v.ID))
}

func (s *Store) sessionArgs(v history.Session) []any {
	created := v.CreatedAt
	if created == 0 {
		created = s.micros()
	}
	return []any{v.ID, v.Agency, optional(v.AgencyPath), v.Folder, v.Title, v.Recipient, optional(v.Model), created, created}
}

func duplicate(err error, session string) error {
	if code(err) == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY {
		return fmt.Errorf("session %q: %w", session, ErrExists)
	}
	return err
}

// Session returns a session by its id; ErrNotFound when there is none.
func (s *Store) Session(ctx context.Context, id string) (history.Session, error) {
	found, err := s.sessions(ctx, SessionFilter{Limit: 1}, selectSession, id)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("session %q: %w", id, ErrNotFound)
	}
	if err != nil {
		return history.Session{}, err
	}
	return found[0], nil
}

// FindSession returns the session whose id is, or begins with, prefix. ErrNotFound when there is none, ErrAmbiguous when several
// begin with it.
func (s *Store) FindSession(ctx context.Context, prefix string) (history.Session, error) {
	var found []history.Session
	var err error
	if prefix != "" {
		found, err = s.sessions(ctx, SessionFilter{}, selectSessionPrefix, prefix)
	}
	switch {
	case err != nil:
	case len(found) == 0:
		err = fmt.Errorf("session %q: %w", prefix, ErrNotFound)
	case len(found) > 1 && found[0].ID != prefix: // the exact id is the first in order
		err = fmt.Errorf("session %q: %w", prefix, ErrAmbiguous)
	}
	if err != nil {
		return history.Session{}, err
	}
	return found[0], nil
}

// Sessions lists sessions, the one with the newest activity first. Activity is a new row, or the session itself being new.
func (s *Store) Sessions(ctx context.Context, f SessionFilter) ([]history.Session, error) {
	if f.Agency != "" && f.Folder != "" {
		return s.sessions(ctx, f, selectNewestOfPlace, f.Agency, f.Folder)
	}
	return s.sessions(ctx, f, selectNewest)
}

// LatestSession returns the session of an agency in a folder with the newest activity; ErrNotFound when there is none.
func (s *Store) LatestSession(ctx context.Context, agency, folder string) (history.Session, error) {
	found, err := s.sessions(ctx, SessionFilter{Limit: 1}, selectNewestOfPlace, agency, folder)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("session of %s in %s: %w", agency, folder, ErrNotFound)
	}
	if err != nil {
		return history.Session{}, err
	}
	return found[0], nil
}

var errEnough = errors.New("enough")

func (s *Store) sessions(ctx context.Context, f SessionFilter, query string, args ...any) ([]history.Session, error) {
	var found []history.Session
	err := s.view().query(ctx, query, args, func(scan func(...any) error) error {
		var v history.Session
		var path, model any
		var o ownerColumns
		err := scan(append([]any{
			&v.ID, &v.Agency, &path, &v.Folder, &v.Title, &v.Recipient, &model, &v.CreatedAt, &v.UpdatedAt, &v.Messages,
		}, o.dest()...)...)
		if err != nil {
			return err
		}
		v.AgencyPath, v.Model = text(path), text(model)
		if !f.matches(v) {
			return nil
		}
		if owner, ok := o.owner(); ok {
			v.Held = s.isLive(owner)
		}
		found = append(found, v)
		if len(found) == f.Limit {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, s.explain("read sessions", err)
	}
	return found, nil
}

// SetTitle names a session; ErrNotFound when it is not there.
func (s *Store) SetTitle(ctx context.Context, id, title string) error {
	return s.changeSession(ctx, "rename session", updateTitle, title, id)
}

// SetRecipient records the agent that has control; ErrNotFound when the session is not there.
func (s *Store) SetRecipient(ctx context.Context, id, agent string) error {
	return s.changeSession(ctx, "set recipient", updateRecipient, agent, id)
}

func (s *Store) changeSession(ctx context.Context, op, query, value, id string) error {
	res, err := s.exec(ctx, query, value, id)
	if err == nil {
		err = touched(res, id)
	}
	return s.explain(op, err)
}

func touched(res sql.Result, session string) error {
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = fmt.Errorf("session %q: %w", session, ErrNotFound)
	}
	return err
}

// DeleteSession removes a session with its rows, requests and draft. It refuses (ErrHeld) when another process holds it;
// a hold of this process goes with it.
func (s *Store) DeleteSession(ctx context.Context, id string) error {
	err := s.write(ctx, func(t *tx) error {
		owner, ok, err := readOwner(t, id)
		if err != nil {
			return err
		}
		if ok && s.isLive(owner) && !owner.sameProcess(s.self) {
			return s.heldError(id, owner)
		}
		res, err := t.exec(deleteSession, id)
		if err == nil {
			err = touched(res, id)
		}
		if err != nil {
			return err
		}
		if _, err := t.exec(deleteDraft, id); err != nil {
			return err
		}
		_, err = t.exec(deleteHold, id)
		return err
	})
	return s.explain("delete session", err)
}

// Fork copies a session with its rows as they are now to a new one, and returns that. Runs and calls keep their ids. Requests stay
// with the original alone, so that no cost is counted twice; what was streaming is interrupted in the copy.
func (s *Store) Fork(ctx context.Context, id string) (history.Session, error) {
	fork := history.NewSessionID()
	err := s.write(ctx, func(t *tx) error {
		res, err := t.exec(copySession, id, fork, s.micros())
		if err == nil {
			err = touched(res, id)
		}
		if err != nil {
			return err
		}
		if _, err := t.exec(copyMessages, id, fork); err != nil {
			return err
		}
		_, err = t.exec(copyVariables, id, fork)
		return err
	})
	if err != nil {
		return history.Session{}, s.explain("fork session", err)
	}
	return s.Session(ctx, fork)
}

// Import stores a session with its rows, all or nothing. The rows get new ids in the given order and belong to the
// session whatever they say; ErrExists when the session's id is in use. What was streaming is interrupted.
func (s *Store) Import(ctx context.Context, v history.Session, rows []history.Message) error {
	err := s.write(ctx, func(t *tx) error {
		if _, err := t.exec(insertSession, s.sessionArgs(v)...); err != nil {
			return duplicate(err, v.ID)
		}
		for i, m := range rows {
			m.ID, m.SessionID = 0, v.ID
			if m.Status == history.StatusStreaming {
				m.Status = history.StatusInterrupted
			}
			_, args, err := s.insertArgs(m)
			if err == nil {
				_, err = insertRow(t, args)
			}
			if err != nil {
				return fmt.Errorf("row %d of %d: %w", i+1, len(rows), err)
			}
		}
		return nil
	})
	return s.explain("import session", err)
}
