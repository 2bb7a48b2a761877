package store_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"bureau/engine/history"
	"bureau/store"
)

func TestRowComesBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	newSession(t, s, "s1")
	hostile := map[string]string{
		"empty":         "",
		"NUL":           "a\x00b\x00",
		"only NUL":      "\x00",
		"invalid UTF-8": "\xff\xfe\xc3(\xed\xa0\x80",
		"quotes":        `'; DROP TABLE messages; -- " ` + "`$1 ?1 :a",
		"escapes":       "\x1b]0;title\x07\x1b[2J",
		"wide":          "日本語 👩‍👩‍👧 \u202e",
		"5 MB":          strings.Repeat("0123456789abcde\n", 5<<20/16),
	}
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			m := history.Message{
				SessionID: "s1", Agent: "A" + text, CallerAgent: text, Type: history.TypeCall, Role: history.Role(text), Content: text, CallID: text,
				Name: text, Arguments: text, RunID: "r" + text, ParentRunID: text, ParentCallID: text, TraceID: "t" + text,
				Origin: history.Origin(text), Protocol: history.ProtocolResponses, Status: history.StatusCompleted, CreatedAt: 1234567890123456,
				Extra: history.Extra{
					RawArguments: strings.ToValidUTF8(text, "?"), IsError: true, Wire: map[string]json.RawMessage{"x": json.RawMessage(`{"a":[1,"ü"]}`)},
				},
			}
			if len(text) > 1<<20 { // names are not that long
				m = message("s1", text)
				m.CreatedAt = 1
			}
			m = add(t, s, m)
			got, err := s.Row(t.Context(), m.ID)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, m) {
				t.Errorf("got %.300v\nwant %.300v", got, m)
			}
			rows, err := s.Rows(t.Context(), "s1", m.Thread(), 0, 1)
			if err != nil || len(rows) != 1 || !reflect.DeepEqual(rows[0], m) {
				t.Errorf("its thread has %.300v, %v", rows, err)
			}
		})
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAppendStampsRowAndSession(t *testing.T) {
	t.Parallel()
	now := time.UnixMicro(1_700_000_000_000_001)
	s := openStore(t, store.WithClock(func() time.Time { return now }))
	newSession(t, s, "s1")
	now = now.Add(time.Minute)
	first := add(t, s, message("s1", "one"))
	now = now.Add(time.Minute)
	second, third := message("s1", "two"), message("s1", "three")
	third.CreatedAt = 42
	if err := s.AppendAll(t.Context(), []*history.Message{&second, &third}); err != nil {
		t.Fatal(err)
	}
	if first.CreatedAt != 1_700_000_060_000_001 || second.CreatedAt != 1_700_000_120_000_001 || third.CreatedAt != 42 {
		t.Errorf("created at %d, %d, %d", first.CreatedAt, second.CreatedAt, third.CreatedAt)
	}
	if first.ID == 0 || second.ID != first.ID+1 || third.ID != first.ID+2 {
		t.Errorf("ids %d, %d, %d", first.ID, second.ID, third.ID)
	}
	got, err := s.Session(t.Context(), "s1")
	if err != nil || got.Messages != 3 || got.UpdatedAt != 42 || got.CreatedAt != 1_700_000_000_000_001 {
		t.Errorf("session %+v, %v", got, err)
	}
}

func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	newSession(t, s, "s1")
	stored := add(t, s, message("s1", "one"))
	if err := s.Append(t.Context(), &stored); err == nil {
		t.Error("a stored row was appended again")
	}
	orphan, good := message("nowhere", "x"), message("s1", "x")
	if err := s.Append(t.Context(), &orphan); !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("without a session: %v", err)
	}
	if err := s.AppendAll(t.Context(), []*history.Message{&good, &orphan}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("one of two without a session: %v", err)
	}
	if good.ID != 0 || orphan.ID != 0 {
		t.Errorf("ids %d and %d were set", good.ID, orphan.ID)
	}
	if rows, err := s.All(t.Context(), "s1", 0, 10); err != nil || len(rows) != 1 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

func TestUpdateUntilFinished(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	newSession(t, s, "s1")
	hold, err := s.Hold(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	m := message("s1", "")
	m.Type, m.Role, m.Status = history.TypeCall, "", history.StatusStreaming
	m = add(t, s, m)
	// Up and down in size, through all the ways that a record takes room.
	for _, size := range []int{1, 57, 58, 59, 2000, 3000, 3001, 8185, 8186, 8187, 20_000, 20_001, 15_000, 200_000, 5, 0, 70_000} {
		m.Arguments, m.Name, m.CallID = strings.Repeat("x", size), "send_message", "call_1"
		m.Extra.RawName = strings.Repeat("n", size%7)
		if err := s.Update(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Row(t.Context(), m.ID); err != nil || !reflect.DeepEqual(got, m) {
			t.Fatalf("at %d: got %.300v, %v", size, got, err)
		}
	}
	m.Status = history.StatusCompleted
	if err := s.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	late := m
	late.Arguments = "{}"
	if err := s.Update(t.Context(), late); !errors.Is(err, store.ErrFinished) {
		t.Errorf("a finished row: %v", err)
	}
	late.ID++
	if err := s.Update(t.Context(), late); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no row: %v", err)
	}
	if err := hold.Release(); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Row(t.Context(), m.ID); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("got %.300v, %v", got, err)
	}
}

// An output that is empty is an output; only a call has no content.
func TestEmptyContentIsNoNull(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	newSession(t, s, "s1")
	for _, kind := range []history.Type{history.TypeMessage, history.TypeReason, history.TypeCall, history.TypeOutput} {
		m := message("s1", "")
		m.Type, m.Status = kind, history.StatusStreaming
		m = add(t, s, m)
		m.Status = history.StatusCompleted
		for _, update := range []bool{false, true} {
			if update {
				if err := s.Update(t.Context(), m); err != nil {
					t.Fatal(err)
				}
			}
			var null bool
			if err := s.Writer().QueryRowContext(t.Context(), "SELECT content IS NULL FROM messages WHERE id = ?", m.ID).Scan(&null); err != nil {
				t.Fatal(err)
			}
			if null != (kind == history.TypeCall) {
				t.Errorf("%s, updated %v: NULL %v", kind, update, null)
			}
		}
	}
}
