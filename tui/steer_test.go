package tui_test

import (
	"errors"
	"io"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"bureau/engine/history"
	"bureau/tui"
)

const ctrlEnter = "\x1b[13;5u"

func TestSendNow(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"ctrl+enter": ctrlEnter, "alt+s": "\x1bs"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage()
			play(t, 100, 30, s, "", func(sc *screen) {
				g := s.turn("Guide", "Work.")
				sc.idle()
				sc.press("the first", "enter", "the second", "enter", "be quick", key)
				if !slices.Equal(s.asked().steered, []string{":be quick"}) {
					t.Errorf("said %q", s.asked().steered)
				}
				sc.has("said  be quick", "waits  the first", "waits  the second")
				if !slices.ContainsFunc(s.asked().draft.Queue, func(q tui.Queued) bool { return q.Text == "be quick" }) {
					time.Sleep(time.Second)
					sc.idle()
					if len(s.asked().draft.Queue) != 3 {
						t.Errorf("what is not on record yet is not kept: %+v", s.asked().draft)
					}
				}
				sc.press(key) // an empty composer sends what waits longest
				if !slices.Equal(s.asked().steered, []string{":be quick", ":the first"}) {
					t.Errorf("said %q", s.asked().steered)
				}
				g.input("be quick") // heard
				sc.idle()
				sc.hasNot("said  be quick")
				sc.has("said  the first", "be quick")
				g.input("the first")
				g.finish("Done.", history.Usage{})
				sc.idle()
				sc.hasNot("said  ")
				if len(s.asked().sent) != 1 || s.asked().sent[0].text != "the second" {
					t.Errorf("sent %+v", s.asked().sent)
				}
			})
		})
	}
}

func TestSendNowToAChild(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 100, 30, s, "", func(sc *screen) {
		g := s.turn("Guide", "Work.")
		scout := g.ask("Scout", "Look at it.")
		sc.idle()
		sc.press("/now ", "up to you", "enter")
		s.refuse(errors.New("it is not at work any more"))
		sc.press("too late", ctrlEnter)
		sc.has("not heard", "waits  too late")
		s.refuse(nil)
		sc.press("tab", "tab", "t") // the pane
		sc.has("Scout (with Guide)", "Scout hears you beside Guide")
		sc.press("mind the roof", "enter")
		if want := []string{":up to you", scout.run + ":mind the roof"}; !slices.Equal(s.asked().steered, want) {
			t.Errorf("said %q, want %q", s.asked().steered, want)
		}
		sc.press("esc")
		sc.hasNot("(with Guide)")
		if s.asked().stops != 0 {
			t.Error("esc has stopped the turn")
		}
	})
}

func TestSayingSomethingIntoASubConversation(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 120, 30, s, "", func(sc *screen) {
		s.session.ID = "sessionid123"
		g := s.turn("Guide", "Work.")
		g.ask("Scout", "Look at it.").finish("Looked.", history.Usage{})
		g.finish("Done.", history.Usage{})
		sc.idle()
		sc.press("/tell nobody", "enter")
		sc.has("no agent has asked nobody anything yet")
		sc.press("/tell scout", "enter", "and the roof?", "enter")
		if len(s.asked().sent) != 1 || s.asked().sent[0] != (sent{to: "Guide>Scout", text: "and the roof?"}) {
			t.Fatalf("sent %+v", s.asked().sent)
		}
		// The turn in the sub-conversation: its own run, without any above it.
		scout := &actor{stage: s, name: "Scout", caller: "Guide", top: "run_pair", run: "run_pair"}
		scout.event(history.Event{Type: history.EventRunStarted})
		id := scout.row(history.Message{
			Type: history.TypeMessage, Role: history.RoleUser, Content: "and the roof?", Status: history.StatusCompleted, Extra: history.Extra{ByUser: true},
		})
		scout.event(history.Event{Type: history.EventTextStart, MessageID: id, Role: history.RoleUser, ByUser: true})
		scout.event(history.Event{Type: history.EventTextContent, MessageID: id, Delta: "and the roof?"})
		scout.event(history.Event{Type: history.EventTextEnd, MessageID: id, Role: history.RoleUser, Content: "and the roof?", Status: history.StatusCompleted})
		sc.idle()
		sc.has("You → Scout", "─ waits for the model")
		sc.press("wait for me", "enter")
		if !slices.Equal(s.asked().steered, []string{"run_pair:wait for me"}) {
			t.Errorf("said %q", s.asked().steered)
		}
		scout.say("It leaks.")
		scout.event(history.Event{Type: history.EventRunFinished, Result: "It leaks.", Usage: &history.Usage{}})
		sc.idle()
		sc.has("It leaks.")
		sc.hasNot("waits for the model")
		sc.press("esc", "thanks", "enter")
		if len(s.asked().sent) != 2 || s.asked().sent[1].to != "Guide" {
			t.Errorf("sent %+v", s.asked().sent)
		}
	})
	play(t, 120, 30, s, "sessionid123", func(sc *screen) { sc.has("You → Scout", "It leaks.") })
}

func TestCancelOneDelegation(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 120, 40, s, "", func(sc *screen) {
		g := s.turn("Guide", "Work.")
		scout := g.ask("Scout", "Look at it.")
		checker := g.ask("Checker", "Verify it.")
		sc.idle()
		sc.press("tab", "tab", "x", "/", "x")
		sc.press("esc", "/cancel checker", "enter", "/cancel nobody", "enter")
		sc.has("nobody is not at work")
		if want := []string{scout.run, scout.run, checker.run}; !slices.Equal(s.asked().cancelled, want) {
			t.Errorf("cancelled %q, want %q", s.asked().cancelled, want)
		}
		if s.asked().stops != 0 {
			t.Error("the turn was stopped")
		}
		scout.finish("Looked.", history.Usage{})
		sc.idle()
		sc.press("tab", "tab", "x")
		sc.has("Scout is not at work any more")
		if len(s.asked().cancelled) != 3 {
			t.Errorf("cancelled %q", s.asked().cancelled)
		}
	})
}

// asked is what the terminal has asked for so far.
type asked struct {
	steered, cancelled []string
	answers            []tui.Answer
	sent               []sent
	stops              int
	draft              tui.Draft
}

func (s *stage) asked() asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return asked{slices.Clone(s.steered), slices.Clone(s.cancelled), slices.Clone(s.answers), slices.Clone(s.sent), s.stops, s.draft}
}

// refuse makes steering fail from now on, or not any more.
func (s *stage) refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steerErr = err
}

// limit asks a question of a run.
func (a *actor) limit(limit, message string, used, most float64) {
	a.event(history.Event{Type: history.EventCustom, Name: history.CustomQuestion, Value: map[string]any{
		"limit": limit, "message": message, "used": used, "max": most,
	}})
}

func TestQuestionAtALimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit string
		max   float64
		keys  []string
		shown string
		want  tui.Answer
	}{
		"stop":         {"max_tokens", 1000, []string{"enter"}, "Raise it to 2.0k tokens", tui.Answer{}},
		"esc stops":    {"max_tokens", 1000, []string{"esc"}, "Raise it to 5.0k tokens", tui.Answer{}},
		"ctrl+c stops": {"max_seconds", 60, []string{"ctrl+c"}, "Raise it to 120 s", tui.Answer{}},
		"once":         {"max_turn_calls", 400, []string{"down", "enter"}, "Raise it to 800", tui.Answer{Verdict: tui.Once}},
		"double":       {"session_limits.max_cost", 5, []string{"down", "down", "enter"}, "Raise it to $10.00", tui.Answer{Verdict: tui.Raise, By: 5}},
		"five times":   {"max_cost", 1, []string{"end", "enter"}, "Raise it to $5.00", tui.Answer{Verdict: tui.Raise, By: 4}},
		"repeated":     {"repeated_calls", 0, []string{"end", "enter"}, "do not ask again", tui.Answer{Verdict: tui.Raise}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage()
			play(t, 120, 40, s, "", func(sc *screen) {
				g := s.turn("Guide", "Work.")
				scout := g.ask("Scout", "Look at it.")
				sc.idle()
				scout.limit(c.limit, "the limit of it is reached", c.max, c.max)
				sc.press("typ", "ing", "enter", "enter") // what was on its way to the composer answers nothing
				if len(s.asked().answers) != 0 || len(s.asked().sent) != 0 {
					t.Fatalf("answered %+v", s.asked().answers)
				}
				time.Sleep(time.Second)
				sc.has("Scout waits: the limit of it is reached", c.shown)
				sc.press(c.keys...)
				if !slices.Equal(s.asked().answers, []tui.Answer{c.want}) || s.asked().stops != 0 {
					t.Errorf("answered %+v", s.asked().answers)
				}
				sc.hasNot("Scout waits: the limit")
			})
		})
	}
}

func TestQuestionGoesWithItsTurn(t *testing.T) {
	t.Parallel()
	s := newStage()
	play(t, 120, 40, s, "", func(sc *screen) {
		g := s.turn("Guide", "Work.")
		g.limit("max_tokens", "the limit of it is reached", 10, 10)
		sc.idle()
		sc.has("Guide waits: the limit")
		g.interrupted()
		sc.idle()
		sc.hasNot("Guide waits: the limit")
		if len(s.asked().answers) != 0 {
			t.Errorf("answered %+v", s.asked().answers)
		}
	})
}

func TestStatusShowsTheBudget(t *testing.T) {
	t.Parallel()
	cost := 0.25
	s := newStage()
	s.session.ID = "sessionid123"
	s.usage = history.Usage{InputTokens: 1200, OutputTokens: 300, Requests: 2, Cost: &cost}
	s.budget = tui.Budget{Tokens: 20_000, Cost: 5, TurnTokens: 4000}
	play(t, 160, 30, s, "sessionid123", func(sc *screen) {
		sc.has("1.5k tok of 20k", "$0.25 of $5.00")
		sc.hasNot("turn 0 tok")
		g := s.turn("Guide", "Work.")
		s.mu.Lock()
		s.usage.InputTokens += 1000
		s.mu.Unlock()
		g.say("A word.")
		time.Sleep(3 * time.Second)
		sc.idle()
		sc.has("2.5k tok of 20k", "turn 1.0k tok of 4.0k")
		g.limit("session_limits.max_cost", "the limit of it is reached", 5, 5)
		time.Sleep(2 * time.Second)
		sc.press("end", "enter")
		sc.has("of $25.00")
	})
}

func TestPlainSteering(t *testing.T) {
	t.Parallel()
	s := newStage()
	_, err := playPlain(t, s, func(typed io.Writer, out *lockedBuffer, _ chan os.Signal) {
		line := func(words string) {
			typeLine(typed, words)
			time.Sleep(200 * time.Millisecond)
			synctest.Wait()
		}
		g := s.turn("Guide", "Work.")
		scout := g.ask("Scout", "Look at it.")
		time.Sleep(200 * time.Millisecond)
		line("/now be quick")
		line("/now @Scout mind the roof")
		line("/tell scout and the door")
		line("/cancel Scout")
		line("/cancel nobody")
		want := []string{":be quick", scout.run + ":mind the roof", scout.run + ":and the door"}
		if !slices.Equal(s.asked().steered, want) || !slices.Equal(s.asked().cancelled, []string{scout.run}) {
			t.Errorf("said %q, cancelled %q", s.asked().steered, s.asked().cancelled)
		}
		scout.limit("max_tokens", "the limit of it is reached", 10, 10)
		time.Sleep(200 * time.Millisecond)
		line("no number")
		line("3")
		scout.limit("max_tokens", "the limit of it is reached", 20, 20)
		time.Sleep(200 * time.Millisecond)
		line("")
		if !slices.Equal(s.asked().answers, []tui.Answer{{Verdict: tui.Raise, By: 10}, {}}) {
			t.Errorf("answered %+v", s.asked().answers)
		}
		scout.finish("Looked.", history.Usage{})
		g.finish("Done.", history.Usage{})
		time.Sleep(200 * time.Millisecond)
		line("/tell scout and now?")
		if len(s.asked().sent) != 1 || s.asked().sent[0] != (sent{to: "Guide>Scout", text: "and now?"}) {
			t.Errorf("sent %+v", s.asked().sent)
		}
		line("/quit")
	})
	if err != nil {
		t.Error(err)
	}
}

// Where nobody can type any more, a question is answered with a stop.
func TestPlainQuestionAfterTheInput(t *testing.T) {
	t.Parallel()
	s := newStage()
	_, _ = playPlain(t, s, func(typed io.Writer, _ *lockedBuffer, _ chan os.Signal) {
		g := s.turn("Guide", "Work.")
		time.Sleep(200 * time.Millisecond)
		_ = typed.(io.Closer).Close()
		time.Sleep(200 * time.Millisecond)
		g.limit("max_tokens", "the limit of it is reached", 10, 10)
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		if len(s.asked().answers) != 1 || s.asked().answers[0] != (tui.Answer{}) {
			t.Errorf("answered %+v", s.asked().answers)
		}
		g.interrupted()
	})
}
