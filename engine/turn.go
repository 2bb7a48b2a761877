package engine

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"bureau/engine/history"
)

// Input is one message of the user.
type Input struct {
	SessionID string
	// Recipient is the exact name of the agent that is addressed.
	Recipient string
	Text      string
	// Once addresses the agent for this message alone: the one that has control of the session keeps it, unless the agent
	// hands over in its turn.
	Once bool
	// Finish, once closed, ends the turn when the model call under way and what it called are done; nil never does.
	Finish <-chan struct{}
}

// Result is the answer to a message of the user.
type Result struct {
	RunID   string
	TraceID string
	// Agent gave the answer: the one that has control now.
	Agent string
	Text  string
	Usage history.Usage
}

// turn is one message of the user and all that follows until the answer.
type turn struct {
	engine  *Engine
	input   Input
	traceID string
	runID   string

	// mu guards what the runs of the turn share, and keeps the events in one order.
	mu       sync.Mutex
	runs     int
	calls    int
	inFlight map[string]bool // ids of the calls that are being carried out
}

// Turn carries one message of the user to its answer. Everything that happens is written and told as it happens; the last
// event is RUN_FINISHED or RUN_ERROR. A failure is an *Error, and all finished work is kept. When the context ends, every run
// below is stopped and what was said until then is kept. The session must not have another turn under way.
func (e *Engine) Turn(ctx context.Context, input Input) (Result, error) {
	t := &turn{
		engine: e, input: input, traceID: history.NewTraceID(), runID: history.NewRunID(), runs: 1, inFlight: map[string]bool{},
	}
	top := &run{turn: t, id: t.runID, task: input.Text}
	result := Result{RunID: t.runID, TraceID: t.traceID, Agent: input.Recipient}
	role, known := e.roles[input.Recipient]
	if known {
		top.role = role
	}
	t.emit(top, history.Event{Type: history.EventRunStarted, Agent: input.Recipient})
	text, err := func() (string, error) {
		switch {
		case !known:
			return "", failed("there is no agent %q in %s", input.Recipient, e.options.Agency.Name)
		case strings.TrimSpace(input.Text) == "":
			return "", failed("the message is empty")
		case ctx.Err() != nil:
			return "", errInterrupted
		}
		return top.answer(ctx)
	}()
	result.Usage = top.total()
	if top.role != nil {
		result.Agent = top.role.agent.Name
	}
	if err != nil {
		fault := asError(ctx, err)
		t.emit(top, history.Event{
			Type: history.EventRunError, Agent: result.Agent, Message: fault.Message, Code: fault.Code, Hint: fault.Hint, Usage: &result.Usage,
		})
		return result, fault
	}
	result.Text = text
	t.emit(top, history.Event{Type: history.EventRunFinished, Agent: result.Agent, Result: text, Usage: &result.Usage})
	return result, nil
}

// emit tells an event of a run.
func (t *turn) emit(r *run, e history.Event) {
	e.SessionID, e.RunID, e.At = t.input.SessionID, t.runID, micros()
	if r.parent != nil {
		e.SubagentRunID, e.ParentCallID = r.id, r.parentCall
		if r.parent.parent != nil {
			e.ParentSubagentRunID = r.parent.id
		}
	}
	if e.Agent == "" && r.role != nil {
		e.Agent = r.role.agent.Name
	}
	e.CallerAgent = r.caller
	t.mu.Lock()
	defer t.mu.Unlock()
	t.engine.options.Publish(e)
}

// countRun admits one more run, or says which limit refuses it.
func (t *turn) countRun(depth int) error {
	limits := t.engine.options.Agency.Limits
	if depth > limits.MaxDepth {
		return fmt.Errorf("the limit max_depth is reached: no delegation may be nested deeper than %d", limits.MaxDepth)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs >= limits.MaxRuns {
		return fmt.Errorf("the limit max_runs is reached: this turn has started %d runs", limits.MaxRuns)
	}
	t.runs++
	return nil
}

// countCall admits one more model call of the turn.
func (t *turn) countCall() error {
	limit := t.engine.options.Agency.Limits.MaxTurnCalls
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.calls >= limit {
		return limited("the limit max_turn_calls is reached: this turn has called models %d times", limit)
	}
	t.calls++
	return nil
}

func (t *turn) isInFlight(callID string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.inFlight[callID]
}

// claim makes a call id unique in the session and marks the call as under way; done is called when it has its output.
func (t *turn) claim(ctx context.Context, id string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id == "" || t.inFlight[id] {
		id = history.NewCallID()
	}
	taken, err := t.engine.options.Log.CallTaken(ctx, t.input.SessionID, id)
	if err != nil {
		return "", err
	}
	if taken {
		id = history.NewCallID()
	}
	t.inFlight[id] = true
	return id, nil
}

func (t *turn) release(callID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.inFlight, callID)
}

// append stores rows of a run, with the labels that all rows of the run have, and tells those that are whole.
func (t *turn) append(ctx context.Context, r *run, rows ...*history.Message) error {
	for _, m := range rows {
		m.SessionID, m.RunID, m.TraceID = t.input.SessionID, r.id, t.traceID
		m.CallerAgent, m.CreatedAt = r.caller, micros()
		if m.Agent == "" {
			m.Agent = r.role.agent.Name
		}
		if r.parent != nil {
			m.ParentRunID, m.ParentCallID = r.parent.id, r.parentCall
		}
		if m.Protocol == "" {
			m.Protocol = history.ProtocolChatCompletions
		}
		if m.Status == "" {
			m.Status = history.StatusCompleted
		}
	}
	// What has happened is written whether or not the turn was stopped meanwhile.
	if err := t.engine.options.Log.AppendAll(context.WithoutCancel(ctx), rows); err != nil {
		return fmt.Errorf("write to the session: %w", err)
	}
	for _, m := range rows {
		if m.Status != history.StatusStreaming {
			t.tell(r, *m)
		}
	}
	return nil
}

// tell publishes the events of a row that was written whole.
func (t *turn) tell(r *run, m history.Message) {
	if m.Type == history.TypeOutput {
		t.emit(r, history.Event{
			Type: history.EventCallResult, Agent: m.Agent, MessageID: m.ID, CallID: m.CallID, Name: m.Name,
			Content: m.Content, IsError: m.Extra.IsError, Status: m.Status,
		})
		return
	}
	t.emit(r, history.Event{Type: history.EventTextStart, Agent: m.Agent, MessageID: m.ID, Role: m.Role, Origin: m.Origin})
	if m.Content != "" {
		t.emit(r, history.Event{Type: history.EventTextContent, Agent: m.Agent, MessageID: m.ID, Role: m.Role, Delta: m.Content})
	}
	t.emit(r, history.Event{
		Type: history.EventTextEnd, Agent: m.Agent, MessageID: m.ID, Role: m.Role, Origin: m.Origin, Status: m.Status,
		Content: m.Content, Code: history.Code(m.Extra.Code), Hint: m.Extra.Hint,
	})
}
