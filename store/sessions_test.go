package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"bureau/engine/history"
	"bureau/store"
)

type jsonRaw = json.RawMessage

func sessionIDs(sessions []history.Session) (ids []string) {
	for _, v := range sessions {
		ids = append(ids, v.ID)
	}
	return ids
}

func TestSessionsByLastActivity(t *testing.T) {
	t.Parallel()
	// A clock that stands still, and once goes back: the order is that of the rows.
	now := time.Unix(1_700_000_000, 0)
	s := openStore(t, store.WithClock(func() time.Time { return now }))
	for _, v := range []history.Session{
		{ID: "aaa1", Agency: "tour", Folder: "/one", Title: "Fix the PARSER", Recipient: "Guide"},
		{ID: "aab2", Agency: "tour", Folder: "/two", Title: "Été à Zürich", Recipient: "Guide", Model: "ollama/x", AgencyPath: "/x.yaml"},
		{ID: "aab", Agency: "newsroom", Folder: "/one", Title: "100% _done_", Recipient: "Editor"},
	} {
		if err := s.CreateSession(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
	list := func(f store.SessionFilter) []string {
		t.Helper()
		got, err := s.Sessions(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		return sessionIDs(got)
	}
	if got := list(store.SessionFilter{}); !slices.Equal(got, []string{"aab", "aab2", "aaa1"}) {
		t.Errorf("new ones: %v", got)
	}
	add(t, s, message("aaa1", "x"))
	now = now.Add(-time.Hour)
	add(t, s, message("aab2", "x"))
	for _, c := range []struct {
		filter store.SessionFilter
		want   []string
	}{
		{store.SessionFilter{}, []string{"aab2", "aaa1", "aab"}},
		{store.SessionFilter{Limit: 2}, []string{"aab2", "aaa1"}},
		{store.SessionFilter{Agency: "tour"}, []string{"aab2", "aaa1"}},
		{store.SessionFilter{Folder: "/one"}, []string{"aaa1", "aab"}},
		{store.SessionFilter{Agency: "tour", Folder: "/one"}, []string{"aaa1"}},
		{store.SessionFilter{Query: "parser fix"}, []string{"aaa1"}},
		{store.SessionFilter{Query: "été"}, []string{"aab2"}},
		{store.SessionFilter{Query: "% _"}, []string{"aab"}},
		{store.SessionFilter{Query: "newsroom"}, []string{"aab"}},
		{store.SessionFilter{Query: "parser zürich"}, nil},
		{store.SessionFilter{Query: "/one", Limit: 1}, []string{"aaa1"}},
	} {
		if got := list(c.filter); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.filter, got, c.want)
		}
	}
	if got, err := s.LatestSession(t.Context(), "tour", "/two"); err != nil || got.ID != "aab2" || got.Model != "ollama/x" || got.AgencyPath != "/x.yaml" {
		t.Errorf("latest: %+v, %v", got, err)
	}
	if _, err := s.LatestSession(t.Context(), "tour", "/three"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("latest of nothing: %v", err)
	}
	for prefix, want := range map[string]string{"aaa": "aaa1", "aab": "aab", "aab2": "aab2"} {
		if got, err := s.FindSession(t.Context(), prefix); err != nil || got.ID != want {
			t.Errorf("find %s: %s, %v", prefix, got.ID, err)
		}
	}
	for prefix, want := range map[string]error{"aa": store.ErrAmbiguous, "b": store.ErrNotFound, "": store.ErrNotFound, "aaa11": store.ErrNotFound} {
		if _, err := s.FindSession(t.Context(), prefix); !errors.Is(err, want) {
			t.Errorf("find %q: %v", prefix, err)
		}
	}
}

func TestSessionChanges(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	newSession(t, s, "s1")
	if err := s.CreateSession(t.Context(), history.Session{ID: "s1"}); !errors.Is(err, store.ErrExists) {
		t.Errorf("twice: %v", err)
	}
	if err := errors.Join(s.SetTitle(t.Context(), "s1", "new"), s.SetRecipient(t.Context(), "s1", "Desk")); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Session(t.Context(), "s1"); err != nil || got.Title != "new" || got.Recipient != "Desk" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, err := range []error{s.SetTitle(t.Context(), "no", "x"), s.SetRecipient(t.Context(), "no", "x"), s.DeleteSession(t.Context(), "no")} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("no session: %v", err)
		}
	}
}

func TestDeleteTakesAllOfASessionAndNothingElse(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	for _, id := range []string{"s1", "s2"} {
		newSession(t, s, id)
		add(t, s, message(id, "user"))
		m := message(id, "nested")
		m.CallerAgent = "Editor"
		add(t, s, m)
		r := history.Request{SessionID: id, RunID: "r", Outcome: history.OutcomeOK}
		if err := errors.Join(s.RecordRequest(t.Context(), &r), s.SaveDraft(t.Context(), id, "draft", nil)); err != nil {
			t.Fatal(err)
		}
	}
	hold, err := s.Hold(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteSession(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	if err := hold.Release(); err != nil {
		t.Error(err)
	}
	tables := map[string]string{"sessions": "id", "messages": "session_id", "requests": "session_id", "usage": "session_id", "pair_counts": "session_id", "drafts": "key", "holds": "session_id"}
	for table, column := range tables {
		var gone, left int
		query := fmt.Sprintf("SELECT count(*) FILTER (WHERE %[1]s = 's1'), count(*) FILTER (WHERE %[1]s = 's2') FROM %[2]s", column, table)
		if err := s.Writer().QueryRowContext(t.Context(), query).Scan(&gone, &left); err != nil || gone != 0 || left == 0 && table != "holds" {
			t.Errorf("%s: %d of the deleted, %d of the other, %v", table, gone, left, err)
		}
	}
}

func TestForkCopiesRows(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	newSession(t, s, "s1")
	newSession(t, s, "s2")
	hold, err := s.Hold(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Release()
	first := message("s1", "task")
	first.CallerAgent, first.ParentRunID, first.ParentCallID, first.Extra.Model = "Editor", "run_0", "call_1", "p/m"
	add(t, s, first)
	add(t, s, message("s2", "between"))
	streaming := message("s1", "half")
	streaming.Status = history.StatusStreaming
	add(t, s, streaming)
	r := history.Request{SessionID: "s1", RunID: "run_1", Outcome: history.OutcomeOK}
	if err := s.RecordRequest(t.Context(), &r); err != nil {
		t.Fatal(err)
	}
	fork, err := s.Fork(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if fork.Title != "a title (fork)" || fork.ID == "s1" || fork.Messages != 2 || fork.Held || fork.Recipient != "Guide" {
		t.Errorf("fork %+v", fork)
	}
	old, err1 := s.All(t.Context(), "s1", 0, 10)
	copied, err2 := s.All(t.Context(), fork.ID, 0, 10)
	if err := errors.Join(err1, err2); err != nil || len(copied) != 2 {
		t.Fatal(len(copied), err)
	}
	if old[1].Status != history.StatusStreaming || copied[1].Status != history.StatusInterrupted {
		t.Errorf("status %s, copied %s", old[1].Status, copied[1].Status)
	}
	for i := range old {
		old[i].ID, old[i].SessionID, old[i].Status = copied[i].ID, fork.ID, copied[i].Status
	}
	if !reflect.DeepEqual(old, copied) {
		t.Errorf("got %+v\nwant %+v", copied, old)
	}
	if u, err := s.Usage(t.Context(), fork.ID); err != nil || u.Requests != 0 {
		t.Errorf("usage %+v, %v", u, err)
	}
	if threads, err := s.Conversations(t.Context(), fork.ID); err != nil || len(threads) != 1 || threads[0].Rows != 1 {
		t.Errorf("conversations %+v, %v", threads, err)
	}
	if _, err := s.Fork(t.Context(), "no"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("fork of nothing: %v", err)
	}
}

func TestImportIsAllOrNothing(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	rows := []history.Message{message("elsewhere", "one"), message("elsewhere", "two")}
	rows[0].ID, rows[0].CreatedAt, rows[1].Status = 77, 5, history.StatusStreaming
	v := history.Session{ID: "s1", Agency: "tour", Folder: "/", Title: "t", Recipient: "Guide", CreatedAt: 3}
	if err := s.Import(t.Context(), v, rows); err != nil {
		t.Fatal(err)
	}
	got, err := s.All(t.Context(), "s1", 0, 10)
	if err != nil || len(got) != 2 || got[0].Content != "one" || got[0].CreatedAt != 5 || got[1].Status != history.StatusInterrupted {
		t.Errorf("%+v, %v", got, err)
	}
	if err := s.Import(t.Context(), v, rows); !errors.Is(err, store.ErrExists) {
		t.Errorf("again: %v", err)
	}
	v.ID, rows[1].Extra.Wire = "s2", map[string]jsonRaw{"x": jsonRaw("{")}
	if err := s.Import(t.Context(), v, rows); err == nil || !strings.Contains(err.Error(), "row 2 of 2") {
		t.Errorf("a row that cannot be stored: %v", err)
	}
	if _, err := s.Session(t.Context(), "s2"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("half an import: %v", err)
	}
}
