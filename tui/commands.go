package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"bureau/tui/overlay"
	"bureau/tui/text"
)

// command is something that the user can ask for by name: with a slash in the composer, or in the palette.
type command struct {
	// name is what follows the slash, args what may follow the name, title what it does, key the key that does the same.
	name, args, title, key string
	run                    func(m *model, args string) tea.Cmd
}

// The themes.
const (
	themeAuto  = "auto"
	themeDark  = "dark"
	themeLight = "light"
)

// registry is all commands, in the order in which they are shown.
func (m *model) registry() []command {
	g := m.keys.Global
	return []command{
		{"help", "", "keys and commands", g.Help.Help().Key, func(m *model, _ string) tea.Cmd { m.openHelp(); return nil }},
		{"new", "", "begin a new session", g.New.Help().Key, func(m *model, _ string) tea.Cmd { return m.askNew() }},
		{"sessions", "", "open another session", g.Sessions.Help().Key, func(m *model, _ string) tea.Cmd { return m.openSessions() }},
		{"to", "AGENT", "choose the recipient, who stays", g.Recipient.Help().Key, (*model).commandTo},
		{"now", "[TEXT]", "send at once to an agent at work: the text, else what waits longest", firstKey(m.keys.Composer.Now), (*model).commandNow},
		{"tell", "[AGENT]", "write to a sub-conversation", m.keys.Thread.Tell.Help().Key, (*model).commandTell},
		{"cancel", "AGENT", "stop one delegation alone", m.keys.Thread.Cancel.Help().Key, (*model).commandCancel},
		{"agency", "", "who may message whom, and who works now", "", func(m *model, _ string) tea.Cmd { m.openAgency(); return nil }},
		{"export", "[markdown|json]", "write the session to a file", "", (*model).commandExport},
		{"copy", "", "copy the last answer", "", func(m *model, _ string) tea.Cmd { return m.copyLast() }},
		{"rename", "TITLE", "give the session a title", "", (*model).commandRename},
		{"fork", "", "go on in a copy of the session", "", func(m *model, _ string) tea.Cmd { return m.askFresh(forkID) }},
		{"fold", "", "collapse or expand all panes", g.ToggleAll.Help().Key, func(m *model, _ string) tea.Cmd { m.toggleAll(); return nil }},
		{"mouse", "", "mouse on, off", g.Mouse.Help().Key, func(m *model, _ string) tea.Cmd { m.toggleMouse(); return nil }},
		{"theme", "dark|light|auto", "change the colours", "", (*model).commandTheme},
		{"usage", "", "tokens and cost of the session", "", func(m *model, _ string) tea.Cmd { m.openUsage(); return nil }},
		{"stop", "", "stop the turn under way", "esc", func(m *model, _ string) tea.Cmd { return m.commandStop() }},
		{"quit", "", "leave", "ctrl+c twice", func(*model, string) tea.Cmd { return tea.Quit }},
	}
}

// runCommand runs a command by its name, with its arguments as they were typed.
func (m *model) runCommand(name, args string) tea.Cmd {
	for _, c := range m.commands {
		if c.name == strings.ToLower(name) {
			return c.run(m, strings.TrimSpace(args))
		}
	}
	m.fail("no such command", fmt.Errorf("/%s; /help lists them", name))
	return nil
}

func (m *model) commandTo(agent string) tea.Cmd {
	if agent == "" {
		m.pickRecipient()
		return nil
	}
	for _, a := range m.recipients() {
		if strings.EqualFold(a.Name, strings.TrimPrefix(agent, "@")) {
			agent = a.Name
		}
	}
	m.choose(agent)
	return nil
}

func (m *model) commandExport(format string) tea.Cmd {
	if format == "" {
		format = "markdown"
	}
	if !slices.Contains([]string{"markdown", "json"}, format) {
		m.fail("not exported", fmt.Errorf("the format is markdown or json, not %s", format))
		return nil
	}
	if m.session.Info().ID == "" {
		m.say("there is nothing to export yet")
		return nil
	}
	session := m.session
	return m.guard.cmd(func() tea.Msg {
		path, err := session.Export(m.ctx, format)
		if err != nil {
			return failedMsg{"not exported", err}
		}
		return noticeMsg("written to " + path)
	})
}

func (m *model) commandRename(title string) tea.Cmd {
	id := m.session.Info().ID
	if id == "" {
		m.say("the session has a title once it has a message")
		return nil
	}
	if title == "" {
		m.overlays.Push(overlay.NewInput(renameID, "Title of the session", text.Line(m.session.Info().Title)))
		return nil
	}
	return m.guard.cmd(func() tea.Msg {
		if err := m.backend.Rename(m.ctx, id, title); err != nil {
			return failedMsg{"not renamed", err}
		}
		return noticeMsg("the session is now called " + title)
	})
}

func (m *model) commandTheme(theme string) tea.Cmd {
	switch theme {
	case themeDark, themeLight:
		m.theme = theme
		m.restyle(theme == themeDark)
	case themeAuto, "":
		m.theme = themeAuto
		return tea.RequestBackgroundColor
	default:
		m.fail("no such theme", fmt.Errorf("%s; there are dark, light and auto", theme))
	}
	return nil
}

func (m *model) commandStop() tea.Cmd {
	if !m.busy() {
		m.say("nothing is under way")
		return nil
	}
	m.stop()
	return nil
}

// restyle changes the colours of everything.
func (m *model) restyle(dark bool) {
	if m.look.Theme.Dark == dark {
		return
	}
	m.look.restyle(m.styles(dark))
	m.overlays.SetStyles(m.look.Styles)
	m.composer.SetStyles(m.look.Styles)
	m.describeComposer()
}
