package tui

import (
	"context"
	"sync"
	"time"

	"bureau/engine/history"
)

// frame is how long the pump rests between two batches: one frame of the terminal.
const frame = 16 * time.Millisecond

// Feed carries events from the engine to the terminal. Publish is safe for concurrent use and never blocks and never
// drops: text that is added to the same message while the terminal is busy is joined in place, so that what waits is
// bounded by the text itself. Order is total within a message; the start of every message keeps its place among the others.
type Feed struct {
	mu    sync.Mutex
	queue []pending
	open  map[deltaKey]int // the place in queue where more text of a message may be added
	wake  chan struct{}
}

type deltaKey struct {
	session string
	message int64
	kind    history.EventType
}

// pending is an event whose delta may still grow.
type pending struct {
	event history.Event
	added []byte
}

// NewFeed returns an empty feed.
func NewFeed() *Feed {
	return &Feed{open: map[deltaKey]int{}, wake: make(chan struct{}, 1)}
}

// Publish hands over one event.
func (f *Feed) Publish(e history.Event) {
	f.mu.Lock()
	f.add(e)
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *Feed) add(e history.Event) {
	key := deltaKey{e.SessionID, e.MessageID, e.Type}
	switch e.Type {
	case history.EventTextContent, history.EventReasoningContent, history.EventCallArgs:
		if i, ok := f.open[key]; ok {
			p := &f.queue[i]
			if p.event.Offset+len(p.event.Delta)+len(p.added) == e.Offset {
				p.added = append(p.added, e.Delta...)
				return
			}
		}
		f.open[key] = len(f.queue)
	case history.EventTextEnd:
		delete(f.open, deltaKey{e.SessionID, e.MessageID, history.EventTextContent})
	case history.EventReasoningEnd:
		delete(f.open, deltaKey{e.SessionID, e.MessageID, history.EventReasoningContent})
	case history.EventCallEnd:
		delete(f.open, deltaKey{e.SessionID, e.MessageID, history.EventCallArgs})
	}
	f.queue = append(f.queue, pending{event: e})
}

// take empties the feed.
func (f *Feed) take() []history.Event {
	f.mu.Lock()
	queue := f.queue
	f.queue = nil
	clear(f.open)
	f.mu.Unlock()
	events := make([]history.Event, len(queue))
	for i, p := range queue {
		events[i] = p.event
		if len(p.added) > 0 {
			events[i].Delta += string(p.added)
		}
	}
	return events
}

// pump passes on what waits, in batches, until the context ends. It is the only one that calls send, which may block.
func (f *Feed) pump(ctx context.Context, send func([]history.Event)) {
	rest := time.NewTimer(0)
	defer rest.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-rest.C:
		}
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
		}
		if events := f.take(); len(events) > 0 {
			send(events)
		}
		rest.Reset(frame)
	}
}
