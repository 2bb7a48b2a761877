package store

import (
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

var (
	// ErrNotFound: there is no such session, row or request.
	ErrNotFound = errors.New("not found")
	// ErrExists: a session with that id is there already.
	ErrExists = errors.New("already exists")
	// ErrAmbiguous: the beginning of an id fits several sessions.
	ErrAmbiguous = errors.New("several sessions begin with it")
	// ErrFinished: the row is not streaming any more, and finished rows never change.
	ErrFinished = errors.New("the row is finished and cannot change")
	// ErrHeld: a live process holds the session; the error is a *HeldError.
	ErrHeld = errors.New("session is held")
	// ErrNewer: the file was written by a newer version of the program.
	ErrNewer = errors.New("written by a newer version of the program")
	// ErrForeign: the file is no database, or another program's.
	ErrForeign = errors.New("not a database of this program")
)

// Error is a failure of the file itself, told so that a user can act on it.
type Error struct {
	// Op is what was being done, Path the database file.
	Op, Path string
	// Hint says what to do; empty when nothing better than the error is known.
	Hint string
	Err  error
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: database %s: %v", e.Op, e.Path, e.Err)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// HeldError tells which process holds a session. It is an ErrHeld.
type HeldError struct {
	Session string
	PID     int
	// Since is when it took the session.
	Since time.Time
	// Own tells that it is this process.
	Own bool
}

func (e *HeldError) Error() string {
	who := fmt.Sprintf("process %d", e.PID)
	if e.Own {
		who = "this process"
	}
	return fmt.Sprintf("session %s is held by %s since %s", e.Session, who, e.Since.Format(time.DateTime))
}

// Is makes the error an ErrHeld.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// code returns SQLite's extended result code of an error; 0 when it is none of SQLite's.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// isBusy tells whether another process was in the way, so that the same thing can be tried again: nothing was written.
func isBusy(err error) bool {
	switch code(err) & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return true
	}
	return false
}

// explain turns an error of SQLite into one that names the file and says what to do. Others, typed ones among them, get the operation alone.
func (s *Store) explain(op string, err error) error {
	if err == nil {
		return nil
	}
	return explain(op, s.path, err)
}

func explain(op, path string, err error) error {
	var done *Error
	var held *HeldError
	if errors.As(err, &done) || errors.As(err, &held) { // they say what was done to what
		return err
	}
	c := code(err)
	if c == 0 {
		return fmt.Errorf("%s: %w", op, err)
	}
	e := &Error{Op: op, Path: path, Err: err}
	switch c & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		e.Err = fmt.Errorf("another process has kept the file to itself for %s", busyLimit)
		e.Hint = "close the other programs that use it and try again; on a network drive, choose a local file with --db"
	case sqlite3.SQLITE_NOTADB:
		e.Err = ErrForeign
		e.Hint = "choose another file with --db, or move this one away"
	case sqlite3.SQLITE_CORRUPT:
		e.Hint = "the file is damaged: keep a copy of it, and take a backup or another file with --db"
	case sqlite3.SQLITE_FULL:
		e.Err = errors.New("the disk is full")
		e.Hint = "free some space and try again; what is stored is safe"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		e.Err = errors.New("the file or its folder cannot be written")
		e.Hint = "give yourself the right to write there, or choose another file with --db"
	case sqlite3.SQLITE_CANTOPEN:
		e.Err = errors.New("the file cannot be opened")
		e.Hint = "check that its folder is there and may be written, or choose another file with --db"
	case sqlite3.SQLITE_IOERR:
		e.Hint = "the disk or the file system failed: check its free space and health"
	}
	return e
}
