package tui

import (
	"cmp"
	"encoding/json"

	tea "charm.land/bubbletea/v2"

	"bureau/engine/history"
)

// applyEvents takes in what the engine told since the last frame.
func (m *model) applyEvents(events []history.Event) tea.Cmd {
	id := m.session.Info().ID
	var cmds []tea.Cmd
	var begun []history.Thread
	for _, e := range events {
		if e.SessionID != id {
			continue
		}
		m.data.Apply(e)
		if e.Type == history.EventSubagentStarted {
			begun = append(begun, e.Thread())
		}
		if e.SubagentRunID != "" || e.CallerAgent != "" {
			if e.Usage != nil {
				m.usage.wanted = true
			}
			continue
		}
		switch e.Type {
		case history.EventRunStarted:
			m.sent = false
			m.restPanes()
		case history.EventRunFinished, history.EventRunError:
			cmds = append(cmds, m.turnEnded(e))
		case history.EventTextEnd, history.EventCallEnd:
			m.usage.wanted = true
		case history.EventCustom:
			m.customEvent(e)
		}
	}
	m.syncPanes()
	for _, key := range begun { // a run that has ended within the frame counts too
		m.panes[m.paneOf(key)].auto = true
	}
	m.showWorking()
	cmds = append(cmds, m.reread(m.data.Gaps()))
	return tea.Batch(cmds...)
}

// turnEnded sends what waits, or holds it back when the turn did not end well.
func (m *model) turnEnded(e history.Event) tea.Cmd {
	m.sent, m.usage.wanted = false, true
	if e.Type == history.EventRunError {
		m.queue.held = len(m.queue.waiting) > 0
		if e.Code == history.CodeInterrupted {
			m.say("stopped")
		}
		return nil
	}
	if m.queue.held {
		return nil
	}
	return m.sendNext()
}

// customEvent follows the control of the conversation.
func (m *model) customEvent(e history.Event) {
	if _, to := control(e); to != "" {
		m.setRecipient(to)
	}
}

// control tells which agent has control from a custom event on, and which one gave it; empty for an event that tells of
// something else.
func control(e history.Event) (from, to string) {
	if e.Name != history.CustomHandoff && e.Name != history.CustomRecipient {
		return "", ""
	}
	var value struct {
		From  string `json:"from"`
		To    string `json:"to"`
		Agent string `json:"agent"`
	}
	raw, err := json.Marshal(e.Value)
	if err != nil || json.Unmarshal(raw, &value) != nil {
		return "", ""
	}
	return value.From, cmp.Or(value.To, value.Agent)
}

// setRecipient changes whom messages go to from here on.
func (m *model) setRecipient(agent string) {
	if m.recipient != agent {
		m.recipient = agent
		m.describeComposer()
	}
}

// recipients are the agents that the user may address: the entry points, and the one that has control.
func recipients(a Agency, s Session, current string) []Agent {
	control := s.Info().Recipient
	var list []Agent
	for _, agent := range a.Agents {
		if agent.EntryPoint || agent.Name == current || agent.Name == control {
			list = append(list, agent)
		}
	}
	return list
}

// firstRecipient is whom a session that was opened addresses: the agent that has control, else the first entry point.
func firstRecipient(a Agency, s Session) string {
	if to := s.Info().Recipient; to != "" {
		return to
	}
	for _, agent := range a.Agents {
		if agent.EntryPoint {
			return agent.Name
		}
	}
	return ""
}

func (m *model) recipients() []Agent { return recipients(m.agency, m.session, m.recipient) }
