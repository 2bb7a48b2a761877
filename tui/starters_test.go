package tui_test

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"bureau/engine/history"
)

func stageWithStarters() *stage {
	s := newStage()
	s.agency.Agents[0].Starters = []string{"What is in this folder?", "Is it\x1b[2J true?"}
	return s
}

func TestStartersAreOfferedInAnEmptySession(t *testing.T) {
	t.Parallel()
	s := stageWithStarters()
	play(t, 80, 24, s, "", func(sc *screen) {
		sc.idle()
		got := sc.frame()
		for _, want := range []string{"Begin with one of these", "1  What is in this folder?", "2  Is it"} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not on the screen:\n%s", want, got)
			}
		}
		sc.press("2", "enter")
		sc.idle()
		s.turn("Guide", "Is it true?").finish("Yes.", history.Usage{})
		sc.idle()
		if strings.Contains(sc.frame(), "Begin with") {
			t.Errorf("they are still on offer:\n%s", sc.frame())
		}
		sc.press("1", "enter")
		sc.idle()
	})
	if len(s.sent) != 2 || s.sent[0].text != "Is it\x1b[2J true?" || s.sent[1].text != "1" {
		t.Errorf("sent %+v", s.sent)
	}
}

func TestStartersStandForTheirNumberOnly(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{"3": "3", "0": "0", "1.": "1.", " 1 ": "What is in this folder?", "@Concierge 1": "1"} {
		s := stageWithStarters()
		play(t, 80, 24, s, "", func(sc *screen) {
			sc.idle()
			sc.press(typed, "enter")
			sc.idle()
		})
		if len(s.sent) != 1 || s.sent[0].text != want {
			t.Errorf("%q sent %+v", typed, s.sent)
		}
	}
}

func TestPlainOffersStarters(t *testing.T) {
	t.Parallel()
	s := stageWithStarters()
	_, _ = playPlain(t, s, func(typed io.Writer, out *lockedBuffer, _ chan os.Signal) {
		time.Sleep(50 * time.Millisecond)
		if got := out.String(); !strings.Contains(got, "1. What is in this folder?\n") || strings.Contains(got, "\x1b") {
			t.Errorf("offered:\n%q", got)
		}
		typeLine(typed, "1")
	})
	if len(s.sent) != 1 || s.sent[0].text != "What is in this folder?" {
		t.Errorf("sent %+v", s.sent)
	}
}
