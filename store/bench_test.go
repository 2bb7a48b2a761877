package store_test

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bureau/engine/history"
	"bureau/store"
)

var benchRows = flag.Int("store.rows", 100_000, "rows of the file that the benchmarks read; half of them are one session's")

// benchFolder is where benchFile is; TestMain removes it.
var benchFolder string

// benchFile is a file with one large session and many small ones, made once for all benchmarks.
var benchFile = sync.OnceValues(func() (path string, err error) {
	if benchFolder, err = os.MkdirTemp("", "bureau-bench"); err != nil {
		return "", err
	}
	path = filepath.Join(benchFolder, "bureau.db")
	s, err := store.Open(context.Background(), path)
	if err != nil {
		return "", err
	}
	random := rand.New(rand.NewPCG(1, 2))
	fill := func(id string, rows int) error {
		v := history.Session{ID: id, Agency: "tour", Folder: "/home", Title: "a title " + id, Recipient: "Guide"}
		if err := s.CreateSession(context.Background(), v); err != nil {
			return err
		}
		for _, batch := range slices.Collect(slices.Chunk(generate(random, id, rows), 5000)) {
			if err := s.AppendAll(context.Background(), batch); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range *benchRows / 2 / 100 {
		if err := fill(fmt.Sprintf("small%06d", i), 100); err != nil {
			return "", err
		}
	}
	if err := fill("large", *benchRows/2); err != nil {
		return "", err
	}
	for i := range *benchRows / 10 {
		r := history.Request{
			SessionID: "large", RunID: fmt.Sprintf("run_%032d", i*7%(*benchRows/20)), TraceID: "t", Agent: "Guide", Provider: "p", Model: "m",
			Usage: history.Usage{InputTokens: 1000, OutputTokens: 100}, Outcome: history.OutcomeOK,
		}
		if err := s.RecordRequest(context.Background(), &r); err != nil {
			return "", err
		}
	}
	return path, s.Close()
})

// generate makes rows as turns have them: the user's message, delegations with calls and answers, an answer.
func generate(random *rand.Rand, session string, n int) []*history.Message {
	agents := []string{"Editor", "Reporter", "Checker", "Desk"}
	rows := make([]*history.Message, 0, n)
	for turn := 0; len(rows) < n; turn++ {
		run, trace := history.NewRunID(), history.NewTraceID()
		put := func(m history.Message) {
			m.SessionID, m.TraceID, m.Protocol, m.Status = session, trace, history.ProtocolChatCompletions, history.StatusCompleted
			rows = append(rows, &m)
		}
		text := func() string { return reply(50 + random.IntN(700)) }
		put(history.Message{Agent: "Editor", Type: history.TypeMessage, Role: history.RoleUser, Content: text(), RunID: run})
		for range 1 + random.IntN(3) {
			call, to := history.NewCallID(), agents[1+random.IntN(3)]
			child := history.Message{Agent: to, CallerAgent: "Editor", RunID: history.NewRunID(), ParentRunID: run, ParentCallID: call}
			put(history.Message{Agent: "Editor", Type: history.TypeCall, CallID: call, Name: "send_message", Arguments: `{"message":"` + text() + `"}`, RunID: run})
			task, use, output, answer := child, child, child, child
			task.Type, task.Role, task.Content = history.TypeMessage, history.RoleUser, text()
			use.Type, use.CallID, use.Name, use.Arguments = history.TypeCall, history.NewCallID(), "read_file", `{"path":"main.go"}`
			output.Type, output.CallID, output.Content = history.TypeOutput, use.CallID, text()
			answer.Type, answer.Role, answer.Content = history.TypeMessage, history.RoleAssistant, text()
			for _, m := range []history.Message{task, use, output, answer} {
				put(m)
			}
			put(history.Message{Agent: "Editor", Type: history.TypeOutput, CallID: call, Name: "send_message", Content: text(), RunID: run})
		}
		put(history.Message{Agent: "Editor", Type: history.TypeMessage, Role: history.RoleAssistant, Content: text(), RunID: run})
	}
	return rows[:n]
}

func benchStore(b *testing.B) *store.Store {
	b.Helper()
	path, err := benchFile()
	if err != nil {
		b.Fatal(err)
	}
	return openAt(b, path)
}

// measure reports percentiles beside the mean.
func measure(b *testing.B, f func() error) {
	b.Helper()
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(took[len(took)*95/100].Nanoseconds()), "p95-ns")
}

func BenchmarkAppend(b *testing.B) {
	s := benchStore(b)
	random := rand.New(rand.NewPCG(3, 4))
	id := history.NewSessionID()
	newSession(b, s, id)
	rows := generate(random, id, 10_000)
	i := 0
	measure(b, func() error {
		m := *rows[i%len(rows)]
		i++
		return s.Append(b.Context(), &m)
	})
}

func BenchmarkRows(b *testing.B) {
	s := benchStore(b)
	for name, c := range map[string]struct {
		thread history.Thread
		before int64
	}{
		"user newest": {history.UserThread, 0},
		"user before": {history.UserThread, int64(*benchRows * 3 / 4)},
		"pair newest": {history.Pair("Editor", "Checker"), 0},
		"pair before": {history.Pair("Editor", "Checker"), int64(*benchRows * 3 / 4)},
	} {
		b.Run(name, func(b *testing.B) {
			measure(b, func() error {
				rows, err := s.Rows(b.Context(), "large", c.thread, c.before, 200)
				if err == nil && len(rows) != 200 {
					b.Fatalf("%d rows", len(rows))
				}
				return err
			})
		})
		b.Run(name+" bare", func(b *testing.B) {
			db, err := sql.Open("sqlite", s.Path())
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			query := `SELECT * FROM messages INDEXED BY messages_user WHERE session_id = 'large' AND caller_agent IS NULL AND id < ? ORDER BY id DESC LIMIT 200`
			if !c.thread.IsUser() {
				query = `SELECT * FROM messages INDEXED BY messages_pair WHERE session_id = 'large' AND caller_agent IS NOT NULL
					AND min(agent, caller_agent) = 'Checker' AND max(agent, caller_agent) = 'Editor' AND id < ? ORDER BY id DESC LIMIT 200`
			}
			st, err := db.Prepare(query)
			if err != nil {
				b.Fatal(err)
			}
			before := c.before
			if before == 0 {
				before = 1 << 60
			}
			measure(b, func() error {
				rows, err := st.Query(before)
				if err != nil {
					return err
				}
				defer rows.Close()
				var dest [20]any
				for rows.Next() {
					if err := rows.Scan(&dest[0], &dest[1], &dest[2], &dest[3], &dest[4], &dest[5], &dest[6], &dest[7], &dest[8], &dest[9], &dest[10],
						&dest[11], &dest[12], &dest[13], &dest[14], &dest[15], &dest[16], &dest[17], &dest[18], &dest[19]); err != nil {
						return err
					}
				}
				return rows.Err()
			})
		})
	}
}

func BenchmarkRun(b *testing.B) {
	s := benchStore(b)
	rows, err := s.Rows(b.Context(), "large", history.UserThread, 0, 300)
	if err != nil {
		b.Fatal(err)
	}
	i := 0
	measure(b, func() error {
		i++
		_, err := s.Run(b.Context(), "large", rows[i%len(rows)].RunID)
		return err
	})
}

// BenchmarkOpen is all that a terminal asks for to show a session, from a closed file.
func BenchmarkOpen(b *testing.B) {
	path, err := benchFile()
	if err != nil {
		b.Fatal(err)
	}
	measure(b, func() error {
		s, err := store.Open(b.Context(), path)
		if err != nil {
			return err
		}
		defer s.Close()
		return openSession(b.Context(), s, "large")
	})
}

func BenchmarkOpenParts(b *testing.B) {
	s := benchStore(b)
	var calls []string
	rows, err := s.Rows(b.Context(), "large", history.UserThread, 0, 200)
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range rows {
		if m.Type == history.TypeCall {
			calls = append(calls, m.CallID)
		}
	}
	for name, f := range map[string]func() error{
		"session":       func() error { _, err := s.Session(b.Context(), "large"); return err },
		"sessions":      func() error { _, err := s.Sessions(b.Context(), store.SessionFilter{Limit: 50}); return err },
		"conversations": func() error { _, err := s.Conversations(b.Context(), "large"); return err },
		"delegations":   func() error { _, err := s.Delegations(b.Context(), "large", calls); return err },
		"usage":         func() error { _, err := s.Usage(b.Context(), "large"); return err },
		"last": func() error {
			_, err := s.LastDelegation(b.Context(), "large", history.Pair("Editor", "Checker"))
			return err
		},
	} {
		b.Run(name, func(b *testing.B) { measure(b, f) })
	}
}

func openSession(ctx context.Context, s *store.Store, id string) error {
	if _, err := s.Session(ctx, id); err != nil {
		return err
	}
	rows, err := s.Rows(ctx, id, history.UserThread, 0, 200)
	if err != nil {
		return err
	}
	var calls []string
	for _, m := range rows {
		if m.Type == history.TypeCall && len(calls) < 20 {
			calls = append(calls, m.CallID)
		}
	}
	if _, err := s.Delegations(ctx, id, calls); err != nil {
		return err
	}
	threads, err := s.Conversations(ctx, id)
	if err != nil {
		return err
	}
	for _, c := range threads {
		if _, err := s.LastDelegation(ctx, id, c.Thread); err != nil {
			return err
		}
	}
	_, err = s.Usage(ctx, id)
	return err
}

// BenchmarkStreamedReply reports what a reply of 50 KB writes, in times its size: to the log, and to the disk with the file's share of it.
func BenchmarkStreamedReply(b *testing.B) {
	s := openStore(b)
	newSession(b, s, "s1")
	quiet(b, s)
	text := reply(replySize)
	before, _ := logged(b, s.Path())
	written, n := diskWrites(), 0
	for b.Loop() {
		streamReply(b, s, "s1", text)
		n++
	}
	after, _ := logged(b, s.Path())
	b.ReportMetric(float64(after-before)/float64(n)/replySize, "log-x")
	if _, err := s.Writer().ExecContext(b.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(diskWrites()-written)/float64(n)/replySize, "disk-x")
}

// diskWrites is what this process has sent to disk, in bytes; 0 where the system does not tell.
func diskWrites() (n int) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "write_bytes: %d", &n); err == nil {
			return n
		}
	}
	return 0
}
