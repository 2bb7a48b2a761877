package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"bureau/agencies"
	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/tool"
)

// reach carries the run to an answer that keeps the agents' rules. A message that breaks a rule reaches no model; an answer that
// breaks one is told why, and the agent that the run began with tries again.
func (r *run) reach(ctx context.Context) (string, error) {
	if answer, refused, err := r.checkInput(ctx); refused || err != nil {
		return answer, err
	}
	for attempt := 0; ; attempt++ {
		said := r.noted()
		text, err := r.loop(ctx)
		if err != nil {
			return "", err
		}
		answer, why, err := r.checkAnswer(ctx, text)
		if err != nil {
			return "", err
		}
		if why == "" {
			return answer, nil
		}
		r.forget(said) // a refused answer is no part of what a sender is told
		by := r.role.agent.Name
		if err := r.guide(ctx, why); err != nil {
			return "", err
		}
		if attempt >= r.starter.agent.ValidationAttempts {
			reason, _, _ := strings.Cut(why, "\n")
			e := failed("the answer of %s was not accepted in %d tries, the last time because %s", by, attempt+1, strings.TrimRight(reason, "."))
			if attempt == 0 {
				e = failed("the answer of %s was not accepted, because %s", by, strings.TrimRight(reason, "."))
			}
			e.Hint = "Change the message, or the agent's output_guardrails, output_type or validation_attempts."
			return "", e
		}
		if err := r.restart(ctx); err != nil {
			return "", err
		}
	}
}

// checkInput holds the message against the rules of the agent that it is sent to. A refused message is answered by the rule.
func (r *run) checkInput(ctx context.Context) (answer string, refused bool, err error) {
	rule, why, err := r.broken(ctx, r.role.agent.InputGuardrails, checkOfInput, r.task)
	if err != nil || rule == nil {
		return "", false, err
	}
	row := &history.Message{
		Type: history.TypeMessage, Role: history.RoleAssistant, Content: why, Origin: history.OriginInputGuardrailMessage,
	}
	if rule.Raise {
		row.Role, row.Origin = history.RoleSystem, history.OriginInputGuardrailError
		row.Extra.Code = string(history.CodeFailed)
	}
	if err := r.turn.append(ctx, r, row); err != nil {
		return "", true, err
	}
	if rule.Raise {
		return "", true, &Error{Code: history.CodeFailed, Message: why, recorded: true}
	}
	return why, true, nil
}

// checkAnswer holds an answer against the agent's output type and its rules. The reason is empty for one that is accepted.
func (r *run) checkAnswer(ctx context.Context, text string) (answer, why string, err error) {
	agent := r.role.agent
	if agent.OutputType != nil {
		object, err := structured(agent.OutputType, text)
		if err != nil {
			return "", misfit(agent.OutputType, err), nil
		}
		text = object
	}
	_, why, err = r.broken(ctx, agent.OutputGuardrails, checkOfOutput, text)
	return text, why, err
}

// guide tells the agent that tries again why the answer was refused.
func (r *run) guide(ctx context.Context, why string) error {
	return r.turn.append(ctx, r, &history.Message{
		Agent: r.starter.agent.Name, Type: history.TypeMessage, Role: history.RoleSystem, Origin: history.OriginOutputGuardrailError,
		Content: "The last answer was not accepted: " + why + "\nAnswer again.",
	})
}

// restart gives control back to the agent that the run began with.
func (r *run) restart(ctx context.Context) error {
	if r.role == r.starter {
		return nil
	}
	r.role = r.starter
	if r.parent == nil && !r.turn.input.Once {
		return r.takeControl(ctx)
	}
	return nil
}

// The two things that rules hold for.
const (
	checkOfInput  = "input"
	checkOfOutput = "output"
)

// broken finds the first rule that a text breaks, and says why in words for whom it concerns; nil for none. A rule that cannot be
// judged is an error: nothing passes because a check failed.
func (r *run) broken(ctx context.Context, rules []agencies.Guardrail, kind, text string) (*agencies.Guardrail, string, error) {
	for i := range rules {
		rule := &rules[i]
		why, err := r.test(ctx, rule, kind, text)
		if ctx.Err() != nil {
			return nil, "", interruption(ctx)
		}
		if err != nil {
			fault := *asError(ctx, err)
			fault.Message = fmt.Sprintf("rule %d of the %s_guardrails of %s could not be judged: %s", i+1, kind, r.role.agent.Name, fault.Message)
			return nil, "", &fault
		}
		if why != "" {
			return rule, why, nil
		}
	}
	return nil, "", nil
}

// test holds a text against one rule; the reason is empty for one that keeps it.
func (r *run) test(ctx context.Context, rule *agencies.Guardrail, kind, text string) (why string, err error) {
	switch {
	case rule.Deny != nil:
		if rule.Deny.MatchString(text) {
			why = "it holds something that is not allowed here (" + rule.Deny.String() + ")."
		}
	case rule.Allow != nil:
		if !rule.Allow.MatchString(text) {
			why = "it lacks something that must be in it (" + rule.Allow.String() + ")."
		}
	case rule.MaxLength > 0:
		if n := utf8.RuneCountInString(text); n > rule.MaxLength {
			why = fmt.Sprintf("it has %d characters; at most %d are accepted.", n, rule.MaxLength)
		}
	case rule.Schema != nil:
		if _, err := structured(rule.Schema, text); err != nil {
			why = misfit(rule.Schema, err)
		}
	case rule.Command != nil:
		refused, message, err := r.judgeByCommand(ctx, rule, kind, text)
		if err != nil || !refused {
			return "", err
		}
		if message != "" {
			return message, nil
		}
		why = "the check " + rule.Command[0] + " refused it."
	default:
		if why, err = r.judgeByModel(ctx, rule, kind, text); err != nil {
			return "", err
		}
	}
	switch {
	case why == "":
		return "", nil
	case rule.Message != "":
		return rule.Message, nil
	case kind == checkOfInput:
		return "This message was not accepted: " + why, nil
	}
	return why, nil
}

// structured finds the JSON object in an answer, mends what is safe to mend, and holds it against a schema. The error is in words for
// the model.
func structured(schema json.RawMessage, text string) (string, error) {
	if first, last := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}'); first >= 0 && last > first {
		text = text[first : last+1] // without a code fence or words around it
	}
	if !isObject(text) {
		return "", errors.New("it is not one JSON object")
	}
	object, _, err := tool.Clean(llm.Tool{Name: "answer", Parameters: schema}, []byte(text))
	var invalid *tool.InvalidError
	if errors.As(err, &invalid) {
		return "", errors.New(strings.Join(invalid.Faults, "; "))
	}
	return string(object), err
}

func isObject(text string) bool {
	var fields map[string]json.RawMessage
	return json.Unmarshal([]byte(text), &fields) == nil && fields != nil
}

// misfit says what is wrong with a text that should be an object, and what would be right.
func misfit(schema json.RawMessage, err error) string {
	return fmt.Sprintf("it does not fit: %v.\nIt must be one JSON object that fits this JSON Schema: %s", err, schema)
}
