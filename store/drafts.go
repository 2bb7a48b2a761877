package store

import (
	"context"
	"database/sql"
	"errors"
)

// keptInputs is how many of the user's inputs are kept.
const keptInputs = 1000

const (
	selectDraft = `SELECT text, queue FROM drafts WHERE key = ?`
	saveDraft   = `INSERT INTO drafts (key, text, queue) VALUES (?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET text = excluded.text, queue = excluded.queue`
	deleteDraft = `DELETE FROM drafts WHERE key = ?`

	selectInputs    = `SELECT text FROM inputs ORDER BY id DESC LIMIT ?`
	selectLastInput = `SELECT text FROM inputs ORDER BY id DESC LIMIT 1`
	insertInput     = `INSERT INTO inputs (text, created_at) VALUES (?, ?)`
	trimInputs      = `DELETE FROM inputs WHERE id <= (SELECT id FROM inputs ORDER BY id DESC LIMIT 1 OFFSET ?)`
)

// Draft returns what was typed and queued, and not sent, in a session; nothing when there is none. The key is the session's id, or
// whatever a session that is not stored yet is known by.
func (s *Store) Draft(ctx context.Context, key string) (text string, queue []byte, err error) {
	err = s.view().row(ctx, selectDraft, []any{key}, &text, &queue)
	if errors.Is(err, ErrNotFound) {
		return "", nil, nil
	}
	return text, queue, s.explain("read draft", err)
}

// SaveDraft keeps what was typed and queued; nothing of both removes it.
func (s *Store) SaveDraft(ctx context.Context, key, text string, queue []byte) error {
	var err error
	if text == "" && len(queue) == 0 {
		_, err = s.exec(ctx, deleteDraft, key)
	} else {
		_, err = s.exec(ctx, saveDraft, key, text, queue)
	}
	return s.explain("save draft", err)
}

// Inputs returns the user's inputs, newest first, at most limit.
func (s *Store) Inputs(ctx context.Context, limit int) ([]string, error) {
	var found []string
	err := s.view().query(ctx, selectInputs, []any{limit}, func(scan func(...any) error) error {
		var text string
		err := scan(&text)
		found = append(found, text)
		return err
	})
	if err != nil {
		return nil, s.explain("read inputs", err)
	}
	return found, nil
}

// AddInput adds an input unless it is empty or the same as the newest one; the oldest beyond a thousand go.
func (s *Store) AddInput(ctx context.Context, text string) error {
	if text == "" {
		return nil
	}
	err := s.write(ctx, func(t *tx) error {
		var last string
		if err := t.row(selectLastInput, nil, &last); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if last == text {
			return nil
		}
		if _, err := t.exec(insertInput, text, s.micros()); err != nil {
			return err
		}
		_, err := t.exec(trimInputs, keptInputs)
		return err
	})
	return s.explain("add input", err)
}
