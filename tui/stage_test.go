package tui_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"bureau/engine/history"
	"bureau/tui"
)

// stage is a backend in memory. A test plays turns on it; whatever is told by events stands in its rows as well, as the
// engine has it.
type stage struct {
	agency tui.Agency
	feed   *tui.Feed
	model  tui.ModelInfo

	mu       sync.Mutex
	session  history.Session
	rows     []history.Message
	runs     []*history.Delegation
	usage    history.Usage
	window   int64
	draft    tui.Draft
	drafts   int
	inputs   []string
	others   []history.Session
	sent     []sent
	stops    int
	closed   int
	readOnly string
	sendErr  error
	record   []history.Event
	// onSend plays a turn when the user has sent something.
	onSend func(to, text string)
	calls  int
	silent bool // events are recorded and not told
}

type sent struct {
	to, text string
	once     bool
}

func newStage() *stage {
	return &stage{
		feed: tui.NewFeed(),
		agency: tui.Agency{
			Name: "tour", Description: "Shows what an agency does, on the folder that it is started in.",
			Agents: []tui.Agent{
				{Name: "Guide", Description: "Answers, and asks the others", EntryPoint: true, Tools: []string{"current_time"}},
				{Name: "Scout", Description: "Looks at the folder", Tools: []string{"list_directory", "read_file"}},
				{Name: "Checker", Description: "Verifies what was found"},
				{Name: "Concierge", Description: "Takes the conversation over", EntryPoint: true},
			},
			Flows: []tui.Flow{
				{From: "Guide", To: "Scout"}, {From: "Guide", To: "Checker"}, {From: "Scout", To: "Checker"},
				{From: "Guide", To: "Concierge", Handoff: true}, {From: "Concierge", To: "Guide", Handoff: true},
			},
		},
		model:   tui.ModelInfo{Ref: "openai/gpt-5-mini", Window: 128000},
		session: history.Session{Agency: "tour", Recipient: "Guide"},
	}
}

func (s *stage) Agency() tui.Agency { return s.agency }

func (s *stage) Open(_ context.Context, id string) (tui.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id != "" && id != s.session.ID {
		return nil, fmt.Errorf("no session %s", id)
	}
	if id == "" {
		s.session.ID, s.rows, s.runs = "", nil, nil
	}
	return s, nil
}

func (s *stage) Fork(ctx context.Context, id string) (tui.Session, error) {
	s.mu.Lock()
	s.readOnly, s.session.ID = "", "copyofsession"
	s.mu.Unlock()
	return s, nil
}

func (s *stage) Sessions(_ context.Context, query string, _ int) ([]history.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []history.Session
	for _, o := range append([]history.Session{s.session}, s.others...) {
		if o.ID != "" && strings.Contains(o.Title+o.Agency, query) {
			found = append(found, o)
		}
	}
	return found, nil
}

func (s *stage) Rename(_ context.Context, _, title string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session.Title = title
	return nil
}

func (s *stage) Delete(context.Context, string) error { return errors.New("held elsewhere") }

func (s *stage) Inputs(context.Context, int) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.inputs), nil
}

func (s *stage) AddInput(_ context.Context, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inputs = append([]string{text}, s.inputs...)
	return nil
}

func (s *stage) Info() history.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session
}

func (s *stage) ReadOnly() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readOnly
}

func (s *stage) Model(string) tui.ModelInfo { return s.model }

func (s *stage) Rows(_ context.Context, t history.Thread, before int64, limit int) ([]history.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []history.Message
	for i := len(s.rows) - 1; i >= 0 && len(found) < limit; i-- {
		if t.Holds(s.rows[i]) && (before == 0 || s.rows[i].ID < before) {
			found = append(found, s.rows[i])
		}
	}
	slices.Reverse(found)
	return found, nil
}

func (s *stage) Conversations(context.Context) ([]history.Conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []history.Conversation
	for _, row := range s.rows {
		t := row.Thread()
		if t.IsUser() {
			continue
		}
		i := slices.IndexFunc(list, func(c history.Conversation) bool { return c.Thread == t })
		if i < 0 {
			i = len(list)
			list = append(list, history.Conversation{Thread: t, FirstID: row.ID})
		}
		list[i].LastID = row.ID
		list[i].Rows++
	}
	return list, nil
}

func (s *stage) Delegations(_ context.Context, callIDs []string) ([]history.Delegation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []history.Delegation
	for _, d := range s.runs {
		if slices.Contains(callIDs, d.ParentCallID) {
			list = append(list, *d)
		}
	}
	return list, nil
}

func (s *stage) LastDelegation(_ context.Context, t history.Thread) (history.Delegation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range slices.Backward(s.runs) {
		if history.Pair(d.From, d.To) == t {
			return *d, nil
		}
	}
	return history.Delegation{}, nil
}

func (s *stage) Usage(context.Context) (history.Usage, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.usage, s.window, nil
}

func (s *stage) Draft(context.Context) (tui.Draft, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draft, nil
}

func (s *stage) SaveDraft(_ context.Context, d tui.Draft) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draft = d
	s.drafts++
	return nil
}

func (s *stage) Send(to, text string, once bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sendErr != nil {
		return s.sendErr
	}
	s.sent = append(s.sent, sent{to, text, once})
	if s.session.ID == "" {
		s.session.ID = "sessionid123"
	}
	if s.onSend != nil {
		go s.onSend(to, text)
	}
	return nil
}

func (s *stage) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stops++
}

func (s *stage) Export(_ context.Context, format string) (string, error) {
	return "session." + format, nil
}

func (s *stage) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed++
	return nil
}

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
	a.event(history.Event{Type: history.EventTextEnd, MessageID: id, Content: text, Status: history.StatusCompleted})
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
	s.rows[s.id-1].Status, s.rows[s.id-1].Extra.Citations = history.StatusCompleted, sources
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
