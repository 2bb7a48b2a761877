package overlay

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"bureau/engine/history"
	"bureau/tui/text"
)

// Sessions is the session browser. It filters nothing itself: what is typed is a Query for the backend, whose answer
// SetSessions shows.
type Sessions struct {
	current, home string
	list          []session
	asked         string // the query that was handed out last
	query         query  // the same, to mark what it found
	waiting       bool   // for its answer
	filter        Line
	chooser
	mode          mode
	edit          Line    // the new title
	target        session // of the mode
	notice        string
	failed        bool // the notice tells of an error
	most          int  // the longest that the list has been, so that the box does not shrink while one types
	agencyWidth   int
	receiverWidth int
}

// session is a session as it is shown: every text safe, on one line.
type session struct {
	id, title, agency, recipient, folder string
	updated, messages                    int64
	held                                 bool // by another process
}

// mode is what the keys of the browser are for just now.
type mode int

const (
	browsing mode = iota
	renaming
	deleting
	choosing // how to open a session that another process holds
)

// NewSessions returns the session browser, empty and waiting for SetSessions: the root asks for all sessions when it opens
// it. current is the id of the session that is open, which is marked and cannot be deleted; home is the user's home folder,
// shown as ~, or empty. The results are Query, Open, Rename, Delete and Fork; after a Rename or a Delete the root asks
// again and fills the list anew. Its id is SessionsID.
func NewSessions(current, home string) *Sessions {
	return &Sessions{current: current, home: strings.TrimRight(home, `/\`), waiting: true}
}

// Query is the text that the list should answer to. Answers may come late: one to another text is stale.
func (s *Sessions) Query() string { return s.asked }

// SetSessions fills the list. The selection stays on the session that it was on, if that is still there. With an error, also
// one of renaming or deleting, the list stays as it is and the error is shown.
func (s *Sessions) SetSessions(list []history.Session, err error) {
	s.waiting = false
	if err != nil {
		s.notice, s.failed = text.Line(err.Error()), true
		return
	}
	if s.failed {
		s.notice, s.failed = "", false
	}
	selected := ""
	if len(s.list) > 0 {
		selected = s.list[s.selected].id
	}
	at := s.selected
	s.list = make([]session, len(list))
	s.most = max(s.most, len(list))
	s.agencyWidth, s.receiverWidth = 0, 0
	for i, h := range list {
		v := session{
			id: h.ID, title: text.Line(h.Title), agency: text.Line(h.Agency), recipient: text.Line(h.Recipient),
			folder: s.short(text.Line(h.Folder)), updated: h.UpdatedAt, messages: h.Messages, held: h.Held && h.ID != s.current,
		}
		if v.title == "" {
			v.title = "(no title)"
		}
		s.list[i] = v
		s.agencyWidth = max(s.agencyWidth, text.Width(v.agency))
		s.receiverWidth = max(s.receiverWidth, text.Width(v.recipient))
		if h.ID == selected {
			at = i
		}
	}
	s.reset(len(s.list), at)
}

// short writes the home folder as ~.
func (s *Sessions) short(folder string) string {
	rest, ok := strings.CutPrefix(folder, s.home)
	if s.home == "" || !ok || rest != "" && rest[0] != '/' && rest[0] != '\\' {
		return folder
	}
	return "~" + rest
}

// ID is SessionsID.
func (s *Sessions) ID() string { return SessionsID }

func (s *Sessions) size(w, h int) (int, int) { return spread(w, h, 112, min(s.most, 32)+9) }

func (s *Sessions) handleKey(e env, msg tea.KeyPressMsg) Result {
	s.notice, s.failed = "", false
	o := e.keys.Overlay
	if key.Matches(msg, o.Close) {
		if s.mode != browsing {
			s.mode = browsing
			return nil
		}
		return Closed{SessionsID}
	}
	switch s.mode {
	case renaming:
		return s.rename(e, msg)
	case deleting:
		return s.answerDelete(e, msg)
	case choosing:
		return s.answerHeld(e, msg)
	}
	switch {
	case key.Matches(msg, o.Accept):
		return s.accept()
	case key.Matches(msg, o.Rename):
		if s.aim(renaming) {
			s.edit.Set(s.target.title)
		}
	case key.Matches(msg, o.Delete):
		s.askDelete()
	case key.Matches(msg, o.Fork):
		if len(s.list) > 0 {
			return Fork{s.list[s.selected].id}
		}
	case s.chooser.handleKey(o, msg):
	case s.filter.HandleKey(e.keys.Editing, msg):
		return s.ask()
	}
	return nil
}

// ask returns the query for what the filter says, nil when it was handed out before.
func (s *Sessions) ask() Result {
	q := strings.TrimSpace(s.filter.Value())
	if q == s.asked {
		return nil
	}
	s.asked, s.query, s.waiting = q, parseQuery(q), true
	return Query{q}
}

// aim enters a mode for the selected session, if there is one.
func (s *Sessions) aim(m mode) bool {
	if len(s.list) == 0 {
		return false
	}
	s.mode, s.target = m, s.list[s.selected]
	return true
}

func (s *Sessions) accept() Result {
	if len(s.list) == 0 {
		return nil
	}
	if v := s.list[s.selected]; !v.held {
		return Open{v.id}
	}
	s.aim(choosing)
	return nil
}

func (s *Sessions) askDelete() {
	if len(s.list) == 0 {
		return
	}
	switch v := s.list[s.selected]; {
	case v.id == s.current:
		s.notice = "This session is open. Begin or open another one, then delete it."
	case v.held:
		s.notice = "Another process holds this session. Close it there, then delete it."
	default:
		s.aim(deleting)
	}
}

func (s *Sessions) rename(e env, msg tea.KeyPressMsg) Result {
	switch {
	case key.Matches(msg, e.keys.Overlay.Accept):
		title := text.Line(s.edit.Value())
		if title == "" {
			s.notice = "A title has at least one character."
			return nil
		}
		s.mode = browsing
		if title == s.target.title {
			return nil
		}
		return Rename{s.target.id, title}
	case key.Matches(msg, e.keys.Overlay.Top):
		s.edit.Home()
	case key.Matches(msg, e.keys.Overlay.Bottom):
		s.edit.End()
	default:
		s.edit.HandleKey(e.keys.Editing, msg)
	}
	return nil
}

// answerDelete takes everything but a clear yes for a no.
func (s *Sessions) answerDelete(e env, msg tea.KeyPressMsg) Result {
	s.mode = browsing
	if key.Matches(msg, e.keys.Overlay.Yes) {
		return Delete{s.target.id}
	}
	return nil
}

func (s *Sessions) answerHeld(e env, msg tea.KeyPressMsg) Result {
	switch o := e.keys.Overlay; {
	case key.Matches(msg, o.ReadHeld, o.Accept):
		return Open{s.target.id}
	case key.Matches(msg, o.ForkHeld, o.Fork):
		return Fork{s.target.id}
	}
	return nil
}

func (s *Sessions) handlePaste(_ env, pasted string) Result {
	switch s.mode {
	case renaming:
		s.edit.Insert(pasted)
	case browsing:
		s.filter.Insert(pasted)
		return s.ask()
	}
	return nil
}

func (s *Sessions) scroll(n int) {
	if s.mode == browsing {
		s.move(n)
	}
}

func (s *Sessions) click(_ env, row int) Result {
	if s.mode == browsing && s.chooser.click(row) {
		return s.accept()
	}
	return nil
}
