package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"bureau/engine/history"
	"bureau/engine/tool"
)

// maxParallel is how many calls of one reply are carried out at the same time.
const maxParallel = 16

// stopGrace is how long a tool may take to end after a stop; then it is left behind.
const stopGrace = 500 * time.Millisecond

// outcome is what a call came to.
type outcome struct {
	text   string
	failed bool
}

func refused(format string, args ...any) outcome {
	return outcome{text: "Error: " + fmt.Sprintf(format, args...), failed: true}
}

// stopped is the outcome of a call that was not finished because its run was ended.
func stopped(ctx context.Context, when string) outcome {
	return refused("%s %s", interruption(ctx).Message, when)
}

// execute carries out the calls of a reply at once and stores their outputs in call order, exactly one for each. Handoffs
// come last: the role that control moves to is returned, nil for none. All calls are checked before the first is begun, so that what
// is refused depends on their order alone.
func (r *run) execute(ctx context.Context, reply said) ([]outcome, *role, error) {
	r.mu.Lock()
	r.tools += len(reply.calls)
	r.mu.Unlock()

	refusals, ending := r.spotRepetition(ctx, reply)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	outcomes := make([]chan outcome, len(reply.calls))
	slots := make(chan struct{}, maxParallel)
	works := make([]func() outcome, len(reply.calls))
	for i, call := range reply.calls {
		outcomes[i] = make(chan outcome, 1)
		if reply.cut {
			outcomes[i] <- refused("the output limit cut off this reply, so %s was not carried out. Write less at once; "+
				"max_output_tokens in the agent's model_settings raises the limit.", call.Name)
			continue
		}
		if ending != nil {
			outcomes[i] <- refused("%v", ending)
			continue
		}
		if _, isHandoff := r.role.handoffs[call.Name]; isHandoff && call.Extra.ArgumentsError == "" {
			continue
		}
		if refusals[i] != "" {
			outcomes[i] <- refused("%s", refusals[i])
			continue
		}
		works[i] = r.prepare(ctx, call)
	}
	var working sync.WaitGroup
	for i, work := range works {
		if work == nil {
			continue
		}
		working.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			outcomes[i] <- work()
		})
	}
	next := func() *role { return nil }
	if ending == nil {
		next = r.settleHandoffs(ctx, reply, outcomes, &working)
	}
	results := make([]outcome, len(reply.calls))
	failure := ending
	for i, call := range reply.calls {
		results[i] = <-outcomes[i]
		if err := r.store(ctx, call, results[i]); err != nil {
			failure = err
			stop() // what cannot be written down must not go on
		}
		if refusals[i] == "" {
			r.remember(call, results[i])
		}
		if _, isHandoff := r.role.handoffs[call.Name]; !isHandoff {
			r.reminders.count(r.role.agent.Name)
		}
	}
	return results, next(), failure
}

// prepare checks a call, in call order, and returns what carries it out.
func (r *run) prepare(ctx context.Context, call *history.Message) func() outcome {
	refuse := func(format string, args ...any) func() outcome {
		o := refused(format, args...)
		return func() outcome { return o }
	}
	send, isSend := r.role.sends[call.Name]
	own, isOwn := r.role.own.Get(call.Name)
	_, isHandoff := r.role.handoffs[call.Name]
	switch {
	case !isSend && !isOwn && !isHandoff:
		name := call.Name
		if call.Extra.RawName != "" {
			name = call.Extra.RawName
		}
		return refuse("%s", unknownTool(name, r.role.names()))
	case call.Extra.ArgumentsError != "":
		return refuse("the arguments of %s were not carried out: %s. They must be one JSON object that fits this schema: %s",
			call.Name, call.Extra.ArgumentsError, r.schema(call.Name))
	}
	end, err := r.turn.engine.alone.begin(sequenceKey{r.turn.input.SessionID, r.role.agent.Name}, call.Name, r.role.runsAlone(call.Name))
	if err != nil {
		return refuse("%v", err)
	}
	var work func() outcome
	if isSend {
		work = r.prepareSend(ctx, call, send)
	} else {
		work = r.prepareOwn(ctx, call, own)
	}
	return func() outcome {
		defer end()
		return work()
	}
}

// prepareOwn checks a call of one of the agent's own tools.
func (r *run) prepareOwn(ctx context.Context, call *history.Message, own tool.Tool) func() outcome {
	refuse := func(format string, args ...any) func() outcome {
		o := refused(format, args...)
		return func() outcome { return o }
	}
	definition := own.Definition()
	object, unknown, err := tool.Clean(definition, []byte(call.Arguments))
	if err != nil {
		return refuse("the arguments of %s do not fit: %v", call.Name, err)
	}
	return func() outcome {
		o := r.runTool(ctx, own, tool.Call{ID: call.CallID, Session: r.turn.input.SessionID, Agent: r.role.agent.Name, Arguments: object})
		if len(unknown) > 0 {
			o.text += fmt.Sprintf("\n(Ignored, since %s does not have them: %s)", call.Name, strings.Join(unknown, ", "))
		}
		return o
	}
}

func unknownTool(name string, names []string) string {
	text := fmt.Sprintf("there is no tool %q.", name)
	if near := tool.Nearest(name, names, 3); len(near) > 0 {
		return text + " Did you mean " + strings.Join(near, " or ") + "?"
	}
	if len(names) == 0 {
		return text + " You have no tools: answer in words."
	}
	return text + " Your tools are: " + strings.Join(names, ", ") + "."
}

func (r *run) schema(name string) json.RawMessage {
	for _, t := range r.role.offered {
		if t.Name == name {
			return t.Parameters
		}
	}
	return nil
}

// prepareSend checks a message to another agent and claims its recipient.
func (r *run) prepareSend(ctx context.Context, call *history.Message, send sendTool) func() outcome {
	t := r.turn
	refuse := func(err error) func() outcome {
		return func() outcome { return refused("%v", err) }
	}
	d, err := send.read(call.Name, []byte(call.Arguments))
	if err != nil {
		return refuse(err)
	}
	if len(d.ignored) > 0 {
		r.warn("%s was called with parameters that it does not have: %s", call.Name, strings.Join(d.ignored, ", "))
	}
	key := pendingKey{session: t.input.SessionID, sender: r.role.agent.Name, recipient: d.recipient}
	if !t.engine.pending.begin(key) {
		return refuse(fmt.Errorf("%s is still working on the message before this one. Wait for the answer before you send another",
			d.recipient))
	}
	if err := t.countRun(r.depth + 1); err != nil {
		t.engine.pending.end(key)
		r.overLimitNotice(err)
		return refuse(err)
	}
	return func() outcome {
		defer t.engine.pending.end(key)
		if ctx.Err() != nil {
			return stopped(ctx, "before "+d.recipient+" was asked")
		}
		text, err := r.nested(ctx, call.CallID, d)
		if err != nil {
			return refused("%v", err)
		}
		return outcome{text: text}
	}
}

func (r *run) overLimitNotice(err error) {
	name := strings.Fields(strings.TrimPrefix(err.Error(), "the limit "))[0]
	_ = r.overLimit(name, err)
}

// runTool carries out one call of an own tool. A tool that breaks is an error for the model; one that does not end when it is
// told to is left behind.
func (r *run) runTool(ctx context.Context, t tool.Tool, call tool.Call) outcome {
	if ctx.Err() != nil {
		return stopped(ctx, "before the tool was started")
	}
	done := make(chan outcome, 1)
	go func() {
		defer func() {
			if fault := recover(); fault != nil {
				done <- refused("the tool broke: %v", fault)
			}
		}()
		text, err := t.Run(ctx, call)
		switch {
		case err != nil && errors.Is(err, context.Canceled) && ctx.Err() != nil:
			done <- stopped(ctx, "while the tool ran")
		case err != nil:
			done <- refused("%v", err)
		default:
			done <- outcome{text: text}
		}
	}()
	select {
	case o := <-done:
		return o
	case <-ctx.Done():
	}
	select {
	case o := <-done:
		return o
	case <-time.After(stopGrace):
		return stopped(ctx, "before the tool had ended")
	}
}

// store writes down the output of a call.
func (r *run) store(ctx context.Context, call *history.Message, o outcome) error {
	row := &history.Message{
		Type: history.TypeOutput, CallID: call.CallID, Name: call.Name, Content: o.text, Extra: history.Extra{IsError: o.failed},
	}
	defer r.turn.release(call.CallID)
	return r.turn.append(ctx, r, row)
}

// settleHandoffs answers the handoffs of a reply once all its other calls are done: the first moves control. The returned
// function tells where to, after that.
func (r *run) settleHandoffs(ctx context.Context, reply said, outcomes []chan outcome, working *sync.WaitGroup) func() *role {
	var next *role
	settled := make(chan struct{})
	go func() {
		defer close(settled)
		working.Wait()
		if reply.cut {
			return
		}
		refusals := r.refusals
		for i, call := range reply.calls {
			to, isHandoff := r.role.handoffs[call.Name]
			if !isHandoff || call.Extra.ArgumentsError != "" {
				continue
			}
			if ctx.Err() != nil {
				outcomes[i] <- stopped(ctx, "before control had moved")
				continue
			}
			if next != nil {
				outcomes[i] <- refused("control has already gone to %s; one reply can hand over only once", next.agent.Name)
				continue
			}
			if err := r.handoffAllowed(to); err != nil {
				r.refusals = refusals + 1 // the model has been told once, whatever else it calls
				outcomes[i] <- refused("%v", err)
				continue
			}
			next = r.turn.engine.roles[to]
			outcomes[i] <- outcome{text: string(mustJSON(map[string]string{"assistant": to}))}
		}
	}()
	return func() *role {
		<-settled
		return next
	}
}

// handoffAllowed refuses a handoff where control has moved too often without a word to the user.
func (r *run) handoffAllowed(to string) error {
	limit := r.turn.engine.options.Agency.Limits.MaxHandoffs
	if len(r.hops)-1 < limit {
		return nil
	}
	err := fmt.Errorf("the limit max_handoffs is reached: control has moved %d times without a word to the user (%s). Answer yourself",
		limit, strings.Join(append(r.hops, to), " > "))
	r.overLimitNotice(err)
	return err
}
