package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bureau/engine/history"
	"bureau/store"
)

// randomRows are rows of three sessions with names that are hostile to any order but that of their bytes.
func randomRows(t *testing.T, s *store.Store, n int) []history.Message {
	t.Helper()
	random := rand.New(rand.NewPCG(7, uint64(n)))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	for _, id := range []string{"s1", "s2", "s3"} {
		newSession(t, s, id)
	}
	var batch []*history.Message
	for i := range n {
		run := random.IntN(30)
		m := history.Message{
			SessionID: pick("s1", "s1", "s2", "s3"), Agent: pick("a", "B", "é", "ab", "\xff", "日"), CallerAgent: pick("", "", "a", "B", "é", "ab", "日"),
			Type: history.Type(pick("message", "function_call", "function_call_output")), Content: fmt.Sprint("row ", i),
			RunID: fmt.Sprint("run", run), TraceID: "t", Protocol: history.ProtocolResponses, Status: history.StatusCompleted, CreatedAt: int64(1000 - i),
		}
		if m.Type != history.TypeMessage {
			m.CallID = fmt.Sprint("call", random.IntN(60))
		}
		// A forest of runs, three children each; run 29 and its parent are a ring.
		if run > 2 {
			m.ParentRunID = fmt.Sprint("run", run/3)
		}
		if run == 9 {
			m.ParentRunID = "run29"
		}
		batch = append(batch, &m)
	}
	if err := s.AppendAll(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	rows := make([]history.Message, n)
	for i, m := range batch {
		rows[i] = *m
	}
	return rows
}

func filter(rows []history.Message, keep func(history.Message) bool) []history.Message {
	kept := []history.Message{}
	for _, m := range rows {
		if keep(m) {
			kept = append(kept, m)
		}
	}
	return kept
}

func same(t *testing.T, what string, got, want []history.Message, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: got %d rows, want %d", what, len(got), len(want))
	}
}

func TestQueriesEqualAFilterOverAllRows(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	rows := randomRows(t, s, 1500)
	random := rand.New(rand.NewPCG(1, 1))
	threads := map[history.Thread]bool{history.UserThread: true, history.Pair("no", "one"): true}
	for _, m := range rows {
		threads[m.Thread()] = true
	}
	for thread := range threads {
		for range 3 {
			at, limit := int64(random.IntN(len(rows)+2)), 1+random.IntN(400)
			what := fmt.Sprintf("thread %q at %d, %d rows", thread, at, limit)
			in := filter(rows, func(m history.Message) bool { return m.SessionID == "s1" && thread.Holds(m) })

			before := filter(in, func(m history.Message) bool { return at == 0 || m.ID < at })
			slices.Reverse(before)
			got, err := s.Rows(t.Context(), "s1", thread, at, limit)
			same(t, "before: "+what, got, before[:min(limit, len(before))], err)

			after := filter(in, func(m history.Message) bool { return m.ID > at })
			got, err = s.After(t.Context(), "s1", thread, at, limit)
			same(t, "after: "+what, got, after[:min(limit, len(after))], err)
		}
	}
	for _, session := range []string{"s1", "s2", "none"} {
		all := filter(rows, func(m history.Message) bool { return m.SessionID == session && m.ID > 100 })
		got, err := s.All(t.Context(), session, 100, 500)
		same(t, "all of "+session, got, all[:min(500, len(all))], err)
	}
	for run := range 31 {
		id := fmt.Sprint("run", run)
		below := map[string]bool{id: true}
		for grown := true; grown; {
			grown = false
			for _, m := range rows {
				if m.SessionID == "s2" && below[m.ParentRunID] && !below[m.RunID] {
					below[m.RunID], grown = true, true
				}
			}
		}
		got, err := s.Run(t.Context(), "s2", id)
		same(t, "below "+id, got, filter(rows, func(m history.Message) bool { return m.SessionID == "s2" && below[m.RunID] }), err)
	}
	for i := range 61 {
		id := fmt.Sprint("call", i)
		want := slices.ContainsFunc(rows, func(m history.Message) bool {
			return m.SessionID == "s3" && m.Type == history.TypeCall && m.CallID == id
		})
		if got, err := s.CallTaken(t.Context(), "s3", id); err != nil || got != want {
			t.Errorf("%s taken: %v, %v", id, got, err)
		}
	}
}

func TestConversationsEqualAFilterOverAllRows(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	rows := randomRows(t, s, 1000)
	for _, session := range []string{"s1", "s2", "none"} {
		var want []history.Conversation
		for _, m := range rows {
			if m.SessionID != session || m.CallerAgent == "" {
				continue
			}
			i := slices.IndexFunc(want, func(c history.Conversation) bool { return c.Thread == m.Thread() })
			if i < 0 {
				want = append(want, history.Conversation{Thread: m.Thread(), FirstID: m.ID})
				i = len(want) - 1
			}
			want[i].LastID = m.ID
			want[i].Rows++
		}
		if got, err := s.Conversations(t.Context(), session); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v\nwant %+v", session, got, err, want)
		}
	}
}

func TestStreamingRowReadsInterruptedWhenNobodyHoldsItsSession(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	newSession(t, s, "s1")
	m := message("s1", "half")
	m.Status = history.StatusStreaming
	m = add(t, s, m)
	statuses := func() string {
		row, err1 := s.Row(t.Context(), m.ID)
		rows, err2 := s.Rows(t.Context(), "s1", history.UserThread, 0, 9)
		run, err3 := s.Run(t.Context(), "s1", m.RunID)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(row.Status, rows[0].Status, run[0].Status)
	}
	if got := statuses(); got != "interruptedinterruptedinterrupted" {
		t.Errorf("without a hold: %s", got)
	}
	hold, err := s.Hold(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if got := statuses(); got != "interruptedinterruptedinterrupted" {
		t.Errorf("left behind by another process: %s", got)
	}
	m.ID = 0
	m = add(t, s, m)
	if got := statuses(); got != "streamingstreaminginterrupted" {
		t.Errorf("held: %s", got)
	}
	if err := hold.Release(); err != nil {
		t.Fatal(err)
	}
	if got := statuses(); got != "interruptedinterruptedinterrupted" {
		t.Errorf("released: %s", got)
	}
	var stored string
	if err := s.Writer().QueryRowContext(t.Context(), "SELECT group_concat(status) FROM messages").Scan(&stored); err != nil || stored != "streaming,streaming" {
		t.Errorf("on record it is %q, %v", stored, err)
	}
}

// seeks are all the ways in which a query may look into a table: by a key that names a session and what is wanted of it.
var seeks = []string{
	"INTEGER PRIMARY KEY (rowid=?)",
	"messages_session (session_id=?",
	"messages_user (session_id=?",
	"messages_pair (session_id=? AND <expr>=? AND <expr>=?",
	"messages_run (session_id=? AND run_id=?",
	"messages_child (session_id=? AND parent_run_id=?",
	"messages_call (session_id=? AND call_id=?",
	"requests_run (session_id=? AND run_id=?",
	"requests_agent (session_id=? AND agent=?",
	"PRIMARY KEY (session_id=?",
	"sqlite_autoindex_sessions_1 (id=?",
	"sqlite_autoindex_sessions_1 (id>? AND id<?",
	"sqlite_autoindex_holds_1 (session_id=?",
	"sessions_place (agency=? AND folder=?",
}

// planFault says what is wrong with a line of a plan. The only tables that may be walked are small ones made within the query, and
// the sessions, in the order in which they are listed.
func planFault(detail string) string {
	switch kind, of, _ := strings.Cut(detail, " "); {
	case strings.Contains(detail, "AUTOMATIC"):
		return "an index is made for it"
	case kind == "SEARCH":
		if !slices.ContainsFunc(seeks, func(seek string) bool { return strings.Contains(of, seek) }) {
			return "no seek"
		}
	case kind == "SCAN":
		if !slices.Contains([]string{"walk", "below", "child", "CONSTANT ROW", "s USING INDEX sessions_rank"}, of) {
			return "a scan"
		}
	}
	return ""
}

// Every query of a reader is looked at, so that a new one cannot be left out: this test runs all methods that read.
func TestNoQueryScansTheTable(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	rows := randomRows(t, s, 500)
	ctx := t.Context()
	var errs []error
	check := func(_ any, err error) {
		if !errors.Is(err, store.ErrNotFound) {
			errs = append(errs, err)
		}
	}
	for _, thread := range []history.Thread{history.UserThread, history.Pair("a", "B")} {
		check(s.Rows(ctx, "s1", thread, 0, 10))
		check(s.After(ctx, "s1", thread, 0, 10))
	}
	check(s.All(ctx, "s1", 0, 10))
	check(s.Row(ctx, rows[0].ID))
	check(s.Run(ctx, "s1", "run1"))
	check(s.CallTaken(ctx, "s1", "call1"))
	check(s.Conversations(ctx, "s1"))
	check(s.Delegations(ctx, "s1", []string{"call1"}))
	check(s.LastDelegation(ctx, "s1", history.Pair("a", "B")))
	check(s.Session(ctx, "s1"))
	check(s.FindSession(ctx, "s"))
	check(s.Sessions(ctx, store.SessionFilter{Limit: 1}))
	check(s.LatestSession(ctx, "tour", "/home"))
	check(s.Usage(ctx, "s1"))
	check(s.LastRequest(ctx, "s1", "a"))
	for _, err := range errs {
		if err != nil && !errors.Is(err, store.ErrAmbiguous) {
			t.Fatal(err)
		}
	}
	queries := s.ReadQueries()
	if len(queries) < 18 {
		t.Fatalf("only %d queries were seen", len(queries))
	}
	for _, query := range queries {
		// The parameters are unbound, which a plan does not mind.
		plan, err := s.Writer().QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, make([]any, 5)...)
		if err != nil {
			t.Fatalf("%v: %s", err, query)
		}
		for plan.Next() {
			var id, parent, unused int
			var detail string
			if err := plan.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			if fault := planFault(detail); fault != "" {
				t.Errorf("%s: %s:\n%s", fault, detail, query)
			}
			// Sorting would read a whole thread for its newest rows.
			if strings.Contains(detail, "FOR ORDER BY") && strings.Contains(query, "LIMIT ?3") {
				t.Errorf("%s:\n%s", detail, query)
			}
		}
		if err := errors.Join(plan.Err(), plan.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
