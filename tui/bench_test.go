package tui

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"bureau/engine/history"
)

// still is a backend that does nothing.
type still struct {
	Backend
	Session
	rows []history.Message
}

func (s *still) Agency() Agency {
	return Agency{Name: "tour", Agents: []Agent{{Name: "Guide", EntryPoint: true}, {Name: "Scout"}}}
}
func (s *still) Open(context.Context, string) (Session, error) { return s, nil }
func (s *still) Inputs(context.Context, int) ([]string, error) { return nil, nil }
func (s *still) Info() history.Session                         { return history.Session{ID: "s", Recipient: "Guide"} }
func (s *still) ReadOnly() string                              { return "" }
func (s *still) Model(string) ModelInfo                        { return ModelInfo{Ref: "openai/gpt-5-mini", Window: 128000} }

func (s *still) Rows(_ context.Context, t history.Thread, before int64, limit int) ([]history.Message, error) {
	end := len(s.rows)
	if before > 0 {
		end = int(before) - 1
	}
	return s.rows[max(end-limit, 0):end], nil
}

func (s *still) Conversations(context.Context) ([]history.Conversation, error) { return nil, nil }
func (s *still) Usage(context.Context) (history.Usage, int64, error)           { return history.Usage{}, 0, nil }
func (s *still) Draft(context.Context) (Draft, error)                          { return Draft{}, nil }
func (s *still) SaveDraft(context.Context, Draft) error                        { return nil }

const words = "A paragraph of an **answer** with `code` in it, long enough to be wrapped into a row or two of the screen, as most are.\n\n- one\n- two\n\nAnd so on.\n\n"

// loaded is a session with n rows: questions and answers in turn.
func loaded(n int) *still {
	s := &still{}
	for i := range n {
		row := history.Message{ID: int64(i + 1), Agent: "Guide", Type: history.TypeMessage, Role: history.RoleUser, Content: "A question?", Status: history.StatusCompleted}
		if i%2 == 1 {
			row.Role, row.Content = history.RoleAssistant, words
		}
		s.rows = append(s.rows, row)
	}
	return s
}

func modelOf(b *testing.B, s *still, w, h int) *model {
	b.Helper()
	o := Options{Backend: s}.filled()
	m := newModel(b.Context(), o, &guard{log: slog.New(slog.DiscardHandler)})
	first, err := open(b.Context(), s, "s")
	if err != nil {
		b.Fatal(err)
	}
	m.show(first)
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	m.View()
	return m
}

// BenchmarkView draws a frame of a conversation of which all 50,000 rows are loaded.
func BenchmarkView(b *testing.B) {
	s := loaded(50_000)
	m := modelOf(b, s, 160, 50)
	m.data.Load(history.UserThread, s.rows, false)
	m.arrange()
	m.dirty = true
	m.View()
	b.ReportAllocs()
	for b.Loop() {
		m.dirty = true
		m.View()
	}
}

// BenchmarkScroll draws frames while the view moves through a long conversation.
func BenchmarkScroll(b *testing.B) {
	s := loaded(50_000)
	m := modelOf(b, s, 160, 50)
	m.data.Load(history.UserThread, s.rows, false)
	m.arrange()
	for b.Loop() {
		m.user.scroll(-3)
		m.dirty = true
		m.View()
	}
}

// BenchmarkStreamingTick takes in what a frame's time brings of four runs at once, and draws it.
func BenchmarkStreamingTick(b *testing.B) {
	for _, size := range []int{1 << 10, 50 << 10} {
		b.Run(fmt.Sprintf("%d KB", size>>10), func(b *testing.B) {
			m := modelOf(b, loaded(1000), 160, 50)
			var events []history.Event
			offsets := [4]int{}
			for run := range 4 {
				e := history.Event{
					Type: history.EventSubagentStarted, SessionID: "s", RunID: "top", SubagentRunID: fmt.Sprint(run),
					Agent: fmt.Sprint("Scout", run), CallerAgent: "Guide", At: time.Now().UnixMicro(),
				}
				if run == 0 {
					m.Update(batchMsg{{Type: history.EventRunStarted, SessionID: "s", RunID: "top", Agent: "Guide", At: e.At}})
				}
				start := e
				start.Type, start.MessageID, start.Role = history.EventTextStart, int64(2000+run), history.RoleAssistant
				delta := start
				delta.Type, delta.Delta = history.EventTextContent, ""
				for len(delta.Delta) < size {
					delta.Delta += words
				}
				offsets[run] = len(delta.Delta)
				m.Update(batchMsg{e, start, delta})
				delta.Delta = "a few more words "
				events = append(events, delta)
			}
			m.View()
			b.ReportAllocs()
			for b.Loop() {
				for run := range events {
					events[run].Offset = offsets[run]
					offsets[run] += len(events[run].Delta)
				}
				m.Update(batchMsg(events))
				m.View()
			}
		})
	}
}

// BenchmarkOpen shows a session of 100,000 rows: its newest page, in a first frame.
func BenchmarkOpen(b *testing.B) {
	s := loaded(100_000)
	for b.Loop() {
		modelOf(b, s, 160, 50)
	}
}
