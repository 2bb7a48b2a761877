package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bureau/engine/history"
	"bureau/engine/llm"
)

// wrong is a failed request of a kind.
func wrong(kind llm.Kind, after time.Duration) error {
	return &llm.Error{Kind: kind, Ref: llm.Ref{Provider: "memory", Model: "m"}, Message: "went wrong", RetryAfter: after}
}

// fails is a model that says half a word and then fails, as often as there are errors; after that it answers.
func fails(errs ...error) *scripted {
	return &scripted{name: "m", answer: func(_ context.Context, n int, _ llm.Request, on func(llm.Delta)) (llm.Reply, error) {
		if n <= len(errs) {
			on(llm.Delta{Text: "half"})
			return llm.Reply{Text: "half"}, errs[n-1]
		}
		return utter(on, "r")
	}}
}

func TestTries(t *testing.T) {
	t.Parallel()
	const s = time.Second
	again := func(kind llm.Kind, after ...time.Duration) (errs []error) {
		for _, d := range after {
			errs = append(errs, wrong(kind, d))
		}
		return errs
	}
	for name, c := range map[string]struct {
		errs       []error
		tries      int
		code       history.Code
		least, all time.Duration // the wait in sum
	}{
		"passes with time":          {again(llm.KindServer, 0, 0), 3, "", 5 * s, 15 * s},
		"no connection":             {again(llm.KindConnect, 0), 2, "", s, 15 * s},
		"cut off":                   {again(llm.KindTruncated, 0), 2, "", s, 15 * s},
		"silent":                    {again(llm.KindTimeout, 0), 2, "", s, 15 * s},
		"never more than three":     {again(llm.KindRateLimit, 0, 0, 0, 0), 3, history.CodeModel, 5 * s, 15 * s},
		"the server names the wait": {again(llm.KindRateLimit, 7*s, 50*s), 3, "", 57 * s, 57 * s},
		"too long a wait":           {again(llm.KindRateLimit, 61*s), 1, history.CodeModel, 0, 0},
		"a key":                     {again(llm.KindAuth, 0), 1, history.CodeModel, 0, 0},
		"a key, with a wait":        {again(llm.KindAuth, s), 1, history.CodeModel, 0, 0},
		"no money":                  {again(llm.KindQuota, s), 1, history.CodeModel, 0, 0},
		"no such model":             {again(llm.KindNotFound, 0), 1, history.CodeModel, 0, 0},
		"a bad request":             {again(llm.KindRequest, 0), 1, history.CodeModel, 0, 0},
		"no tools":                  {again(llm.KindNoTools, 0), 1, history.CodeModel, 0, 0},
		"withheld":                  {again(llm.KindFilter, 0), 1, history.CodeModel, 0, 0},
		"a web page":                {again(llm.KindProtocol, 0), 1, history.CodeModel, 0, 0},
		"a fault of the model":      {again(llm.KindModelFault, 0), 2, "", 0, s},
		"the fault again":           {again(llm.KindModelFault, 0, 0), 2, history.CodeModel, 0, s},
		"empty":                     {again(llm.KindEmpty, 0), 2, "", 0, s},
		"too long":                  {again(llm.KindOverflow, 0), 2, "", 0, s},
		"too long again":            {again(llm.KindOverflow, 0, 0), 2, history.CodeModel, 0, s},
		"no error of a model":       {[]error{errors.New("broken")}, 1, history.CodeFailed, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := fails(c.errs...)
				b := setup{model: only(m)}.bench(t, agentsOf("A"), nil)
				began := time.Now()
				_, err := b.say("A", "hi")
				if got := time.Since(began); got < c.least || got > c.all {
					t.Errorf("waited %s, want %s to %s", got, c.least, c.all)
				}
				if code(err) != c.code || len(m.requests) != c.tries {
					t.Errorf("%d tries, ended with %v", len(m.requests), err)
				}
				retries := b.custom("retry")
				if len(retries) != c.tries-1 {
					t.Errorf("retry events %v", retries)
				}
				for i, r := range retries {
					if r["attempt"] != i+2 || r["of"] != 3 || !strings.Contains(fmt.Sprint(r["reason"]), "went wrong") {
						t.Errorf("retry event %v", r)
					}
				}
				failed := 0
				for _, row := range b.rows() {
					if row.Content == "half" && row.Status != history.StatusFailed {
						t.Errorf("kept as %s", line(row))
					}
					if row.Content == "half" {
						failed++
					}
				}
				for _, r := range m.requests {
					if len(r.Messages) > 3 || strings.Contains(fmt.Sprint(r.Messages), "half") {
						t.Errorf("a failed try was sent: %v", r.Messages)
					}
				}
				usage, err := b.store.Usage(t.Context(), b.session)
				if err != nil || usage.Requests != int64(c.tries) || failed != min(len(c.errs), c.tries) {
					t.Errorf("%d requests and %d failed rows on record for %d tries, %v", usage.Requests, failed, c.tries, err)
				}
			})
		})
	}
}

func TestNudgeAndShorterPrompt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := fails(wrong(llm.KindEmpty, 0))
		b := setup{model: only(m)}.bench(t, agentsOf("A"), nil)
		b.ok("A", "hi")
		messages := m.requests[1].Messages
		if last := messages[len(messages)-1]; last.Role != llm.RoleSystem || !strings.Contains(last.Content, "empty") {
			t.Errorf("the second try ends with %+v", last)
		}
		b.ok("A", "more")
		for _, message := range m.requests[2].Messages {
			if strings.Contains(message.Content, "empty") {
				t.Errorf("the nudge has stayed: %+v", message)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var history []string
		for i := range 200 {
			history = append(history, fmt.Sprintf("user A question %d", i), "assistant A "+strings.Repeat("word ", 20))
		}
		m := fails(wrong(llm.KindOverflow, 0))
		m.window = 4000
		b := setup{model: only(m), rows: record("r0", "", history...)}.bench(t, agentsOf("A"), nil)
		b.ok("A", "hi")
		long, short := m.requests[0].Messages, m.requests[1].Messages
		if len(short) >= len(long) || short[len(short)-1].Content != "hi" {
			t.Errorf("%d messages, then %d", len(long), len(short))
		}
	})
}

// A failed child tells the words of its last try, not those of every try.
func TestFailedTriesAreToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := fails(wrong(llm.KindTruncated, 0), wrong(llm.KindTruncated, 0), wrong(llm.KindTruncated, 0))
		sender := &scripted{answer: func(_ context.Context, n int, _ llm.Request, on func(llm.Delta)) (llm.Reply, error) {
			if n == 1 {
				return invoke(on, send("c", "B", "m"))
			}
			return utter(on, "f")
		}}
		b := setup{model: func(agent string) llm.Model { return map[string]llm.Model{"A": sender, "B": broken}[agent] }}.bench(t, twoAgents, nil)
		b.ok("A", "hi")
		out := b.outputs("A")[0]
		holds(t, "the output", out, "Error: ", "went wrong", "half")
		if n := strings.Count(out, "half"); n != 1 {
			t.Errorf("the words are told %d times: %s", n, out)
		}
	})
}

func TestCancelEndsAWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup{model: only(fails(wrong(llm.KindRateLimit, 50*time.Second)))}.bench(t, agentsOf("A"), nil)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		_, err := b.engine.Turn(ctx, turnOf(b.session, "A", "hi"))
		if got := time.Since(began); code(err) != history.CodeInterrupted || got != 3*time.Second {
			t.Errorf("ended after %s with %v", got, err)
		}
		b.ok("A", "go on")
	})
}

// A tool that does not end is left behind half a second after the stop.
func TestCancelLeavesAToolBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		m := &scripted{answer: func(_ context.Context, n int, _ llm.Request, on func(llm.Delta)) (llm.Reply, error) {
			if n == 1 {
				return invoke(on, call("c", "look", "{}"))
			}
			return utter(on, "f")
		}}
		stuck := fake{"look", func(context.Context, string) (string, error) { <-release; return "", nil }}
		b := setup{model: only(m), tools: stuck.alone()}.bench(t, "agents:\n  A: {instructions: x, tools: [look]}\n", nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := b.engine.Turn(ctx, turnOf(b.session, "A", "hi"))
		if got := time.Since(began); code(err) != history.CodeInterrupted || got > 2*time.Second {
			t.Errorf("ended after %s with %v", got, err)
		}
		holds(t, "the output", b.outputs("A")[0], "Error: ", "stopped by the user")
		b.ok("A", "go on")
	})
}

// What a row on disk lacks of what was told is never older than a second.
func TestRowsOnDiskFollowTheStream(t *testing.T) {
	t.Parallel()
	for _, pace := range []time.Duration{20 * time.Millisecond, 300 * time.Millisecond, 1700 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			type said struct {
				at     time.Duration
				length int
			}
			var b *bench
			began := time.Now()
			m := &scripted{answer: func(_ context.Context, _ int, _ llm.Request, on func(llm.Delta)) (llm.Reply, error) {
				var sofar []said
				whole := ""
				for i := range 80 {
					piece := fmt.Sprintf("word %d é ", i)
					whole += piece
					on(llm.Delta{Text: piece})
					sofar = append(sofar, said{time.Since(began), len(whole)})
					time.Sleep(pace)
					synctest.Wait()
					rows := b.rows()
					onDisk := len(rows[len(rows)-1].Content)
					for _, s := range sofar {
						if s.length > onDisk && time.Since(began)-s.at > time.Second {
							t.Fatalf("at a pace of %s: byte %d was told %s ago, on disk are %d", pace, s.length, time.Since(began)-s.at, onDisk)
						}
					}
				}
				return llm.Reply{Text: whole, Finish: llm.FinishStop}, nil
			}}
			b = setup{model: only(m)}.bench(t, agentsOf("A"), nil)
			result := b.ok("A", "hi")
			if rows := b.rows(); rows[1].Content != result.Text || rows[1].Status != history.StatusCompleted {
				t.Errorf("in the end %s, told %q", line(rows[1]), result.Text)
			}
		})
	}
}
