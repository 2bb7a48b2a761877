package tui_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bureau/engine/history"
	"bureau/tui"
)

// lockedBuffer is what a program wrote.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// playPlain runs a test on the plain mode: typed is what is typed into it.
func playPlain(t *testing.T, s *stage, test func(typed io.Writer, out *lockedBuffer, signals chan os.Signal)) (exit tui.Exit, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s.feed = tui.NewFeed()
		in, typed := io.Pipe()
		out, signals := &lockedBuffer{}, make(chan os.Signal, 2)
		done := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer close(done)
			exit, err = tui.Run(ctx, tui.Options{Backend: s, Feed: s.feed, Input: in, Output: out, Plain: true, SessionID: s.session.ID, Signals: signals})
		}()
		synctest.Wait()
		test(typed, out, signals)
		_ = typed.Close()
		time.Sleep(time.Second)
		cancel()
		<-done
	})
	return exit, err
}

func typeLine(w io.Writer, line string) {
	_, _ = io.WriteString(w, line+"\n")
	time.Sleep(50 * time.Millisecond)
	synctest.Wait()
}

func TestPlainConversation(t *testing.T) {
	t.Parallel()
	s := newStage()
	exit, err := playPlain(t, s, func(typed io.Writer, out *lockedBuffer, _ chan os.Signal) {
		typeLine(typed, "What is here?")
		g := s.turn("Guide", "What is here?")
		st := g.answer().add("Let me\nsee \x1b[2Jthe fol")
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		if got := out.String(); !strings.Contains(got, "Guide:\nLet me\n") || strings.Contains(got, "see") {
			t.Errorf("a line that is whole is not there at once, or one that is not is:\n%s", got)
		}
		st.add("der.").end(history.StatusCompleted)
		scout := g.ask("Scout", "Look")
		call := scout.use("list_directory", `{"path":"."}`)
		time.Sleep(50 * time.Millisecond)
		typeLine(typed, "and then?")
		scout.result(call, "list_directory", "README.md", false)
		time.Sleep(3 * time.Second)
		scout.finish("A README.", history.Usage{InputTokens: 1000, OutputTokens: 200})
		g.retry(2, 3, 4, "the server is busy")
		g.handover("Concierge")
		g.finish("There is a README.", history.Usage{})
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		typeLine(typed, "/to")
		typeLine(typed, "7")
		typeLine(typed, "1")
		s.turn("Concierge", "and then?").fail(history.CodeModel, "the server answered 500", "Try again.")
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		typeLine(typed, "/panes")
		typeLine(typed, "1")
		typeLine(typed, "/nothing")
		got := out.String()
		for _, want := range []string{
			"You → Guide:\nWhat is here?\n", "Guide:\nLet me\nsee the folder.\n", "Guide → Scout: Look\n", "Scout uses list_directory .\n",
			"Waits until the turn ends.\n", "Guide → Scout: done (3.1s, 1 tool, 1.2k tok)\n", "Guide: trying again in 4.0s: the server is busy\n",
			"Guide hands over to Concierge.\n", "Concierge:\nThere is a README.\n", "You → Concierge:\nand then?\n",
			"1. Guide: Answers, and asks the others\n", "A number from 1 to 2", "Concierge:\nthe server answered 500\nWhat to do: Try again.\n",
			"1. Guide → Scout: Look\n", "Guide → Scout:\nLook\n", "Scout:\nA README.\n", "There is no command /nothing",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not in:\n%s", want, got)
			}
		}
		if strings.Contains(got, "\x1b") || strings.Contains(got, "\r") {
			t.Errorf("control characters in %q", got)
		}
	})
	if err != nil || exit.SessionID != "sessionid123" {
		t.Errorf("left with %+v, %v", exit, err)
	}
	if len(s.sent) != 2 || s.sent[1].to != "Concierge" || s.sent[1].text != "and then?" {
		t.Errorf("sent %+v", s.sent)
	}
	if s.closed != 1 {
		t.Errorf("the session was closed %d times", s.closed)
	}
}

func TestPlainIsLeftByItsSignal(t *testing.T) {
	t.Parallel()
	s := newStage()
	exit, err := playPlain(t, s, func(_ io.Writer, _ *lockedBuffer, signals chan os.Signal) {
		signals <- os.Kill
	})
	if err != nil || exit.Signal != os.Kill || s.closed != 1 {
		t.Errorf("left with %+v, %v, closed %d times", exit, err, s.closed)
	}
}

func TestPlainMentionIsForOneMessage(t *testing.T) {
	t.Parallel()
	s := newStage()
	_, _ = playPlain(t, s, func(typed io.Writer, _ *lockedBuffer, _ chan os.Signal) {
		typeLine(typed, "@concierge a table\\")
		typeLine(typed, "for two")
		s.turn("Concierge", "x").finish("Yes.", history.Usage{})
		time.Sleep(50 * time.Millisecond)
		typeLine(typed, "@Scout is no entry point")
	})
	want := []sent{{"Concierge", "a table\nfor two", true}, {"Guide", "@Scout is no entry point", false}}
	if len(s.sent) != 2 || s.sent[0] != want[0] || s.sent[1] != want[1] {
		t.Errorf("sent %+v, want %+v", s.sent, want)
	}
}
