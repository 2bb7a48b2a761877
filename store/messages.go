package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"bureau/engine/history"

	sqlite3 "modernc.org/sqlite/lib"
)

const insertMessage = `INSERT INTO messages (session_id, agent, caller_agent, type, role, content, call_id, name, arguments, run_id,
	parent_run_id, parent_call_id, trace_id, origin, protocol, status, extra, created_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// Append stores a new row and sets its ID, and its CreatedAt when that is 0. The session must exist, else ErrNotFound.
func (s *Store) Append(ctx context.Context, m *history.Message) error {
	created, args, err := s.insertArgs(*m)
	if err != nil {
		return fmt.Errorf("append: %w", err)
	}
	res, err := s.exec(ctx, insertMessage, args...)
	if err != nil {
		return s.explain("append", orphan(err, m.SessionID))
	}
	id, err := res.LastInsertId()
	if err != nil {
		return s.explain("append", err)
	}
	m.ID, m.CreatedAt = id, created
	return nil
}

// AppendAll stores new rows in the given order, all or none, as Append does.
func (s *Store) AppendAll(ctx context.Context, rows []*history.Message) error {
	if len(rows) == 0 {
		return nil
	}
	ids, created := make([]int64, len(rows)), make([]int64, len(rows))
	err := s.write(ctx, func(t *tx) (err error) {
		for i, m := range rows {
			var args []any
			if created[i], args, err = s.insertArgs(*m); err != nil {
				return err
			}
			if ids[i], err = insertRow(t, args); err != nil {
				return orphan(err, m.SessionID)
			}
		}
		return nil
	})
	if err != nil {
		return s.explain("append", err)
	}
	for i, m := range rows {
		m.ID, m.CreatedAt = ids[i], created[i]
	}
	return nil
}

func insertRow(t *tx, args []any) (int64, error) {
	res, err := t.exec(insertMessage, args...)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

func (s *Store) insertArgs(m history.Message) (created int64, args []any, err error) {
	if m.ID != 0 {
		return 0, nil, fmt.Errorf("row %d is stored already", m.ID)
	}
	extra, err := encodeExtra(m.Extra)
	if err != nil {
		return 0, nil, err
	}
	if created = m.CreatedAt; created == 0 {
		created = s.micros()
	}
	return created, []any{
		m.SessionID, m.Agent, optional(m.CallerAgent), string(m.Type), optional(string(m.Role)), content(m), optional(m.CallID),
		optional(m.Name), optional(m.Arguments), m.RunID, optional(m.ParentRunID), optional(m.ParentCallID), m.TraceID,
		optional(string(m.Origin)), string(m.Protocol), string(m.Status), extra, created,
	}, nil
}

// orphan turns the failure of a foreign key into the fact behind it.
func orphan(err error, session string) error {
	if code(err) == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY {
		return fmt.Errorf("session %q: %w", session, ErrNotFound)
	}
	return err
}

// optional is NULL for an empty text.
func optional(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// content is NULL where a row has none by its type; an empty output is an output still.
func content(m history.Message) any {
	if m.Type == history.TypeCall {
		return optional(m.Content)
	}
	return m.Content
}

func encodeExtra(e history.Extra) (any, error) {
	if e.IsZero() {
		return nil, nil
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // what a server wants back unchanged stays so to the byte
	if err := encoder.Encode(e); err != nil {
		return nil, fmt.Errorf("encode extra: %w", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

const (
	// selectSizes takes the lengths from the record's header: the text itself is not read.
	selectSizes = `SELECT status, coalesce(octet_length(content), 0), coalesce(octet_length(arguments), 0), coalesce(octet_length(name), 0),
		coalesce(octet_length(call_id), 0), coalesce(octet_length(status), 0), coalesce(octet_length(extra), 0), coalesce(octet_length(pad), 0)
		FROM messages WHERE id = ? AND session_id = ?`
	updateMessage = `UPDATE messages SET content = ?1, arguments = ?2, name = ?3, call_id = ?4, status = ?5, extra = ?6,
		pad = CASE WHEN ?7 > 0 THEN zeroblob(?7) END WHERE id = ?8`
)

// Update brings a streaming row up to date: its content, arguments, name, call id, status and extra. A row that is not
// streaming any more never changes: ErrFinished. A row that is not there is ErrNotFound.
func (s *Store) Update(ctx context.Context, m history.Message) error {
	extra, err := encodeExtra(m.Extra)
	if err != nil {
		return fmt.Errorf("update row %d: %w", m.ID, err)
	}
	extraText, _ := extra.(string)
	sizes := [...]int{len(m.Content), len(m.Arguments), len(m.Name), len(m.CallID), len(m.Status), len(extraText)}
	err = s.write(ctx, func(t *tx) error {
		var status history.Status
		var old [len(sizes)]int
		var pad int
		err := t.row(selectSizes, []any{m.ID, m.SessionID}, &status, &old[0], &old[1], &old[2], &old[3], &old[4], &old[5], &pad)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return ErrNotFound
		case err != nil:
			return err
		case status != history.StatusStreaming:
			return ErrFinished
		}
		args := []any{content(m), optional(m.Arguments), optional(m.Name), optional(m.CallID), string(m.Status), extra}
		room := padding(textsSize(sizes[:]), textsSize(old[:])+zerosSize(pad), pad, m.Status != history.StatusStreaming)
		_, err = t.exec(updateMessage, append(args, room, m.ID)...)
		return err
	})
	if err != nil {
		return s.explain(fmt.Sprintf("update row %d", m.ID), err)
	}
	return nil
}

const selectColumns = `id, session_id, agent, caller_agent, type, role, content, call_id, name, arguments, run_id, parent_run_id,
	parent_call_id, trace_id, origin, protocol, status, extra, created_at`

// scanMessage reads selectColumns, and extra columns after them.
func scanMessage(scan func(...any) error, more ...any) (m history.Message, err error) {
	// Values of the driver are taken over as they are: NULL is no string and leaves the field empty.
	var caller, role, content, callID, name, arguments, parentRun, parentCall, origin, extra any
	var kind, protocol, status string
	err = scan(append([]any{
		&m.ID, &m.SessionID, &m.Agent, &caller, &kind, &role, &content, &callID, &name, &arguments, &m.RunID, &parentRun, &parentCall,
		&m.TraceID, &origin, &protocol, &status, &extra, &m.CreatedAt,
	}, more...)...)
	if err != nil {
		return m, err
	}
	m.CallerAgent, m.Content, m.CallID, m.Name, m.Arguments = text(caller), text(content), text(callID), text(name), text(arguments)
	m.ParentRunID, m.ParentCallID = text(parentRun), text(parentCall)
	m.Type, m.Role, m.Origin = history.Type(kind), history.Role(text(role)), history.Origin(text(origin))
	m.Protocol, m.Status = history.Protocol(protocol), history.Status(status)
	if raw := text(extra); raw != "" {
		if err := json.Unmarshal([]byte(raw), &m.Extra); err != nil {
			return m, fmt.Errorf("row %d: read extra: %w", m.ID, err)
		}
	}
	return m, nil
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
