package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// applicationID marks the file as ours in the header that every SQLite file has: "Buro".
const applicationID = 0x4275726f

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migration is one step from a version of the file to the next.
type migration struct {
	name string
	sql  string
}

// embeddedMigrations returns the steps in order: the number of the last one is the version of the file.
func embeddedMigrations() []migration {
	// The folder is part of the program: reading it cannot fail.
	entries, _ := migrationFiles.ReadDir("migrations")
	var steps []migration
	for _, e := range entries {
		text, _ := migrationFiles.ReadFile("migrations/" + e.Name())
		steps = append(steps, migration{e.Name(), string(text)})
	}
	slices.SortFunc(steps, func(a, b migration) int { return strings.Compare(a.name, b.name) })
	return steps
}

// migrate brings the file to the version of the last step. All steps that are due run in one transaction, so that a failure
// leaves the file as it was; before that, a file with content is copied beside itself.
func (s *Store) migrate(ctx context.Context, steps []migration) error {
	db := s.writer.db // one connection: what is switched off is so for the migration
	version, err := fileVersion(ctx, db, s.path, len(steps))
	if err != nil {
		return err
	}
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode = wal").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return &Error{
			Op: "open", Path: s.path, Err: fmt.Errorf("its file system does not allow a write-ahead log (journal mode %s)", mode),
			Hint: "choose a file on a local disk with --db",
		}
	}
	if version == len(steps) {
		return nil
	}
	// A step that builds a table anew must not take along what refers to the old one.
	if _, err := db.ExecContext(ctx, "PRAGMA foreign_keys = off"); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := upgrade(ctx, tx, s.path, steps); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA foreign_keys = on")
	return err
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// fileVersion reads the version of a file and refuses one that is not ours or too new.
func fileVersion(ctx context.Context, db querier, path string, newest int) (int, error) {
	var id, version, tables int
	err := db.QueryRowContext(ctx, "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), "+
		"(SELECT count(*) FROM sqlite_schema)").Scan(&id, &version, &tables)
	switch {
	case err != nil:
		return 0, err
	case id != applicationID && (id != 0 || version != 0 || tables != 0):
		return 0, &Error{
			Op: "open", Path: path, Err: fmt.Errorf("%w: it belongs to another one", ErrForeign),
			Hint: "choose another file with --db",
		}
	case version > newest:
		return 0, &Error{
			Op: "open", Path: path, Err: fmt.Errorf("%w (version %d of the file, %d is the newest known here)", ErrNewer, version, newest),
			Hint: "use that version of the program, or choose another file with --db",
		}
	}
	return version, nil
}

// upgrade runs in a transaction that has the write lock: what it reads cannot be changed by another process that is starting too.
func upgrade(ctx context.Context, tx *sql.Tx, path string, steps []migration) error {
	version, err := fileVersion(ctx, tx, path, len(steps))
	if err != nil || version == len(steps) {
		return err
	}
	if version > 0 {
		if err := backup(ctx, path, version); err != nil {
			return fmt.Errorf("copy the file before changing it: %w", err)
		}
	}
	for _, step := range steps[version:] {
		if _, err := tx.ExecContext(ctx, step.sql); err != nil {
			return &Error{
				Op: "open", Path: path, Err: fmt.Errorf("bring it up to date (%s): %w", step.name, err),
				Hint: "the file is as it was: go on with the version of the program that wrote it",
			}
		}
	}
	_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(steps)))
	return err
}

// backupPath names the copy of a file at a version.
func backupPath(path string, version int) string { return fmt.Sprintf("%s.v%d.bak", path, version) }

// backup copies the file through a connection of its own, which reads what is committed.
func backup(ctx context.Context, path string, version int) (err error) {
	// VACUUM INTO takes an empty file as its target and keeps its permissions.
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := f.Close(); err != nil {
		return err
	}
	p, err := newPool(path, 1, copyPragmas...)
	if err != nil {
		return err
	}
	_, err = p.db.ExecContext(ctx, "VACUUM INTO ?", f.Name())
	if err := errors.Join(err, p.close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), backupPath(path, version))
}
