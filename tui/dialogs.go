package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"bureau/engine/history"
	"bureau/tui/overlay"
	"bureau/tui/text"
)

// The ids of the dialogs that the root asks questions with.
const (
	recipientID = "recipient"
	renameID    = "rename"
	newID       = "new"
	forkID      = "fork"
	openID      = "open"
)

// sessionsMsg brings the sessions that match a query.
type sessionsMsg struct {
	query    string
	sessions []history.Session
	err      error
}

// howManySessions is how many sessions the browser shows.
const howManySessions = 200

func (m *model) pickRecipient() {
	var choices []overlay.Choice
	for _, a := range m.recipients() {
		choices = append(choices, overlay.Choice{ID: a.Name, Label: a.Name, Detail: a.Description})
	}
	m.overlays.Push(overlay.NewPicker(recipientID, "Recipient", choices, m.recipient))
}

func (m *model) openPalette() { m.overlays.Push(overlay.NewPalette(m.listed())) }

func (m *model) openHelp() { m.overlays.Push(overlay.NewHelp(m.keys, m.listed())) }

func (m *model) listed() []overlay.Command {
	list := make([]overlay.Command, len(m.commands))
	for i, c := range m.commands {
		list[i] = overlay.Command{Name: c.name, Title: c.title, Key: c.key, Args: c.args}
	}
	return list
}

func (m *model) openSessions() tea.Cmd {
	m.overlays.Push(overlay.NewSessions(m.session.Info().ID, m.env.get("HOME")))
	return m.querySessions("")
}

func (m *model) querySessions(query string) tea.Cmd {
	return m.guard.cmd(func() tea.Msg {
		sessions, err := m.backend.Sessions(m.ctx, query, howManySessions)
		return sessionsMsg{query, sessions, err}
	})
}

// openAgency shows who may message whom, with who works now.
func (m *model) openAgency() {
	agents := make([]overlay.Agent, len(m.agency.Agents))
	for i, a := range m.agency.Agents {
		agents[i] = overlay.Agent{Name: a.Name, Description: a.Description, EntryPoint: a.EntryPoint, Tools: a.Tools, Model: m.modelOf(a.Name)}
	}
	flows := make([]overlay.Flow, len(m.agency.Flows))
	for i, f := range m.agency.Flows {
		flows[i] = overlay.Flow(f)
	}
	m.overlays.Push(overlay.NewAgency(m.agency.Name, m.agency.Description, agents, flows, m.recipient))
	m.showWorking()
}

func (m *model) modelOf(agent string) string {
	info := m.session.Model(agent)
	if info.Offline {
		return "offline script"
	}
	return info.Ref
}

// showWorking tells the tree of the agency who does what now.
func (m *model) showWorking() {
	if tree, ok := m.overlays.Top().(*overlay.Agency); ok {
		working := map[string]string{}
		for _, run := range m.data.Working() {
			working[run.Now] = m.doing(run)
		}
		tree.SetWorking(working)
	}
}

// openUsage shows what the session took.
func (m *model) openUsage() {
	u := m.total
	rows := []string{
		fmt.Sprintf("%-12s %12d", "input", u.InputTokens),
		fmt.Sprintf("%-12s %12d", "  cached", u.CachedTokens),
		fmt.Sprintf("%-12s %12d", "output", u.OutputTokens),
		fmt.Sprintf("%-12s %12d", "  reasoning", u.ReasoningTokens),
		fmt.Sprintf("%-12s %12d", "requests", u.Requests),
	}
	switch {
	case u.Cost != nil:
		rows = append(rows, fmt.Sprintf("%-12s %12s", "cost", money(*u.Cost)))
	case u.Requests > 0:
		rows = append(rows, fmt.Sprintf("%-12s %12s", "cost", "not known"))
	}
	if info := m.session.Model(m.recipient); m.window > 0 {
		row := fmt.Sprintf("%-12s %12d", "context", m.window)
		if info.Window > 0 {
			row += fmt.Sprintf(" of %d", info.Window)
		}
		rows = append(rows, row)
	}
	if len(m.data.Pairs) > 0 {
		rows = append(rows, "", "The newest run of each pair:")
		for _, t := range m.data.Pairs {
			if run := t.Current(); run != nil {
				rows = append(rows, fmt.Sprintf("  %s → %s  %s", text.Line(run.From), text.Line(run.To), join(m.look.facts(run), 60)))
			}
		}
	}
	m.overlays.Push(overlay.NewText("Usage", rows))
}

// askNew begins a new session, after a question when a turn is under way.
func (m *model) askNew() tea.Cmd { return m.askFresh(newID) }

func (m *model) askFresh(id string) tea.Cmd {
	if !m.busy() {
		return m.fresh(id)
	}
	m.overlays.Push(overlay.NewConfirm(id, "A turn is under way", "Stop it, and open another session?", true))
	return nil
}

// fresh begins a new session, or a copy of this one.
func (m *model) fresh(id string) tea.Cmd {
	current := m.session.Info().ID
	switch {
	case id == forkID && current == "":
		m.say("there is nothing to copy yet")
		return nil
	case id == forkID:
		return m.openSession(current, fork)
	case current == "":
		m.say("this is a new session")
		return nil
	}
	return m.openSession("", open)
}

// handleResult does what a dialog was for.
func (m *model) handleResult(r overlay.Result) tea.Cmd {
	switch r := r.(type) {
	case overlay.Picked:
		switch r.Dialog {
		case recipientID, overlay.AgencyID:
			m.choose(r.ID)
		case overlay.PaletteID:
			return m.runCommand(r.ID, "")
		}
	case overlay.Query:
		return m.querySessions(r.Text)
	case overlay.Open:
		if r.ID == m.session.Info().ID {
			return nil
		}
		if m.busy() {
			m.wanted = r.ID
			m.overlays.Push(overlay.NewConfirm(openID, "A turn is under way", "Stop it, and open another session?", true))
			return nil
		}
		return m.openSession(r.ID, open)
	case overlay.Fork:
		return m.openSession(r.ID, fork)
	case overlay.Rename:
		return m.changeSessions(func(ctx context.Context) error { return m.backend.Rename(ctx, r.ID, r.Title) })
	case overlay.Delete:
		return m.changeSessions(func(ctx context.Context) error { return m.backend.Delete(ctx, r.ID) })
	case overlay.Confirmed:
		if !r.Yes {
			return nil
		}
		if r.ID == openID {
			return m.openSession(m.wanted, open)
		}
		return m.fresh(r.ID)
	case overlay.Entered:
		if r.ID == renameID && r.Text != "" {
			return m.commandRename(r.Text)
		}
	}
	return nil
}

// changeSessions changes a session in the browser, and fills it anew.
func (m *model) changeSessions(change func(context.Context) error) tea.Cmd {
	browser, ok := m.overlays.Top().(*overlay.Sessions)
	if !ok {
		return nil
	}
	query := browser.Query()
	return m.guard.cmd(func() tea.Msg {
		if err := change(m.ctx); err != nil {
			return sessionsMsg{query, nil, err}
		}
		sessions, err := m.backend.Sessions(m.ctx, query, howManySessions)
		return sessionsMsg{query, sessions, err}
	})
}

// handleWritten takes in what came of commands other than reading the session.
func (m *model) handleWritten(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case inputsMsg:
		m.inputs = msg
		m.composer.SetHistory(m.inputs)
	case saveDraftMsg:
		return m.saveDraft()
	case draftSavedMsg:
		m.draftSaved(msg)
	case editorMsg:
		return m.runEditor(msg.path)
	case editedMsg:
		m.edited(msg)
	case sessionsMsg:
		if browser, ok := m.overlays.Top().(*overlay.Sessions); ok && browser.Query() == msg.query {
			browser.SetSessions(msg.sessions, msg.err)
		}
	}
	return nil
}
