package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/llm/llmtest"
	"bureau/engine/tool"
)

// audit holds all events of a bench against the rows on record: it runs at the end of every test.
func (b *bench) audit() {
	sessions := map[string][]history.Event{}
	for _, e := range b.told() {
		sessions[e.SessionID] = append(sessions[e.SessionID], e)
	}
	for session, events := range sessions {
		rows, err := b.store.All(context.Background(), session, 0, 100_000)
		if err != nil {
			b.t.Error(err)
			continue
		}
		for _, fault := range slices.Concat(auditRows(events, rows), auditRuns(events)) {
			b.t.Errorf("events of session %s: %s", session, fault)
		}
	}
}

// auditRows holds what is told of rows against them: each is told by one start, deltas without a gap, and one end; or by one result.
func auditRows(events []history.Event, rows []history.Message) (faults []string) {
	fail := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	type told struct {
		starts, ends int
		text         string
		status       history.Status
	}
	byRow := map[int64]*told{}
	runs := map[string]bool{}
	for _, e := range events {
		runs[cmp.Or(e.SubagentRunID, e.RunID)] = true
		if e.MessageID == 0 {
			continue
		}
		row := byRow[e.MessageID]
		if row == nil {
			row = &told{}
			byRow[e.MessageID] = row
		}
		switch e.Type {
		case history.EventTextStart, history.EventReasoningStart, history.EventCallStart:
			row.starts++
		case history.EventTextContent, history.EventReasoningContent, history.EventCallArgs:
			if row.starts != 1 || row.ends != 0 || e.Offset != len(row.text) {
				fail("a delta of row %d at %d, after %d bytes, %d starts and %d ends", e.MessageID, e.Offset, len(row.text), row.starts, row.ends)
			}
			row.text += e.Delta
		case history.EventTextEnd, history.EventReasoningEnd, history.EventCallEnd:
			row.ends++
			row.status = e.Status
		case history.EventCallResult:
			row.starts, row.ends, row.text, row.status = row.starts+1, row.ends+1, e.Content, e.Status
		default:
			fail("%s tells of row %d", e.Type, e.MessageID)
		}
	}
	for _, m := range rows {
		row := byRow[m.ID]
		if row == nil {
			if runs[m.RunID] {
				fail("%s is not told", line(m))
			}
			continue
		}
		delete(byRow, m.ID)
		text := m.Content
		if m.Type == history.TypeCall {
			text = m.Extra.RawArguments
			if object, err := tool.Arguments(row.text); err == nil && text == "" {
				row.text, text = string(object), m.Arguments
			}
		}
		isSame := row.text == text || m.Status != history.StatusCompleted && strings.HasPrefix(row.text, text)
		if row.starts != 1 || row.ends != 1 || !isSame || row.status != m.Status {
			fail("%s is told by %d starts and %d ends as %q, %s", line(m), row.starts, row.ends, row.text, row.status)
		}
	}
	for id := range byRow {
		fail("row %d is told and is not on record", id)
	}
	return faults
}

// auditRuns checks that each run has one beginning and one end, and that a nested one stands between its call and the output.
func auditRuns(events []history.Event) (faults []string) {
	fail := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	type state struct{ open, over bool }
	runs, calls := map[string]*state{}, map[string]*state{} // a call is open once it is told, and over with its result
	for i, e := range events {
		id := cmp.Or(e.SubagentRunID, e.RunID)
		run := runs[id]
		switch e.Type {
		case history.EventRunStarted, history.EventSubagentStarted:
			if run != nil {
				fail("event %d begins a run again", i)
			}
			run = &state{open: true}
			runs[id] = run
			if call := calls[e.ParentCallID]; e.Type == history.EventSubagentStarted && (call == nil || !call.open || call.over) {
				fail("event %d begins a run whose call is not under way", i)
			}
		case history.EventRunFinished, history.EventRunError, history.EventSubagentFinished, history.EventSubagentError:
			if e.Usage == nil {
				fail("event %d ends a run without usage", i)
			}
			if run != nil && run.over {
				fail("event %d ends a run again", i)
			}
		case history.EventCallEnd:
			calls[e.CallID] = &state{open: true}
		case history.EventCallResult:
			if call := calls[e.CallID]; call == nil || call.over {
				fail("event %d is a result without a call that waits for it", i)
			} else {
				call.over = true
			}
		}
		if run == nil || run.over {
			fail("event %d, %s, is of a run that is not under way", i, e.Type)
			continue
		}
		switch e.Type {
		case history.EventRunFinished, history.EventRunError, history.EventSubagentFinished, history.EventSubagentError:
			run.over = true
		}
		if call := calls[e.ParentCallID]; e.SubagentRunID != "" && (call == nil || call.over) {
			fail("event %d of a nested run is after the result of its call", i)
		}
	}
	for id, run := range runs {
		if !run.over {
			fail("run %s has no end", id)
		}
	}
	return faults
}

// The audit sees what it is meant to see.
func TestAuditFindsFaults(t *testing.T) {
	t.Parallel()
	b := newBench(t, twoAgents, play{"A": first("f", send("c1", "B", "m"))})
	b.ok("A", "hi")
	events, rows := b.told(), b.rows()
	all := func(events []history.Event, rows []history.Message) []string {
		return slices.Concat(auditRows(events, rows), auditRuns(events))
	}
	if faults := all(events, rows); len(faults) > 0 {
		t.Fatalf("faults of a sound run: %q", faults)
	}
	for i, e := range events {
		if e.Type == history.EventCustom {
			continue
		}
		if faults := all(slices.Delete(slices.Clone(events), i, i+1), rows); len(faults) == 0 {
			t.Errorf("without event %d, %s, there is no fault", i, e.Type)
		}
		if faults := all(slices.Insert(slices.Clone(events), i, e), rows); len(faults) == 0 {
			t.Errorf("with event %d, %s, twice there is no fault", i, e.Type)
		}
	}
	if faults := all(events, append(rows, rows[0])); len(faults) == 0 {
		t.Error("a row that is not told is no fault")
	}
	if faults := all(events, rows[1:]); len(faults) == 0 {
		t.Error("a row that is not on record is no fault")
	}
}

func TestUsageIsSummedOverTheTree(t *testing.T) {
	t.Parallel()
	cost := func(_ llm.Ref, u history.Usage) *float64 {
		c := float64(u.InputTokens) / 1000
		return &c
	}
	uses := func(r llmtest.Response, in, out int) llmtest.Response {
		r.Usage = &llmtest.Usage{Input: in, Output: out, Cached: 1, Reasoning: 2}
		return r
	}
	b := setup{price: cost}.bench(t, agentsOf("A B C D", "A > B > C", "A > D: handoff"), play{
		"A": inTurn(uses(calls(send("c1", "B", "m")), 10, 1), uses(calls(handoff("h", "D")), 20, 2)),
		"B": inTurn(uses(calls(send("c2", "C", "n")), 100, 3), uses(text("r"), 200, 4)),
		"C": inTurn(fault(400, "no"), uses(text("never"), 9, 9)), "D": inTurn(uses(text("f"), 1000, 5)),
	})
	result := b.ok("A", "hi")
	u := result.Usage
	if u.InputTokens != 1330 || u.OutputTokens != 15 || u.CachedTokens != 5 || u.ReasoningTokens != 10 || u.Requests != 6 || u.Cost == nil || fmt.Sprintf("%.2f", *u.Cost) != "1.33" {
		t.Errorf("usage of the turn: %+v", u)
	}
	onRecord, err := b.store.Usage(t.Context(), b.session)
	if err != nil || onRecord.InputTokens != u.InputTokens || onRecord.OutputTokens != u.OutputTokens || onRecord.Requests != u.Requests {
		t.Errorf("usage on record: %+v, %v", onRecord, err)
	}
	by, err := b.store.UsageBy(t.Context(), b.session)
	if err != nil {
		t.Fatal(err)
	}
	input := map[string]int64{}
	for _, a := range by {
		input[a.Agent] += a.Usage.InputTokens
	}
	if fmt.Sprint(input) != "map[A:30 B:300 C:0 D:1000]" {
		t.Errorf("input tokens by agent: %v", input)
	}
	for _, e := range b.told() {
		want := map[string]int64{"B": 300, "C": 0}[e.Agent]
		if (e.Type == history.EventSubagentFinished || e.Type == history.EventSubagentError) && e.Usage.InputTokens != want {
			t.Errorf("the run of %s took %d, want %d", e.Agent, e.Usage.InputTokens, want)
		}
	}
	soFar := map[string][]int64{}
	for _, e := range b.told() {
		if e.Name == history.CustomUsage {
			soFar[e.Agent] = append(soFar[e.Agent], e.Usage.InputTokens)
			if value, ok := e.Value.(history.Usage); !ok || value.InputTokens != e.Usage.InputTokens {
				t.Errorf("the value of %s's usage is %v", e.Agent, e.Value)
			}
		}
	}
	if fmt.Sprint(soFar) != "map[A:[10 330] B:[100 300] C:[0] D:[1330]]" {
		t.Errorf("usage of the runs while they went on: %v", soFar)
	}
}

// A cost is unknown as soon as one request's is.
func TestUnknownPriceMakesTheSumUnknown(t *testing.T) {
	t.Parallel()
	b := setup{price: func(ref llm.Ref, _ history.Usage) *float64 {
		if ref.Model == "B" {
			return nil
		}
		c := 1.0
		return &c
	}}.bench(t, twoAgents, play{"A": inTurn(text("alone"), calls(send("", "B", "m")), text("f"))})
	if cost := b.ok("A", "one").Usage.Cost; cost == nil || *cost != 1 {
		t.Errorf("the cost of A alone is %v", cost)
	}
	if cost := b.ok("A", "two").Usage.Cost; cost != nil {
		t.Errorf("the cost with B is %v", *cost)
	}
}
