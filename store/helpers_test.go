package store_test

import (
	"path/filepath"
	"testing"

	"bureau/engine/history"
	"bureau/store"
)

func openStore(t testing.TB, opts ...store.Option) *store.Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "bureau.db"), opts...)
}

func openAt(t testing.TB, path string, opts ...store.Option) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), path, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func newSession(t testing.TB, s *store.Store, id string) {
	t.Helper()
	err := s.CreateSession(t.Context(), history.Session{ID: id, Agency: "tour", Folder: "/home", Title: "a title", Recipient: "Guide"})
	if err != nil {
		t.Fatal(err)
	}
}

// message is a complete row of the user thread; its fields are what a test does not care for.
func message(session, content string) history.Message {
	return history.Message{
		SessionID: session, Agent: "Guide", Type: history.TypeMessage, Role: history.RoleUser, Content: content, RunID: "run_1", TraceID: "trace_1",
		Protocol: history.ProtocolChatCompletions, Status: history.StatusCompleted,
	}
}

func add(t testing.TB, s *store.Store, m history.Message) history.Message {
	t.Helper()
	if err := s.Append(t.Context(), &m); err != nil {
		t.Fatal(err)
	}
	return m
}
