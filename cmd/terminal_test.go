//go:build unix

package cmd_test

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"bureau/engine/llm/llmtest"
)

// screen is what a program writes to a terminal.
type screen struct {
	t       *testing.T
	tty     *os.File
	cmd     *exec.Cmd
	mu      sync.Mutex
	all     strings.Builder
	more    chan struct{} // a value when there is more to see
	drained chan struct{}
}

// onTerminal starts the program on a terminal of its own.
func (u *user) onTerminal(t *testing.T, args ...string) *screen {
	t.Helper()
	s := &screen{t: t, cmd: u.command(args...), more: make(chan struct{}, 1), drained: make(chan struct{})}
	var err error
	if s.tty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.tty.Close() })
	go func() {
		defer close(s.drained)
		b := make([]byte, 4096)
		for {
			n, err := s.tty.Read(b)
			s.mu.Lock()
			s.all.Write(b[:n])
			s.mu.Unlock()
			select {
			case s.more <- struct{}{}:
			default:
			}
			if err != nil { // the program has ended
				return
			}
		}
	}()
	return s
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

// wait waits until the program has written something after the first from bytes, and returns how much there is then.
func (s *screen) wait(from int, what string) int {
	s.t.Helper()
	if !s.comes(from, what, 20*time.Second) {
		s.t.Fatalf("%q did not come: %q", what, s.text()[from:])
	}
	return len(s.text())
}

// comes tells whether the program writes something after the first from bytes in time.
func (s *screen) comes(from int, what string, within time.Duration) bool {
	timeout := time.After(within)
	for !strings.Contains(s.text()[from:], what) {
		select {
		case <-s.more:
		case <-timeout:
			return false
		}
	}
	return true
}

func (s *screen) keys(keys string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for the end of the program and returns its exit code.
func (s *screen) end() int {
	s.t.Helper()
	timer := time.AfterFunc(20*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer timer.Stop()
	_ = s.cmd.Wait() // the state tells
	<-s.drained
	return s.cmd.ProcessState.ExitCode()
}

func TestAnswerOnTerminal(t *testing.T) {
	t.Parallel()
	server := llmtest.NewServer(t, answers["hostile"])
	u := newUser(t, map[string]string{"desk.yaml": deskFile})
	u.env = append(u.env, "OPENAI_BASE_URL="+server.URL)
	for _, args := range [][]string{
		{"ask", "-a", "desk.yaml", "--model", "openai/test", "--quiet", "hello"},
		{"ask", "-a", "desk.yaml", "--model", "openai/test", "--json", "hello"},
	} {
		s := u.onTerminal(t, args...)
		if code := s.end(); code != 0 {
			t.Errorf("exit %d", code)
		}
		out := strings.ReplaceAll(s.text(), "\r\n", "\n")
		if at := unsafeAt(out); at != "" {
			t.Errorf("%q would take over the terminal: %q", args, at)
		}
		if !strings.Contains(out, "a") || len(out) < 5 {
			t.Errorf("the answer is %q", out)
		}
	}
}

func TestDeleteAsksOnTerminal(t *testing.T) {
	t.Parallel()
	u := newUser(t, nil)
	u.must("ask", "--model", "script/tour", "--quiet", "hello")
	id := u.rows("SELECT id FROM sessions")[0]
	for _, c := range []struct {
		answer string
		code   int
		left   string
	}{{"n\r", 2, "1"}, {"y\r", 0, "0"}} {
		s := u.onTerminal(t, "session", "delete", id)
		s.wait(0, "[y/N]")
		s.keys(c.answer)
		if code := s.end(); code != c.code {
			t.Errorf("%q: exit %d, want %d: %s", c.answer, code, c.code, s.text())
		}
		if left := u.rows("SELECT count(*) FROM sessions")[0]; left != c.left {
			t.Errorf("%q: %s sessions are left", c.answer, left)
		}
	}
}

// leave presses ctrl+c until the program says what once more does: the first one stops a run where it still shows one.
func (s *screen) leave() int {
	s.t.Helper()
	for range 20 {
		from := len(s.text())
		s.keys("\x03")
		if s.comes(from, "again leaves", 3*time.Second) {
			s.keys("\x03")
			return s.end()
		}
	}
	s.t.Fatalf("the program does not end: %q", s.text())
	return 0
}

// leftAsItWas fails when a terminal mode that the program has set is still set at its end.
func (s *screen) leftAsItWas() {
	s.t.Helper()
	all := s.text()
	for _, mode := range []string{"1049", "2004", "1000", "1002", "1003", "1006"} {
		if on, off := strings.LastIndex(all, "\x1b[?"+mode+"h"), strings.LastIndex(all, "\x1b[?"+mode+"l"); on > off {
			s.t.Errorf("the mode %s is still set", mode)
		}
	}
	if hidden, shown := strings.LastIndex(all, "\x1b[?25l"), strings.LastIndex(all, "\x1b[?25h"); hidden > shown {
		s.t.Error("the cursor is still hidden")
	}
}

func TestTerminalOpens(t *testing.T) {
	t.Parallel()
	u := newUser(t, map[string]string{"notes.md": "# Notes\n"})
	s := u.onTerminal(t)
	seen := s.wait(0, "Guide")
	s.keys("hello there\r")
	s.wait(seen, "hello")
	u.eventually("SELECT count(*) FROM messages WHERE caller_agent IS NULL AND status = 'completed' AND content LIKE '%No model is connected%'", "1")
	if code := s.leave(); code != 0 {
		t.Errorf("exit %d: %q", code, s.text())
	}
	s.leftAsItWas()
	if said := u.rows("SELECT content FROM messages WHERE role = 'user' AND caller_agent IS NULL"); strings.Join(said, "|") != "hello there" {
		t.Errorf("said was %q", said)
	}

	// It is all there again.
	s = u.onTerminal(t, "--continue")
	s.wait(0, "No model is connected")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := s.end(); code != 143 {
		t.Errorf("exit %d", code)
	}
	s.leftAsItWas()
}

// eventually waits until a query gives one value.
func (u *user) eventually(text, want string) {
	u.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		got, err := query(u.t.Context(), u.db, text)
		if err == nil && len(got) == 1 && got[0] == want {
			return
		}
		if time.Now().After(deadline) {
			u.t.Fatalf("%s: %q, %v; want %s", text, got, err, want)
		}
	}
}
