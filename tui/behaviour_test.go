package tui_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"bureau/engine/history"
	"bureau/tui"
)

func TestRestartShowsTheSame(t *testing.T) {
	t.Parallel()
	s := newStage()
	s.usage, s.window = history.Usage{InputTokens: 5200, OutputTokens: 520, Requests: 9}, 5100
	unfold := []string{"tab", "tab", "ctrl+o", "ctrl+o", "shift+tab", "up", "up", "up", "enter", "up", "up", "up", "up", "enter", "end", "shift+tab"}
	frames := map[string][2]string{}
	for i, id := range []string{"", "sessionid123"} {
		for _, size := range []struct{ w, h int }{{60, 16}, {160, 50}} {
			play(t, size.w, size.h, s, id, func(sc *screen) {
				if i == 0 {
					s.rows, s.runs, s.record, s.session.ID, s.session.Recipient = nil, nil, nil, "sessionid123", "Guide"
					finishedTurn(s)
					s.turn("Concierge", "Thanks. And now?").answer().add("Half an ans").end(history.StatusInterrupted)
					(&actor{stage: s, name: "Concierge", top: "run_stop", run: "run_stop"}).interrupted()
				}
				sc.idle()
				time.Sleep(10 * time.Second) // words to the user are gone by then
				sc.press(unfold...)
				key := fmt.Sprintf("%dx%d", size.w, size.h)
				both := frames[key]
				both[i] = sc.frame()
				frames[key] = both
			})
		}
	}
	for size, both := range frames {
		if both[0] != both[1] {
			t.Errorf("%s: live\n%s\nand after a restart\n%s", size, both[0], both[1])
		}
	}
}

// own is what the program says with a bell at its end: the title of the window, and the question for the background.
var own = regexp.MustCompile(`\x1b\](2;[^\x00-\x1f\x7f-\x9f]*|11;\?)\a`)

func TestNothingHostileReachesTheTerminal(t *testing.T) {
	t.Parallel()
	for _, size := range []struct{ w, h int }{{20, 5}, {80, 24}, {120, 40}} {
		s := newStage()
		play(t, size.w, size.h, s, "", func(sc *screen) {
			s.session.ID = "sessionid123"
			hostileTurn(s)
			sc.idle()
			sc.press("f2", "ctrl+o", "tab", "up", "enter", "up", "enter", "up", "enter", "up", "enter", "tab", "z", "up", "enter", "esc", "esc")
			sc.press("\x10", "esc", "\x14", "esc")
			raw := own.ReplaceAllString(sc.written(), "")
			for _, bad := range []string{"\x1b]52", "\x1b]8;;http://x\x07", "\x1bP+q", "\x1b_G", "\u009b", "\u009d", "\x9b31m", "\a", "\u202e", "\u200b", "\x1b]0;title"} {
				if strings.Contains(raw, bad) {
					at := strings.Index(raw, bad)
					t.Errorf("%dx%d: %q reached the terminal in %q", size.w, size.h, bad, raw[max(at-60, 0):min(at+20, len(raw))])
				}
			}
			for y, row := range strings.Split(sc.frame(), "\n") {
				if strings.ContainsAny(row, "\x1b\a") {
					t.Errorf("row %d has control characters: %q", y, row)
				}
			}
		})
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 80, 24, s, "", func(sc *screen) {
		sc.press("a long draft", "ctrl+c")
		sc.hasNot("a long draft")
		if len(s.inputs) != 1 || s.inputs[0] != "a long draft" {
			t.Errorf("the draft is not in the history: %q", s.inputs)
		}
		sc.press("up")
		sc.has("a long draft")
		sc.press("ctrl+c")
		g := s.turn("Guide", "Work.")
		sc.idle()
		sc.press("ctrl+c")
		if s.stops != 1 {
			t.Errorf("stopped %d times", s.stops)
		}
		g.interrupted()
		sc.idle()
		sc.has("stopped")
		sc.press("ctrl+c")
		sc.has("ctrl+c again leaves")
		sc.press("x", "backspace")
		sc.hasNot("again leaves")
		sc.press("ctrl+c") // another key came between
		sc.has("ctrl+c again leaves")
		time.Sleep(3 * time.Second)
		sc.hasNot("again leaves")
		sc.press("ctrl+c") // too late to count as the second
		select {
		case <-sc.exit:
			t.Fatal("left at the first ctrl+c")
		default:
		}
		sc.press("ctrl+c")
		time.Sleep(time.Second)
		if exit := <-sc.exit; exit.Signal != nil || exit.SessionID != "sessionid123" {
			t.Errorf("left with %+v", exit)
		}
		if err := <-sc.errs; err != nil {
			t.Error(err)
		}
		if !strings.Contains(sc.written(), "bureau --session sessionid123") {
			t.Error("nothing says how to go on")
		}
		if s.closed != 1 {
			t.Errorf("the session was closed %d times", s.closed)
		}
	})
}

func TestCtrlDLeavesOnlyAnEmptyComposer(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 80, 24, s, "", func(sc *screen) {
		sc.press("words", "ctrl+d")
		sc.has("words")
		sc.press("ctrl+c", "ctrl+d")
		time.Sleep(time.Second)
		select {
		case <-sc.exit:
		default:
			t.Error("still there")
		}
	})
}

func TestQueue(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 80, 24, s, "", func(sc *screen) {
		sc.press("one", "enter")
		g := s.turn("Guide", "one")
		sc.press("two", "enter", "@Concierge three", "enter")
		sc.has("waits  two", "waits → Concierge  three")
		time.Sleep(time.Second)
		if len(s.draft.Queue) != 2 || s.draft.Queue[0].Text != "two" {
			t.Errorf("after a second the queue on disk is %+v", s.draft.Queue)
		}
		sc.press("up")
		sc.has("@Concierge three")
		sc.press("!", "enter")
		sc.has("three!")
		g.finish("Done.", history.Usage{})
		sc.idle()
		if len(s.sent) != 2 || s.sent[1] != (sent{"Guide", "two", false}) {
			t.Errorf("sent %+v", s.sent)
		}
		g = s.turn("Guide", "two")
		sc.idle()
		g.fail(history.CodeModel, "the server answered 500", "Try again.")
		sc.idle()
		sc.has("kept → Concierge  three!", "the server answered 500", "Try again.")
		if len(s.sent) != 2 {
			t.Errorf("a message was sent after a turn that failed: %+v", s.sent)
		}
		sc.press("enter")
		if len(s.sent) != 3 || s.sent[2] != (sent{"Concierge", "three!", true}) {
			t.Errorf("sent %+v", s.sent)
		}
		sc.hasNot("kept")
	})
}

func TestQueueIsKeptOverARestart(t *testing.T) {
	t.Parallel()
	s := newStage()
	s.session.ID = "sessionid123"
	s.draft = tui.Draft{Text: "half a tho", Queue: []tui.Queued{{Text: "first"}}}
	play(t, 80, 24, s, "sessionid123", func(sc *screen) {
		sc.has("half a tho", "kept  first")
		if len(s.sent) != 0 {
			t.Errorf("sent by itself: %+v", s.sent)
		}
	})
}

func TestMessageThatCannotBeSentIsNotLost(t *testing.T) {
	t.Parallel()
	s := newStage()
	s.sendErr = errors.New("the disk is full")
	play(t, 80, 24, s, "", func(sc *screen) {
		sc.press("important words", "enter")
		sc.has("important words", "not sent: the disk is full")
	})
}

func TestReaderIsNotMoved(t *testing.T) {
	t.Parallel()
	s := newStage()
	s.session.ID = "sessionid123"
	for i := range 300 {
		a := &actor{stage: s, name: "Guide", top: "run", run: "run"}
		a.row(history.Message{Type: history.TypeMessage, Role: history.RoleUser, Content: fmt.Sprintf("question %d", i), Status: history.StatusCompleted})
		a.row(history.Message{Type: history.TypeMessage, Role: history.RoleAssistant, Content: fmt.Sprintf("answer %d", i), Status: history.StatusCompleted})
	}
	play(t, 80, 24, s, "sessionid123", func(sc *screen) {
		sc.has("answer 299")
		sc.press("pgup", "pgup")
		before := strings.Split(sc.frame(), "\n")[:20]
		g := s.turn("Guide", "one more")
		g.say(strings.Repeat("many\n\n", 40))
		sc.idle()
		after := strings.Split(sc.frame(), "\n")[:20]
		if strings.Join(before, "\n") != strings.Join(after, "\n") {
			t.Errorf("it moved from\n%s\nto\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
		}
		sc.has("↓ 2 new")
		sc.press("end")
		sc.hasNot(" new")
		g.say("the very last")
		sc.idle()
		sc.has("the very last")
		sc.press("home")
		time.Sleep(time.Second)
		sc.idle()
		sc.has("question 0")
	})
}

func TestResizeWhileStreaming(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 120, 40, s, "", func(sc *screen) {
		twoAtWork(s)
		answer := s.turn("Guide", "x").answer()
		for i, size := range [][2]int{{80, 24}, {20, 5}, {1, 1}, {3, 2}, {160, 50}, {60, 16}, {100, 12}} {
			answer.add(fmt.Sprintf("part %d 你好 ", i))
			sc.resize(size[0], size[1])
			answer.add("more ")
			sc.idle()
			rows := strings.Split(strings.TrimSuffix(sc.frame(), "\n"), "\n")
			if len(rows) != size[1] {
				t.Errorf("%v: %d rows", size, len(rows))
			}
		}
		sc.resize(100, 30)
		sc.has("part 6")
	})
}

func TestSignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		s := newStage()
		play(t, 80, 24, s, "", func(sc *screen) {
			sc.press("a draft")
			sc.signals <- sig
			time.Sleep(time.Second)
			synctest.Wait()
			select {
			case exit := <-sc.exit:
				if exit.Signal != sig {
					t.Errorf("left with %v", exit.Signal)
				}
			default:
				t.Fatalf("%v did not end it", sig)
			}
			if err := <-sc.errs; err != nil {
				t.Error(err)
			}
			if s.draft.Text != "a draft" || s.closed != 1 {
				t.Errorf("draft %q, closed %d times", s.draft.Text, s.closed)
			}
			if raw := sc.written(); !strings.Contains(raw, "\x1b[?1049l") {
				t.Error("the screen before is not back")
			}
		})
	}
}

func TestRecipient(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 80, 24, s, "", func(sc *screen) {
		sc.press("ctrl+t", "down", "enter")
		sc.has("Concierge ›")
		sc.press("@Guide hello", "enter")
		if len(s.sent) != 1 || s.sent[0] != (sent{"Guide", "hello", true}) {
			t.Errorf("sent %+v", s.sent)
		}
		g := s.turn("Guide", "hello")
		g.handover("Concierge")
		sc.idle()
		sc.has("Guide ⇒ Concierge", "Concierge ›")
		time.Sleep(5 * time.Second) // a word to the user is gone by then
		sc.has("Concierge waits for the model")
		g.finish("Welcome.", history.Usage{})
		sc.idle()
		sc.press("/to scout", "enter")
		sc.has("no such recipient")
		sc.press("/to guide", "enter")
		sc.has("Guide ›")
	})
}

func TestDelegationLeadsToItsPane(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 120, 40, s, "", func(sc *screen) {
		finishedTurn(s)
		sc.idle()
		sc.press("tab", "tab", "ctrl+o", "shift+tab") // all collapsed, the thread has the focus
		sc.hasNot("go.mod")
		for range 12 {
			if strings.Contains(sc.frame(), "▌ ✓ Guide → Scout") {
				break
			}
			sc.press("up")
		}
		sc.press("enter")
		sc.has("go.mod", "▾ ✓ Guide → Scout")
		for range 8 {
			if strings.Contains(sc.frame(), "▌ ✓ Scout → Checker") {
				break
			}
			sc.press("down")
		}
		sc.press("z")
		sc.has("▌ ✓ Scout → Checker")
		sc.press("enter")
		sc.has("It does.")
		sc.press("esc", "esc")
		sc.has("You → Guide")
	})
}

func TestCollapsedPaneSaysPlainWords(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 120, 40, s, "", func(sc *screen) {
		scout := s.turn("Guide", "When?").ask("Scout", "Look it up.")
		words := scout.answer().add("```text\nsunny\n```\n- **Monday**, in `C#`")
		sc.idle()
		sc.press("tab", "tab", "ctrl+o")
		sc.has("Scout: sunny Monday, in C#")
		words.add(" and _later_")
		sc.idle()
		sc.has("Scout: sunny Monday, in C# and later")
		sc.hasNot("**", "```")
	})
}

func TestLongNamesLeaveRoom(t *testing.T) {
	t.Parallel()
	s := newStage()
	s.agency.Agents[1].Name = "The one who looks at every folder that there is, in full"
	play(t, 120, 40, s, "", func(sc *screen) {
		g := s.turn("Guide", "When?")
		g.ask(s.agency.Agents[1].Name, "Look **it** up.").finish("On **Monday**.", history.Usage{InputTokens: 1200})
		g.finish("[a]: https://example.org/definition", history.Usage{})
		sc.idle()
		sc.has("https://example.org/definition")
		sc.hasNot("……")
		sc.press("tab", "tab", "ctrl+o")
		sc.has("▸ ✓ Guide → The one", "… ── ", "The one who loo…: On Monday.", "1.2k tok")
		sc.hasNot("**")
	})
}

func TestEveryRunComesToRest(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 120, 40, s, "", func(sc *screen) {
		g := s.turn("Guide", "Go.")
		scout := g.ask("Scout", "Look.")
		scout.use("list_directory", `{}`)
		scout.answer().add("half")
		sc.idle()
		sc.has("Scout writes")
		g.event(history.Event{Type: history.EventRunError, Code: history.CodeFailed, Message: "unexpected EOF"})
		sc.idle()
		sc.hasNot("writes")
		sc.has("unexpected EOF", "stopped", "interrupted")
		sc.press("again", "enter")
		if len(s.sent) != 1 {
			t.Errorf("after a failed turn nothing can be sent: %+v", s.sent)
		}
	})
}

func TestGapIsReadAgain(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 80, 24, s, "", func(sc *screen) {
		g := s.turn("Guide", "Go.")
		st := g.answer().add("one ")
		s.silent = true
		st.add("two ")
		s.silent = false
		st.add("three")
		sc.idle()
		sc.has("one two three")
	})
}

func TestNothingMovesAtRest(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 120, 40, s, "", func(sc *screen) {
		finishedTurn(s)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		before := len(sc.written())
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n := len(sc.written()) - before; n != 0 {
			t.Errorf("%d bytes were written while nothing happened", n)
		}
	})
}
