package tui

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"bureau/tui/composer"
	"bureau/tui/thread"
)

// leaveKey leaves an empty composer, as it does a shell.
var leaveKey = key.NewBinding(key.WithKeys("ctrl+d"))

// leaveTime is how long the first of two keys that leave counts.
const leaveTime = 2 * time.Second

// handleKey finds out whose a key is: ctrl+c first, then the dialog, the composer's completion, the keys that act
// everywhere, and what has the focus.
func (m *model) handleKey(msg tea.KeyPressMsg) tea.Cmd {
	if key.Matches(msg, m.keys.Global.Interrupt) {
		return m.interrupt()
	}
	m.stay()
	if !m.overlays.Empty() {
		return m.handleResult(m.overlays.HandleKey(msg))
	}
	if m.focus == focusComposer {
		if _, open := m.composer.Completion(); open && m.completes(msg) {
			return m.compose(msg)
		}
	}
	if cmd, done := m.globalKey(msg); done {
		return cmd
	}
	if m.focus == focusComposer {
		return m.composerKey(msg)
	}
	return m.threadKey(msg)
}

// completes tells whether a key belongs to an open completion before it belongs to anything else.
func (m *model) completes(msg tea.KeyPressMsg) bool {
	return key.Matches(msg, m.keys.Composer.Accept, m.keys.Composer.Send, m.keys.Composer.Earlier, m.keys.Composer.Later, m.keys.Global.Back)
}

// globalKey handles the keys that act wherever the focus is.
func (m *model) globalKey(msg tea.KeyPressMsg) (cmd tea.Cmd, done bool) {
	k := m.keys.Global
	switch {
	case key.Matches(msg, k.Next):
		m.moveFocus(1)
	case key.Matches(msg, k.Previous):
		m.moveFocus(-1)
	case key.Matches(msg, k.Recipient):
		m.pickRecipient()
	case key.Matches(msg, k.Palette):
		m.openPalette()
	case key.Matches(msg, k.Sessions):
		cmd = m.openSessions()
	case key.Matches(msg, k.New):
		cmd = m.askNew()
	case key.Matches(msg, k.ToggleAll):
		m.toggleAll()
	case key.Matches(msg, k.PageUp):
		m.scrolled().toTop = false
		m.scrolled().list.ScrollPage(-1)
	case key.Matches(msg, k.PageDown):
		m.scrolled().toTop = false
		m.scrolled().list.ScrollPage(1)
	case key.Matches(msg, k.ScrollTop):
		t := m.scrolled()
		t.list.Home()
		t.toTop = t.data.More
	case key.Matches(msg, k.Follow):
		t := m.scrolled()
		t.toTop = false
		t.list.Select(-1)
		t.list.End()
	case key.Matches(msg, k.Back):
		m.back()
	case key.Matches(msg, k.Mouse):
		m.toggleMouse()
	case key.Matches(msg, k.Help):
		m.openHelp()
	default:
		return nil, false
	}
	return cmd, true
}

// interrupt is ctrl+c: it closes a dialog, clears a draft into the history, stops a turn, or leaves when it comes twice.
func (m *model) interrupt() tea.Cmd {
	if !m.overlays.Empty() {
		m.refuseQuestion()
		m.overlays.Pop()
		return nil
	}
	if m.composer.Value() != "" {
		words := m.composer.Clear()
		m.say("cleared; " + m.keys.Composer.Earlier.Help().Key + " brings it back")
		return m.addInput(words)
	}
	if m.busy() {
		m.stop()
		return nil
	}
	if m.look.now.Before(m.leave) {
		return tea.Quit
	}
	m.leave = m.look.now.Add(leaveTime)
	m.say(m.leaveWords())
	m.notice.until = m.leave
	return nil
}

func (m *model) leaveWords() string { return m.keys.Global.Interrupt.Help().Key + " again leaves" }

// stay takes the first of two keys that leave back, as every other key does.
func (m *model) stay() {
	if m.look.now.Before(m.leave) {
		m.leave = time.Time{}
		if m.notice.text == m.leaveWords() {
			m.notice.text = ""
		}
	}
}

// stop ends the turn under way; what waits is kept.
func (m *model) stop() {
	m.queue.held = len(m.queue.waiting) > 0
	m.session.Stop()
	m.say("stopping")
}

// back is esc: one step back, and in the composer it stops the turn.
func (m *model) back() {
	switch {
	case m.zoom != zoomNothing:
		m.zoom = zoomNothing
	case m.focus == focusPanes && !m.onHead:
		m.onHead = true
	case m.focus != focusComposer:
		m.setFocus(focusComposer)
	case m.pair != nil:
		m.tellPair(nil)
	case m.busy():
		m.stop()
	}
}

// moveFocus goes round composer, thread and panes, leaving out what is not there.
func (m *model) moveFocus(step int) {
	f := m.focus
	for {
		f = (f + focus(step) + 3) % 3
		switch {
		case f == focusThread && m.zoom == zoomPane, f == focusPanes && (len(m.panes) == 0 || m.zoom == zoomThread):
			continue
		}
		break
	}
	m.setFocus(f)
}

// setFocus moves the keys to another part of the screen.
func (m *model) setFocus(f focus) {
	if f == focusPanes && m.focus != focusPanes && m.zoom != zoomPane && !m.onHead {
		m.onHead = true
	}
	m.focus = f
	if f == focusComposer {
		m.composer.Focus()
	} else {
		m.composer.Blur()
	}
	if f == focusThread && m.user.list.Selected() < 0 {
		m.user.list.SelectPrev()
	}
}

// scrolled is the transcript that the scrolling keys move.
func (m *model) scrolled() *transcript {
	if len(m.panes) > 0 && (m.focus == focusPanes || m.zoom == zoomPane) {
		return m.panes[m.cursor].transcript
	}
	return m.user
}

// composerKey gives a key to the composer.
func (m *model) composerKey(msg tea.KeyPressMsg) tea.Cmd {
	_, open := m.composer.Completion()
	empty := m.composer.Value() == "" && !open
	switch {
	case key.Matches(msg, m.keys.Composer.Now):
		return m.sendNow()
	case empty && key.Matches(msg, leaveKey):
		if m.busy() {
			m.say("the agents are at work; " + m.keys.Global.Interrupt.Help().Key + " stops them")
			return nil
		}
		return tea.Quit
	case empty && key.Matches(msg, m.keys.Composer.Earlier):
		if waiting, ok := m.queue.takeNewest(); ok {
			words := waiting.Text
			if waiting.Caller != "" {
				m.tellPair(&thread.Run{From: waiting.Caller, To: waiting.Recipient})
			} else if waiting.Recipient != "" {
				words = "@" + waiting.Recipient + " " + words
			}
			m.composer.SetValue(words)
			return nil
		}
	case empty && m.queue.held && !m.busy() && key.Matches(msg, m.keys.Composer.Send):
		m.queue.held = false
		return m.sendNext()
	}
	return m.compose(msg)
}

// compose lets the composer handle a key, and does what comes of it.
func (m *model) compose(msg tea.KeyPressMsg) tea.Cmd {
	action, cmd := m.composer.HandleKey(msg)
	return tea.Batch(m.guard.cmd(cmd), m.act(action))
}

// act does what the user asked for in the composer.
func (m *model) act(action composer.Action) tea.Cmd {
	switch a := action.(type) {
	case composer.Send:
		return m.submit(Queued{Recipient: a.Recipient, Text: a.Text})
	case composer.Switch:
		m.choose(a.Recipient)
	case composer.Command:
		return m.runCommand(a.Name, a.Args)
	case composer.OpenEditor:
		return m.openEditor()
	}
	return nil
}

// handlePaste puts pasted text where the keys go; it never sends.
func (m *model) handlePaste(pasted string) tea.Cmd {
	if !m.overlays.Empty() {
		return m.handleResult(m.overlays.HandlePaste(pasted))
	}
	if m.focus != focusComposer {
		m.setFocus(focusComposer)
	}
	m.composer.HandlePaste(pasted)
	return nil
}

// threadKey handles a key while the thread or the panes have the focus.
func (m *model) threadKey(msg tea.KeyPressMsg) tea.Cmd {
	k := m.keys.Thread
	switch {
	case key.Matches(msg, k.Up):
		m.selectNext(-1)
	case key.Matches(msg, k.Down):
		m.selectNext(1)
	case key.Matches(msg, k.Toggle):
		m.toggle()
	case key.Matches(msg, k.Zoom):
		m.toggleZoom()
	case key.Matches(msg, k.Copy):
		return m.copySelected()
	case key.Matches(msg, k.Tell):
		m.tellSelected()
	case key.Matches(msg, k.Cancel):
		m.cancelSelected()
	case key.Matches(msg, k.Help):
		m.openHelp()
	}
	return nil
}
