package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"math"
	"sync"
	"time"
)

const (
	beatEvery = 2 * time.Second
	// staleAfter is how long a beat counts. It leaves room for a slow disk and a few lost beats.
	staleAfter = 10 * time.Second

	selectOwner = `SELECT token, machine, pid, started, since, beat, after_row FROM holds WHERE session_id = ?`
	takeHold    = `INSERT OR REPLACE INTO holds (session_id, token, machine, pid, started, since, beat, after_row)
		VALUES (?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(id), 0) FROM messages))`
	beatHold = `UPDATE holds SET beat = ? WHERE session_id = ? AND token = ?`
	dropHold = `DELETE FROM holds WHERE session_id = ? AND token = ?`
)

// Hold is a session that this process holds. Safe for concurrent use.
type Hold struct {
	store          *Store
	session, token string
	stop           context.CancelFunc
	done           chan struct{}
	lost           chan struct{}
	release        sync.Once
	err            error
}

// Hold takes a session for this process until Release, so that no other one writes to it. A *HeldError (ErrHeld) tells that a
// live process has it, this one included. A hold is live while its process is there and has said so within the last ten
// seconds. The session need not be stored yet.
func (s *Store) Hold(ctx context.Context, session string) (*Hold, error) {
	token := rand.Text()
	err := s.write(ctx, func(t *tx) error {
		owner, ok, err := readOwner(t, session)
		if err != nil {
			return err
		}
		if ok && s.isLive(owner) {
			return s.heldError(session, owner)
		}
		now := s.micros()
		_, err = t.exec(takeHold, session, token, s.self.machine, s.self.pid, s.self.started, now, now)
		return err
	})
	if err != nil {
		return nil, s.explain("hold session", err)
	}
	// The hold lasts beyond the call that took it.
	beating, stop := context.WithCancel(context.WithoutCancel(ctx))
	h := &Hold{store: s, session: session, token: token, stop: stop, done: make(chan struct{}), lost: make(chan struct{})}
	s.mu.Lock()
	s.holds[h] = struct{}{}
	s.mu.Unlock()
	go h.beat(beating)
	return h, nil
}

// beat says every two seconds that the process is alive. A beat that fails is made good by the next one.
func (h *Hold) beat(ctx context.Context) {
	defer close(h.done)
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		res, err := h.store.exec(ctx, beatHold, h.store.micros(), h.session, h.token)
		if err != nil {
			continue
		}
		if n, err := res.RowsAffected(); err == nil && n == 0 {
			close(h.lost)
			return
		}
	}
}

// Lost is closed when the hold has gone to another process, because this one was suspended for longer than a hold lives, or when
// the session has been deleted.
func (h *Hold) Lost() <-chan struct{} { return h.lost }

// Release lets go of the session. More than one call is one.
func (h *Hold) Release() error {
	h.release.Do(func() {
		h.stop()
		<-h.done
		h.store.mu.Lock()
		delete(h.store.holds, h)
		h.store.mu.Unlock()
		_, err := h.store.exec(context.Background(), dropHold, h.session, h.token)
		h.err = h.store.explain("release session", err)
	})
	return h.err
}

// owner is who holds a session, as it is on record.
type owner struct {
	process
	token       string
	since, beat int64
	// afterRow is the newest row of all when the session was taken.
	afterRow int64
}

// ownerColumns takes the columns of a hold that may not be there.
type ownerColumns struct {
	token, machine, started sql.NullString
	pid, since, beat, after sql.NullInt64
}

func (c *ownerColumns) dest() []any {
	return []any{&c.token, &c.machine, &c.pid, &c.started, &c.since, &c.beat, &c.after}
}

func (c *ownerColumns) owner() (owner, bool) {
	return owner{
		process: process{machine: c.machine.String, pid: int(c.pid.Int64), started: c.started.String},
		token:   c.token.String, since: c.since.Int64, beat: c.beat.Int64, afterRow: c.after.Int64,
	}, c.token.Valid
}

func readOwner(t *tx, session string) (owner, bool, error) {
	var c ownerColumns
	err := t.row(selectOwner, []any{session}, c.dest()...)
	if errors.Is(err, sql.ErrNoRows) {
		return owner{}, false, nil
	}
	o, ok := c.owner()
	return o, ok, err
}

// liveAfter is the row id after which rows may still be brought up to date: those of the live process that holds the session.
// Where none does, no row is.
func (s *Store) liveAfter(ctx context.Context, v view, session string) (int64, error) {
	var c ownerColumns
	err := v.row(ctx, selectOwner, []any{session}, c.dest()...)
	if errors.Is(err, ErrNotFound) {
		return math.MaxInt64, nil
	}
	o, _ := c.owner()
	if err != nil || !s.isLive(o) {
		return math.MaxInt64, err
	}
	return o.afterRow, nil
}

// isLive judges a hold: its beat must be young, and its process there, where that can be seen.
func (s *Store) isLive(o owner) bool {
	if s.now().Sub(time.UnixMicro(o.beat)) > staleAfter {
		return false
	}
	return o.machine != s.self.machine || o.running()
}

func (s *Store) heldError(session string, o owner) error {
	return &HeldError{Session: session, PID: o.pid, Since: time.UnixMicro(o.since), Own: o.sameProcess(s.self)}
}
