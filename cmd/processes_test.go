//go:build unix

package cmd_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"bureau/engine/llm/llmtest"
)

// started is a program that runs in the background.
type started struct {
	*exec.Cmd
	out, errOut bytes.Buffer
}

func (u *user) start(args ...string) *started {
	u.t.Helper()
	s := &started{Cmd: u.command(args...)}
	s.Stdout, s.Stderr = &s.out, &s.errOut
	if err := s.Start(); err != nil {
		u.t.Fatal(err)
	}
	return s
}

// end waits for the program and returns its exit code, as a shell tells it.
func (s *started) end() int {
	_ = s.Wait() // the state tells
	if status, ok := s.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return -int(status.Signal())
	}
	return s.ProcessState.ExitCode()
}

// holding is a server that tells when it was asked, and answers by a chunk for each value in the gate.
func holding(t *testing.T) (server *llmtest.Server, asked <-chan struct{}, gate chan struct{}) {
	gate, questions := make(chan struct{}), make(chan struct{}, 16)
	server = llmtest.NewServer(t, func(*llmtest.Request) llmtest.Response {
		questions <- struct{}{}
		return llmtest.Response{Text: "half of the answer, and the other half", Pause: gate, ChunkSize: len("half of the answer")}
	})
	return server, questions, gate
}

func TestSignals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}} {
		t.Run(c.signal.String(), func(t *testing.T) {
			t.Parallel()
			server, asked, gate := holding(t)
			u := newUser(t, map[string]string{"desk.yaml": deskFile})
			u.env = append(u.env, "OPENAI_BASE_URL="+server.URL)
			s := &started{Cmd: u.command("ask", "-a", "desk.yaml", "--model", "openai/test", "--json", "hello")}
			s.Stderr = &s.errOut
			out, err := s.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Start(); err != nil {
				t.Fatal(err)
			}
			<-asked
			gate <- struct{}{}
			lines := bufio.NewReader(out)
			for line := ""; !strings.Contains(line, "half of the answer"); {
				if line, err = lines.ReadString('\n'); err != nil {
					t.Fatal(err, s.errOut.String())
				}
				s.out.WriteString(line)
			}
			if err := s.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			if _, err := s.out.ReadFrom(lines); err != nil {
				t.Fatal(err)
			}
			if code := s.end(); code != c.code {
				t.Errorf("exit %d, want %d: %s", code, c.code, s.errOut.String())
			}
			events, err := readEvents(s.out.String())
			if err != nil {
				t.Fatal(err)
			}
			if last := events[len(events)-1]; last.Type != "RUN_ERROR" || last.Code != "interrupted" {
				t.Errorf("the last event is %+v", last)
			}
			if open := u.rows("SELECT * FROM messages WHERE status = 'streaming'"); len(open) > 0 {
				t.Errorf("rows were left open: %q", open)
			}
			if held := u.rows("SELECT * FROM holds"); len(held) > 0 {
				t.Errorf("the session is still held: %q", held)
			}
			kept := u.rows("SELECT role, content, status FROM messages WHERE origin IS NULL ORDER BY id")
			if want := "user|hello|completed assistant|half of the answer|interrupted"; strings.Join(kept, " ") != want {
				t.Errorf("kept is %q, want %s", kept, want)
			}
		})
	}
}

// TestSignalWhileReading interrupts a program that waits for its input.
func TestSignalWhileReading(t *testing.T) {
	t.Parallel()
	u := newUser(t, nil)
	s := &started{Cmd: u.command("ask", "--model", "script/tour", "-")}
	in, err := s.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	notice, err := s.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 200)
	n, err := notice.Read(said) // it says what it waits for
	if err != nil || !strings.Contains(string(said[:n]), "standard input") {
		t.Errorf("%q, %v", said[:n], err)
	}
	if err := s.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := s.end(); code != 130 {
		t.Errorf("exit %d", code)
	}
}

func TestHeldSession(t *testing.T) {
	t.Parallel()
	server, asked, gate := holding(t)
	u := newUser(t, map[string]string{"desk.yaml": deskFile})
	u.env = append(u.env, "OPENAI_BASE_URL="+server.URL)
	first := u.start("ask", "-a", "desk.yaml", "--model", "openai/test", "one")
	<-asked
	id := u.rows("SELECT id FROM sessions")[0]

	_, errOut, code := u.run("ask", "--session", id, "two")
	if holder := "process " + strconv.Itoa(first.Process.Pid); code != 1 || !strings.Contains(errOut, holder) {
		t.Errorf("a second turn: exit %d, it does not name %s: %s", code, holder, errOut)
	}
	if out := u.must("session", "list"); !strings.Contains(out, "(in use)") {
		t.Errorf("the list does not tell that the session is in use: %s", out)
	}
	if _, errOut, code := u.run("session", "delete", "--yes", id); code == 0 || !strings.Contains(errOut, "held") {
		t.Errorf("a session that is in use was deleted: exit %d: %s", code, errOut)
	}
	// The newest session is taken: --continue begins another one, and says so.
	other := u.start("ask", "-a", "desk.yaml", "--model", "openai/test", "--continue", "three")
	<-asked
	close(gate)
	if code := first.end(); code != 0 {
		t.Errorf("the first: exit %d: %s", code, first.errOut.String())
	}
	if code := other.end(); code != 0 || !strings.Contains(other.errOut.String(), "in use elsewhere") {
		t.Errorf("the third: exit %d: %s", code, other.errOut.String())
	}
	if sessions := u.rows("SELECT id FROM sessions"); len(sessions) != 2 {
		t.Errorf("sessions: %q", sessions)
	}
	if _, errOut, code := u.run("ask", "--quiet", "--session", id, "four"); code != 0 {
		t.Errorf("after it was let go: exit %d: %s", code, errOut)
	}
}

// TestFourProcesses uses one database by four programs at once, from the moment when there is none.
func TestFourProcesses(t *testing.T) {
	t.Parallel()
	server := llmtest.NewServer(t, team)
	u := newUser(t, map[string]string{"desk.yaml": deskFile, "a.txt": "hello\n"})
	u.env = append(u.env, "OPENAI_BASE_URL="+server.URL)
	turns := 6
	if slowed {
		turns = 3
	}
	var all errgroup.Group
	asking := func(name string) func() error {
		return func() error {
			var id string
			for i := range turns {
				args := []string{"ask", "-a", "desk.yaml", "--model", "openai/test", "--json"}
				if id != "" {
					args = append(args, "--session", id)
				}
				c := u.start(append(args, fmt.Sprintf("%s %d", name, i))...)
				if code := c.end(); code != 0 {
					return fmt.Errorf("turn %d of %s: exit %d: %s", i, name, code, c.errOut.String())
				}
				events, err := readEvents(c.out.String())
				if err != nil {
					return fmt.Errorf("turn %d of %s: %w", i, name, err)
				}
				id = events[0].ThreadID
			}
			return nil
		}
	}
	all.Go(asking("left"))
	all.Go(asking("right"))
	all.Go(func() error {
		for range turns {
			if c := u.start("session", "list", "--json"); c.end() != 0 {
				return fmt.Errorf("list: %s", c.errOut.String())
			}
		}
		return nil
	})
	all.Go(func() error {
		for deadline := time.Now().Add(20 * time.Second); ; {
			c := u.start("session", "list", "--json")
			if c.end() != 0 {
				return fmt.Errorf("list: %s", c.errOut.String())
			}
			if _, after, ok := strings.Cut(c.out.String(), `"id": "`); ok {
				for range turns {
					if c := u.start("session", "export", after[:12], "--format", "json"); c.end() != 0 {
						return fmt.Errorf("export: %s", c.errOut.String())
					}
				}
				return nil
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("no session came")
			}
		}
	})
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	// A turn of the team is 17 rows; each of them is there once.
	if n := u.rows("SELECT count(*), count(DISTINCT id) FROM messages"); n[0] != fmt.Sprintf("%d|%d", 2*turns*17, 2*turns*17) {
		t.Errorf("rows: %q", n)
	}
	if check := u.rows("PRAGMA integrity_check"); check[0] != "ok" {
		t.Errorf("integrity_check: %q", check)
	}
	if refused := server.Refused(); len(refused) > 0 {
		t.Errorf("refused: %q", refused)
	}
}

// Whatever is piped in, the table holds text: other programs read it too.
func TestPipedBytesBecomeText(t *testing.T) {
	t.Parallel()
	u := newUser(t, nil)
	c := u.command("ask", "--quiet")
	c.Stdin = strings.NewReader("\ufeffcaf\xe9 \xff")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rows, err := query(t.Context(), u.db, "SELECT content FROM messages ORDER BY id LIMIT 1")
	if err != nil || len(rows) != 1 || rows[0] != "caf\ufffd \ufffd" {
		t.Errorf("%q, %v", rows, err)
	}
}
