package tui

import (
	"image"

	tea "charm.land/bubbletea/v2"
)

// wheelRows is how far one turn of the wheel scrolls.
const wheelRows = 3

func (m *model) toggleMouse() {
	m.mouse = !m.mouse
	if m.mouse {
		m.say("mouse on; hold shift to select text")
	} else {
		m.say("mouse off; text can be selected")
	}
}

// handleWheel scrolls what is under the mouse.
func (m *model) handleWheel(mouse tea.Mouse) {
	rows := wheelRows
	if mouse.Button == tea.MouseWheelUp {
		rows = -rows
	} else if mouse.Button != tea.MouseWheelDown {
		return
	}
	if !m.overlays.Empty() {
		m.overlays.HandleWheel(rows)
		return
	}
	if t := m.under(image.Pt(mouse.X, mouse.Y)); t != nil {
		t.scroll(rows)
	}
}

// under is the transcript under a cell; nil where there is none.
func (m *model) under(at image.Point) *transcript {
	if at.In(m.layout.Thread) {
		return m.user
	}
	if i, _ := m.paneAt(at); i >= 0 && m.layout.Stack[i].Expanded {
		return m.panes[i].transcript
	}
	return nil
}

// handleClick gives what is under the mouse the focus, and opens or closes it when it had it before.
func (m *model) handleClick(mouse tea.Mouse) tea.Cmd {
	if mouse.Button != tea.MouseLeft {
		return nil
	}
	at := image.Pt(mouse.X, mouse.Y)
	switch {
	case !m.overlays.Empty():
		return m.handleResult(m.overlays.HandleClick(mouse.X, mouse.Y))
	case at.In(m.layout.Composer):
		m.setFocus(focusComposer)
	case at.In(m.layout.Thread):
		item, _ := m.user.list.ItemAt(at.Y - m.layout.Thread.Min.Y)
		m.click(m.user, item, m.focus == focusThread, focusThread)
	case at.In(m.layout.Panes):
		i, head := m.paneAt(at)
		if i < 0 {
			return nil
		}
		had := m.focus == focusPanes && m.cursor == i
		if head || !m.layout.Stack[i].Expanded {
			m.setFocus(focusPanes)
			m.cursor, m.onHead = i, true
			m.togglePane(i)
			return nil
		}
		item, _ := m.panes[i].list.ItemAt(at.Y - m.layout.Stack[i].Body.Min.Y)
		m.setFocus(focusPanes)
		m.cursor, m.onHead = i, item < 0
		m.click(m.panes[i].transcript, item, had, focusPanes)
	}
	return nil
}

// click selects an item, and opens or closes one that is selected.
func (m *model) click(t *transcript, item int, had bool, f focus) {
	again := had && item >= 0 && item == t.list.Selected()
	m.setFocus(f)
	if item < 0 {
		return
	}
	t.list.Select(item)
	if again {
		m.toggleEntry(t.list.At(item).(*entry))
	}
}
