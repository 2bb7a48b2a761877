package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"bureau/engine/history"
)

// longestCycle is how many calls a repetition may take turns between.
const longestCycle = 3

// repetition tells whether an agent goes round in circles in one run: the same calls, with the same arguments and the same
// results. Whatever differs ends it. It belongs to the goroutine of the run.
type repetition struct {
	done []finished // the newest, at most two cycles of the longest kind
	// warned tells that calls of the last reply were refused.
	warned bool
}

// finished is a call with its result.
type finished struct{ call, result string }

// callKey is the same for calls that ask for the same.
func callKey(call *history.Message) string {
	if call.Extra.RawArguments != "" {
		return call.Name + "\x00" + call.Extra.RawArguments
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(call.Arguments)))
	decoder.UseNumber() // so that large numbers stay different
	var object any
	if decoder.Decode(&object) == nil {
		if sorted, err := json.Marshal(object); err == nil {
			return call.Name + "\x00" + string(sorted)
		}
	}
	return call.Name + "\x00" + call.Arguments
}

// foresee tells of each call in a reply what it would give again: the result that it had the two times before, where it goes
// on with a repetition. Empty is a call that is new.
func (p *repetition) foresee(calls []string) []string {
	results := make([]string, len(calls))
	for cycle := 1; cycle <= longestCycle; cycle++ {
		n := len(p.done)
		if n < 2*cycle || !p.repeats(cycle) {
			continue
		}
		for i, call := range calls {
			expected := p.done[n-cycle+i%cycle]
			if call != expected.call {
				break
			}
			results[i] = expected.result
		}
		if results[0] != "" {
			break
		}
	}
	return results
}

// repeats tells whether the newest calls are the same as those a cycle before.
func (p *repetition) repeats(cycle int) bool {
	n := len(p.done)
	for i := n - cycle; i < n; i++ {
		if p.done[i] != p.done[i-cycle] {
			return false
		}
	}
	return true
}

// add notes a call with its result.
func (p *repetition) add(call, result string) {
	p.done = append(p.done, finished{call, result})
	if over := len(p.done) - 2*longestCycle; over > 0 {
		p.done = p.done[over:]
	}
}

// spotRepetition looks for repetition in the calls of a reply, and returns for each why it is refused; empty is not. The first time the
// model is told. If it goes on, the user is asked; the error is that the run ends.
func (r *run) spotRepetition(ctx context.Context, reply said) ([]string, error) {
	refusals := make([]string, len(reply.calls))
	p := r.repetitions[r.role.agent.Name]
	if p == nil {
		p = &repetition{}
		r.repetitions[r.role.agent.Name] = p
	}
	var keys []string
	var at []int
	for i, call := range reply.calls {
		if _, isHandoff := r.role.handoffs[call.Name]; !isHandoff && !reply.cut {
			keys, at = append(keys, callKey(call)), append(at, i)
		}
	}
	if len(keys) == 0 || r.turn.letRepeat.Load() {
		return refusals, nil
	}
	name := ""
	results := p.foresee(keys)
	for i, result := range results {
		if result == "" {
			continue
		}
		name = reply.calls[at[i]].Name
		refusals[at[i]] = fmt.Sprintf("%s was called with the same arguments twice before, and the result was the same each time, so it was "+
			"not carried out again. Use what you know, try something else, or answer", name)
	}
	if name == "" {
		p.warned = false
		return refusals, nil
	}
	message := fmt.Sprintf("%s goes on calling %s with the same arguments, and gets the same result each time", r.role.agent.Name, name)
	if !p.warned {
		p.warned = true
		_ = r.overLimit(LimitRepeated, fmt.Errorf("%s; it was told so", message))
		for i, result := range results { // a refused call keeps its place in the cycle
			if result != "" {
				p.add(keys[i], result)
			}
		}
		return refusals, nil
	}
	return r.askToRepeat(ctx, message, refusals)
}

func (r *run) askToRepeat(ctx context.Context, message string, refusals []string) ([]string, error) {
	done, err := r.await(ctx)
	if err != nil {
		return refusals, err
	}
	defer done()
	answer := Answer{Verdict: Raise}
	if !r.turn.letRepeat.Load() { // another run's question may have settled it
		if answer, err = r.turn.decide(ctx, r, Question{Limit: LimitRepeated, Message: message}); err != nil {
			return refusals, err
		}
	}
	switch answer.Verdict {
	case Stop:
		err := limited("the limit on repeated calls is reached: %s", message)
		err.Hint = "Ask again to go on from here, or say what to do otherwise."
		return refusals, r.overLimit(LimitRepeated, err)
	case Raise:
		r.turn.letRepeat.Store(true)
	}
	return make([]string, len(refusals)), nil
}

// remember notes what a call came to, unless it was refused as a repetition.
func (r *run) remember(call *history.Message, o outcome) {
	if p := r.repetitions[call.Agent]; p != nil {
		p.add(callKey(call), fmt.Sprint(o.failed, " ", o.text))
	}
}
