package store

import (
	"context"
	"fmt"
	"math"

	"bureau/engine/history"
)

// Every query names its index: the file has no statistics, and one that another program made must not change a plan.
// The two thread queries are the filters of a thread; the pair is told by its names in byte order, which is how the index has it.
const (
	inUserThread = ` FROM messages INDEXED BY messages_user WHERE session_id = ?1 AND caller_agent IS NULL`
	inPair       = ` FROM messages INDEXED BY messages_pair WHERE session_id = ?1 AND caller_agent IS NOT NULL
		AND min(agent, caller_agent) = ?4 AND max(agent, caller_agent) = ?5`
	newestFirst = ` AND id < ?2 ORDER BY id DESC LIMIT ?3`
	oldestFirst = ` AND id > ?2 ORDER BY id LIMIT ?3`

	selectRow = `SELECT ` + selectColumns + ` FROM messages WHERE id = ?`
	selectAll = `SELECT ` + selectColumns + ` FROM messages INDEXED BY messages_session WHERE session_id = ?1` + oldestFirst

	selectCallTaken = `SELECT EXISTS (SELECT 1 FROM messages INDEXED BY messages_call
		WHERE session_id = ? AND call_id = ? AND type = 'function_call')`

	// below lists the run ?2 and the runs below it. It walks from each run to its first child and to its next sibling, so that it
	// touches runs and not their rows; UNION ends it also when the runs of a damaged file form a ring.
	below = `WITH RECURSIVE walk (parent, run) AS (
			SELECT NULL, ?2
			UNION
			SELECT run, (SELECT min(run_id) FROM messages INDEXED BY messages_child
				WHERE session_id = ?1 AND parent_run_id = walk.run) FROM walk WHERE run IS NOT NULL
			UNION
			SELECT parent, (SELECT min(run_id) FROM messages INDEXED BY messages_child
				WHERE session_id = ?1 AND parent_run_id = walk.parent AND run_id > walk.run) FROM walk WHERE run IS NOT NULL AND parent IS NOT NULL
		), below (run) AS (SELECT DISTINCT run FROM walk WHERE run IS NOT NULL) `

	selectRun = below + `SELECT ` + selectColumns + ` FROM messages WHERE id IN (
		SELECT m.id FROM below CROSS JOIN messages m INDEXED BY messages_run ON m.session_id = ?1 AND m.run_id = below.run) ORDER BY id`

	selectConversations = `SELECT c.a, c.b, (SELECT min(id) ` + samePair + `) AS first, (SELECT max(id) ` + samePair + `), c.messages
		FROM pair_counts c WHERE c.session_id = ?1 ORDER BY first`
	// samePair takes the names with a plus: a column's affinity would keep the index of an expression from being used.
	samePair = `FROM messages INDEXED BY messages_pair WHERE session_id = ?1 AND caller_agent IS NOT NULL
		AND min(agent, caller_agent) = +c.a AND max(agent, caller_agent) = +c.b`
)

// Rows returns the newest rows of a thread with an id below before (0: no bound), newest first, at most limit.
//
// Here and in the other methods that read rows, a streaming row of a session that no live process holds is returned as
// interrupted; on record it stays as it is.
func (s *Store) Rows(ctx context.Context, session string, t history.Thread, before int64, limit int) ([]history.Message, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	return s.thread(ctx, newestFirst, session, t, before, limit)
}

// After returns the oldest rows of a thread with an id above after, oldest first, at most limit.
func (s *Store) After(ctx context.Context, session string, t history.Thread, after int64, limit int) ([]history.Message, error) {
	return s.thread(ctx, oldestFirst, session, t, after, limit)
}

func (s *Store) thread(ctx context.Context, bound, session string, t history.Thread, id int64, limit int) ([]history.Message, error) {
	if t.IsUser() {
		return s.messages(ctx, limit, `SELECT `+selectColumns+inUserThread+bound, session, id, limit)
	}
	return s.messages(ctx, limit, `SELECT `+selectColumns+inPair+bound, session, id, limit, t.A, t.B)
}

// All returns the oldest rows of a session with an id above after, over all threads, oldest first, at most limit.
func (s *Store) All(ctx context.Context, session string, after int64, limit int) ([]history.Message, error) {
	return s.messages(ctx, limit, selectAll, session, after, limit)
}

// Run returns the rows of a run and of all runs below it, oldest first.
func (s *Store) Run(ctx context.Context, session, runID string) ([]history.Message, error) {
	return s.messages(ctx, 0, selectRun, session, runID)
}

// Row returns one row; ErrNotFound when there is none with that id.
func (s *Store) Row(ctx context.Context, id int64) (history.Message, error) {
	rows, err := s.messages(ctx, 1, selectRow, id)
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("row %d: %w", id, ErrNotFound)
	}
	if err != nil {
		return history.Message{}, err
	}
	return rows[0], nil
}

// messages runs a query over selectColumns, of about so many rows.
func (s *Store) messages(ctx context.Context, about int, query string, args ...any) ([]history.Message, error) {
	found := make([]history.Message, 0, min(max(about, 0), 1000))
	streaming := false
	err := s.view().query(ctx, query, args, func(scan func(...any) error) error {
		m, err := scanMessage(scan)
		streaming = streaming || m.Status == history.StatusStreaming
		found = append(found, m)
		return err
	})
	if err == nil && streaming {
		err = s.settle(ctx, found)
	}
	if err != nil {
		return nil, s.explain("read rows", err)
	}
	return found, nil
}

// settle marks the streaming rows that nobody brings up to date any more. All rows are of one session.
func (s *Store) settle(ctx context.Context, rows []history.Message) error {
	after, err := s.liveAfter(ctx, s.view(), rows[0].SessionID)
	if err != nil {
		return err
	}
	for i := range rows {
		if rows[i].Status == history.StatusStreaming && rows[i].ID <= after {
			rows[i].Status = history.StatusInterrupted
		}
	}
	return nil
}

// CallTaken tells whether a call with that id is on record in the session.
func (s *Store) CallTaken(ctx context.Context, session, callID string) (bool, error) {
	var taken bool
	err := s.view().row(ctx, selectCallTaken, []any{session, callID}, &taken)
	return taken, s.explain("look for a call", err)
}

// Conversations lists the pairs of agents that have talked in a session, in the order of their first row.
func (s *Store) Conversations(ctx context.Context, session string) ([]history.Conversation, error) {
	var found []history.Conversation
	err := s.view().query(ctx, selectConversations, []any{session}, func(scan func(...any) error) error {
		var c history.Conversation
		err := scan(&c.Thread.A, &c.Thread.B, &c.FirstID, &c.LastID, &c.Rows)
		found = append(found, c)
		return err
	})
	if err != nil {
		return nil, s.explain("list conversations", err)
	}
	return found, nil
}
