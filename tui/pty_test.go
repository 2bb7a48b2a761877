//go:build unix

package tui_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"bureau/tui"
)

const childVariable = "BUREAU_TUI_TEST_CHILD"

// TestMain is also the program that the tests below run on a pseudo-terminal.
func TestMain(m *testing.M) {
	if kind := os.Getenv(childVariable); kind != "" {
		os.Exit(child(kind))
	}
	os.Exit(m.Run())
}

// panicky is a backend that fails in the worst way, in a goroutine that is not the terminal's.
type panicky struct{ *stage }

func (p panicky) AddInput(context.Context, string) error { panic("out of the blue") }

func child(kind string) int {
	s := newStage()
	var b tui.Backend = s
	switch kind {
	case "panic":
		b = panicky{s}
	case "flood":
		s.session.ID = "sessionid123"
		go func() {
			answer := s.turn("Guide", "Go.").answer()
			for i := 0; ; i++ {
				answer.add(fmt.Sprintf("%d words words %s\n\n", i, strings.Repeat("字", 25)))
				time.Sleep(5 * time.Millisecond)
			}
		}()
	}
	exit, err := tui.Run(context.Background(), tui.Options{
		Backend: b, Feed: s.feed, SessionID: s.session.ID, Env: os.Environ(), Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	switch {
	case errors.Is(err, tui.ErrStuck) && s.closed == 1:
		return 99
	case err != nil:
		fmt.Println("error:", err)
		return 1
	}
	if sig, ok := exit.Signal.(syscall.Signal); ok {
		return 128 + int(sig)
	}
	fmt.Println("left by the user")
	return 0
}

// terminal is a child on a pseudo-terminal.
type terminal struct {
	*testing.T
	cmd    *exec.Cmd
	master *os.File
	fd     uintptr // of master
	before string  // the terminal's mode
	output bytes.Buffer
	chunks chan []byte
	log    string
	stall  chan struct{} // closed when nothing is to be read any more
}

func onTerminal(t *testing.T, kind string, env ...string) *terminal {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	master, slave, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	defer slave.Close()
	if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	// A file that polls, so that closing it does not wait for a read that is under way.
	syscall.ForkLock.RLock()
	fd, err := syscall.Dup(int(master.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	_ = master.Close()
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	master = os.NewFile(uintptr(fd), "master")
	tt := &terminal{T: t, master: master, fd: uintptr(fd), chunks: make(chan []byte, 1024), log: log.Name(), stall: make(chan struct{})}
	tt.before = tt.mode()
	tt.cmd = exec.CommandContext(t.Context(), os.Args[0])
	tt.cmd.Env = append([]string{childVariable + "=" + kind, "TERM=xterm-256color", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
	tt.cmd.Stdin, tt.cmd.Stdout, tt.cmd.Stderr = slave, slave, log
	tt.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := tt.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(tt.chunks)
		for {
			select {
			case <-tt.stall:
				return
			default:
			}
			chunk := make([]byte, 4096)
			n, err := master.Read(chunk)
			if n > 0 {
				tt.chunks <- chunk[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = master.Close() })
	return tt
}

func (t *terminal) mode() string {
	state, err := term.GetState(t.fd)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%+v", *state)
}

// expect reads until the output holds some words.
func (t *terminal) expect(words string) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for !strings.Contains(t.output.String(), words) {
		select {
		case chunk, ok := <-t.chunks:
			if !ok {
				t.Fatalf("it ended without %q in %q", words, t.output.String())
			}
			t.output.Write(chunk)
		case <-deadline:
			t.Fatalf("no %q in %q", words, t.output.String())
		}
	}
}

func (t *terminal) write(keys string) {
	t.Helper()
	if _, err := io.WriteString(t.master, keys); err != nil {
		t.Fatal(err)
	}
}

// wait waits for the end and returns the exit code; the terminal's mode is then what it was.
func (t *terminal) wait() int {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- t.cmd.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-time.After(20 * time.Second):
		t.Fatalf("it does not end; output %q", t.output.String())
	}
	for more := true; more; {
		select {
		case chunk, ok := <-t.chunks:
			t.output.Write(chunk)
			more = ok
		case <-time.After(200 * time.Millisecond):
			more = false
		}
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return t.cmd.ProcessState.ExitCode()
}

// restored checks that all that was switched on is off again.
func (t *terminal) restored() {
	t.Helper()
	out := t.output.String()
	for _, mode := range []string{"1049", "2004", "1002", "1006"} {
		on, off := strings.LastIndex(out, "\x1b[?"+mode+"h"), strings.LastIndex(out, "\x1b[?"+mode+"l")
		if on > off {
			t.Errorf("mode %s is still on", mode)
		}
	}
	if strings.LastIndex(out, "\x1b[?1049h") < 0 {
		t.Error("it never had the screen")
	}
	if after := t.mode(); after != t.before {
		t.Errorf("the terminal was\n%s\nand is\n%s", t.before, after)
	}
}

func TestTerminalIsLeftAsItWas(t *testing.T) {
	t.Parallel()
	for _, end := range []struct {
		name string
		do   func(*terminal)
		code int
	}{
		{"user", func(t *terminal) { t.write("\x03\x03") }, 0},
		{"SIGTERM", func(t *terminal) { _ = t.cmd.Process.Signal(syscall.SIGTERM) }, 128 + 15},
		{"SIGHUP", func(t *terminal) { _ = t.cmd.Process.Signal(syscall.SIGHUP) }, 128 + 1},
		{"SIGINT", func(t *terminal) { _ = t.cmd.Process.Signal(syscall.SIGINT) }, 128 + 2},
		{"SIGQUIT", func(t *terminal) { _ = t.cmd.Process.Signal(syscall.SIGQUIT) }, 128 + 3},
	} {
		t.Run(end.name, func(t *testing.T) {
			t.Parallel()
			tt := onTerminal(t, "run")
			tt.expect("tour")
			tt.write("\x1bOQ") // the mouse, so that there is more to switch off
			tt.expect("\x1b[?1002h")
			end.do(tt)
			if code := tt.wait(); code != end.code {
				t.Errorf("exit code %d, want %d", code, end.code)
			}
			tt.restored()
		})
	}
}

func TestPlainEndsItsLine(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*terminal){
		"end of input": func(t *terminal) { t.write("\x04") },
		"SIGTERM":      func(t *terminal) { _ = t.cmd.Process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt := onTerminal(t, "run", "TERM=dumb")
			tt.expect("You → Guide: ")
			end(tt)
			tt.wait()
			if out := tt.output.String(); !strings.HasSuffix(out, "\n") {
				t.Errorf("the cursor is left behind the prompt: %q", out)
			}
		})
	}
}

func TestPanicLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	tt := onTerminal(t, "panic")
	tt.expect("tour")
	tt.write("hello\r")
	if code := tt.wait(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	tt.restored()
	if out := tt.output.String(); !strings.Contains(out, "internal error: out of the blue") {
		t.Errorf("it does not say why: %q", out)
	}
	log, err := os.ReadFile(tt.log)
	if err != nil || !strings.Contains(string(log), "out of the blue") || !strings.Contains(string(log), "AddInput") {
		t.Errorf("the log does not tell where: %s %v", log, err)
	}
}

func TestClosedTerminalEndsIt(t *testing.T) {
	t.Parallel()
	tt := onTerminal(t, "run")
	tt.expect("tour")
	_ = tt.master.Close()
	ended := make(chan struct{})
	go func() { _ = tt.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		_ = tt.cmd.Process.Kill()
		t.Fatal("it goes on without a terminal")
	}
	if code := tt.cmd.ProcessState.ExitCode(); code != 128+1 {
		t.Errorf("exit code %d", code)
	}
}

// TestTerminalThatDoesNotRead has a terminal that takes nothing any more when the signal to end comes. How long it takes
// until the device is full depends on the machine; a program that ends in good order was not kept waiting yet.
func TestTerminalThatDoesNotRead(t *testing.T) {
	t.Parallel()
	for wait := time.Second; ; wait *= 2 {
		tt := onTerminal(t, "flood")
		tt.expect("words words")
		close(tt.stall)
		time.Sleep(wait)
		_ = tt.cmd.Process.Signal(syscall.SIGTERM)
		ended := make(chan struct{})
		go func() { _ = tt.cmd.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = tt.cmd.Process.Kill()
			t.Fatal("it hangs")
		}
		if after := tt.mode(); after != tt.before {
			t.Errorf("the terminal was\n%s\nand is\n%s", tt.before, after)
		}
		switch code := tt.cmd.ProcessState.ExitCode(); {
		case code == 99:
			return
		case code != 128+15 || wait > 10*time.Second:
			t.Fatalf("exit code %d", code)
		}
	}
}

func TestEditor(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho ' and the editor' >> \"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	tt := onTerminal(t, "run", "EDITOR="+script)
	tt.expect("tour")
	tt.write("from here\x07")
	tt.expect("and the editor")
	tt.write("\x03\x03\x03")
	if code := tt.wait(); code != 0 {
		t.Errorf("exit code %d: %q", code, tt.output.String())
	}
	tt.restored()
}

func TestDumbTerminalGetsLines(t *testing.T) {
	t.Parallel()
	tt := onTerminal(t, "run", "TERM=dumb")
	tt.expect("You → Guide: ")
	tt.write("/quit\n")
	if code := tt.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if out := tt.output.String(); strings.Contains(out, "\x1b") {
		t.Errorf("escape sequences in %q", out)
	}
}
