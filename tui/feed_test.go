package tui

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bureau/engine/history"
)

// TestFeed has four runs tell 5,000 deltas a second together, of a view that takes its time over every batch.
func TestFeed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const runs, perRun = 4, 2500 // two seconds of it
		f := NewFeed()
		ctx, cancel := context.WithCancel(t.Context())
		got := map[int64]*strings.Builder{}
		ended := map[int64]bool{}
		batches, latest := 0, time.Duration(0)
		done := make(chan struct{})
		go func() {
			defer close(done)
			f.pump(ctx, func(events []history.Event) {
				batches++
				time.Sleep(20 * time.Millisecond) // the view
				for _, e := range events {
					if ended[e.MessageID] {
						t.Errorf("%s of message %d after its end", e.Type, e.MessageID)
					}
					switch e.Type {
					case history.EventTextStart:
						got[e.MessageID] = &strings.Builder{}
					case history.EventTextContent:
						b := got[e.MessageID]
						if b == nil || b.Len() != e.Offset {
							t.Errorf("message %d: a delta at %d does not follow", e.MessageID, e.Offset)
							continue
						}
						b.WriteString(e.Delta)
						latest = max(latest, time.Since(time.UnixMicro(e.At)))
					case history.EventTextEnd:
						ended[e.MessageID] = true
						if e.Content != got[e.MessageID].String() {
							t.Errorf("message %d is not whole at its end", e.MessageID)
						}
					}
				}
			})
		}()
		var writers sync.WaitGroup
		for run := range int64(runs) {
			writers.Go(func() {
				id, text := run+1, ""
				f.Publish(history.Event{Type: history.EventTextStart, SessionID: "s", MessageID: id})
				for i := range perRun {
					delta := fmt.Sprintf("%d ", i)
					f.Publish(history.Event{
						Type: history.EventTextContent, SessionID: "s", MessageID: id, Delta: delta, Offset: len(text), At: time.Now().UnixMicro(),
					})
					text += delta
					time.Sleep(time.Second * runs / 5000)
				}
				f.Publish(history.Event{Type: history.EventTextEnd, SessionID: "s", MessageID: id, Content: text})
			})
		}
		writers.Wait()
		time.Sleep(time.Second)
		cancel()
		<-done
		if len(ended) != runs {
			t.Errorf("%d of %d messages came to their end", len(ended), runs)
		}
		if want := 2 * 1000 / 30; batches > want {
			t.Errorf("%d batches in two seconds, want at most %d", batches, want)
		}
	})
}

func TestFeedKeepsGapsAndRepeats(t *testing.T) {
	t.Parallel()
	f := NewFeed()
	content := func(id int64, offset int, delta string) {
		f.Publish(history.Event{Type: history.EventTextContent, MessageID: id, Offset: offset, Delta: delta})
	}
	content(1, 0, "ab")
	content(2, 0, "xy")
	content(1, 2, "cd")
	content(1, 9, "far") // a gap
	content(1, 12, "ther")
	content(2, 0, "xy") // a repeat
	f.Publish(history.Event{Type: history.EventTextEnd, MessageID: 1})
	content(1, 16, "late")
	var got []string
	for _, e := range f.take() {
		got = append(got, fmt.Sprintf("%d@%d%s", e.MessageID, e.Offset, e.Delta))
	}
	want := "1@0abcd 2@0xy 1@9farther 2@0xy 1@0 1@16late"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
	if rest := f.take(); len(rest) != 0 {
		t.Errorf("%d events are left", len(rest))
	}
}

func BenchmarkFeed(b *testing.B) {
	f := NewFeed()
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		offset := 0
		for p.Next() {
			f.Publish(history.Event{Type: history.EventTextContent, MessageID: 1, Delta: "delta ", Offset: offset})
			if offset += 6; offset > 60_000 {
				f.take()
				offset = 0
			}
		}
	})
}
