package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"bureau/engine/history"
)

const (
	selectCallRun = `SELECT run_id FROM messages INDEXED BY messages_call
		WHERE session_id = ? AND call_id = ? AND type = 'function_call' ORDER BY id LIMIT 1`

	// selectChildren lists the runs right below a run with the calls that started them: a step for each run, whatever it holds.
	selectChildren = `WITH RECURSIVE child (run) AS (
			SELECT (SELECT min(run_id) FROM messages INDEXED BY messages_child WHERE session_id = ?1 AND parent_run_id = ?2)
			UNION ALL
			SELECT (SELECT min(run_id) FROM messages INDEXED BY messages_child
				WHERE session_id = ?1 AND parent_run_id = ?2 AND run_id > child.run) FROM child WHERE run IS NOT NULL
		)
		SELECT m.run_id, coalesce(m.parent_call_id, '') FROM child CROSS JOIN messages m
			ON m.id = (SELECT min(id) FROM messages INDEXED BY messages_run WHERE session_id = ?1 AND run_id = child.run)
		ORDER BY m.id`

	// selectRunEnds has the first and the last row of a run, which are one row when the run has no more.
	selectRunEnds = `SELECT ` + selectColumns + ` FROM messages WHERE id IN (
			(SELECT min(id) FROM messages INDEXED BY messages_run WHERE session_id = ?1 AND run_id = ?2),
			(SELECT max(id) FROM messages INDEXED BY messages_run WHERE session_id = ?1 AND run_id = ?2)) ORDER BY id`

	// selectRunFacts: the tool that carried the message, when the sender got its output, the calls of the run itself, and when its last
	// model request ended, which a copy of the session does not have. A row is as old as its first word, so that an answer's does not tell when it was whole.
	selectRunFacts = `SELECT
		coalesce((SELECT name FROM messages INDEXED BY messages_call WHERE session_id = ?1 AND call_id = ?3 AND type = 'function_call' LIMIT 1), ''),
		coalesce((SELECT created_at FROM messages INDEXED BY messages_call WHERE session_id = ?1 AND call_id = ?3 AND type = 'function_call_output' LIMIT 1), 0),
		(SELECT count(*) FROM messages INDEXED BY messages_run WHERE session_id = ?1 AND run_id = ?2 AND type = 'function_call'),
		coalesce((SELECT max(ended_at) FROM requests INDEXED BY requests_run WHERE session_id = ?1 AND run_id = ?2), 0)`

	// selectLastTask walks a pair's rows back to the newest one that is the first of a nested run.
	selectLastTask = `SELECT m.run_id FROM messages m INDEXED BY messages_pair WHERE m.session_id = ?1 AND m.caller_agent IS NOT NULL
		AND min(m.agent, m.caller_agent) = ?2 AND max(m.agent, m.caller_agent) = ?3
		AND m.id = (SELECT min(id) FROM messages INDEXED BY messages_run WHERE session_id = ?1 AND run_id = m.run_id)
		ORDER BY m.id DESC LIMIT 1`
)

// delegationQueries are all that the reading of delegations takes.
var delegationQueries = []string{selectOwner, selectCallRun, selectChildren, selectRunEnds, selectRunFacts, selectRunUsage, selectLastTask}

// Delegations tells of the nested runs that these calls started, in the order of the calls. A call that started none is left out.
func (s *Store) Delegations(ctx context.Context, session string, callIDs []string) (found []history.Delegation, err error) {
	err = s.snapshot(ctx, delegationQueries, func(v view) error {
		after, err := s.liveAfter(ctx, v, session)
		if err != nil {
			return err
		}
		found, err = v.delegations(ctx, session, callIDs, after)
		return err
	})
	if err != nil {
		return nil, s.explain("read delegations", err)
	}
	return found, nil
}

func (v view) delegations(ctx context.Context, session string, callIDs []string, liveAfter int64) ([]history.Delegation, error) {
	started := map[string]string{} // the run of a call
	listed := map[string]bool{}    // runs whose children are in started
	var found []history.Delegation
	for _, callID := range callIDs {
		var parent string
		err := v.row(ctx, selectCallRun, []any{session, callID}, &parent)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err == nil && !listed[parent] {
			listed[parent] = true
			err = v.children(ctx, session, parent, started)
		}
		if err != nil {
			return nil, err
		}
		run, ok := started[callID]
		if !ok {
			continue
		}
		d, err := v.delegation(ctx, session, run, liveAfter)
		if err != nil {
			return nil, err
		}
		found = append(found, d)
	}
	return found, nil
}

// children adds the runs right below a run to started, by the calls that started them. Of several runs of one call, the first counts.
func (v view) children(ctx context.Context, session, parent string, started map[string]string) error {
	return v.query(ctx, selectChildren, []any{session, parent}, func(scan func(...any) error) error {
		var run, callID string
		if err := scan(&run, &callID); err != nil {
			return err
		}
		if _, taken := started[callID]; !taken {
			started[callID] = run
		}
		return nil
	})
}

// LastDelegation is the nested run in a conversation that began last; ErrNotFound when there is none.
func (s *Store) LastDelegation(ctx context.Context, session string, t history.Thread) (d history.Delegation, err error) {
	err = s.snapshot(ctx, delegationQueries, func(v view) error {
		var run string
		if err := v.row(ctx, selectLastTask, []any{session, t.A, t.B}, &run); err != nil {
			return err
		}
		after, err := s.liveAfter(ctx, v, session)
		if err != nil {
			return err
		}
		d, err = v.delegation(ctx, session, run, after)
		return err
	})
	if err != nil {
		return history.Delegation{}, s.explain(fmt.Sprintf("last delegation between %s and %s", t.A, t.B), err)
	}
	return d, nil
}

func (v view) delegation(ctx context.Context, session, run string, liveAfter int64) (history.Delegation, error) {
	var ends []history.Message
	err := v.query(ctx, selectRunEnds, []any{session, run}, func(scan func(...any) error) error {
		m, err := scanMessage(scan)
		ends = append(ends, m)
		return err
	})
	if err != nil {
		return history.Delegation{}, err
	}
	if len(ends) == 0 {
		return history.Delegation{}, fmt.Errorf("run %s: %w", run, ErrNotFound)
	}
	first, last := ends[0], ends[len(ends)-1]
	d := history.Delegation{
		RunID: run, ParentRunID: first.ParentRunID, ParentCallID: first.ParentCallID,
		From: first.CallerAgent, To: first.Agent, Task: first.Content, StartedAt: first.CreatedAt, FirstID: first.ID,
	}
	var answered, asked int64
	if err := v.row(ctx, selectRunFacts, []any{session, run, first.ParentCallID}, &d.Tool, &answered, &d.Tools, &asked); err != nil {
		return history.Delegation{}, err
	}
	if d.Usage, err = v.runUsage(ctx, session, run); err != nil {
		return history.Delegation{}, err
	}
	d.Status = runStatus(last, first.ID > liveAfter && answered == 0)
	if d.Status != history.StatusStreaming {
		d.EndedAt = max(last.CreatedAt, cmp.Or(asked, answered))
	}
	return d, nil
}

// runStatus tells from its last row how a run stands. Open means that somebody may still be at it: it began while its session was
// held as it is now, and the sender of its task has got no output.
func runStatus(last history.Message, open bool) history.Status {
	switch {
	case last.Status == history.StatusFailed && last.Origin == history.OriginError:
		if last.Extra.Code == string(history.CodeInterrupted) {
			return history.StatusInterrupted
		}
		return history.StatusFailed
	case last.Type == history.TypeMessage && last.Role == history.RoleAssistant && last.Status == history.StatusCompleted:
		return history.StatusCompleted
	case last.Status == history.StatusInterrupted || !open:
		return history.StatusInterrupted
	}
	return history.StatusStreaming
}
