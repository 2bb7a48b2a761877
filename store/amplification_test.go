package store_test

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"bureau/engine/history"
	"bureau/store"
)

// A reply as it comes from a server: 50 KB in 8,000 chunks over 12 seconds, its row brought up to date once a second.
const (
	replySize    = 50_000
	replyUpdates = 12
)

// streamReply stores a reply while it streams, and finishes its row.
func streamReply(t testing.TB, s *store.Store, session, text string) {
	t.Helper()
	m := message(session, "")
	m.Role, m.Status = history.RoleAssistant, history.StatusStreaming
	m = add(t, s, m)
	for i := 1; i <= replyUpdates+1; i++ {
		m.Content = text[:min(len(text)*i/replyUpdates, len(text))]
		if i > replyUpdates {
			m.Status = history.StatusCompleted
		}
		if err := s.Update(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
}

func reply(size int) string {
	const words = "The quick brown fox jumps over the lazy dog while 42 agents talk to one another. "
	return strings.Repeat(words, size/len(words)+1)[:size]
}

// logged reads the write-ahead log: the bytes that were written to it, and those that a checkpoint will write to the file.
func logged(t testing.TB, path string) (log, file int) {
	t.Helper()
	b, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	const header, frameHeader = 32, 24
	if len(b) < header {
		return 0, 0
	}
	page := int(binary.BigEndian.Uint32(b[8:]))
	pages := map[uint32]bool{}
	for at := header; at+frameHeader+page <= len(b); at += frameHeader + page {
		pages[binary.BigEndian.Uint32(b[at:])] = true
	}
	return len(b), len(pages) * page
}

// quiet keeps the log from being moved into the file, so that it shows every write, and empties it.
func quiet(t testing.TB, s *store.Store) {
	t.Helper()
	for _, pragma := range []string{"PRAGMA wal_autocheckpoint = 0", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := s.Writer().ExecContext(t.Context(), pragma); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStreamedReplyWritesLittle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		size  int
		times int
	}{
		{"short", 2_000, 60}, // a page at a time, and the pages of a new row
		{"of two pages", 4_000, 35},
		{"usual", replySize, 8},
		{"long", 500_000, 8},
		{"very long", 2_000_000, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openStore(t)
			newSession(t, s, "s1")
			for range 20 {
				add(t, s, message("s1", reply(600)))
			}
			quiet(t, s)
			streamReply(t, s, "s1", reply(c.size))
			log, file := logged(t, s.Path())
			t.Logf("%d bytes: %.1f times in the log, %.1f in the file", c.size, float64(log)/float64(c.size), float64(file)/float64(c.size))
			if log+file > c.times*c.size {
				t.Errorf("%d + %d bytes written for %d: more than %d times", log, file, c.size, c.times)
			}
		})
	}
}
