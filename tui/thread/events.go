package thread

import (
	"encoding/json"

	"bureau/engine/history"
)

// Apply takes in one event. Events of one message must come in order; any may come twice.
func (s *Session) Apply(e history.Event) {
	if run := s.runs[runOf(e)]; run != nil && e.Agent != "" {
		run.Now = e.Agent
	}
	switch e.Type {
	case history.EventRunStarted, history.EventSubagentStarted:
		s.runStarted(e)
	case history.EventRunFinished, history.EventSubagentFinished, history.EventRunError, history.EventSubagentError:
		s.runEnded(e)
	case history.EventTextStart, history.EventReasoningStart, history.EventCallStart:
		s.row(e)
	case history.EventTextContent, history.EventReasoningContent, history.EventCallArgs:
		s.delta(e)
	case history.EventTextEnd, history.EventReasoningEnd, history.EventCallEnd:
		s.rowEnded(e)
	case history.EventCallResult:
		s.follow(runOf(e), nil, e.At)
		s.result(e.CallID, output{id: e.MessageID, text: e.Content, isError: e.IsError, at: e.At})
		s.seen(e)
		if run := s.runs[runOf(e)]; run != nil {
			run.calls = max(run.calls-1, 0)
			if run.calls == 0 {
				run.do(Waiting, "", e.At)
			}
		}
	case history.EventCustom:
		s.custom(e)
	}
}

// runOf is the id of the run that an event happened in.
func runOf(e history.Event) string {
	if e.SubagentRunID != "" {
		return e.SubagentRunID
	}
	return e.RunID
}

func (s *Session) runStarted(e history.Event) {
	id := runOf(e)
	if run := s.runs[id]; run != nil && run.live {
		return
	}
	run := &Run{ID: id, From: e.CallerAgent, To: e.Agent, Now: e.Agent, CallID: e.ParentCallID, Started: e.At, Since: e.At, live: true}
	if e.SubagentRunID == "" {
		s.Top = run
	} else if run.ParentID = e.ParentSubagentRunID; run.ParentID == "" {
		run.ParentID = e.RunID
	}
	s.begin(run)
}

func (s *Session) runEnded(e history.Event) {
	run := s.runs[runOf(e)]
	if run == nil {
		s.runStarted(e)
		run = s.runs[runOf(e)]
	}
	run.Ended, run.calls = e.At, 0
	if e.Usage != nil {
		run.Usage = *e.Usage
	}
	switch {
	case e.Type == history.EventRunFinished || e.Type == history.EventSubagentFinished:
		run.State = Done
	case e.Code == history.CodeInterrupted:
		run.State = Interrupted
	default:
		run.State = Failed
	}
	run.Code, run.Message, run.Hint = e.Code, e.Message, e.Hint
	s.dropRetry(run.ID)
	if run.State == Failed {
		s.fail(run, e)
	}
	s.settle(run)
	s.touchRun(run)
	if run == s.Top {
		for _, t := range s.Pairs { // a nested run whose end was never told has ended all the same
			for _, nested := range t.Runs {
				if nested.Working() {
					nested.State, nested.Ended = Interrupted, e.At
					s.settle(nested)
					s.touchRun(nested)
				}
			}
		}
	}
}

// settle closes what a run left open.
func (s *Session) settle(run *Run) {
	t := s.threads[run.Thread()]
	if t == nil {
		return
	}
	for i := len(t.Items) - 1; i >= 0; i-- {
		it := t.Items[i]
		if it.RunID != run.ID {
			if it.At < run.Started {
				return
			}
			continue
		}
		if it.State() == Working {
			it.Status = history.StatusInterrupted
			it.touch()
			t.Changed++
		}
	}
}

// fail tells in place why a run ended: on its own row where it left one, else in an item without a row.
func (s *Session) fail(run *Run, e history.Event) {
	t := s.thread(run.Thread())
	for i := len(t.Items) - 1; i >= 0 && t.Items[i].At >= run.Started; i-- {
		it := t.Items[i]
		if it.RunID != run.ID || (it.Kind != Failure && it.Status != history.StatusFailed) {
			continue
		}
		if it.Kind == Failure {
			it.Code, it.Hint = string(e.Code), e.Hint
			it.touch()
			t.Changed++
			return
		}
		break
	}
	t.note(&Item{
		Kind: Failure, Agent: run.To, Caller: run.From, RunID: run.ID, At: e.At, Status: history.StatusFailed,
		Code: string(e.Code), Hint: e.Hint, text: []byte(e.Message),
	})
}

// row makes the item of a row that begins.
func (s *Session) row(e history.Event) *Item {
	key := e.Thread()
	t := s.thread(key)
	s.dropRetry(runOf(e))
	if i, ok := t.find(e.MessageID); ok {
		return t.Items[i]
	}
	it := &Item{
		ID: e.MessageID, Agent: e.Agent, Caller: e.CallerAgent, Role: e.Role, Origin: e.Origin, ByUser: e.ByUser,
		Status: history.StatusStreaming, RunID: runOf(e), At: e.At, CallID: e.CallID, Name: e.Name,
	}
	switch e.Type {
	case history.EventCallStart, history.EventCallArgs, history.EventCallEnd:
		it.Kind = Call
	case history.EventReasoningStart, history.EventReasoningContent, history.EventReasoningEnd:
		it.Kind = Reasoning
	default:
		it.Kind = messageKind(e.Role, e.Origin)
	}
	s.place(it, key)
	s.follow(it.RunID, it, e.At)
	if run := s.runs[it.RunID]; run != nil {
		switch it.Kind {
		case Call:
			run.Tools++
			run.calls++
			run.do(Calling, it.Name, e.At)
			s.touchRun(run)
		case Reasoning:
			run.do(Thinking, "", e.At)
		case Answer:
			run.do(Writing, "", e.At)
		}
	}
	return it
}

func messageKind(role history.Role, origin history.Origin) Kind {
	switch {
	case origin == history.OriginError, origin == history.OriginInputGuardrailError:
		return Failure
	case origin == history.OriginInputGuardrailMessage:
		return Answer
	case origin != "", role == history.RoleSystem:
		return Reminder
	case role == history.RoleUser:
		return Input
	}
	return Answer
}

func (s *Session) delta(e history.Event) {
	it := s.row(e)
	if !it.addText(e.Delta, e.Offset) && !it.gap {
		it.gap = true
		s.gaps[e.Thread()] = append(s.gaps[e.Thread()], it)
	}
	s.changed(it)
}

func (s *Session) rowEnded(e history.Event) {
	it := s.row(e)
	if e.Content != "" {
		it.setText(e.Content)
	}
	if it.Status == history.StatusStreaming {
		if it.Status = e.Status; it.Status == "" {
			it.Status = history.StatusCompleted
		}
	}
	if len(e.Citations) > 0 {
		it.Citations = e.Citations
	}
	if e.Hint != "" {
		it.Hint = e.Hint
	}
	if e.Code != "" {
		it.Code = string(e.Code)
	}
	it.touch()
	s.changed(it)
	if run := s.runs[it.RunID]; run != nil {
		switch {
		case it.Kind == Input && run.Task == "":
			run.Task = it.Text()
			s.touchRun(run)
		case it.Kind == Call && run.Working():
			run.do(Using, it.Name, e.At)
		}
	}
}

// seen notes the id of a row that has no item of its own.
func (s *Session) seen(e history.Event) {
	t := s.thread(e.Thread())
	t.saw(e.MessageID)
	t.Changed++
}

// custom shows what no row tells: a retry until the run goes on, a warning or a limit where it came.
func (s *Session) custom(e history.Event) {
	it := &Item{Agent: e.Agent, Caller: e.CallerAgent, RunID: runOf(e), At: e.At, Status: history.StatusCompleted}
	v := decode(e.Value)
	switch e.Name {
	case history.CustomUsage:
		if run := s.runs[it.RunID]; run != nil && run.Working() && e.Usage != nil {
			run.Usage = *e.Usage
			s.touchRun(run)
		}
		return
	case history.CustomRetry:
		s.dropRetry(it.RunID)
		it.Kind, it.Attempt, it.Of, it.text = Retry, int(v.Attempt), int(v.Of), []byte(v.words(e))
		it.Until = e.At + int64(v.Wait*1e6)
		s.retries[it.RunID] = it
		if run := s.runs[it.RunID]; run != nil {
			run.do(Resting, "", e.At)
		}
	case history.CustomWarning, history.CustomLimit:
		it.Kind, it.Code, it.Hint, it.text = Notice, e.Name, e.Hint, []byte(v.words(e))
		if len(it.text) == 0 {
			return
		}
	default:
		return
	}
	s.thread(e.Thread()).note(it)
}

func (s *Session) dropRetry(runID string) {
	if it := s.retries[runID]; it != nil {
		delete(s.retries, runID)
		if t := s.threads[(history.Message{Agent: it.Agent, CallerAgent: it.Caller}).Thread()]; t != nil {
			t.remove(it)
		}
	}
}

// value is what a custom event may carry for a view.
type value struct {
	Attempt float64 `json:"attempt"`
	Of      float64 `json:"of"`
	Wait    float64 `json:"wait"`
	Reason  string  `json:"reason"`
	Message string  `json:"message"`
	Limit   string  `json:"limit"`
}

func decode(v any) (out value) {
	if raw, err := json.Marshal(v); err == nil {
		if json.Unmarshal(raw, &out) != nil {
			var words string
			if json.Unmarshal(raw, &words) == nil {
				out.Message = words
			}
		}
	}
	return out
}

func (v value) words(e history.Event) string {
	for _, words := range []string{v.Reason, v.Message, e.Message, v.Limit} {
		if words != "" {
			return words
		}
	}
	return ""
}
