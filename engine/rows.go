package engine

import (
	"context"
	"iter"
	"slices"

	"bureau/engine/history"
)

// The first page of rows that is read from the log, and the largest: what is read on and on is read in larger pieces.
const (
	rowsPage    = 100
	largestPage = 800
)

// rows gives what the agent that has control is told of, newest first: the user thread, or the sub-conversation of the
// caller and the agent that it asked, and then also what agents that control moved to have done in this run.
func (r *run) rows(ctx context.Context) (iter.Seq2[history.Message, error], error) {
	e, session := r.turn.engine, r.turn.input.SessionID
	if r.caller == "" {
		return e.rows(ctx, session, history.UserThread), nil
	}
	var moved []history.Message
	for _, agent := range r.held[1:] {
		for row, err := range e.rows(ctx, session, history.Pair(r.caller, agent)) {
			if err != nil {
				return nil, err
			}
			if row.ID < r.firstRow {
				break
			}
			if row.RunID == r.id { // the caller may have asked the agent itself at the same time
				moved = append(moved, row)
			}
		}
	}
	slices.SortFunc(moved, func(a, b history.Message) int { return int(b.ID - a.ID) })
	return merge(moved, e.rows(ctx, session, history.Pair(r.caller, r.starter.agent.Name))), nil
}

// merge joins two sequences that are newest first.
func merge(some []history.Message, rest iter.Seq2[history.Message, error]) iter.Seq2[history.Message, error] {
	return func(yield func(history.Message, error) bool) {
		for row, err := range rest {
			for err == nil && len(some) > 0 && some[0].ID > row.ID {
				if !yield(some[0], nil) {
					return
				}
				some = some[1:]
			}
			if !yield(row, err) {
				return
			}
		}
		for _, row := range some {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// rows iterates over a thread from its newest row backwards, as far as it is read.
func (e *Engine) rows(ctx context.Context, session string, t history.Thread) iter.Seq2[history.Message, error] {
	return func(yield func(history.Message, error) bool) {
		before, limit := int64(0), rowsPage
		for {
			page, err := e.options.Log.Rows(ctx, session, t, before, limit)
			if err != nil {
				yield(history.Message{}, err)
				return
			}
			for _, row := range page {
				if !yield(row, nil) {
					return
				}
			}
			if len(page) < limit {
				return
			}
			before, limit = page[len(page)-1].ID, min(2*limit, largestPage)
		}
	}
}
