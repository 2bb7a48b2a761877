package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bureau/engine/history"
	"bureau/store"
)

// The test binary runs itself as another process of the program: roleVariable names what it does there.
const roleVariable = "STORE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "":
		code := m.Run()
		if benchFolder != "" {
			_ = os.RemoveAll(benchFolder)
		}
		os.Exit(code)
	case "writer":
		os.Exit(child(writeRows))
	case "endless":
		os.Exit(child(writeEndlessly))
	case "holder":
		os.Exit(child(holdSession))
	}
}

func child(f func(path, session string) error) int {
	if err := f(os.Args[1], os.Args[2]); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	return 0
}

// command prepares another process that is given a file and a session.
func command(t *testing.T, role, path, session string) (*exec.Cmd, io.WriteCloser, *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], path, session)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return cmd, in, bufio.NewScanner(out)
}

const rowsOfWriter = 200

// writeRows waits for its input to end, so that all writers begin at once, and writes.
func writeRows(path, session string) error {
	if _, err := io.ReadAll(os.Stdin); err != nil {
		return err
	}
	ctx := context.Background()
	s, err := store.Open(ctx, path)
	if err != nil {
		return err
	}
	if err := s.CreateSession(ctx, history.Session{ID: session, Agency: "tour", Folder: "/", Title: "t", Recipient: "Guide"}); err != nil {
		return err
	}
	hold, err := s.Hold(ctx, session)
	if err != nil {
		return err
	}
	for i := range rowsOfWriter / 4 {
		m := message(session, fmt.Sprint("alone ", i))
		m.Status = history.StatusStreaming
		if err := s.Append(ctx, &m); err != nil {
			return err
		}
		m.Content, m.Status = strings.Repeat("x", 3000), history.StatusCompleted
		if err := s.Update(ctx, m); err != nil {
			return err
		}
		batch := make([]*history.Message, 3)
		for j := range batch {
			m := message(session, fmt.Sprint("batch ", i, j))
			batch[j] = &m
		}
		if err := s.AppendAll(ctx, batch); err != nil {
			return err
		}
		if _, err := s.Rows(ctx, session, history.UserThread, 0, 20); err != nil {
			return err
		}
	}
	return errors.Join(hold.Release(), s.Close())
}

func TestFourProcessesOnANewFile(t *testing.T) {
	t.Parallel()
	const processes = 4
	path := filepath.Join(t.TempDir(), "new", "bureau.db")
	var all sync.WaitGroup
	var starts []io.Closer
	for i := range processes {
		cmd, in, out := command(t, "writer", path, fmt.Sprint("session", i))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		starts = append(starts, in)
		all.Go(func() {
			for out.Scan() {
				t.Errorf("process %d: %s", i, out.Text())
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("process %d: %v", i, err)
			}
		})
	}
	for _, in := range starts {
		in.Close()
	}
	all.Wait()
	s := openAt(t, path)
	integrity(t, s)
	total := 0
	for i := range processes {
		rows, err := s.All(t.Context(), fmt.Sprint("session", i), 0, 10*rowsOfWriter)
		if err != nil {
			t.Fatal(err)
		}
		total += len(rows)
		v, err := s.Session(t.Context(), fmt.Sprint("session", i))
		if err != nil || v.Messages != rowsOfWriter || v.Held {
			t.Errorf("session %+v, %v", v, err)
		}
	}
	if total != processes*rowsOfWriter {
		t.Errorf("%d rows, want %d", total, processes*rowsOfWriter)
	}
}

func integrity(t *testing.T, s *store.Store) {
	t.Helper()
	var result string
	if err := s.Writer().QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&result); err != nil || result != "ok" {
		t.Fatalf("integrity: %s, %v", result, err)
	}
}

// writeEndlessly says the id of each row once it is stored, and of each text that it brings a row up to.
func writeEndlessly(path, session string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, path)
	if err != nil {
		return err
	}
	hold, err := s.Hold(ctx, session)
	if err != nil {
		return err
	}
	defer hold.Release()
	for {
		m := message(session, "")
		m.Status = history.StatusStreaming
		if err := s.Append(ctx, &m); err != nil {
			return err
		}
		for size := 1000; size <= 30_000; size += 7000 {
			m.Content = strings.Repeat("x", size)
			if err := s.Update(ctx, m); err != nil {
				return err
			}
			if _, err := fmt.Println(m.ID, size); err != nil {
				return err
			}
		}
		m.Status = history.StatusCompleted
		if err := s.Update(ctx, m); err != nil {
			return err
		}
	}
}

func TestKilledWriterLosesNothingThatItWasToldIsStored(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bureau.db")
	s := openAt(t, path)
	newSession(t, s, "s1")
	random := rand.New(rand.NewPCG(5, 5))
	stored := map[int64]int{} // the size of each row's text
	for range 10 {
		// The next process takes the session over from the killed one at once: it is seen to be gone.
		cmd, _, out := command(t, "endless", path, "s1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		rows := random.IntN(60)
		for i := 0; out.Scan(); i++ {
			id, size, _ := strings.Cut(out.Text(), " ")
			row, err1 := strconv.ParseInt(id, 10, 64)
			n, err2 := strconv.Atoi(size)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatalf("%v: %s", err, out.Text())
			}
			stored[row] = n
			if i == rows {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait() // it was killed
	}
	integrity(t, s)
	if len(stored) < 10 {
		t.Fatalf("only %d rows were written", len(stored))
	}
	for id, size := range stored {
		m, err := s.Row(t.Context(), id)
		if err != nil || len(m.Content) < size || m.Status == history.StatusStreaming {
			t.Errorf("row %d: %d bytes of %d, %s, %v", id, len(m.Content), size, m.Status, err)
		}
	}
}

// holdSession holds a session until its input ends.
func holdSession(path, session string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, path)
	if err != nil {
		return err
	}
	if _, err := s.Hold(ctx, session); err != nil {
		return err
	}
	fmt.Println("held")
	if _, err := io.ReadAll(os.Stdin); err != nil {
		return err
	}
	return s.Close()
}

func TestHeldByAnotherProcess(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	newSession(t, s, "s1")
	for _, end := range []string{"released", "killed"} {
		cmd, in, out := command(t, "holder", s.Path(), "s1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if !out.Scan() || out.Text() != "held" {
			t.Fatalf("the holder said %q", out.Text())
		}
		_, err := s.Hold(t.Context(), "s1")
		var held *store.HeldError
		if !errors.Is(err, store.ErrHeld) || !errors.As(err, &held) || held.PID != cmd.Process.Pid || held.Own || time.Since(held.Since) > time.Minute {
			t.Errorf("held: %v", err)
		}
		if err := s.DeleteSession(t.Context(), "s1"); !errors.Is(err, store.ErrHeld) {
			t.Errorf("delete: %v", err)
		}
		if v, err := s.Session(t.Context(), "s1"); err != nil || !v.Held {
			t.Errorf("session: %+v, %v", v, err)
		}
		if end == "killed" {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			// Where processes can be seen, one that nobody has waited for is gone too; elsewhere it is waited for first.
		}
		in.Close()
		if err := cmd.Wait(); (err == nil) != (end == "released") {
			t.Errorf("%s: %v", end, err)
		}
		if v, err := s.Session(t.Context(), "s1"); err != nil || v.Held {
			t.Errorf("%s, session: %+v, %v", end, v, err)
		}
		hold, err := s.Hold(t.Context(), "s1")
		if err != nil {
			t.Fatalf("%s: %v", end, err)
		}
		if err := hold.Release(); err != nil {
			t.Fatal(err)
		}
	}
}
