package store_test

import (
	"maps"
	"path/filepath"
	"testing"
)

func TestVariablesLastAsLongAsTheirSession(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bureau.db")
	s := openAt(t, path)
	newSession(t, s, "one")
	newSession(t, s, "two")
	set := func(session, name, value string) {
		t.Helper()
		if err := s.SetVariable(t.Context(), session, name, value); err != nil {
			t.Fatal(err)
		}
	}
	check := func(session string, want map[string]string) {
		t.Helper()
		got, err := s.Variables(t.Context(), session)
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("the variables of %s are %q, %v", session, got, err)
		}
	}
	check("one", map[string]string{})
	set("one", "topic", "fish")
	set("one", "topic", "birds")
	set("one", "user", "")
	set("two", "topic", "trees")
	want := map[string]string{"topic": "birds", "user": ""}
	check("one", want)

	other := openAt(t, path)
	if got, err := other.Variables(t.Context(), "one"); err != nil || !maps.Equal(got, want) {
		t.Errorf("read by another connection: %q, %v", got, err)
	}
	fork, err := s.Fork(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	check(fork.ID, want)
	if err := s.DeleteSession(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	check("one", map[string]string{})
	check("two", map[string]string{"topic": "trees"})
	check(fork.ID, want)
	if err := s.SetVariable(t.Context(), "one", "topic", "x"); err == nil {
		t.Error("a variable of a session that is not there is set")
	}
}
