package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"bureau/engine/history"
	"bureau/tui/composer"
	"bureau/tui/keymap"
	"bureau/tui/overlay"
	"bureau/tui/text"
	"bureau/tui/thread"
)

// model is the root and the only tea.Model. Everything below it is a struct with verbs that it calls.
type model struct {
	ctx     context.Context
	backend Backend
	agency  Agency
	env     environment
	guard   *guard
	keys    keymap.Map
	look    *look

	// What is shown: the open session, what is known of it, and its conversations.
	held    *held
	first   tea.Cmd // what is to be read beside the first frame
	session Session
	data    *thread.Session
	opening int // counts the sessions that were asked for, so that what comes too late is let go
	user    *transcript
	panes   []*pane
	total   history.Usage
	window  int64

	composer  *composer.Composer
	overlays  *overlay.Stack
	commands  []command
	recipient string
	pair      *thread.Run // the sub-conversation that is written to, by a run in it; nil for the user thread
	question  *question   // nil while none is open
	budget    Budget
	before    history.Usage // the session's total when the turn began
	queue     queue
	draft     draftKeeper
	notice    notice
	usage     usageKeeper

	focus  focus
	cursor int // the pane that the keys act on
	onHead bool
	zoom   zoom
	mouse  bool
	theme  string
	inputs []string // the user's earlier messages, newest first
	wanted string   // the session that a question is about
	sent   bool     // a turn was asked for, of which no event has told yet
	leave  time.Time
	ticks  bool // a tick is on its way

	w, h   int
	layout Layout
	frame  tea.View
	dirty  bool
}

// The messages that the root sends itself by way of commands.
type (
	batchMsg []history.Event
	tickMsg  time.Time
	// failedMsg tells of something that the user asked for and that did not work.
	failedMsg struct {
		what string
		err  error
	}
	noticeMsg string
)

// Init asks for the background colour, and for what the first frame can do without.
func (m *model) Init() tea.Cmd {
	return tea.Batch(tea.RequestBackgroundColor, m.loadInputs(), m.first)
}

// Update takes in one message. It never waits.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.look.now = time.Now()
	cmd, known := m.handle(msg)
	if !known {
		return m, nil
	}
	m.dirty = true
	m.arrange()
	return m, tea.Batch(cmd, m.upkeep())
}

// handle names the handler of each family of messages. It reports false for a message that changes nothing.
func (m *model) handle(msg tea.Msg) (cmd tea.Cmd, known bool) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case batchMsg:
		cmd = m.applyEvents(msg)
	case tickMsg:
		m.ticks = false
		m.look.tick++
	case tea.KeyPressMsg:
		cmd = m.handleKey(msg)
	case tea.PasteMsg:
		cmd = m.handlePaste(msg.Content)
	case tea.PasteEndMsg:
		m.composer.HandlePasteEnd()
		return nil, false
	case composer.Rested:
		cmd = m.act(m.composer.Rested(msg))
	case tea.MouseClickMsg:
		cmd = m.handleClick(msg.Mouse())
	case tea.MouseWheelMsg:
		m.handleWheel(msg.Mouse())
	case tea.BackgroundColorMsg:
		if m.theme != themeAuto {
			return nil, false
		}
		m.restyle(msg.IsDark())
	case openedMsg, pageMsg, headsMsg, rereadMsg, usageMsg:
		cmd = m.handleLoaded(msg)
	case inputsMsg, draftSavedMsg, saveDraftMsg, editorMsg, editedMsg, sessionsMsg:
		cmd = m.handleWritten(msg)
	case failedMsg:
		m.fail(msg.what, msg.err)
	case noticeMsg:
		m.say(string(msg))
	case noticeOverMsg:
		m.notice.expire(m.look.now)
	default:
		return nil, false
	}
	return cmd, true
}

// upkeep asks for what the state now needs: ticks while something moves, older rows, a draft to be saved.
func (m *model) upkeep() tea.Cmd {
	return tea.Batch(m.keepTicking(), m.keepLoaded(), m.keepDraft(), m.keepUsage(), m.notice.keep())
}

// ticking is how often what moves is drawn anew.
const ticking = 125 * time.Millisecond

func (m *model) keepTicking() tea.Cmd {
	if m.ticks || !m.moves() {
		return nil
	}
	m.ticks = true
	return m.guard.cmd(tea.Tick(ticking, func(t time.Time) tea.Msg { return tickMsg(t) }))
}

// moves tells whether time alone changes the screen.
func (m *model) moves() bool { return m.busy() }

// busy tells whether a turn is under way.
func (m *model) busy() bool {
	return m.sent || m.data != nil && m.data.Top != nil && m.data.Top.Working()
}

// arrange brings panes and layout up to date with the state.
func (m *model) arrange() {
	m.syncPanes()
	if m.w == 0 {
		return
	}
	m.composer.SetWidth(max(m.w-m.margin()-1, 1))
	m.composer.SetMaxRows(max(m.h/3, 1))
	m.layout = Compute(m.w, m.h, m.layoutState())
}

// margin is how far from the edge the composer and the status line begin: where the text of the thread does.
func (m *model) margin() int {
	if m.w < narrowColumns {
		return 0
	}
	return len(indent)
}

func (m *model) layoutState() layoutState {
	s := layoutState{
		composer: m.composer.Rows(), queue: m.queueRows(), cursor: -1, focus: m.focus, zoom: m.zoom,
		panes: make([]paneState, len(m.panes)),
	}
	if m.focus == focusPanes || m.zoom == zoomPane {
		s.cursor = m.cursor
	}
	for i, p := range m.panes {
		s.panes[i] = p.state()
	}
	return s
}

// View returns the frame, drawn anew only when something changed.
func (m *model) View() tea.View {
	if m.w == 0 || !m.dirty {
		return m.frame
	}
	m.dirty = false
	rows, cursor := m.draw()
	v := tea.NewView(strings.Join(rows, "\n"))
	v.AltScreen = true
	v.Cursor = cursor
	v.WindowTitle = text.Cut(text.Line("Bureau · "+m.agency.Name), 60)
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	m.frame = v
	return v
}
