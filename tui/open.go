package tui

import (
	"context"
	"fmt"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"bureau/engine/history"
	"bureau/tui/thread"
)

// opened is a session with all that its first frame shows.
type opened struct {
	session       Session
	user          fetched
	conversations []history.Conversation
	usage         history.Usage
	window        int64
	draft         Draft
}

// fetched is a page of a conversation with the nested runs that its calls started.
type fetched struct {
	key         history.Thread
	rows        []history.Message
	more        bool
	delegations []history.Delegation
}

// head is what the header of a pane shows of a session that is read again.
type head struct {
	fetched
	last history.Delegation
}

// The messages that bring what was read. number is that of the opening that they belong to.
type (
	openedMsg struct {
		number int
		opened
		err error
	}
	pageMsg struct {
		number int
		fetched
		err error
	}
	headsMsg struct {
		number int
		heads  []head
		err    error
	}
	rereadMsg struct {
		number int
		fetched
		err error
	}
	usageMsg struct {
		number int
		total  history.Usage
		window int64
		err    error
	}
)

// headPage is how many rows of a pane are read at first, before it is looked at.
const headPage = 40

// open reads a session for its first frame.
func open(ctx context.Context, b Backend, id string) (o opened, err error) {
	if o.session, err = b.Open(ctx, id); err != nil {
		return o, err
	}
	return read(ctx, o)
}

// fork copies a session and reads the copy.
func fork(ctx context.Context, b Backend, id string) (o opened, err error) {
	if o.session, err = b.Fork(ctx, id); err != nil {
		return o, err
	}
	return read(ctx, o)
}

// read reads what the first frame shows of a session, and lets go of it when that fails.
func read(ctx context.Context, o opened) (opened, error) {
	err := func() (err error) {
		if o.session.Info().ID == "" {
			return nil
		}
		if o.user, err = fetch(ctx, o.session, history.UserThread, 0, page); err != nil {
			return err
		}
		if o.conversations, err = o.session.Conversations(ctx); err != nil {
			return err
		}
		if o.usage, o.window, err = o.session.Usage(ctx); err != nil {
			return err
		}
		o.draft, err = o.session.Draft(ctx)
		return err
	}()
	if err != nil {
		_ = o.session.Close()
		return opened{}, fmt.Errorf("read session %s: %w", o.session.Info().ID, err)
	}
	return o, nil
}

// fetch reads a page of a conversation, and the nested runs that its calls started.
func fetch(ctx context.Context, s Session, key history.Thread, before int64, limit int) (f fetched, err error) {
	f.key = key
	if f.rows, err = s.Rows(ctx, key, before, limit); err != nil {
		return f, err
	}
	f.more = len(f.rows) == limit
	var calls []string
	for _, row := range f.rows {
		if row.Type == history.TypeCall {
			calls = append(calls, row.CallID)
		}
	}
	if len(calls) > 0 {
		f.delegations, err = s.Delegations(ctx, calls)
	}
	return f, err
}

// held is the session that is open, for whoever must close it when the terminal has come to a standstill.
type held struct {
	mu      sync.Mutex
	session Session
}

func (h *held) set(s Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.session = s
}

func (h *held) get() Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.session
}

// show puts a session on the screen.
func (m *model) show(o opened) tea.Cmd {
	m.session = o.session
	m.held.set(o.session)
	m.data = thread.New(m.agency.sends())
	m.data.LoadConversations(o.conversations)
	m.data.Load(history.UserThread, o.user.rows, o.user.more)
	m.data.LoadDelegations(o.user.delegations)
	m.user = newTranscript(m.data.User, m.look)
	m.panes, m.cursor, m.onHead, m.zoom = nil, 0, true, zoomNothing
	m.total, m.window = o.usage, o.window
	m.queue = queue{waiting: o.draft.Queue, held: len(o.draft.Queue) > 0}
	m.draft = draftKeeper{saved: o.draft}
	m.composer.SetValue(o.draft.Text)
	m.sent = false
	m.recipient = firstRecipient(m.agency, o.session)
	m.setFocus(focusComposer)
	m.describeComposer()
	m.syncPanes()
	m.restPanes()
	return m.loadHeads()
}

// openSession lets go of the session and opens another: id empty begins a new one.
func (m *model) openSession(id string, open func(context.Context, Backend, string) (opened, error)) tea.Cmd {
	m.opening++
	number, before, draft := m.opening, m.session, m.currentDraft()
	m.say("opening the session")
	return m.guard.cmd(func() tea.Msg {
		if before != nil && before.ReadOnly() == "" {
			ctx, cancel := context.WithTimeout(m.ctx, 5*time.Second)
			_ = before.SaveDraft(ctx, draft) // the keeper has told of a failure already
			cancel()
		}
		o, err := open(m.ctx, m.backend, id)
		if err == nil && before != nil {
			err = before.Close()
			if err != nil {
				err = fmt.Errorf("close the session before: %w", err)
			}
		}
		return openedMsg{number, o, err}
	})
}

// handleLoaded takes in what was read.
func (m *model) handleLoaded(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case openedMsg:
		if msg.session == nil {
			m.fail("the session does not open", msg.err)
			return nil
		}
		if msg.number != m.opening {
			return m.guard.cmd(func() tea.Msg { _ = msg.session.Close(); return nil })
		}
		m.notice.text = ""
		if msg.err != nil {
			m.fail("warning", msg.err)
		}
		return m.show(msg.opened)
	case pageMsg:
		if msg.number != m.opening {
			return nil
		}
		t := m.transcriptOf(msg.key)
		if t == nil {
			return nil
		}
		t.loading = false
		if msg.err != nil {
			t.toTop = false
			m.fail("earlier messages cannot be read", msg.err)
			return nil
		}
		m.take(msg.fetched)
		t.sync()
		if t.toTop {
			t.list.Home()
			t.toTop = t.data.More
		}
	case headsMsg:
		if msg.number != m.opening {
			return nil
		}
		if msg.err != nil {
			m.fail("the panes cannot be read", msg.err)
		}
		for _, h := range msg.heads {
			m.take(h.fetched)
			m.data.LoadDelegations([]history.Delegation{h.last})
		}
	case rereadMsg:
		if msg.number == m.opening && msg.err == nil {
			m.take(msg.fetched)
		}
	case usageMsg:
		m.usage.asking = false
		if msg.number == m.opening && msg.err == nil {
			m.total, m.window = msg.total, msg.window
		}
	}
	return nil
}

func (m *model) take(f fetched) {
	m.data.Load(f.key, f.rows, f.more)
	m.data.LoadDelegations(f.delegations)
}

func (m *model) transcriptOf(key history.Thread) *transcript {
	if key.IsUser() {
		return m.user
	}
	if i := m.paneOf(key); i >= 0 {
		return m.panes[i].transcript
	}
	return nil
}

// loadHeads reads what the panes of an opened session show.
func (m *model) loadHeads() tea.Cmd {
	if len(m.data.Pairs) == 0 {
		return nil
	}
	keys := make([]history.Thread, len(m.data.Pairs))
	for i, t := range m.data.Pairs {
		keys[i] = t.Key
	}
	number, session := m.opening, m.session
	return m.guard.cmd(func() tea.Msg {
		heads := make([]head, 0, len(keys))
		for _, key := range keys {
			last, err := session.LastDelegation(m.ctx, key)
			if err != nil {
				return headsMsg{number, heads, err}
			}
			f, err := fetch(m.ctx, session, key, 0, headPage)
			if err != nil {
				return headsMsg{number, heads, err}
			}
			heads = append(heads, head{f, last})
		}
		return headsMsg{number, heads, nil}
	})
}

// keepLoaded asks for older rows where the view comes near to the oldest that are there.
func (m *model) keepLoaded() tea.Cmd {
	if m.session == nil || m.w == 0 {
		return nil
	}
	var cmds []tea.Cmd
	ask := func(t *transcript) {
		limit, ok := t.wantsOlder()
		if !ok {
			return
		}
		t.loading = true
		number, session, key, before := m.opening, m.session, t.data.Key, t.data.FirstID()
		cmds = append(cmds, m.guard.cmd(func() tea.Msg {
			f, err := fetch(m.ctx, session, key, before, limit)
			return pageMsg{number, f, err}
		}))
	}
	if !m.layout.Thread.Empty() {
		ask(m.user)
	}
	for i, l := range m.layout.Stack {
		if l.Expanded && i < len(m.panes) && m.panes[i].data.Loaded {
			ask(m.panes[i].transcript)
		}
	}
	return tea.Batch(cmds...)
}

// reread reads rows again whose text was not told whole.
func (m *model) reread(gaps []thread.Gap) tea.Cmd {
	cmds := make([]tea.Cmd, 0, len(gaps))
	for _, gap := range gaps {
		number, session := m.opening, m.session
		cmds = append(cmds, m.guard.cmd(func() tea.Msg {
			f, err := fetch(m.ctx, session, gap.Thread, gap.ID+1, 1)
			return rereadMsg{number, f, err}
		}))
	}
	return tea.Batch(cmds...)
}

// usageKeeper asks for the session's totals now and then while they grow.
type usageKeeper struct {
	wanted bool
	asking bool
	asked  time.Time
}

// usageEvery is how long totals stand before they are asked for again in a turn.
const usageEvery = time.Second

func (m *model) keepUsage() tea.Cmd {
	u := &m.usage
	if !u.wanted || u.asking || m.busy() && m.look.now.Sub(u.asked) < usageEvery {
		return nil
	}
	u.wanted, u.asking, u.asked = false, true, m.look.now
	number, session := m.opening, m.session
	return m.guard.cmd(func() tea.Msg {
		total, window, err := session.Usage(m.ctx)
		return usageMsg{number, total, window, err}
	})
}

// sends tells of the names of tools that carry messages in this agency.
func (a Agency) sends() func(tool string) bool {
	names := map[string]bool{"send_message": true}
	for _, f := range a.Flows {
		if !f.Handoff && f.Tool != "" {
			names[f.Tool] = true
		}
	}
	return func(tool string) bool { return names[tool] }
}
