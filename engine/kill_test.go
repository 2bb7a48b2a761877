package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/store"
)

// copied is a database as a kill leaves it at this moment: the file and its log, without what only the process knows.
func (b *bench) copied() *store.Store {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "killed.db")
	for _, suffix := range []string{"-wal", ""} { // the log first: what is in the file by then is in it too
		data, err := os.ReadFile(b.store.Path() + suffix)
		if err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(path+suffix, data, 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	s, err := store.Open(context.Background(), path)
	if err != nil {
		b.t.Fatal(err)
	}
	b.stores = append(b.stores, s)
	return s
}

// A process that is killed while two agents speak loses no more than a second, and its session goes on where it was.
func TestKillWhileAgentsSpeak(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		speaks := func(words int) *scripted {
			return &scripted{answer: func(ctx context.Context, _ int, _ llm.Request, on func(llm.Delta)) (llm.Reply, error) {
				whole := ""
				for range words {
					on(llm.Delta{Text: "word "})
					whole += "word "
					select {
					case <-time.After(100 * time.Millisecond):
					case <-ctx.Done():
						return llm.Reply{}, ctx.Err()
					}
				}
				return llm.Reply{Text: whole, Finish: llm.FinishStop}, nil
			}}
		}
		sender := &scripted{answer: func(_ context.Context, n int, _ llm.Request, on func(llm.Delta)) (llm.Reply, error) {
			if n == 1 {
				return invoke(on, send("c1", "B", "m"), send("c2", "C", "n"), call("c3", "look", "{}"))
			}
			return utter(on, "f")
		}}
		models := map[string]llm.Model{"A": sender, "B": speaks(1000), "C": speaks(20)}
		b := setup{model: func(agent string) llm.Model { return models[agent] }, tools: gives("look", "seen").(fake).alone()}.bench(t,
			"agents:\n  A: {instructions: x, tools: [look]}\n  B: {instructions: x}\n  C: {instructions: x}\ncommunication_flows: [A > B, A > C]\n", nil)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = b.engine.Turn(ctx, turnOf(b.session, "A", "hi"))
		}()
		time.Sleep(5*time.Second + 50*time.Millisecond)
		synctest.Wait()
		told := map[string]int{}
		for _, e := range b.told() {
			if e.Type == history.EventTextContent && e.Role == "" && time.Since(time.UnixMicro(e.At)) > time.Second {
				told[e.Agent] += len(e.Delta)
			}
		}
		killed := b.copied()
		cancel()
		<-done

		rows, err := killed.All(t.Context(), b.session, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		if err := killed.Check(t.Context()); err != nil {
			t.Errorf("the copy is damaged: %v", err)
		}
		var lines []string
		for _, m := range rows {
			if m.Agent == "B" && m.Role == history.RoleAssistant {
				if len(m.Content) < told["B"] || m.Status != history.StatusInterrupted {
					t.Errorf("of B are %d bytes, %d were told more than a second before; it is %s", len(m.Content), told["B"], m.Status)
				}
				m.Content = "words"
			}
			lines = append(lines, strings.TrimRight(line(m), " "))
		}
		equal(t, "the first rows on disk", lines[:4], []string{"A< user: hi", "A< call send_message", "A< call send_message", "A< call look"})
		slices.Sort(lines[4:]) // the two speak at once
		equal(t, "the others", lines[4:], []string{
			"B<A assistant: words (interrupted)", "B<A user: m", "C<A assistant: " + strings.TrimSpace(strings.Repeat("word ", 20)), "C<A user: n",
		})

		b.store = killed
		b.engine = b.newEngine(b.agency)
		b.abandoned = true
		b.ok("A", "go on")
		b.ok("A", "and on")
		messages := sender.requests[len(sender.requests)-1].Messages
		outputs := 0
		for _, m := range messages {
			if m.Role == llm.RoleTool {
				outputs++
				holds(t, "the output of "+m.CallID, strings.ToLower(m.Content), "interrupted")
			}
		}
		if outputs != 3 {
			t.Errorf("%d outputs in %v", outputs, messages)
		}
		after := b.rows()
		if len(after) != len(rows)+4 {
			t.Errorf("%d rows after two turns, %d before", len(after), len(rows))
		}
		for i := range rows {
			if line(after[i]) != line(rows[i]) {
				t.Errorf("row %d has changed from %s to %s", i, line(rows[i]), line(after[i]))
			}
		}
	})
}
