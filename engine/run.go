package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/weave"
)

// run is one agent working to its answer. Control may move to others; caller, thread and id stay.
type run struct {
	turn *turn
	id   string
	// parent sent the message that the run answers, by the call parentCall; nil for the top run.
	parent     *run
	parentCall string
	// caller is the agent that the parent was then; empty for the user.
	caller string
	depth  int
	task   string
	// additional instructions go to the agent that they were sent to, and to no other that gets control.
	additional string
	starter    *role
	// role has control; held names all that had it in this run, the starter first.
	role *role
	held []string

	// firstRow is the id of the run's first row.
	firstRow int64

	calls       int
	hops        []string // the agents that had control since the last word
	refusals    int      // replies in a row whose handoffs the limit refused
	repetitions map[string]*repetition

	cancel context.CancelCauseFunc
	life   life

	reminders reminders
	due       []string // the reminders that go with the model call under way

	mu    sync.Mutex
	usage history.Usage
	tools int
	said  []string
	inbox []string // what the user has said to the run and it has not heard yet
	deaf  bool     // it hears nothing any more
}

func newRun(t *turn, id string, cancel context.CancelCauseFunc) *run {
	return &run{turn: t, id: id, cancel: cancel, repetitions: map[string]*repetition{}}
}

// holdsControl tells whether the session's control is where that of the run is.
func (r *run) holdsControl() bool { return r.parent == nil && r.caller == "" }

// answer writes down the message and carries the run to its answer.
func (r *run) answer(ctx context.Context) (string, error) {
	t := r.turn
	r.starter = r.role
	r.held = []string{r.role.agent.Name}
	var rows []*history.Message
	if r.holdsControl() {
		reminder, err := t.recipientReminder(ctx, r.role)
		if err != nil {
			return "", err
		}
		if reminder != "" {
			rows = append(rows, &history.Message{
				Type: history.TypeMessage, Role: history.RoleSystem, Content: reminder, Origin: history.OriginRecipientReminder,
			})
		}
	}
	rows = append(rows, &history.Message{
		Type: history.TypeMessage, Role: history.RoleUser, Content: r.task, Extra: history.Extra{ByUser: r.parent == nil && r.caller != ""},
	})
	if err := t.append(ctx, r, rows...); err != nil {
		return "", err
	}
	r.firstRow = rows[0].ID
	if r.holdsControl() && !t.input.Once {
		if err := r.takeControl(ctx); err != nil {
			return "", err
		}
	}
	text, err := r.reach(ctx)
	if err != nil {
		r.close(true)
		if hearErr := r.hear(ctx); hearErr != nil {
			r.warn("%v", hearErr)
		}
		r.writeFailure(ctx, err)
	}
	return text, err
}

// takeControl stores that the session's next message goes to the agent that has control, and tells it.
func (r *run) takeControl(ctx context.Context) error {
	t := r.turn
	name := r.role.agent.Name
	if err := t.engine.options.Log.SetRecipient(context.WithoutCancel(ctx), t.input.SessionID, name); err != nil {
		return fmt.Errorf("write to the session: %w", err)
	}
	t.emit(r, history.Event{Type: history.EventCustom, Name: history.CustomRecipient, Value: map[string]any{"agent": name}})
	return nil
}

// loop calls the model until it answers.
func (r *run) loop(ctx context.Context) (string, error) {
	limits := r.turn.engine.options.Agency.Limits
	r.hops = []string{r.role.agent.Name}
	r.open()
	nudge := ""
	for {
		if err := r.hear(ctx); err != nil {
			return "", err
		}
		if r.calls >= limits.MaxCalls {
			return "", r.overLimit("max_calls", limited("the limit max_calls is reached: %s has called its model %d times in this run",
				r.role.agent.Name, limits.MaxCalls))
		}
		r.calls++
		if err := r.admit(ctx); err != nil {
			return "", err
		}
		r.due = r.reminders.take(r.role, r.parent == nil)
		reply, err := r.ask(ctx, nudge)
		if nudge == "" && r.parent != nil && isEmpty(err) {
			nudge = summaryNudge
			continue
		}
		if err != nil {
			return "", err
		}
		if reply.text != "" {
			r.hops, r.refusals = []string{r.role.agent.Name}, 0
		}
		if len(reply.calls) == 0 {
			if r.close(false) {
				return reply.text, nil
			}
			continue
		}
		outcomes, next, err := r.execute(ctx, reply)
		if err != nil {
			return "", err
		}
		if answer, ok := r.toolAnswer(reply, outcomes); ok && next == nil && ctx.Err() == nil && r.close(false) {
			return answer, nil
		}
		if r.refusals > 1 {
			return "", limited("the limit max_handoffs is reached: control has moved %d times without a word to the user (%s)",
				limits.MaxHandoffs, strings.Join(r.hops, " > "))
		}
		if next != nil {
			if err := r.handOver(ctx, next); err != nil {
				return "", err
			}
		}
		if ctx.Err() != nil || r.parent == nil && isClosed(r.turn.input.Finish) {
			return "", interruption(ctx)
		}
	}
}

// isEmpty tells whether a model has answered with nothing, however often it was asked.
func isEmpty(err error) bool {
	var fault *llm.Error
	return errors.As(err, &fault) && fault.Kind == llm.KindEmpty
}

// toolAnswer is the output of the first tool of a reply that answers in the agent's place. One that failed is for the model to mend.
func (r *run) toolAnswer(reply said, outcomes []outcome) (string, bool) {
	for i, call := range reply.calls {
		if r.role.answers(call.Name) && !outcomes[i].failed {
			return outcomes[i].text, true
		}
	}
	return "", false
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (r *run) overLimit(name string, err error) error {
	r.turn.emit(r, history.Event{
		Type: history.EventCustom, Name: history.CustomLimit, Value: map[string]any{"limit": name, "message": err.Error()},
	})
	return err
}

// handOver moves control to another agent and reminds it of that.
func (r *run) handOver(ctx context.Context, next *role) error {
	from := r.role.agent.Name
	r.role = next
	if !slices.Contains(r.held, next.agent.Name) {
		r.held = append(r.held, next.agent.Name)
	}
	r.hops = append(r.hops, next.agent.Name)
	if text := handoffReminder(next.agent); text != "" {
		reminder := &history.Message{
			Type: history.TypeMessage, Role: history.RoleSystem, Content: text, Origin: history.OriginHandoffReminder,
		}
		if err := r.turn.append(ctx, r, reminder); err != nil {
			return err
		}
	}
	r.turn.emit(r, history.Event{
		Type: history.EventCustom, Name: history.CustomHandoff, Value: map[string]any{"from": from, "to": next.agent.Name},
	})
	if r.holdsControl() {
		return r.takeControl(ctx)
	}
	return nil
}

// prompt weaves what the agent that has control is sent now.
func (r *run) prompt(ctx context.Context, model llm.Model, share float64, nudge string) (llm.Request, error) {
	e := r.turn.engine
	additional := ""
	if r.role == r.starter {
		additional = r.additional
	}
	shared, own, reminders := e.options.Agency.SharedInstructions, r.role.agent.Instructions, slices.Clone(r.due)
	texts := []*string{&shared, &own}
	for i := range reminders {
		texts = append(texts, &reminders[i])
	}
	if err := r.expand(ctx, texts...); err != nil {
		return llm.Request{}, err
	}
	view := weave.View{
		System: instructions(shared, own, additional), Reminders: reminders,
		Agent: r.role.agent.Name, Caller: r.caller, Tools: r.role.offered,
		Provider: model.Ref().Provider, Protocol: model.Protocol(),
		InFlight: r.turn.isInFlight, Budget: budget(model, r.role, share), Nudge: nudge,
	}
	rows, err := r.rows(ctx)
	if err != nil {
		return llm.Request{}, fmt.Errorf("read the session: %w", err)
	}
	messages, err := weave.Prompt(rows, view)
	if err != nil {
		return llm.Request{}, fmt.Errorf("read the session: %w", err)
	}
	return llm.Request{Messages: messages, Tools: r.role.offered, Settings: settings(r.role.agent)}, nil
}

// unknownWindow is the context window in tokens that is assumed of a model whose own is not known.
const unknownWindow = 8192

// budget is what a prompt may take of the model's window: all of it but a reserve for the answer.
func budget(model llm.Model, role *role, share float64) int {
	window := model.Window()
	if window <= 0 {
		window = unknownWindow
	}
	reserve := min(max(role.agent.Settings.MaxOutputTokens, 512), min(20_000, window/4))
	return int(float64(window-reserve-weave.Estimate(string(role.agent.OutputType))) * share)
}

// writeFailure leaves a failed row where the run ended, so that it can be read later why. A stop by the user needs none: the
// rows that it cut off say so.
func (r *run) writeFailure(ctx context.Context, err error) {
	fault := asError(ctx, err)
	if fault.Code == history.CodeInterrupted || fault.recorded {
		return
	}
	row := &history.Message{
		Type: history.TypeMessage, Role: history.RoleAssistant, Content: fault.Message, Origin: history.OriginError,
		Status: history.StatusFailed, Extra: history.Extra{Code: string(fault.Code), Hint: fault.Hint},
	}
	if writeErr := r.turn.append(ctx, r, row); writeErr != nil {
		r.turn.emit(r, history.Event{
			Type: history.EventCustom, Name: history.CustomWarning, Value: map[string]any{"message": writeErr.Error()},
		})
	}
}

// nested carries a message to another agent and returns its answer. The error is in words for the sender.
func (r *run) nested(ctx context.Context, callID string, d delivery) (string, error) {
	t := r.turn
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	child := newRun(t, history.NewRunID(), cancel)
	child.parent, child.parentCall, child.caller, child.depth = r, callID, r.role.agent.Name, r.depth+1
	child.task, child.additional, child.role = d.message, d.additional, t.engine.roles[d.recipient]
	defer child.watch(cancel)()
	defer t.engine.live.enter(child)()
	t.emit(child, history.Event{Type: history.EventSubagentStarted})
	text, err := child.answer(ctx)
	usage := child.total()
	r.spend(usage)
	if err == nil {
		t.emit(child, history.Event{Type: history.EventSubagentFinished, Result: text, Usage: &usage})
		return text, nil
	}
	fault := asError(ctx, err)
	t.emit(child, history.Event{
		Type: history.EventSubagentError, Message: fault.Message, Code: fault.Code, Hint: fault.Hint, Usage: &usage,
	})
	return "", child.failureInWords(d.recipient, fault)
}

// failureInWords is what the sender is told of a recipient that did not answer: the cause, and what there is of an answer.
func (r *run) failureInWords(recipient string, fault *Error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var text strings.Builder
	if fault.Code == history.CodeInterrupted {
		fmt.Fprintf(&text, "%s was stopped by the user before it had answered.", recipient)
	} else {
		fmt.Fprintf(&text, "%s could not answer: %s.", recipient, strings.TrimRight(fault.Message, "."))
	}
	if r.tools > 0 {
		fmt.Fprintf(&text, " Tool calls that it had made: %d.", r.tools)
	}
	if len(r.said) > 0 {
		fmt.Fprintf(&text, "\nWhat it had said until then:\n%s", strings.Join(r.said, "\n\n"))
	}
	return errors.New(text.String())
}

// spend adds to what the run took with all below it.
func (r *run) spend(u history.Usage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.usage = r.usage.Add(u)
}

func (r *run) total() history.Usage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.usage
}
