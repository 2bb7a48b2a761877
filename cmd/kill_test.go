package cmd_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"bureau/engine/llm/llmtest"
)

// strictest is what the templates of local models refuse, beside what all servers do.
var strictest = []llmtest.Option{llmtest.RefuseNullContent(), llmtest.StrictTemplate()}

// TestKilled kills the program in the middle of a delegating turn, at moments spread over the whole of it, and holds what is on
// record then, and what becomes of it, against what a user is promised.
func TestKilled(t *testing.T) {
	rounds := 20
	if testing.Short() || slowed {
		rounds = 4
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var all errgroup.Group
	all.SetLimit(5) // most of a round is waiting
	var told atomic.Int64
	for i := range rounds {
		const longest = 3 * time.Second
		moment := time.Duration((float64(i) + random.Float64()) / float64(rounds) * float64(longest))
		all.Go(func() error {
			t.Run(fmt.Sprintf("after %v", moment.Round(time.Millisecond)), func(t *testing.T) {
				told.Add(int64(killedAt(t, moment, i%2 == 0)))
			})
			return nil
		})
	}
	_ = all.Wait() // a round fails by itself
	if told.Load() == 0 {
		t.Error("no round told anything a second before its end: nothing was proven")
	}
}

// toldLine is a line of events, and when it was read.
type toldLine struct {
	at   time.Time
	text string
}

// killedAt is one round; it returns how many events were told more than a second before the kill.
func killedAt(t *testing.T, moment time.Duration, fresh bool) int {
	var slow atomic.Bool
	ticks := pace(t, 5*time.Millisecond)
	server := llmtest.NewServer(t, func(r *llmtest.Request) llmtest.Response {
		resp := team(r)
		if slow.Load() {
			resp.Text += strings.Repeat("and so on and on; ", 25)
			resp.Pause, resp.ChunkSize = ticks, 8
		}
		return resp
	}, strictest...)
	u := newUser(t, map[string]string{"desk.yaml": deskFile, "a.txt": "hello\n"})
	u.env = append(u.env, "OPENAI_BASE_URL="+server.URL)
	ask := []string{"ask", "-a", "desk.yaml", "--model", "openai/test", "--continue"}
	turn := func(message string) {
		t.Helper()
		_, errOut, code := u.run(append(ask, message)...)
		if refused := server.Refused(); code != 0 || len(refused) > 0 {
			t.Fatalf("%s: exit %d, refused %q: %s", message, code, refused, errOut)
		}
	}
	if !fresh {
		turn("before")
	}
	slow.Store(true)
	lines, killed := u.killAfter(moment, append(ask, "--json", "the long way")...)
	slow.Store(false)
	if n := len(lines); n > 0 && strings.Contains(lines[n-1].text, "RUN_FINISHED") {
		t.Log("the turn was over before")
	}
	turn("first after") // makes the database where the program was killed before it did

	if check := u.rows("PRAGMA integrity_check"); len(check) != 1 || check[0] != "ok" {
		t.Fatalf("integrity_check: %q", check)
	}
	early := u.checkTold(lines, killed)
	before := u.rows(everyRow)
	turn("second after")
	turn("third after")
	for i, row := range u.rows(everyRow)[:len(before)] {
		if row != before[i] {
			t.Errorf("a row was changed:\n%s\n%s", before[i], row)
		}
	}
	if many := u.rows(manyTimes); len(many) > 0 {
		t.Errorf("calls with more than one output: %q", many)
	}
	if sessions := u.rows("SELECT id FROM sessions"); len(sessions) != 1 {
		t.Errorf("the turns are spread over the sessions %q", sessions)
	}
	return early
}

// pace returns a channel that can be received from once in an interval, whoever receives.
func pace(t *testing.T, interval time.Duration) <-chan struct{} {
	ticks, tick := make(chan struct{}), time.NewTicker(interval)
	stop := t.Context().Done()
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			select {
			case <-stop:
				return
			case ticks <- struct{}{}:
			}
		}
	}()
	return ticks
}

// killAfter starts the program and kills it after a while. It returns what it told, and the moment of the kill.
func (u *user) killAfter(moment time.Duration, args ...string) ([]toldLine, time.Time) {
	u.t.Helper()
	c := u.command(args...)
	out, err := c.StdoutPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		u.t.Fatal(err)
	}
	var lines []toldLine
	done := make(chan struct{})
	go func() {
		defer close(done)
		scanner := bufio.NewScanner(out)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			lines = append(lines, toldLine{time.Now(), scanner.Text()})
		}
	}()
	select {
	case <-time.After(moment):
	case <-done: // the turn was over before
	}
	killed := time.Now()
	_ = c.Process.Kill() // fails only where it has ended
	<-done
	_ = c.Wait() // it was killed
	return lines, killed
}

const (
	everyRow  = `SELECT id, session_id, agent, caller_agent, type, role, content, call_id, name, arguments, run_id, parent_run_id, parent_call_id, trace_id, origin, protocol, status, extra, created_at FROM messages ORDER BY id`
	manyTimes = `SELECT call_id, count(*) FROM messages WHERE type = 'function_call_output' GROUP BY session_id, call_id HAVING count(*) > 1`
)

// checkTold holds the rows against what was told of them before the kill. It returns how many events were told more than a
// second before.
func (u *user) checkTold(lines []toldLine, killed time.Time) int {
	u.t.Helper()
	contents := map[string]string{} // by row id
	for _, row := range u.rows("SELECT id, coalesce(content, '') FROM messages") {
		id, content, _ := strings.Cut(row, "|")
		contents[id] = content
	}
	early, texts := 0, map[string]string{}
	for i, line := range lines {
		e, err := readEvent(line.text)
		if err != nil {
			if i == len(lines)-1 { // the kill cut it short
				break
			}
			u.t.Fatal(err)
		}
		if e.MessageID == "" {
			continue
		}
		content, ok := contents[e.MessageID]
		if !ok {
			u.t.Errorf("the row %s was told and is not there: %s", e.MessageID, line.text)
		}
		if e.Type == "TOOL_CALL_RESULT" && content != e.Content {
			u.t.Errorf("the result %s was told as %q and is %q", e.MessageID, e.Content, content)
		}
		if killed.Sub(line.at) > time.Second {
			early++
			if e.Type == "TEXT_MESSAGE_CONTENT" || e.Type == "REASONING_MESSAGE_CONTENT" {
				texts[e.MessageID] += e.Delta
			}
		}
	}
	for id, text := range texts {
		if !strings.HasPrefix(contents[id], text) {
			u.t.Errorf("of the row %s %d bytes were told a second before the kill, and these are there: %q", id, len(text), contents[id])
		}
	}
	return early
}
