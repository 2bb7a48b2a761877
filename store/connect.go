package store

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver named sqlite
)

const (
	// busyLimit is how long a write waits for other processes, tried again and again.
	busyLimit = 30 * time.Second
	readers   = 4

	// pageSize is smaller than SQLite's own: a row changes a page of the table and one of each index, so that an append writes
	// 20 KB and not 36, and a file of messages grows by no more than two per cent.
	pageSize = "page_size(2048)"
)

// SQLite waits by itself for most locks, and not for all: a change of the journal mode, a recovery, or a snapshot that has aged
// fail at once. So its own wait is short and retry is around it, which also looks at the context.
var (
	copyPragmas   = []string{"busy_timeout(1000)"}
	writerPragmas = []string{"busy_timeout(1000)", pageSize, "synchronous(normal)", "foreign_keys(on)", "wal_autocheckpoint(2000)",
		"journal_size_limit(16777216)"}
	readerPragmas = []string{"busy_timeout(5000)", "query_only(on)"}
)

// dataSource writes the path as a URI, so that no character in it has a meaning.
func dataSource(path string, pragmas ...string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	q := url.Values{"_txlock": {"immediate"}, "_dqs": {"0"}, "_error_rc": {"1"}, "_pragma": pragmas}
	u := url.URL{Scheme: "file", Path: p, RawQuery: q.Encode()}
	return u.String()
}

// pool is a set of connections with the statements that have been prepared on them. Safe for concurrent use.
type pool struct {
	db *sql.DB
	mu sync.RWMutex
	// prepared holds every statement by its text: the texts are constants of this package, so it is bounded.
	prepared map[string]*sql.Stmt
}

func newPool(path string, size int, pragmas ...string) (*pool, error) {
	db, err := sql.Open("sqlite", dataSource(path, pragmas...))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return &pool{db: db, prepared: map[string]*sql.Stmt{}}, nil
}

func (p *pool) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	p.mu.RLock()
	st := p.prepared[query]
	p.mu.RUnlock()
	if st != nil {
		return st, nil
	}
	st, err := p.db.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if other := p.prepared[query]; other != nil {
		return other, st.Close()
	}
	p.prepared[query] = st
	return st, nil
}

func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, st := range p.prepared {
		errs = append(errs, st.Close())
	}
	clear(p.prepared)
	return errors.Join(append(errs, p.db.Close())...)
}

// retry runs f until no other process is in the way, for up to busyLimit. The waits are random, so that processes that met once do not
// meet again in step.
func retry(ctx context.Context, f func() error) error {
	deadline := time.Now().Add(busyLimit)
	for wait := time.Millisecond; ; wait = min(2*wait, 64*time.Millisecond) {
		err := f()
		if err == nil || !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait/2 + rand.N(wait)):
		}
	}
}

// exec runs one statement in a transaction of its own.
func (s *Store) exec(ctx context.Context, query string, args ...any) (res sql.Result, err error) {
	err = retry(ctx, func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		whole := context.WithoutCancel(ctx)
		st, err := s.writer.stmt(whole, query)
		if err != nil {
			return err
		}
		res, err = st.ExecContext(whole, args...)
		return err
	})
	return res, err
}

// tx is a write transaction.
type tx struct {
	pool     *pool
	ctx      context.Context
	tx       *sql.Tx
	prepared map[string]*sql.Stmt
}

func (t *tx) exec(query string, args ...any) (sql.Result, error) {
	st, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(t.ctx, args...)
}

// row runs a query of one row; without one it returns sql.ErrNoRows.
func (t *tx) row(query string, args []any, dest ...any) error {
	st, err := t.stmt(query)
	if err != nil {
		return err
	}
	return st.QueryRowContext(t.ctx, args...).Scan(dest...)
}

// stmt returns a prepared statement. The writer's one connection belongs to the transaction, so what the pool has not prepared
// yet is prepared within it, and ends with it.
func (t *tx) stmt(query string) (st *sql.Stmt, err error) {
	if st := t.prepared[query]; st != nil {
		return st, nil
	}
	t.pool.mu.RLock()
	pooled := t.pool.prepared[query]
	t.pool.mu.RUnlock()
	if pooled != nil {
		st = t.tx.StmtContext(t.ctx, pooled)
	} else if st, err = t.tx.PrepareContext(t.ctx, query); err != nil {
		return nil, err
	}
	t.prepared[query] = st
	return st, nil
}

// write runs f in one transaction that has the write lock from the start; an error rolls it back. f may run several times.
func (s *Store) write(ctx context.Context, f func(*tx) error) error {
	return retry(ctx, func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		whole := context.WithoutCancel(ctx)
		t, err := s.writer.db.BeginTx(whole, nil)
		if err != nil {
			return err
		}
		if err := f(&tx{pool: s.writer, ctx: whole, tx: t, prepared: map[string]*sql.Stmt{}}); err != nil {
			return errors.Join(err, t.Rollback())
		}
		return t.Commit()
	})
}

// view reads: outside of a transaction, or within one that sees a single state of the file.
type view struct {
	pool *pool
	tx   *sql.Tx
}

// snapshot runs f on one state of the file, which also spares each query in it the locks of a transaction of its own. f uses these
// queries and no others: a connection that a snapshot has must not wait for one to prepare on.
func (s *Store) snapshot(ctx context.Context, queries []string, f func(view) error) error {
	for _, query := range queries {
		if _, err := s.reader.stmt(ctx, query); err != nil {
			return err
		}
	}
	t, err := s.reader.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	err = f(view{s.reader, t})
	if end := t.Rollback(); !errors.Is(end, sql.ErrTxDone) { // a context that ended has ended it
		err = errors.Join(err, end)
	}
	return err
}

func (v view) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	st, err := v.pool.stmt(ctx, query)
	if err != nil || v.tx == nil {
		return st, err
	}
	return v.tx.StmtContext(ctx, st), nil
}

// query calls each for every row.
func (v view) query(ctx context.Context, query string, args []any, each func(scan func(...any) error) error) error {
	st, err := v.stmt(ctx, query)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// row runs a query of one row; without one it returns ErrNotFound.
func (v view) row(ctx context.Context, query string, args []any, dest ...any) error {
	st, err := v.stmt(ctx, query)
	if err != nil {
		return err
	}
	err = st.QueryRowContext(ctx, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// view reads outside of a transaction.
func (s *Store) view() view { return view{pool: s.reader} }
