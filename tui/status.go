package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"bureau/tui/style"
	"bureau/tui/text"
	"bureau/tui/thread"
)

// notice is a word to the user that goes by itself.
type notice struct {
	text  string
	bad   bool
	until time.Time
	timed time.Time // the end for which a timer runs
}

// How long a word stays.
const (
	noticeTime  = 4 * time.Second
	failureTime = 12 * time.Second
)

type noticeOverMsg struct{}

// say tells the user something for a while.
func (m *model) say(words string) {
	m.notice.text, m.notice.bad, m.notice.until = text.Line(words), false, m.look.now.Add(noticeTime)
}

// fail tells the user what did not work.
func (m *model) fail(what string, err error) {
	m.notice.text, m.notice.bad = text.Line(what+": "+err.Error()), true
	m.notice.until = m.look.now.Add(failureTime)
}

func (n *notice) expire(now time.Time) {
	if !now.Before(n.until) {
		n.text = ""
	}
}

// keep asks for a message at the time when the word is to go.
func (n *notice) keep() tea.Cmd {
	if n.text == "" || n.timed.Equal(n.until) {
		return nil
	}
	n.timed = n.until
	return tea.Tick(time.Until(n.until), func(time.Time) tea.Msg { return noticeOverMsg{} })
}

// part is one thing in the status line; the one with the lowest rank stays longest when room is short.
type part struct {
	rank int
	text string
}

// drawStatus draws the status line: where one is at the left, what goes on at the right.
func (m *model) drawStatus(w int) string {
	bar := m.look.bar()
	right := m.statusRight(w)
	margin := strings.Repeat(" ", max(m.margin(), 1))
	room := w - 1 - len(margin)
	if right != "" {
		room -= text.Width(right) + 2
	}
	parts := m.statusParts()
	for len(parts) > 0 {
		width := 3 * (len(parts) - 1)
		worst := 0
		for i, p := range parts {
			width += text.Width(p.text)
			if p.rank > parts[worst].rank {
				worst = i
			}
		}
		if width <= room {
			break
		}
		parts = slices.Delete(parts, worst, worst+1)
	}
	left := make([]string, len(parts))
	for i, p := range parts {
		left[i] = p.text
	}
	line := bar.Render(margin) + strings.Join(left, bar.Foreground(m.look.Faint.GetForeground()).Render(" · "))
	gap := w - text.Width(line) - text.Width(right) - 1
	if gap < 0 {
		return text.Pad(line+right, w)
	}
	return line + bar.Render(strings.Repeat(" ", gap)) + right + bar.Render(" ")
}

func (m *model) statusParts() []part {
	bar := m.look.bar()
	parts := []part{{3, bar.Bold(true).Render(text.Cut(text.Line(m.agency.Name), 24))}}
	if m.recipient != "" {
		parts = append(parts, part{1, m.look.Agent(m.recipient).Inherit(bar).Render(text.Cut(text.Line(m.recipient), 24))})
	}
	if m.session != nil {
		switch info := m.session.Model(m.recipient); {
		case info.Offline:
			parts = append(parts, part{2, bar.Foreground(m.look.Warning.GetForeground()).Render("offline script")})
		case info.Ref != "":
			parts = append(parts, part{4, bar.Render(text.Cut(text.Line(info.Ref), 40))})
			if info.Window > 0 && m.window > 0 {
				share := fmt.Sprintf("ctx %d%%", m.window*100/int64(info.Window))
				parts = append(parts, part{5, bar.Render(share + " of " + text.Tokens(int64(info.Window)))})
			} else if m.window > 0 {
				parts = append(parts, part{5, bar.Render("ctx " + text.Tokens(m.window))})
			}
		}
	}
	if n := m.total.Tokens(); n > 0 {
		parts = append(parts, part{6, bar.Render(text.Tokens(n) + " tok")})
	}
	if m.total.Cost != nil && *m.total.Cost > 0 {
		parts = append(parts, part{7, bar.Render(money(*m.total.Cost))})
	}
	return parts
}

// money writes US dollars, with as many digits as tell something.
func money(dollars float64) string {
	if dollars < 0.1 {
		return fmt.Sprintf("$%.4f", dollars)
	}
	return fmt.Sprintf("$%.2f", dollars)
}

// statusRight is what goes on: a word to the user, what the agents are doing, or the keys that are worth a hint.
func (m *model) statusRight(w int) string {
	bar := m.look.bar()
	if m.notice.text != "" && !m.noticeInQueue() {
		return m.noticeStyle().Inherit(bar).Render(m.notice.text)
	}
	if m.busy() {
		words := m.activity()
		sign := m.look.Running.Inherit(bar).Render(style.Spinner(int(m.look.tick)))
		return sign + bar.Render(" "+text.Cut(words, max(w/2-2, min(w-3, 12))))
	}
	if w < 60 {
		return ""
	}
	if m.focus == focusComposer {
		return bar.Render(m.keys.Global.Help.Help().Key + " help")
	}
	var hints []string
	for _, h := range m.threadHints() {
		hints = append(hints, h.label()+" "+h.does)
	}
	return bar.Render(join(hints, w/2))
}

// activity says who is doing what.
func (m *model) activity() string {
	working := m.data.Working()
	if len(working) == 0 {
		return "sending"
	}
	var busiest *thread.Run // a run that waits for those below it is not what one wants to know of
	acting := 0
	parents := map[string]bool{}
	for _, run := range working {
		parents[run.ParentID] = true
	}
	for _, run := range working {
		if !parents[run.ID] {
			busiest = run
			acting++
		}
	}
	if busiest == nil {
		busiest = working[0]
	}
	words := text.Line(busiest.Now) + " " + m.doing(busiest)
	if acting > 1 {
		words = fmt.Sprintf("%s · %d working", words, acting)
	}
	return words
}

// doing says what a run is doing. One that asked others waits for them, whatever its call is named.
func (m *model) doing(run *thread.Run) string {
	var asked []string
	for _, other := range m.data.Working() {
		if other.ParentID == run.ID {
			asked = append(asked, text.Line(other.Now))
		}
	}
	if len(asked) > 0 {
		return "waits for " + text.Cut(strings.Join(asked, " and "), 32)
	}
	switch run.Doing {
	case thread.Thinking:
		return "thinks"
	case thread.Writing:
		return "writes"
	case thread.Calling:
		return "calls " + text.Cut(text.Line(run.Tool), 24)
	case thread.Using:
		return "uses " + text.Cut(text.Line(run.Tool), 24)
	case thread.Resting:
		return "tries again"
	}
	if waited := m.look.since(run.Since, 0); waited >= 2*time.Second {
		return "waits for the model " + text.Elapsed(waited.Truncate(time.Second))
	}
	return "waits for the model"
}

func (m *model) noticeStyle() lipgloss.Style {
	if m.notice.bad {
		return m.look.Error
	}
	return m.look.Accent
}

// noticeInQueue tells whether a word is too long for the status line and stands above the composer.
func (m *model) noticeInQueue() bool {
	return m.h < 3 || text.Width(m.notice.text) > m.w/2
}
