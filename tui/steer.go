package tui

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"bureau/tui/composer"
	"bureau/tui/text"
	"bureau/tui/thread"
)

// sendNow sends what is in the composer, else what waits longest, to an agent at work. Where none is, it sends as enter does.
func (m *model) sendNow() tea.Cmd {
	if m.composer.Value() != "" {
		action, cmd := m.composer.HandleKey(tea.KeyPressMsg{Code: tea.KeyEnter})
		send, ok := action.(composer.Send)
		if !ok {
			return tea.Batch(m.guard.cmd(cmd), m.act(action))
		}
		return tea.Batch(m.guard.cmd(cmd), m.now(Queued{Recipient: send.Recipient, Text: send.Text}))
	}
	if !m.busy() {
		m.queue.held = false
		return m.sendNext()
	}
	if msg, ok := m.queue.takeNext(); ok {
		return m.now(msg)
	}
	m.say("nothing is written and nothing waits")
	return nil
}

func (m *model) commandNow(words string) tea.Cmd {
	if words == "" {
		return m.sendNow()
	}
	return m.now(Queued{Text: words})
}

// now sends a message to an agent at work: to the one that it names, else to the turn's own.
func (m *model) now(msg Queued) tea.Cmd {
	if !m.busy() || m.session.ReadOnly() != "" || m.pair != nil && msg.Recipient == "" {
		return m.submit(msg)
	}
	run := ""
	if msg.Caller != "" || msg.Recipient != "" && msg.Recipient != m.recipient {
		working := workingRun(m.data, msg.Caller, msg.Recipient)
		if working == nil {
			m.say(text.Line(msg.Recipient) + " is not at work; the message waits")
			return m.submit(msg)
		}
		run = working.ID
	}
	remember := m.addInput(msg.Text)
	m.steer(run, msg)
	return remember
}

// steer says something to a run; what it cannot hear any more waits for the end of the turn.
func (m *model) steer(run string, msg Queued) {
	if err := m.session.Steer(run, msg.Text); err != nil {
		m.fail("not heard, it waits", err)
		m.queue.waiting = append([]Queued{msg}, m.queue.waiting...)
		return
	}
	m.queue.said = append(m.queue.said, msg)
}

// workingRun is the newest nested run of an agent that is under way, of the caller where one is named; nil for none.
func workingRun(data *thread.Session, caller, agent string) *thread.Run {
	var found *thread.Run
	for _, run := range data.Working() {
		if strings.EqualFold(run.To, agent) && run.From != "" && (caller == "" || caller == run.From) {
			found = run
		}
	}
	return found
}

// newestRun is the newest run that an agent was asked for by another; nil for none.
func newestRun(data *thread.Session, agent string) *thread.Run {
	var found *thread.Run
	for _, t := range data.Pairs {
		run := t.Current()
		if run != nil && strings.EqualFold(run.To, agent) && (found == nil || run.Started > found.Started) {
			found = run
		}
	}
	return found
}

// selectedRun is the run that the selected call has started, else the newest of the pane under the cursor; nil for none.
func (m *model) selectedRun() *thread.Run {
	if e := m.current(); e != nil && e.Run != nil {
		return e.Run
	}
	if len(m.panes) > 0 && (m.focus == focusPanes || m.zoom == zoomPane) {
		return m.panes[m.cursor].data.Current()
	}
	return nil
}

// tellSelected lets the composer write to the sub-conversation that is selected.
func (m *model) tellSelected() {
	if run := m.selectedRun(); run != nil && run.From != "" {
		m.tellPair(run)
		return
	}
	m.say("select a pane or a delegation")
}

// tellPair lets the composer write to the sub-conversation of a run; nil is the user thread again.
func (m *model) tellPair(run *thread.Run) {
	m.pair = run
	m.describeComposer()
	m.setFocus(focusComposer)
	if run != nil {
		m.say(fmt.Sprintf("%s hears you beside %s; %s ends that", text.Line(run.To), text.Line(run.From), m.keys.Global.Back.Help().Key))
	}
}

func (m *model) commandTell(agent string) tea.Cmd {
	if agent == "" {
		m.tellSelected()
		return nil
	}
	if run := newestRun(m.data, strings.TrimPrefix(agent, "@")); run != nil {
		m.tellPair(run)
		return nil
	}
	m.fail("no such sub-conversation", fmt.Errorf("no agent has asked %s anything yet", agent))
	return nil
}

// cancelSelected stops the delegation that is selected, and nothing else.
func (m *model) cancelSelected() {
	if run := m.selectedRun(); run != nil {
		m.cancelRun(run)
		return
	}
	m.say("select a pane or a delegation")
}

func (m *model) commandCancel(agent string) tea.Cmd {
	if agent == "" {
		m.cancelSelected()
		return nil
	}
	if run := workingRun(m.data, "", strings.TrimPrefix(agent, "@")); run != nil {
		m.cancelRun(run)
		return nil
	}
	m.fail("nothing to stop", fmt.Errorf("%s is not at work for another agent", agent))
	return nil
}

func (m *model) cancelRun(run *thread.Run) {
	if !run.Working() {
		m.say(text.Line(run.To) + " is not at work any more")
		return
	}
	if err := m.session.CancelRun(run.ID); err != nil {
		m.fail("not stopped", err)
		return
	}
	m.say("stopping " + text.Line(run.To))
}

// firstKey is the first of the keys that do the same, as help shows it.
func firstKey(b key.Binding) string { return hint{key: b}.label() }
