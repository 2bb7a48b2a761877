package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"bureau/store"
)

// oldFile is a file of the newest version with one row in it.
func oldFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bureau.db")
	s, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	newSession(t, s, "s1")
	add(t, s, message("s1", "precious"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func precious(t *testing.T, s *store.Store) {
	t.Helper()
	if rows, err := s.All(t.Context(), "s1", 0, 10); err != nil || len(rows) != 1 || rows[0].Content != "precious" {
		t.Errorf("rows %+v, %v", rows, err)
	}
}

func TestMigrationCopiesTheFileFirst(t *testing.T) {
	t.Parallel()
	path := oldFile(t)
	s, err := store.OpenWith(t.Context(), path, "ALTER TABLE messages ADD COLUMN first TEXT", "CREATE TABLE second (x)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Writer().ExecContext(t.Context(), "SELECT first FROM messages, second"); err != nil {
		t.Error(err)
	}
	precious(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	// The copy is a whole file of the version before, for its owner alone.
	copied := fmt.Sprintf("%s.v%d.bak", path, store.Version)
	if info, err := os.Stat(copied); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	old, err := store.Open(t.Context(), copied)
	if err != nil {
		t.Fatal(err)
	}
	precious(t, old)
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}

	_, err = store.Open(t.Context(), path)
	if !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), fmt.Sprintf("version %d", store.Version+2)) {
		t.Errorf("a newer file: %v", err)
	}
	again, err := store.OpenWith(t.Context(), path, "ALTER TABLE messages ADD COLUMN first TEXT", "CREATE TABLE second (x)")
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(path + "*")
	if err != nil || len(left) != 2 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

func TestFailedMigrationLeavesTheFileAsItWas(t *testing.T) {
	t.Parallel()
	path := oldFile(t)
	_, err := store.OpenWith(t.Context(), path, "CREATE TABLE second (x); DELETE FROM messages", "CREATE TABLE third (x); no SQL")
	var failed *store.Error
	if !errors.As(err, &failed) || failed.Path != path || failed.Hint == "" || !strings.Contains(err.Error(), "test.sql") {
		t.Errorf("%v", err)
	}
	s := openAt(t, path)
	precious(t, s)
	if _, err := s.Writer().ExecContext(t.Context(), "SELECT * FROM second"); err == nil {
		t.Error("half a migration is left")
	}
}
