package tui

import "bureau/tui/thread"

// selectNext moves the selection: in the thread among its items; in the panes over headers and, in an expanded pane, items.
func (m *model) selectNext(step int) {
	if m.focus == focusThread {
		m.user.toTop = false
		move(m.user, step)
		return
	}
	switch {
	case !m.onHead && move(m.panes[m.cursor].transcript, step):
	case m.zoom == zoomPane && !m.onHead:
	case m.onHead && step > 0 && m.expanded(m.cursor), m.zoom == zoomPane:
		m.onHead = false
		m.panes[m.cursor].selectEdge(step)
	case !m.onHead && step < 0:
		m.onHead = true
	case step > 0 && m.cursor < len(m.panes)-1:
		m.cursor, m.onHead = m.cursor+1, true
	case step < 0 && m.cursor > 0:
		m.cursor--
		if m.expanded(m.cursor) {
			m.onHead = false
			m.panes[m.cursor].selectEdge(step)
		}
	}
}

// expanded tells whether a pane shows items that can be selected.
func (m *model) expanded(i int) bool {
	return i < len(m.layout.Stack) && m.layout.Stack[i].Expanded && m.panes[i].list.Len() > 0
}

// selectEdge selects the item where a selection comes in: the first in view from above, the last from below.
func (t *transcript) selectEdge(step int) {
	t.list.Select(-1)
	first, _ := t.list.ItemAt(0)
	if step > 0 && first >= 0 {
		t.list.Select(first)
		return
	}
	t.list.SelectPrev()
}

// move moves the selection of a transcript, and tells whether there was somewhere to go.
func move(t *transcript, step int) bool {
	if step < 0 {
		return t.list.SelectPrev()
	}
	return t.list.SelectNext()
}

// current is the entry that the keys act on; nil where they act on a header or on nothing.
func (m *model) current() *entry {
	switch {
	case m.focus == focusThread:
		return m.user.selected()
	case m.focus == focusPanes && !m.onHead:
		return m.panes[m.cursor].selected()
	}
	return nil
}

// toggle expands or collapses what is selected; a delegation leads to its pane.
func (m *model) toggle() {
	if m.focus == focusPanes && m.onHead {
		m.togglePane(m.cursor)
		return
	}
	if e := m.current(); e != nil {
		m.toggleEntry(e)
	}
}

func (m *model) toggleEntry(e *entry) {
	if to, ok := e.leads(); ok {
		if i := m.paneOf(to); i >= 0 && !(m.focus == focusPanes && i == m.cursor) {
			zoomed := m.zoom == zoomPane
			m.reveal(i)
			if zoomed {
				m.zoom = zoomPane
			}
			return
		}
	}
	if e.opens() {
		e.set(&e.open, !e.open)
	}
}

// togglePane expands a pane that is collapsed on the screen, and the other way round.
func (m *model) togglePane(i int) {
	if i >= len(m.layout.Stack) {
		return
	}
	m.panes[i].open = 1
	if m.layout.Stack[i].Expanded {
		m.panes[i].open = -1
	}
}

// toggleAll collapses all panes, or expands them when none is expanded.
func (m *model) toggleAll() {
	open := 1
	for _, l := range m.layout.Stack {
		if l.Expanded {
			open = -1
		}
	}
	for _, p := range m.panes {
		p.open = open
	}
}

// toggleZoom gives what has the focus the whole screen, or takes it back.
func (m *model) toggleZoom() {
	switch {
	case m.zoom != zoomNothing:
		m.zoom = zoomNothing
	case m.focus == focusPanes:
		m.zoom, m.onHead = zoomPane, false
	default:
		m.zoom = zoomThread
		if e := m.user.selected(); e != nil && e.Kind == thread.Call {
			if to, ok := e.leads(); ok {
				if i := m.paneOf(to); i >= 0 {
					m.reveal(i)
					m.zoom, m.onHead = zoomPane, false
				}
			}
		}
	}
}
