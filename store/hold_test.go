package store_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bureau/store"
)

func TestHoldOnceInAProcess(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	other := openAt(t, s.Path())
	hold, err := s.Hold(t.Context(), "not stored yet")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*store.Store{s, other} {
		_, err := s.Hold(t.Context(), "not stored yet")
		var held *store.HeldError
		if !errors.As(err, &held) || !held.Own {
			t.Errorf("again: %v", err)
		}
	}
	if err := errors.Join(hold.Release(), hold.Release()); err != nil {
		t.Error(err)
	}
	again, err := other.Hold(t.Context(), "not stored yet")
	if err != nil {
		t.Fatal(err)
	}
	// The old hold's release does not let go of the new one.
	if err := hold.Release(); err != nil {
		t.Error(err)
	}
	if _, err := s.Hold(t.Context(), "not stored yet"); !errors.Is(err, store.ErrHeld) {
		t.Errorf("after a late release: %v", err)
	}
	if err := again.Release(); err != nil {
		t.Error(err)
	}
}

func TestHoldOfAnotherMachineLivesByItsBeat(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	s := openStore(t, store.WithClock(func() time.Time { return now }))
	newSession(t, s, "s1")
	_, err := s.Writer().ExecContext(t.Context(), "INSERT INTO holds VALUES ('s1', 'token', 'elsewhere', 1, '', ?1, ?1, 0)", now.UnixMicro())
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(10 * time.Second)
	if _, err := s.Hold(t.Context(), "s1"); !errors.Is(err, store.ErrHeld) {
		t.Errorf("ten seconds after its beat: %v", err)
	}
	now = now.Add(time.Millisecond)
	hold, err := s.Hold(t.Context(), "s1")
	if err != nil {
		t.Errorf("later: %v", err)
	} else if err := hold.Release(); err != nil {
		t.Error(err)
	}
}

func TestHoldOfAReusedPidIsNone(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	hold, err := s.Hold(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Release()
	var started string
	if err := s.Writer().QueryRowContext(t.Context(), "SELECT started FROM holds").Scan(&started); err != nil {
		t.Fatal(err)
	}
	if started == "" {
		t.Skip("this system does not tell when a process began")
	}
	if _, err := s.Writer().ExecContext(t.Context(), "UPDATE holds SET started = 'earlier'"); err != nil {
		t.Fatal(err)
	}
	next, err := s.Hold(t.Context(), "s1")
	if err != nil {
		t.Fatalf("of a process that is gone: %v", err)
	}
	if err := next.Release(); err != nil {
		t.Error(err)
	}
}

func TestHoldBeatsAndTellsItsLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock atomic.Int64
		s, err := store.Open(t.Context(), t.TempDir()+"/bureau.db", store.WithClock(func() time.Time { return time.UnixMicro(clock.Load()) }))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		hold, err := s.Hold(t.Context(), "s1")
		if err != nil {
			t.Fatal(err)
		}
		clock.Store(42)
		time.Sleep(2*time.Second + time.Millisecond)
		synctest.Wait()
		var beat int64
		if err := s.Writer().QueryRowContext(t.Context(), "SELECT beat FROM holds").Scan(&beat); err != nil || beat != 42 {
			t.Errorf("beat %d, %v", beat, err)
		}
		select {
		case <-hold.Lost():
			t.Error("lost while it is held")
		default:
		}
		if _, err := s.Writer().ExecContext(t.Context(), "UPDATE holds SET token = 'of another'"); err != nil {
			t.Fatal(err)
		}
		<-hold.Lost()
		if err := hold.Release(); err != nil {
			t.Error(err)
		}
		var left int
		if err := s.Writer().QueryRowContext(t.Context(), "SELECT count(*) FROM holds").Scan(&left); err != nil || left != 1 {
			t.Errorf("%d holds left, %v: the other's was released", left, err)
		}
	})
}
