package thread

import (
	"slices"

	"bureau/engine/history"
)

// Load takes in rows of a conversation that were read, oldest first: its newest page, one before it, or single rows
// again. What events told of a row since then stays. more tells whether older rows exist than the oldest of these; it
// counts only where they reach further back than what was loaded.
func (s *Session) Load(key history.Thread, rows []history.Message, more bool) {
	t := s.thread(key)
	first := t.FirstID()
	if first == 0 || len(rows) > 0 && rows[0].ID < first || len(rows) == 0 {
		t.More = more
	}
	t.Loaded = true
	for _, row := range rows {
		s.load(t, row)
	}
	s.endings(t)
	t.Changed++
}

func (s *Session) load(t *Thread, m history.Message) {
	t.saw(m.ID)
	if m.Type == history.TypeOutput {
		s.result(m.CallID, output{id: m.ID, text: m.Content, isError: m.Extra.IsError, at: m.CreatedAt})
		return
	}
	if i, ok := t.find(m.ID); ok {
		t.Items[i].reload(m)
		return
	}
	it := &Item{
		ID: m.ID, Agent: m.Agent, Caller: m.CallerAgent, Role: m.Role, Origin: m.Origin, ByUser: m.Extra.ByUser, Status: m.Status,
		RunID: m.RunID, At: m.CreatedAt, CallID: m.CallID, Name: m.Name, Code: m.Extra.Code, Hint: m.Extra.Hint,
		Citations: m.Extra.Sources(), text: []byte(textOf(m)),
	}
	switch m.Type {
	case history.TypeCall:
		it.Kind = Call
		if !s.alive(m.RunID) && it.Status != history.StatusFailed {
			it.Status = history.StatusInterrupted // until its output is found
		}
	case history.TypeReason:
		it.Kind = Reasoning
	default:
		it.Kind = messageKind(m.Role, m.Origin)
	}
	if it.Status == history.StatusStreaming && !s.alive(m.RunID) {
		it.Status = history.StatusInterrupted
	}
	s.place(it, t.Key)
}

// textOf is the text of a row as an item holds it.
func textOf(m history.Message) string {
	if m.Type == history.TypeCall {
		return m.Arguments
	}
	return m.Content
}

// alive tells whether a run is under way as far as events told.
func (s *Session) alive(runID string) bool {
	run := s.runs[runID]
	return run != nil && run.live && run.Working()
}

// reload brings an item up to date with its row: text only grows, and a row that has ended is the truth.
func (it *Item) reload(m history.Message) {
	words := textOf(m)
	it.gap = false
	if m.Status != history.StatusStreaming || len(words) > len(it.text) {
		it.setText(words)
	}
	if m.Status != history.StatusStreaming && it.Status == history.StatusStreaming {
		it.Status = m.Status
		it.touch()
	}
	if sources := m.Extra.Sources(); len(it.Citations) == 0 && len(sources) > 0 {
		it.Citations = sources
		it.touch()
	}
	if it.Code == "" && it.Hint == "" && (m.Extra.Code != "" || m.Extra.Hint != "") {
		it.Code, it.Hint = m.Extra.Code, m.Extra.Hint
		it.touch()
	}
}

// endings gives every reasoning the time at which the next item of its run began.
func (s *Session) endings(t *Thread) {
	next := map[string]int64{}
	for _, it := range slices.Backward(t.Items) {
		if it.Kind == Reasoning && it.Ended == 0 && next[it.RunID] != 0 {
			it.Ended = next[it.RunID]
			it.touch()
		}
		next[it.RunID] = it.At
		if s.last[it.RunID] == nil {
			s.last[it.RunID] = it
		}
	}
}

// LoadConversations makes the pairs of a session known, in the order given.
func (s *Session) LoadConversations(list []history.Conversation) {
	order := make([]*Thread, 0, len(list))
	for _, c := range list {
		t := s.threads[c.Thread]
		if t == nil {
			t = &Thread{Key: c.Thread, More: true}
			s.threads[c.Thread] = t
		}
		t.lastID = max(t.lastID, c.LastID)
		order = append(order, t)
	}
	for _, t := range s.Pairs {
		if !slices.Contains(order, t) {
			order = append(order, t)
		}
	}
	s.Pairs = order
}

// LoadDelegations takes in what is stored of nested runs. A run that events tell of is left as it is.
func (s *Session) LoadDelegations(list []history.Delegation) {
	for _, d := range list {
		if d.RunID == "" || s.runs[d.RunID] != nil && s.runs[d.RunID].live {
			continue
		}
		run := s.runs[d.RunID]
		if run == nil {
			run = &Run{ID: d.RunID, Started: d.StartedAt, Now: d.To}
		}
		run.ParentID, run.CallID, run.From, run.To = d.ParentRunID, d.ParentCallID, d.From, d.To
		run.Task, run.Ended, run.Tools, run.Usage = d.Task, d.EndedAt, d.Tools, d.Usage
		switch d.Status {
		case history.StatusCompleted:
			run.State = Done
		case history.StatusFailed:
			run.State = Failed
		default:
			run.State = Interrupted
		}
		s.begin(run)
		s.touchRun(run)
	}
}

// Calls returns the ids of the loaded calls of a conversation that may have started a run and are not known to have,
// among the rows from first to last.
func (t *Thread) Calls(first, last int64) []string {
	var ids []string
	for _, it := range t.Items {
		if it.Kind == Call && it.Run == nil && it.Carries != Control && it.ID >= first && it.ID <= last {
			ids = append(ids, it.CallID)
		}
	}
	return ids
}
