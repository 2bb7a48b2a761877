package store

import (
	"context"
	"database/sql"
	"fmt"

	"bureau/engine/history"
)

const (
	insertRequest = `INSERT INTO requests (session_id, run_id, trace_id, agent, provider, model, input_tokens, output_tokens, cached_tokens,
		reasoning_tokens, cost, started_at, ended_at, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

	selectUsageBy = `SELECT agent, provider, model, input_tokens, output_tokens, cached_tokens, reasoning_tokens, requests, cost
		FROM usage WHERE session_id = ? ORDER BY first_id`

	// selectRunUsage has no cost when one of the requests has none.
	selectRunUsage = below + `SELECT coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), coalesce(sum(cached_tokens), 0),
		coalesce(sum(reasoning_tokens), 0), count(*), CASE WHEN count(cost) = count(*) THEN sum(cost) END
		FROM below CROSS JOIN requests r INDEXED BY requests_run ON r.session_id = ?1 AND r.run_id = below.run`

	selectLastRequest = `SELECT id, session_id, run_id, trace_id, agent, provider, model, input_tokens, output_tokens, cached_tokens,
		reasoning_tokens, cost, started_at, ended_at, outcome FROM requests INDEXED BY requests_agent
		WHERE session_id = ? AND agent = ? ORDER BY id DESC LIMIT 1`
)

// AgentUsage is what one agent took from one model.
type AgentUsage struct {
	Agent    string        `json:"agent"`
	Provider string        `json:"provider"`
	Model    string        `json:"model"`
	Usage    history.Usage `json:"usage"`
}

// RecordRequest stores a model request and sets its ID. The session must exist, else ErrNotFound.
func (s *Store) RecordRequest(ctx context.Context, r *history.Request) error {
	u := r.Usage
	res, err := s.exec(ctx, insertRequest, r.SessionID, r.RunID, r.TraceID, r.Agent, r.Provider, r.Model, u.InputTokens, u.OutputTokens,
		u.CachedTokens, u.ReasoningTokens, u.Cost, r.StartedAt, r.EndedAt, string(r.Outcome))
	if err == nil {
		r.ID, err = res.LastInsertId()
	}
	return s.explain("record request", orphan(err, r.SessionID))
}

// usageColumns takes what requests took together.
type usageColumns struct {
	history.Usage
	cost sql.NullFloat64
}

func (c *usageColumns) dest() []any {
	return []any{&c.InputTokens, &c.OutputTokens, &c.CachedTokens, &c.ReasoningTokens, &c.Requests, &c.cost}
}

func (c *usageColumns) usage() history.Usage {
	if c.cost.Valid {
		c.Cost = &c.cost.Float64
	}
	return c.Usage
}

// Usage is what all requests of a session took.
func (s *Store) Usage(ctx context.Context, session string) (total history.Usage, err error) {
	parts, err := s.UsageBy(ctx, session)
	for _, part := range parts {
		total = total.Add(part.Usage)
	}
	return total, err
}

// Spent is what all requests of a session took: input and output tokens, and US dollars as far as prices were known.
func (s *Store) Spent(ctx context.Context, session string) (tokens int64, dollars float64, err error) {
	parts, err := s.UsageBy(ctx, session)
	for _, part := range parts {
		tokens += part.Usage.Tokens()
		if part.Usage.Cost != nil {
			dollars += *part.Usage.Cost
		}
	}
	return tokens, dollars, err
}

// runUsage is what a run with all below it took.
func (v view) runUsage(ctx context.Context, session, runID string) (history.Usage, error) {
	var c usageColumns
	err := v.row(ctx, selectRunUsage, []any{session, runID}, c.dest()...)
	return c.usage(), err
}

// UsageBy is what the requests of a session took, by agent and model, in the order of their first requests.
func (s *Store) UsageBy(ctx context.Context, session string) ([]AgentUsage, error) {
	var found []AgentUsage
	err := s.view().query(ctx, selectUsageBy, []any{session}, func(scan func(...any) error) error {
		var a AgentUsage
		var c usageColumns
		err := scan(append([]any{&a.Agent, &a.Provider, &a.Model}, c.dest()...)...)
		a.Usage = c.usage()
		found = append(found, a)
		return err
	})
	if err != nil {
		return nil, s.explain("sum up usage", err)
	}
	return found, nil
}

// LastRequest is the newest request of an agent in a session; ErrNotFound when it made none.
func (s *Store) LastRequest(ctx context.Context, session, agent string) (history.Request, error) {
	var r history.Request
	var cost sql.NullFloat64
	u := &r.Usage
	err := s.view().row(ctx, selectLastRequest, []any{session, agent}, &r.ID, &r.SessionID, &r.RunID, &r.TraceID, &r.Agent, &r.Provider, &r.Model,
		&u.InputTokens, &u.OutputTokens, &u.CachedTokens, &u.ReasoningTokens, &cost, &r.StartedAt, &r.EndedAt, &r.Outcome)
	if err != nil {
		return history.Request{}, s.explain(fmt.Sprintf("last request of %s", agent), err)
	}
	if cost.Valid {
		u.Cost = &cost.Float64
	}
	u.Requests = 1
	return r, nil
}
