package cmd

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"bureau/engine/history"
	"bureau/store"
	"bureau/tui"
)

const talkative = `name: talk
agents:
  Boss: {instructions: x}
  Clerk: {instructions: x}
communication_flows: [Boss > Clerk]
limits: {max_turn_calls: 2}
session_limits: {max_tokens: 1000000}
`

const talkativeScript = `agents:
  Boss:
    - on: {after: send_message}
      say: 'The Clerk said: {{output 0}}'
    - call: [{send_message: {recipient_agent: Clerk, message: count}}]
  Clerk:
    - say: 'I heard {{.Message}}'
`

// Questions, answers and what is said into a sub-conversation go all the way between the terminal's backend and the engine.
func TestBackendCarriesQuestionsAndWords(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{"talk.yaml": talkative, "talk.script.yaml": talkativeScript} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &program{folder: folder, env: environment{process: func(string) (string, bool) { return "", false }}}
	s, err := store.Open(t.Context(), filepath.Join(folder, "test.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b := &backend{program: p, store: s, feed: tui.NewFeed(), log: slog.New(slog.DiscardHandler), model: "script/talk"}
	if b.agency, err = p.findAgency(filepath.Join(folder, "talk.yaml")); err != nil {
		t.Fatal(err)
	}
	opened, err := b.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if got := opened.Budget(); got != (tui.Budget{Tokens: 1_000_000}) {
		t.Errorf("budget %+v", got)
	}
	if opened.Steer("", "x") == nil || opened.CancelRun("run_x") == nil {
		t.Error("something was said or stopped where nothing runs")
	}
	if err := opened.Send("Boss", "hello", false); err != nil {
		t.Fatal(err)
	}
	// The turn asks before its third call of a model; until it has an answer it does not end.
	time.Sleep(300 * time.Millisecond)
	if opened.Send("Boss", "again", false) == nil {
		t.Error("the turn has ended without an answer to its question")
	}
	opened.Answer(tui.Answer{Verdict: tui.Raise, By: 10})
	if rows := settled(t, s, opened, history.UserThread, 4); rows[3].Content != "The Clerk said: I heard count" {
		t.Errorf("%+v", rows[3])
	}
	if err := opened.Tell("Boss", "Clerk", "and now?"); err != nil {
		t.Fatal(err)
	}
	rows := settled(t, s, opened, history.Pair("Boss", "Clerk"), 4)
	if !rows[2].Extra.ByUser || rows[2].CallerAgent != "Boss" || rows[3].Agent != "Clerk" {
		extra, _ := json.Marshal(rows[2].Extra)
		t.Errorf("%+v %s", rows[2:], extra)
	}
	if got := opened.Info().Recipient; got != "Boss" {
		t.Errorf("control is with %s", got)
	}
}

// settled waits until a conversation has n whole rows and the turn is over.
func settled(t *testing.T, s *store.Store, opened tui.Session, thread history.Thread, n int) []history.Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		rows, err := opened.Rows(ctx, thread, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		if c := opened.(*session); len(rows) == n && rows[n-1].Status == history.StatusCompleted {
			c.turns.Wait()
			return rows
		}
		time.Sleep(5 * time.Millisecond)
	}
}
