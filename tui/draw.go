package tui

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"bureau/tui/style"
	"bureau/tui/text"
)

// draw draws the screen: exactly as many rows as it is high, each at most as wide, and the cell of the cursor.
func (m *model) draw() ([]string, *tea.Cursor) {
	l := m.layout
	rows := make([]string, l.Height)
	put := func(y int, drawn []string, h int) {
		for i := 0; i < h; i++ {
			if i < len(drawn) {
				rows[y+i] = drawn[i]
			}
		}
	}
	if !l.Thread.Empty() {
		put(l.Thread.Min.Y, m.drawThread(), l.Thread.Dy())
	}
	if !l.Panes.Empty() {
		for i, row := range m.drawPanes() {
			y := l.Panes.Min.Y + i
			if l.Wide {
				row = text.Pad(rows[y], l.Panes.Min.X) + row
			}
			rows[y] = row
		}
	}
	put(l.Queue.Min.Y, m.drawQueue(), l.Queue.Dy())
	if !l.Rule.Empty() {
		rows[l.Rule.Min.Y] = m.drawRule()
	}
	put(l.Composer.Min.Y, m.drawComposer(), l.Composer.Dy())
	if !l.Status.Empty() {
		rows[l.Status.Min.Y] = m.drawStatus(l.Width)
	}
	cursor := m.drawCursor()
	m.drawCompletion(rows)
	if !m.overlays.Empty() {
		cursor = m.drawOverlay(rows)
	}
	for i, row := range rows {
		if text.Width(row) > l.Width {
			rows[i] = text.Cut(row, l.Width)
		}
	}
	return rows, cursor
}

func (m *model) drawThread() []string {
	r := m.layout.Thread
	if m.user == nil || m.user.list.Len() == 0 && len(m.user.data.Items) == 0 {
		return m.drawWelcome(r.Dx(), r.Dy())
	}
	return m.user.rows(r.Dx(), r.Dy(), m.focus == focusThread)
}

// drawRule draws the line above the composer, which meets the one beside the panes.
func (m *model) drawRule() string {
	line := m.look.Border
	if m.focus == focusComposer {
		line = m.look.BorderFocus
	}
	rule := []rune(strings.Repeat(style.SymbolRule, m.layout.Width))
	_, drawer := m.composer.Completion()
	if x := m.layout.Panes.Min.X; m.layout.Wide && m.layout.Queue.Empty() && !drawer && x < len(rule) {
		rule[x] = '┴'
	}
	return line.Render(string(rule))
}

func (m *model) drawComposer() []string {
	rows := slices.Clone(m.composer.View())
	for i, row := range rows {
		rows[i] = strings.Repeat(" ", m.margin()) + row
	}
	return rows
}

func (m *model) drawCursor() *tea.Cursor {
	c := m.composer.Cursor()
	if c == nil || m.focus != focusComposer || m.layout.Composer.Empty() {
		return nil
	}
	c.X = min(c.X+m.layout.Composer.Min.X+m.margin(), m.layout.Width-1)
	c.Y = min(c.Y, m.layout.Composer.Dy()-1) + m.layout.Composer.Min.Y
	return c
}

// drawOverlay lays the topmost dialog over the screen above the status line.
func (m *model) drawOverlay(rows []string) *tea.Cursor {
	h := m.layout.Height
	box, x, y, cursor := m.overlays.View(m.layout.Width, h)
	for i, row := range box {
		if y+i >= len(rows) {
			break
		}
		end := x + text.Width(row)
		rows[y+i] = slice(rows[y+i], 0, x) + row + slice(rows[y+i], end, m.layout.Width)
	}
	return cursor
}

// drawWelcome fills the empty thread: who is there, and how to begin.
func (m *model) drawWelcome(w, h int) []string {
	l := m.look
	inner := max(min(w-4, 76), 1)
	var rows []string
	add := func(s string) { rows = append(rows, text.Cut(s, inner)) }
	add(l.Title.Render(text.Line(m.agency.Name)))
	if h > 8 {
		for _, row := range text.Wrap(text.Sanitise(m.agency.Description), inner) {
			rows = append(rows, l.Dim.Render(row))
		}
	}
	add("")
	width := 0
	for _, a := range m.agency.Agents {
		width = min(max(width, text.Width(text.Line(a.Name))), inner/3)
	}
	offered := m.drawStarters(inner, h-len(rows)-4-min(len(m.agency.Agents), 2))
	room := h - len(rows) - 4 - len(offered)
	for i, a := range m.agency.Agents {
		if i >= room-1 && len(m.agency.Agents) > room {
			add(l.Faint.Render(fmt.Sprintf("%s %d more: /agency", style.SymbolEllipsis, len(m.agency.Agents)-i)))
			break
		}
		sign := l.Faint.Render(style.SymbolBullet)
		if a.EntryPoint {
			sign = l.Accent.Render(style.SymbolPrompt)
		}
		add(sign + " " + text.Pad(l.name(a.Name), width) + "  " + l.Dim.Render(text.Line(a.Description)))
	}
	rows = append(rows, offered...)
	if h > 6 {
		add("")
		add(m.drawHints(m.startHints(), inner))
	}
	out := make([]string, 0, h)
	for range max((h-len(rows))/3, 0) {
		out = append(out, "")
	}
	for _, row := range rows[:min(len(rows), h)] {
		out = append(out, indent+row)
	}
	for len(out) < h {
		out = append(out, "")
	}
	return out
}

// hint is a key with what it does, in a word.
type hint struct {
	key  key.Binding
	does string
}

func (h hint) label() string {
	label, _, _ := strings.Cut(h.key.Help().Key, ", ")
	return label
}

// startHints are the keys that a new session begins with, threadHints those of the thread and the panes.
func (m *model) startHints() []hint {
	k := m.keys
	return []hint{
		{k.Composer.Send, "sends"}, {k.Global.Recipient, "recipient"}, {k.Global.Palette, "commands"}, {k.Global.Sessions, "sessions"},
		{k.Global.Help, "help"},
	}
}

func (m *model) threadHints() []hint {
	k := m.keys
	does := "opens"
	if m.focus == focusPanes && m.onHead {
		does = "folds"
	}
	return []hint{{k.Thread.Toggle, does}, {k.Thread.Zoom, "zooms"}, {k.Thread.Copy, "copies"}, {k.Global.Back, "back"}, {k.Thread.Help, "help"}}
}

// drawHints draws as many hints as fit into w cells.
func (m *model) drawHints(hints []hint, w int) string {
	line := ""
	for _, h := range hints {
		part := m.look.Key.Render(h.label()) + " " + m.look.KeyHelp.Render(h.does)
		if line != "" {
			part = line + m.look.Faint.Render(" · ") + part
		}
		if text.Width(part) > w {
			break
		}
		line = part
	}
	return line
}

// slice is what stands from column a to before column b of a row, padded to that width.
func slice(row string, a, b int) string {
	if a >= b {
		return ""
	}
	return text.Pad(ansi.Cut(row, a, b), b-a)
}

// drawCompletion lays what the composer offers over the rows above it, like a drawer.
func (m *model) drawCompletion(rows []string) {
	list, open := m.composer.Completion()
	if !open || m.focus != focusComposer {
		return
	}
	y := m.layout.Composer.Min.Y
	if !m.layout.Rule.Empty() {
		y = m.layout.Rule.Min.Y
	}
	list = list[:min(len(list), y)]
	y -= len(list)
	if y > 0 {
		rows[y-1] = m.look.Border.Render(strings.Repeat(style.SymbolRule, m.layout.Width))
	}
	for i, row := range list {
		rows[y+i] = strings.Repeat(" ", m.margin()) + row
	}
}
