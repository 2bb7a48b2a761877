package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"bureau/tui/composer"
	"bureau/tui/overlay"
	"bureau/tui/text"
)

// submit sends a message, or lets it wait when a turn is under way.
func (m *model) submit(msg Queued) tea.Cmd {
	if strings.TrimSpace(msg.Text) == "" {
		return nil
	}
	if why := m.session.ReadOnly(); why != "" {
		m.composer.SetValue(msg.Text)
		m.askFork(why)
		return nil
	}
	if msg.Recipient == "" {
		msg.Text = starterOf(m.starters(), msg.Text)
	}
	remember := m.addInput(msg.Text)
	if m.pair != nil && msg.Recipient == "" {
		msg.Caller, msg.Recipient = m.pair.From, m.pair.To
	}
	if m.busy() {
		if run := workingRun(m.data, msg.Caller, msg.Recipient); msg.Caller != "" && run != nil {
			m.steer(run.ID, msg)
			return remember
		}
		m.queue.push(msg)
		return remember
	}
	return tea.Batch(remember, m.send(msg))
}

// send starts a turn. A message that cannot be sent is back in the composer, or waits when something else is there.
func (m *model) send(msg Queued) tea.Cmd {
	to := msg.Recipient
	if to == "" {
		to = m.recipient
	}
	err := error(nil)
	if msg.Caller != "" {
		err = m.session.Tell(msg.Caller, msg.Recipient, msg.Text)
	} else {
		err = m.session.Send(to, msg.Text, msg.Recipient != "" && msg.Recipient != m.recipient)
	}
	if err != nil {
		m.fail("not sent", err)
		if m.composer.Value() == "" {
			m.composer.SetValue(msg.Text)
		} else {
			m.queue.waiting = append([]Queued{msg}, m.queue.waiting...)
			m.queue.held = true
		}
		return nil
	}
	m.sent = true
	m.user.toTop = false
	m.user.list.Select(-1)
	m.user.list.End()
	return nil
}

// sendNext sends the first of the messages that wait.
func (m *model) sendNext() tea.Cmd {
	msg, ok := m.queue.takeNext()
	if !ok {
		return nil
	}
	return m.send(msg)
}

// choose changes the recipient for good.
func (m *model) choose(agent string) {
	for _, a := range m.recipients() {
		if a.Name == agent {
			m.pair = nil
			m.setRecipient(agent)
			m.say("messages go to " + agent)
			return
		}
	}
	m.fail("no such recipient", fmt.Errorf("%s; there are %s", agent, names(m.recipients())))
}

func names(agents []Agent) string {
	list := make([]string, len(agents))
	for i, a := range agents {
		list[i] = a.Name
	}
	return strings.Join(list, ", ")
}

// askFork asks whether to go on in a copy of a session that only can be read.
func (m *model) askFork(why string) {
	m.overlays.Push(overlay.NewConfirm(forkID, "Read only", why+"\n\nGo on in a copy of the session?", false))
}

// describeComposer tells the composer whom messages go to, and what it can complete.
func (m *model) describeComposer() {
	prompt := text.Line(m.recipient)
	if m.pair != nil {
		prompt = text.Line(m.pair.To) + " (with " + text.Line(m.pair.From) + ")"
	}
	if m.session != nil && m.session.ReadOnly() != "" {
		prompt = "read only"
	}
	m.composer.SetPrompt(prompt)
	m.composer.SetCompleter(m.complete)
}

// inputsMsg brings the user's earlier messages, newest first.
type inputsMsg []string

// howManyInputs is how many earlier messages the composer offers.
const howManyInputs = 500

func (m *model) loadInputs() tea.Cmd {
	return m.guard.cmd(func() tea.Msg {
		inputs, err := m.backend.Inputs(m.ctx, howManyInputs)
		if err != nil {
			return failedMsg{"earlier messages cannot be read", err}
		}
		return inputsMsg(inputs)
	})
}

// addInput adds to the user's earlier messages, here and on disk.
func (m *model) addInput(words string) tea.Cmd {
	m.inputs = append([]string{words}, m.inputs...)
	m.composer.SetHistory(m.inputs)
	return m.guard.cmd(func() tea.Msg {
		ctx, cancel := context.WithTimeout(m.ctx, 5*time.Second)
		defer cancel()
		if err := m.backend.AddInput(ctx, words); err != nil {
			return failedMsg{"the message is not in the history", err}
		}
		return nil
	})
}

// complete is what the composer offers behind a trigger at the start of a message.
func (m *model) complete(trigger rune) []composer.Candidate {
	var list []composer.Candidate
	if trigger == '@' {
		for _, a := range m.recipients() {
			list = append(list, composer.Candidate{Value: a.Name, Detail: a.Description})
		}
		return list
	}
	for _, c := range m.commands {
		list = append(list, composer.Candidate{Value: c.name, Detail: strings.TrimLeft(c.args+"  "+c.title, " ")})
	}
	return list
}
