package tui

import (
	"image"
	"strings"

	"charm.land/lipgloss/v2"

	"bureau/engine/history"
	"bureau/tui/style"
	"bureau/tui/text"
	"bureau/tui/thread"
)

// pane shows a sub-conversation: its facts in a header, and its transcript or its last words below.
type pane struct {
	*transcript
	// open is what the user chose: 0 nothing, 1 expanded, -1 collapsed. auto expands it because it works, or did last.
	open int
	auto bool
}

func (p *pane) working() bool {
	run := p.data.Current()
	return run != nil && run.Working()
}

func (p *pane) state() paneState {
	return paneState{open: p.open, wanted: p.auto, working: p.working(), recent: p.data.LastID()}
}

// syncPanes makes one pane for each pair of agents, in the order of their first message.
func (m *model) syncPanes() {
	if m.data == nil {
		return
	}
	for i, t := range m.data.Pairs {
		if i < len(m.panes) && m.panes[i].data == t {
			continue
		}
		known := map[*thread.Thread]*pane{}
		for _, p := range m.panes {
			known[p.data] = p
		}
		m.panes = m.panes[:0:0]
		for _, t := range m.data.Pairs {
			p := known[t]
			if p == nil {
				p = &pane{transcript: newTranscript(t, m.look)}
			}
			m.panes = append(m.panes, p)
		}
		break
	}
	for _, p := range m.panes {
		p.auto = p.auto || p.working()
	}
	m.cursor = max(min(m.cursor, len(m.panes)-1), 0)
	if len(m.panes) == 0 && m.focus == focusPanes {
		m.focus = focusThread
	}
	if len(m.panes) == 0 && m.zoom == zoomPane {
		m.zoom = zoomNothing
	}
}

// restPanes lets go of the panes of the last turn but the newest, when another turn begins or a session is opened.
func (m *model) restPanes() {
	var newest *pane
	for _, p := range m.panes {
		p.auto = p.working()
		if newest == nil || p.data.LastID() > newest.data.LastID() {
			newest = p
		}
	}
	if newest != nil {
		newest.auto = true
	}
}

// paneOf finds the pane of a conversation; -1 where it has none.
func (m *model) paneOf(key history.Thread) int {
	for i, p := range m.panes {
		if p.data.Key == key {
			return i
		}
	}
	return -1
}

// drawPanes draws the area of the panes.
func (m *model) drawPanes() []string {
	area := m.layout.Panes
	rows := make([]string, area.Dy())
	if m.layout.Wide {
		edge := m.look.Border.Render(style.SymbolLine)
		for y := range rows {
			rows[y] = edge
		}
	}
	for i, l := range m.layout.Stack {
		if l.Header.Empty() {
			continue
		}
		active := i == m.cursor && (m.focus == focusPanes || m.zoom == zoomPane)
		rows[l.Header.Min.Y-area.Min.Y] = m.paneHeader(m.panes[i], l, active)
		for k, row := range m.paneBody(m.panes[i], l, active) {
			rows[l.Body.Min.Y-area.Min.Y+k] = row
		}
	}
	return rows
}

// paneLine is the style of a pane's lines: that of the focus, else of the agent that works there.
func (m *model) paneLine(p *pane, active bool) lipgloss.Style {
	if active {
		return m.look.BorderFocus
	}
	if run := p.data.Current(); run != nil && run.Working() {
		return m.look.Agent(run.To).Bold(false)
	}
	return m.look.Border
}

// paneHeader draws who talks to whom, about what, and how far it is, into a line.
func (m *model) paneHeader(p *pane, l PaneLayout, active bool) string {
	line := m.paneLine(p, active)
	w := l.Header.Dx()
	lead := style.SymbolRule + " "
	switch {
	case m.layout.Wide && l.Header.Min.Y == m.layout.Panes.Min.Y:
		lead = "┌" + lead
	case m.layout.Wide:
		lead = "├" + lead
	}
	sign := style.SymbolClosed
	if l.Expanded {
		sign = style.SymbolOpen
	}
	fold := line
	if active && m.onHead && m.focus == focusPanes {
		fold = m.look.Selected
	}
	head := line.Render(lead) + fold.Render(sign) + " "
	from, to := p.data.Key.A, p.data.Key.B
	var facts []string
	task := ""
	if run := p.data.Current(); run != nil {
		from, to = run.From, run.To
		facts = m.look.facts(run)
		head += m.look.mark(run.State) + " "
		task = m.look.markdown.Words(front(run.Task, 300))
		if run.Working() {
			facts = append([]string{m.doing(run)}, facts...)
		}
	}
	names := w - text.Width(head)
	if len(facts) > 0 && names >= 32 { // the first fact has its place
		names -= text.Width(facts[0]) + 6
	}
	head += m.look.names(from, style.SymbolArrow, to, names)
	room := w - text.Width(head) - 4
	right := join(facts, max(room, 0))
	if right != "" {
		right = " " + m.look.Dim.Render(right) + " "
	}
	room -= text.Width(right)
	if task != "" && room >= 16 {
		head += "  " + m.look.Faint.Render(text.Cut(task, room-4))
	}
	fill := w - text.Width(head) - text.Width(right) - 2
	if fill < 0 {
		return text.Pad(head, w)
	}
	return head + " " + line.Render(strings.Repeat(style.SymbolRule, fill)) + right + line.Render(style.SymbolRule)
}

// paneBody draws the transcript of an expanded pane, or the last words of a collapsed one.
func (m *model) paneBody(p *pane, l PaneLayout, active bool) []string {
	if l.Body.Empty() {
		return nil
	}
	edge, width := "", l.Body.Dx()
	if m.layout.Wide {
		edge, width = m.paneLine(p, active).Render(style.SymbolLine), width-1
	}
	var rows []string
	if l.Expanded {
		rows = p.rows(width, l.Body.Dy(), active && m.focus == focusPanes && !m.onHead)
	} else {
		rows = []string{m.lastWords(p, width)}
	}
	if edge != "" {
		for i, row := range rows {
			rows[i] = edge + row
		}
	}
	return rows
}

// lastWords is the newest text of a conversation in one line: where it begins, or while it is written, where it ends.
func (m *model) lastWords(p *pane, w int) string {
	agent, words := p.data.LastText()
	if words == "" {
		return ""
	}
	agent = text.Cut(text.Line(agent), max(w/3, 8))
	room := max(w-2*len(indent)-1-text.Width(agent)-2, 0)
	cut := text.Cut
	if p.working() {
		cut, words = text.CutLeft, tail(words, 2048)
	} else {
		words = front(words, 2048)
	}
	words = cut(m.look.markdown.Words(words), room)
	return text.Cut(indent+indent+m.look.Dim.Render(agent+": ")+m.look.Faint.Render(words), w-1)
}

// reveal shows a pane: expanded, under the cursor, and with the focus.
func (m *model) reveal(i int) {
	if m.zoom == zoomThread {
		m.zoom = zoomNothing
	}
	m.panes[i].open = 1
	m.cursor, m.onHead = i, true
	m.setFocus(focusPanes)
}

// paneAt finds the pane under a cell, and whether the cell is its header.
func (m *model) paneAt(at image.Point) (i int, head bool) {
	for i, l := range m.layout.Stack {
		if at.In(l.Header) {
			return i, true
		}
		if at.In(l.Body) {
			return i, false
		}
	}
	return -1, false
}
