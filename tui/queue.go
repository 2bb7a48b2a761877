package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"bureau/tui/style"
	"bureau/tui/text"
)

// queue is the messages that wait for the turn to end. They are held back when it did not end well.
type queue struct {
	waiting []Queued
	held    bool
}

func (q *queue) push(msg Queued) { q.waiting = append(q.waiting, msg) }

// takeNewest takes the last one back.
func (q *queue) takeNewest() (Queued, bool) {
	n := len(q.waiting)
	if n == 0 {
		return Queued{}, false
	}
	msg := q.waiting[n-1]
	q.waiting = q.waiting[: n-1 : n-1]
	q.held = q.held && n > 1
	return msg, true
}

// takeNext takes the one that is to be sent.
func (q *queue) takeNext() (Queued, bool) {
	if len(q.waiting) == 0 {
		return Queued{}, false
	}
	msg := q.waiting[0]
	q.waiting = q.waiting[1:len(q.waiting):len(q.waiting)]
	return msg, true
}

// queueRows is how many rows the queue and a long word to the user would like.
func (m *model) queueRows() int {
	n := min(len(m.queue.waiting), maxQueue)
	if m.notice.text != "" && m.noticeInQueue() {
		n += min(len(m.noticeRows()), maxQueue)
	}
	return n
}

func (m *model) noticeRows() []string {
	rows := text.Wrap(m.notice.text, max(m.w-m.margin()-1, 1))
	for i, row := range rows {
		rows[i] = strings.Repeat(" ", m.margin()) + m.noticeStyle().Render(row)
	}
	return rows
}

// drawQueue draws what waits to be sent, the newest last, and above it a word that is too long for the status line.
func (m *model) drawQueue() []string {
	h, w := m.layout.Queue.Dy(), m.layout.Width
	var rows []string
	if m.notice.text != "" && m.noticeInQueue() {
		rows = m.noticeRows()
		rows = rows[:min(len(rows), max(h-min(len(m.queue.waiting), 1), 1))]
	}
	room := h - len(rows)
	for i, msg := range m.queue.waiting {
		if i == room-1 && len(m.queue.waiting) > room {
			rows = append(rows, strings.Repeat(" ", m.margin())+m.look.Faint.Render(text.Cut(fmt.Sprintf("%s %d more wait", style.SymbolEllipsis, len(m.queue.waiting)-i), w)))
			break
		}
		if i >= room {
			break
		}
		rows = append(rows, m.drawQueued(i, msg, w))
	}
	return rows
}

func (m *model) drawQueued(i int, msg Queued, w int) string {
	sign, words := style.SymbolWaiting, "waits"
	if m.queue.held {
		sign, words = style.SymbolStopped, "kept"
	}
	left := strings.Repeat(" ", m.margin()) + m.look.Warning.Render(sign+" "+words)
	if msg.Recipient != "" {
		left += m.look.Dim.Render(" "+style.SymbolArrow+" ") + m.look.name(msg.Recipient)
	}
	left += "  " + m.look.Dim.Render(text.Line(firstLine(msg.Text, 400)))
	right := ""
	if i == 0 && w >= wideColumns/2 {
		right = m.keys.Composer.Earlier.Help().Key + " edits"
		if m.queue.held {
			right = "enter sends, " + right
		}
		right = m.look.Faint.Render(right)
	}
	return ends(left, right, w-1)
}

// draftKeeper sees to it that what was typed and what waits is on disk soon after.
type draftKeeper struct {
	saved   Draft // what is on disk
	waiting bool
	saving  bool
}

// draftDelay is how long typing goes on before it is saved.
const draftDelay = 600 * time.Millisecond

type (
	saveDraftMsg  struct{}
	draftSavedMsg struct {
		session Session
		draft   Draft
		err     error
	}
)

// currentDraft is what is typed and not sent.
func (m *model) currentDraft() Draft {
	return Draft{Text: m.composer.Value(), Queue: m.queue.waiting}
}

func sameDraft(a, b Draft) bool { return a.Text == b.Text && slices.Equal(a.Queue, b.Queue) }

// keepDraft asks for the draft to be saved when it differs from what is on disk.
func (m *model) keepDraft() tea.Cmd {
	if m.session == nil || m.session.ReadOnly() != "" || m.draft.waiting || m.draft.saving || sameDraft(m.currentDraft(), m.draft.saved) {
		return nil
	}
	m.draft.waiting = true
	return tea.Tick(draftDelay, func(time.Time) tea.Msg { return saveDraftMsg{} })
}

// saveDraft writes the draft as it is now.
func (m *model) saveDraft() tea.Cmd {
	m.draft.waiting = false
	session, draft := m.session, m.currentDraft()
	if session == nil {
		return nil
	}
	m.draft.saving = true
	draft.Queue = append([]Queued(nil), draft.Queue...)
	return m.guard.cmd(func() tea.Msg {
		ctx, cancel := context.WithTimeout(m.ctx, 5*time.Second)
		defer cancel()
		return draftSavedMsg{session, draft, session.SaveDraft(ctx, draft)}
	})
}

func (m *model) draftSaved(msg draftSavedMsg) {
	if msg.session != m.session {
		return
	}
	m.draft.saving = false
	m.draft.saved = msg.draft
	if msg.err != nil {
		m.fail("the draft is not saved", msg.err)
	}
}
