package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"bureau/store"
)

func TestOpenMakesFileForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a folder?", "100% #1", "bureau.db")
	s := openAt(t, path)
	newSession(t, s, "s1")
	if runtime.GOOS != "windows" {
		for name, want := range map[string]os.FileMode{path: 0o600, path + "-wal": 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
			if info, err := os.Stat(name); err != nil || info.Mode() != want {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
	}
	var id, version int
	err := s.Writer().QueryRowContext(t.Context(), "SELECT * FROM pragma_application_id, pragma_user_version").Scan(&id, &version)
	if err != nil || id != 0x4275726f || version == 0 {
		t.Errorf("application %x, version %d, %v", id, version, err)
	}
	if size, err := s.Size(); err != nil || size < 4096 {
		t.Errorf("size %d, %v", size, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	foreign := oldFile(t)
	s := openAt(t, foreign)
	if _, err := s.Writer().ExecContext(t.Context(), "PRAGMA application_id = 7"); err != nil {
		t.Fatal(err)
	}
	note := put("note.txt", strings.Repeat("this is a note, and not a database\n", 40))
	for name, c := range map[string]struct {
		path string
		want error
		says string
	}{
		"a text":                      {note, store.ErrForeign, "--db"},
		"another program's":           {foreign, store.ErrForeign, "another one"},
		"a folder":                    {folder, nil, "it is a folder"},
		"a file in place of a folder": {filepath.Join(note, "bureau.db"), nil, "folder"},
	} {
		_, err := store.Open(t.Context(), c.path)
		var told *store.Error
		if !errors.As(err, &told) || told.Hint == "" || !strings.Contains(err.Error(), c.path) || !strings.Contains(err.Error(), c.says) ||
			c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if text, err := os.ReadFile(note); err != nil || !strings.HasPrefix(string(text), "this is a note") {
		t.Errorf("the note was changed: %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("files were left: %v, %v", left, err)
	}
}

func TestReadOnlyFile(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("the superuser may write everything, and Windows has other rights")
	}
	path := oldFile(t)
	if err := errors.Join(os.Chmod(path, 0o400), os.Chmod(filepath.Dir(path), 0o500)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o700) })
	for _, path := range []string{path, filepath.Join(filepath.Dir(path), "new.db")} {
		_, err := store.Open(t.Context(), path)
		var told *store.Error
		if !errors.As(err, &told) || !strings.Contains(err.Error(), path) || !strings.Contains(told.Hint, "right to write") {
			t.Errorf("%v", err)
		}
	}
}

func TestReadingAFileThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("the superuser may write everything, and Windows has other rights")
	}
	s := openStore(t)
	newSession(t, s, "s1")
	m := add(t, s, message("s1", "precious"))
	if err := os.Chmod(s.Path(), 0o400); err != nil {
		t.Fatal(err)
	}
	again, err := store.Open(t.Context(), s.Path())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Row(t.Context(), m.ID); err != nil {
		t.Error(err)
	}
	if err := again.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("a file that cannot be written was found well: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Errorf("reading failed at its end: %v", err)
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	newSession(t, s, "s1")
	m := add(t, s, message("s1", "precious"))
	if _, err := s.Writer().ExecContext(t.Context(), "PRAGMA max_page_count = 1"); err != nil { // the present size
		t.Fatal(err)
	}
	big := message("s1", strings.Repeat("x", 1<<20))
	err := s.Append(t.Context(), &big)
	if err == nil || !strings.Contains(err.Error(), "disk is full") || !strings.Contains(err.Error(), s.Path()) || big.ID != 0 {
		t.Errorf("%v", err)
	}
	precious(t, s)
	if _, err := s.Row(t.Context(), m.ID); err != nil {
		t.Error(err)
	}
}

func TestCheckSeesDamage(t *testing.T) {
	t.Parallel()
	path := oldFile(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.LastIndex(string(text), "precious")
	for i := range 2048 { // the page of the row, down to its header
		text[at-at%2048+i] ^= 0x55
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, path)
	if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("%v", err)
	}
	if _, err := s.All(t.Context(), "s1", 0, 10); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("read: %v", err)
	}
}

func TestEndedContext(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	newSession(t, s, "s1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := message("s1", "x")
	if err := s.Append(ctx, &m); !errors.Is(err, context.Canceled) {
		t.Errorf("append: %v", err)
	}
	if _, err := s.Sessions(ctx, store.SessionFilter{}); !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
	if _, err := s.Delegations(ctx, "s1", []string{"x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("snapshot: %v", err)
	}
	if err := s.Append(t.Context(), &m); err != nil {
		t.Error(err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}
