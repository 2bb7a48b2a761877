package tui

import (
	"strconv"
	"strings"

	"bureau/tui/text"
)

// maxStarters is how many messages an empty session offers: as many as there are digits for.
const maxStarters = 9

// starters are the messages that a session without any offers to an agent.
func starters(a Agency, agent string) []string {
	for _, g := range a.Agents {
		if g.Name == agent {
			return g.Starters[:min(len(g.Starters), maxStarters)]
		}
	}
	return nil
}

// starterOf is the starter that a number stands for, and any other message itself.
func starterOf(list []string, words string) string {
	if n, err := strconv.Atoi(strings.TrimSpace(words)); err == nil && n >= 1 && n <= len(list) {
		return list[n-1]
	}
	return words
}

// starters are those on offer now: none once something was said.
func (m *model) starters() []string {
	if m.sent || m.user == nil || len(m.user.data.Items) > 0 {
		return nil
	}
	return starters(m.agency, m.recipient)
}

// drawStarters draws the starters in at most h rows of w cells.
func (m *model) drawStarters(w, h int) []string {
	list := m.starters()
	if h < 3 || len(list) == 0 {
		return nil
	}
	rows := []string{"", m.look.Dim.Render(text.Cut("Begin with one of these: its number, then enter.", w))}
	for i, words := range list[:min(len(list), h-2)] {
		rows = append(rows, m.look.Key.Render(strconv.Itoa(i+1))+"  "+text.Cut(text.Line(words), max(w-3, 0)))
	}
	return rows
}
