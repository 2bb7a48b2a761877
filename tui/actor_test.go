package tui_test

import (
	"fmt"
	"time"

	"bureau/engine/history"
)

// tell publishes an event.
func (s *stage) tell(e history.Event) {
	s.mu.Lock()
	e.SessionID = s.session.ID
	if e.At == 0 {
		e.At = time.Now().UnixMicro()
	}
	s.record = append(s.record, e)
	silent := s.silent
	s.mu.Unlock()
	if !silent {
		s.feed.Publish(e)
	}
}

// actor is a run that a test plays.
type actor struct {
	*stage
	name, caller string
	top, run     string
	parent, call string
	delegation   *history.Delegation
}

func (s *stage) number(kind string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return fmt.Sprintf("%s_%d", kind, s.calls)
}

// turn begins a turn of the user's.
func (s *stage) turn(agent, text string) *actor {
	s.mu.Lock()
	if s.session.ID == "" {
		s.session.ID = "sessionid123"
	}
	s.mu.Unlock()
	run := s.number("run")
	a := &actor{stage: s, name: agent, top: run, run: run}
	a.event(history.Event{Type: history.EventRunStarted})
	a.input(text)
	return a
}

// event tells something of the run.
func (a *actor) event(e history.Event) {
	e.RunID, e.Agent, e.CallerAgent = a.top, a.name, a.caller
	if a.run != a.top {
		e.SubagentRunID, e.ParentCallID = a.run, a.call
		if a.parent != a.top {
			e.ParentSubagentRunID = a.parent
		}
	}
	a.tell(e)
}

// row stores a row of the run and returns its id.
func (a *actor) row(m history.Message) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	m.ID = int64(len(a.rows) + 1)
	m.SessionID, m.Agent, m.CallerAgent, m.RunID, m.CreatedAt = a.session.ID, a.name, a.caller, a.run, time.Now().UnixMicro()
	a.rows = append(a.rows, m)
	return m.ID
}

func (a *actor) message(role history.Role, origin history.Origin, text string) {
	id := a.row(history.Message{Type: history.TypeMessage, Role: role, Origin: origin, Content: text, Status: history.StatusCompleted})
	a.event(history.Event{Type: history.EventTextStart, MessageID: id, Role: role, Origin: origin})
	a.event(history.Event{Type: history.EventTextContent, MessageID: id, Delta: text})
	a.event(history.Event{Type: history.EventTextEnd, MessageID: id, Role: role, Content: text, Status: history.StatusCompleted})
}

func (a *actor) input(text string) { a.message(history.RoleUser, "", text) }

// stream is a row that grows.
type stream struct {
	*actor
	id   int64
	text string
	kind history.Type
}

func (a *actor) answer() *stream { return a.open(history.TypeMessage) }
func (a *actor) think() *stream  { return a.open(history.TypeReason) }

func (a *actor) open(kind history.Type) *stream {
	st := &stream{actor: a, kind: kind}
	m := history.Message{Type: kind, Status: history.StatusStreaming}
	start := history.EventReasoningStart
	if kind == history.TypeMessage {
		m.Role, start = history.RoleAssistant, history.EventTextStart
	}
	st.id = a.row(m)
	a.event(history.Event{Type: start, MessageID: st.id, Role: m.Role})
	return st
}

func (s *stream) add(delta string) *stream {
	e := history.Event{Type: history.EventReasoningContent, MessageID: s.id, Delta: delta, Offset: len(s.text)}
	if s.kind == history.TypeMessage {
		e.Type = history.EventTextContent
	}
	s.text += delta
	s.mu.Lock()
	s.rows[s.id-1].Content = s.text
	s.mu.Unlock()
	s.event(e)
	return s
}

func (s *stream) end(status history.Status) {
	s.mu.Lock()
	s.rows[s.id-1].Status = status
	s.mu.Unlock()
	e := history.Event{Type: history.EventReasoningEnd, MessageID: s.id, Content: s.text, Status: status}
	if s.kind == history.TypeMessage {
		e.Type = history.EventTextEnd
	}
	s.event(e)
}

// cite ends an answer with its sources.
func (s *stream) cite(sources ...history.Citation) {
	s.mu.Lock()
	s.rows[s.id-1].Status, s.rows[s.id-1].Extra.Citations = history.StatusCompleted, history.RawCitations(sources)
	s.mu.Unlock()
	s.event(history.Event{Type: history.EventTextEnd, MessageID: s.id, Content: s.text, Status: history.StatusCompleted, Citations: sources})
}

func (a *actor) say(text string) { a.answer().add(text).end(history.StatusCompleted) }

// use begins a call and returns its id.
func (a *actor) use(tool, arguments string) string {
	call := a.number("call")
	id := a.row(history.Message{Type: history.TypeCall, CallID: call, Name: tool, Arguments: arguments, Status: history.StatusCompleted})
	a.event(history.Event{Type: history.EventCallStart, MessageID: id, CallID: call, Name: tool})
	a.event(history.Event{Type: history.EventCallArgs, MessageID: id, CallID: call, Name: tool, Delta: arguments})
	a.event(history.Event{Type: history.EventCallEnd, MessageID: id, CallID: call, Name: tool, Content: arguments, Status: history.StatusCompleted})
	if a.delegation != nil {
		a.mu.Lock()
		a.delegation.Tools++
		a.mu.Unlock()
	}
	return call
}

func (a *actor) result(call, tool, output string, isError bool) {
	id := a.row(history.Message{
		Type: history.TypeOutput, CallID: call, Name: tool, Content: output, Status: history.StatusCompleted,
		Extra: history.Extra{IsError: isError},
	})
	a.event(history.Event{Type: history.EventCallResult, MessageID: id, CallID: call, Name: tool, Content: output, IsError: isError})
}

// ask sends a message to another agent and returns its run.
func (a *actor) ask(to, task string) *actor {
	call := a.use("send_message", fmt.Sprintf(`{"recipient_agent":%q,"message":%q}`, to, task))
	child := &actor{stage: a.stage, name: to, caller: a.name, top: a.top, run: a.number("run"), parent: a.run, call: call}
	child.delegation = &history.Delegation{
		RunID: child.run, ParentRunID: child.parent, ParentCallID: call, From: a.name, To: to, Tool: "send_message", Task: task,
		Status: history.StatusStreaming, StartedAt: time.Now().UnixMicro(),
	}
	a.mu.Lock()
	a.runs = append(a.runs, child.delegation)
	child.delegation.FirstID = int64(len(a.rows) + 1)
	a.mu.Unlock()
	child.event(history.Event{Type: history.EventSubagentStarted})
	child.input(task)
	return child
}

// finish ends a run with an answer; of a nested one the sender gets the output.
func (a *actor) finish(answer string, u history.Usage) {
	a.say(answer)
	if a.delegation == nil {
		a.event(history.Event{Type: history.EventRunFinished, Result: answer, Usage: &u})
		return
	}
	a.settle(history.StatusCompleted, u)
	a.event(history.Event{Type: history.EventSubagentFinished, Result: answer, Usage: &u})
	a.sender().result(a.call, "send_message", answer, false)
}

func (a *actor) settle(status history.Status, u history.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.delegation.Status, a.delegation.EndedAt, a.delegation.Usage = status, time.Now().UnixMicro(), u
}

// sender is the run that asked this one.
func (a *actor) sender() *actor {
	return &actor{stage: a.stage, name: a.caller, caller: a.callerOf(), top: a.top, run: a.parent}
}

func (a *actor) callerOf() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, d := range a.runs {
		if d.RunID == a.parent {
			return d.From
		}
	}
	return ""
}

// fail ends a run with an error; of a nested one the sender gets it as an output.
func (a *actor) fail(code history.Code, message, hint string) {
	id := a.row(history.Message{
		Type: history.TypeMessage, Role: history.RoleAssistant, Origin: history.OriginError, Content: message,
		Status: history.StatusFailed, Extra: history.Extra{Code: string(code), Hint: hint},
	})
	a.event(history.Event{Type: history.EventTextStart, MessageID: id, Role: history.RoleAssistant, Origin: history.OriginError})
	a.event(history.Event{Type: history.EventTextContent, MessageID: id, Delta: message})
	a.event(history.Event{Type: history.EventTextEnd, MessageID: id, Content: message, Status: history.StatusFailed})
	if a.delegation == nil {
		a.event(history.Event{Type: history.EventRunError, Message: message, Code: code, Hint: hint, Usage: &history.Usage{}})
		return
	}
	a.settle(history.StatusFailed, history.Usage{})
	a.event(history.Event{Type: history.EventSubagentError, Message: message, Code: code, Hint: hint, Usage: &history.Usage{}})
	a.sender().result(a.call, "send_message", "Error: "+message, true)
}

// interrupted ends a top run that the user stopped.
func (a *actor) interrupted() {
	a.event(history.Event{Type: history.EventRunError, Message: "stopped by the user", Code: history.CodeInterrupted})
}

// handover gives the conversation to another agent, whose rows come next.
func (a *actor) handover(to string) {
	call := a.use("transfer_to_"+to, fmt.Sprintf(`{"recipient_agent":%q}`, to))
	a.result(call, "transfer_to_"+to, "{\"assistant\": \""+to+"\"}", false)
	from := a.name
	a.name = to
	a.message(history.RoleSystem, history.OriginHandoffReminder, "You are in charge of the conversation now.")
	a.event(history.Event{Type: history.EventCustom, Name: history.CustomHandoff, Value: map[string]any{"from": from, "to": to}})
	if a.caller == "" {
		a.mu.Lock()
		a.session.Recipient = to
		a.mu.Unlock()
		a.event(history.Event{Type: history.EventCustom, Name: history.CustomRecipient, Value: map[string]any{"agent": to}})
	}
}

func (a *actor) retry(attempt, of int, wait float64, reason string) {
	a.event(history.Event{Type: history.EventCustom, Name: history.CustomRetry, Value: map[string]any{
		"attempt": attempt, "of": of, "wait": wait, "reason": reason,
	}})
}
