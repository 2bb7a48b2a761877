// Package store keeps what lasts in one SQLite file: the flat message table, the sessions that own its rows, what model
// requests took, and what a user had typed. It knows the words of engine/history and nothing of models, agencies or
// screens; a thread is a filter over the table and has no structure of its own.
//
// A Store may be used by many goroutines, and a file by several processes at once: writes queue up behind one connection
// of each process and wait for other processes, reads go through a few connections of their own and wait for nobody. A
// write that has begun is finished even if its context ends; what a method has returned without an error is on record.
package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Store is an open database file.
type Store struct {
	path   string
	writer *pool
	reader *pool
	now    func() time.Time
	self   process

	mu    sync.Mutex
	holds map[*Hold]struct{}
}

// Option changes how a Store works.
type Option func(*Store)

// WithClock sets the clock that rows, requests and holds are stamped with.
func WithClock(now func() time.Time) Option { return func(s *Store) { s.now = now } }

// Open opens the database at path, and creates the file, readable for its owner alone, and its folder when they are
// missing. A file of an older version is copied beside itself and brought up to date. Errors are *Error where the file
// is to blame; ErrNewer and ErrForeign tell a file that is left as it is.
func Open(ctx context.Context, path string, opts ...Option) (*Store, error) {
	return open(ctx, path, embeddedMigrations(), opts...)
}

func open(ctx context.Context, path string, steps []migration, opts ...Option) (*Store, error) {
	const op = "open"
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	s := &Store{path: abs, now: time.Now, self: thisProcess(), holds: map[*Hold]struct{}{}}
	for _, opt := range opts {
		opt(s)
	}
	if err := createFile(abs); err != nil {
		return nil, err
	}
	if s.writer, err = newPool(abs, 1, writerPragmas...); err != nil {
		return nil, explain(op, abs, err)
	}
	if err := retry(ctx, func() error { return s.migrate(ctx, steps) }); err != nil {
		return nil, errors.Join(explain(op, abs, err), s.writer.close())
	}
	if s.reader, err = newPool(abs, readers, readerPragmas...); err != nil {
		return nil, errors.Join(explain(op, abs, err), s.writer.close())
	}
	return s, nil
}

// createFile makes an empty file that only its owner can read, and its folder.
func createFile(path string) error {
	fail := func(err error, hint string) error { return &Error{Op: "open", Path: path, Err: err, Hint: hint} }
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fail(errors.New("it is a folder"), "name a file in it with --db")
	case err == nil && !info.Mode().IsRegular():
		return fail(errors.New("it is not a regular file"), "choose another file with --db")
	case err == nil:
		return nil
	}
	const hint = "give yourself the right to write there, or choose another file with --db"
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fail(fmt.Errorf("create its folder: %w", err), hint)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return fail(fmt.Errorf("create it: %w", err), hint)
	}
	return f.Close()
}

// Path is the absolute path of the file.
func (s *Store) Path() string { return s.path }

// Close lets go of what this process holds, moves what the log has into the file, and closes it. It does not wait for reads that
// are under way: they fail.
func (s *Store) Close() error {
	s.mu.Lock()
	held := make([]*Hold, 0, len(s.holds))
	for h := range s.holds {
		held = append(held, h)
	}
	s.mu.Unlock()
	var errs []error
	for _, h := range held {
		errs = append(errs, h.Release())
	}
	errs = append(errs, s.reader.close())
	// The last process to close a file does this by itself; a file that others have open is left with a short log. A full disk or a
	// file that cannot be written keeps the log as it is: what is in it is on record as well.
	_, _ = s.writer.db.Exec("PRAGMA wal_checkpoint(PASSIVE)")
	return errors.Join(append(errs, s.writer.close())...)
}

// Check reads the whole file for damage, and tries whether it can be written. Its cost follows the size of the file.
func (s *Store) Check(ctx context.Context) error {
	var result string
	if err := s.reader.db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&result); err != nil {
		return s.explain("check", err)
	}
	if result != "ok" {
		return &Error{
			Op: "check", Path: s.path, Err: errors.New(result),
			Hint: "the file is damaged: keep a copy of it, and take a backup or another file with --db",
		}
	}
	_, err := s.exec(ctx, "DELETE FROM drafts WHERE false") // asks for the right to write, and changes nothing
	return s.explain("check", err)
}

// Size is the number of bytes on disk, the log included.
func (s *Store) Size() (int64, error) {
	var size int64
	for _, name := range []string{s.path, s.path + "-wal"} {
		info, err := os.Stat(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("size: %w", err)
		}
		size += info.Size()
	}
	return size, nil
}

func (s *Store) micros() int64 { return s.now().UnixMicro() }
