package tui_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"bureau/engine/history"
)

func TestReadOnlySessionCanBeForked(t *testing.T) {
	t.Parallel()
	s := newStage()
	s.session.ID, s.readOnly = "sessionid123", "another process holds it"
	play(t, 80, 24, s, "sessionid123", func(sc *screen) {
		sc.has("read only ›")
		sc.press("my words", "enter")
		sc.has("another process holds it", "my words")
		if len(s.sent) != 0 {
			t.Errorf("sent %+v", s.sent)
		}
		sc.press("y")
		sc.has("Guide ›")
		if s.session.ID != "copyofsession" || s.closed != 1 {
			t.Errorf("session %s, closed %d times", s.session.ID, s.closed)
		}
	})
}

func TestSessionBrowser(t *testing.T) {
	t.Parallel()
	s := newStage()
	s.session.ID, s.session.Title = "sessionid123", "What is here?"
	s.others = []history.Session{{ID: "other", Agency: "newsroom", Title: "Write about tea"}}
	play(t, 100, 30, s, "sessionid123", func(sc *screen) {
		sc.press("ctrl+s")
		sc.has("What is here?", "Write about tea")
		sc.press("tea")
		sc.hasNot("What is here?")
		sc.press("enter")
		sc.has("the session does not open", "no session other") // this stage has only one
		sc.press("/rename Something else", "enter")
		if s.session.Title != "Something else" {
			t.Errorf("the title is %q", s.session.Title)
		}
	})
}

func TestNewSessionWhileATurnIsUnderWay(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 80, 24, s, "", func(sc *screen) {
		s.turn("Guide", "Work.")
		sc.idle()
		sc.press("ctrl+n")
		sc.has("A turn is under way")
		sc.press("n")
		sc.has("Work.")
		sc.press("ctrl+n", "y")
		sc.hasNot("Work.")
		sc.has("Looks at the folder")
		if s.closed != 1 {
			t.Errorf("the session before was closed %d times", s.closed)
		}
		sc.press("next", "enter")
		if len(s.sent) != 1 {
			t.Errorf("sent %+v", s.sent)
		}
	})
}

func TestPaletteHelpAndUsage(t *testing.T) {
	t.Parallel()
	s := newStage()
	cost := 0.5
	s.usage = history.Usage{InputTokens: 1234, OutputTokens: 66, Requests: 3, Cost: &cost}
	s.session.ID = "sessionid123"
	play(t, 100, 40, s, "sessionid123", func(sc *screen) {
		sc.press("ctrl+p", "usage", "enter")
		sc.has("1234", "66", "$0.50")
		sc.press("esc", "f1")
		sc.has("Composer", "shift+tab", "search earlier messages")
		sc.press("esc", "tab", "?")
		sc.has("search earlier messages")
		sc.press("esc", "shift+tab", "/agency", "enter")
		sc.has("Scout", "Checker", "Concierge")
	})
}

func TestAgencyShowsWhoWorks(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 100, 40, s, "", func(sc *screen) {
		g := s.turn("Guide", "Go.")
		sc.idle()
		sc.press("/agency", "enter")
		scout := g.ask("Scout", "Look.")
		scout.think()
		sc.idle()
		sc.has("thinks")
	})
}

func TestCopy(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 80, 24, s, "", func(sc *screen) {
		g := s.turn("Guide", "Say it.")
		g.say("**Bold** words, long enough to be wrapped into more than one row of this screen, which is 80 cells wide.")
		sc.idle()
		sc.press("tab", "y")
		want := base64.StdEncoding.EncodeToString([]byte("**Bold** words, long enough to be wrapped into more than one row of this screen, which is 80 cells wide."))
		if !strings.Contains(sc.written(), "\x1b]52;c;"+want) {
			t.Error("the words as they are did not go to the clipboard")
		}
		sc.has("copied 1")
		g.say(strings.Repeat("0123456789abcdef", 5000))
		sc.idle()
		sc.press("end", "esc", "/copy", "enter")
		sc.has("it is also in")
	})
}

// mouse is what a terminal sends for a button or a turn of the wheel at a cell, counted from 0.
func mouse(button, x, y int) string { return fmt.Sprintf("\x1b[<%d;%d;%dM", button, x+1, y+1) }

func TestMouse(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 120, 40, s, "", func(sc *screen) {
		g := s.turn("Guide", "Go.")
		g.say(strings.Repeat("line\n\n", 60))
		scout := g.ask("Scout", "Look.")
		scout.say(strings.Repeat("row\n\n", 60) + "the last row")
		sc.idle()
		if strings.Contains(sc.written(), "\x1b[?1002h") {
			t.Error("the mouse is on from the start")
		}
		sc.press("f2")
		if !strings.Contains(sc.written(), "\x1b[?1002h") {
			t.Error("F2 does not switch the mouse on")
		}
		sc.has("the last row")
		sc.press(mouse(64, 100, 10), mouse(64, 100, 10)) // up, over the pane
		sc.hasNot("the last row")
		sc.has("Guide → Scout  Look.") // the thread stays
		sc.press(mouse(65, 100, 10), mouse(65, 100, 10), mouse(65, 100, 10))
		sc.has("the last row")
		sc.press(mouse(0, 80, 0)) // the pane's header
		sc.hasNot("│  row")
		sc.has("┌─ ▸")
		sc.press(mouse(0, 10, 38), "typed") // the composer
		sc.has("typed")
	})
}

func TestTheme(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 80, 24, s, "", func(sc *screen) {
		s.turn("Guide", "Go.").say("An **answer**.")
		sc.idle()
		before := len(sc.written())
		sc.press("/theme light", "enter")
		if after := sc.written()[before:]; !strings.Contains(after, "Guide") {
			t.Error("nothing was drawn in other colours")
		}
		sc.has("An answer.")
		sc.press("/theme pink", "enter")
		sc.has("no such theme")
	})
}

// TestChoiceOutlivesTheTurn has the user choose another recipient while a turn is under way.
func TestChoiceOutlivesTheTurn(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 80, 24, s, "", func(sc *screen) {
		g := s.turn("Guide", "Go.")
		sc.idle()
		sc.press("ctrl+t", "down", "enter")
		g.finish("Done.", history.Usage{})
		sc.idle()
		sc.has("Concierge ›")
		sc.press("hello", "enter")
		if len(s.sent) != 1 || s.sent[0] != (sent{"Concierge", "hello", false}) {
			t.Errorf("sent %+v", s.sent)
		}
	})
}
