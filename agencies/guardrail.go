package agencies

import (
	"encoding/json"
	"regexp"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
)

// Guardrail is one rule for what an agent is sent, or for what it answers. Exactly one of Deny, Allow, MaxLength, Schema,
// Command and Judge is set.
type Guardrail struct {
	// Deny is a pattern that the text must not hold, Allow one that it must.
	Deny, Allow *regexp.Regexp
	// MaxLength of the text in characters.
	MaxLength int
	// Schema is a JSON Schema of type object that the text must fit.
	Schema json.RawMessage
	// Command is a program with its arguments that judges: the text as JSON on its standard input. Timeout is how long it may take.
	Command []string
	Timeout time.Duration
	// Judge is a question about the text that a model answers, with yes where the text keeps the rule. Model is which; empty for
	// the agent's own.
	Judge, Model string
	// Message is what is said where the rule is broken; empty for a text that names the rule.
	Message string
	// Raise makes a broken input guardrail an error; otherwise its message is the answer.
	Raise bool
}

// The bounds of what a guardrail's command may take.
const (
	defaultTimeout = 30 * time.Second
	maxTimeout     = 10 * time.Minute
)

// DefaultValidationAttempts is how often an answer that is refused is tried again.
const DefaultValidationAttempts = 1

var (
	inputGuardrailKeys  = append(slices.Clone(outputGuardrailKeys), "raise")
	outputGuardrailKeys = append(slices.Clone(guardrailTests), "timeout", "model", "message")
	guardrailTests      = []string{"deny", "allow", "max_length", "json_schema", "command", "judge"}
)

func (d *decoder) guardrails(n *yaml.Node, what string, keys []string) []Guardrail {
	var rules []Guardrail
	for _, item := range d.items(n, what) {
		rules = append(rules, d.guardrail(item, "a rule of "+what, keys))
	}
	return rules
}

func (d *decoder) guardrail(n *yaml.Node, what string, known []string) Guardrail {
	var g Guardrail
	if n.Kind != yaml.MappingNode {
		d.wrongType(n, what, "a mapping such as {deny: pattern}")
		return g
	}
	var tests []entry
	keys := map[string]entry{}
	for _, e := range d.entries(n, what) {
		switch {
		case e.name == "raise" && !slices.Contains(known, e.name):
			d.fault(at(e.key), "raise in a rule of output_guardrails; an answer that is refused is tried again, then the run fails")
		case !slices.Contains(known, e.name):
			d.unknown(at(e.key), "key of "+what, e.name, known)
		}
		if slices.Contains(guardrailTests, e.name) {
			tests = append(tests, e)
		}
		keys[e.name] = e
	}
	switch {
	case len(tests) == 0 && len(n.Content) > 0 || len(n.Content) == 0:
		d.fault(at(n), "%s tests nothing; write one of: %s", what, listing(guardrailTests))
	case len(tests) > 1:
		d.fault(at(tests[1].key), "%s tests one thing; write %s and %s as two rules", what, tests[0].name, tests[1].name)
	default:
		d.test(tests[0], &g)
	}
	if e, ok := keys["timeout"]; ok {
		g.Timeout = d.timeout(e, len(g.Command) > 0)
	}
	if e, ok := keys["model"]; ok {
		if g.Model = d.model(e.value); keys["judge"].value == nil {
			d.fault(at(e.key), "model belongs to a rule with judge")
		}
	}
	if e, ok := keys["message"]; ok {
		g.Message, _ = d.phrase(e.value, "message")
	}
	if e, ok := keys["raise"]; ok {
		if raise := d.boolean(e.value, "raise"); raise != nil {
			g.Raise = *raise
		}
	}
	return g
}

// test reads what a rule tests.
func (d *decoder) test(e entry, g *Guardrail) {
	switch e.name {
	case "deny":
		g.Deny = d.pattern(e.value, "deny")
	case "allow":
		g.Allow = d.pattern(e.value, "allow")
	case "max_length":
		if i := d.integer(e.value, "max_length", 1, 10_000_000); i != nil {
			g.MaxLength = *i
		}
	case "json_schema":
		g.Schema = d.objectSchema(e.value, "json_schema")
	case "command":
		g.Timeout = defaultTimeout
		for _, item := range d.items(e.value, "command") {
			if word, ok := d.text(item, "an element of command"); ok {
				g.Command = append(g.Command, word)
			}
		}
		if e.value.Kind == yaml.SequenceNode && (len(e.value.Content) == 0 || len(g.Command) > 0 && g.Command[0] == "") {
			d.fault(at(e.value), "command names no program; write a list such as [python3, check.py]")
		}
	case "judge":
		g.Judge, _ = d.phrase(e.value, "judge")
	}
}

// pattern reads a regular expression in Go's syntax, which takes linear time whatever the text.
func (d *decoder) pattern(n *yaml.Node, what string) *regexp.Regexp {
	text, ok := d.phrase(n, what)
	if !ok {
		return nil
	}
	expression, err := regexp.Compile(text)
	if err != nil {
		d.fault(at(n), "%s is no regular expression: %s", what, printable(err.Error()))
	}
	return expression
}

func (d *decoder) timeout(e entry, hasCommand bool) time.Duration {
	text, ok := d.word(e.value, "timeout")
	if !ok {
		return 0
	}
	limit, err := time.ParseDuration(text)
	switch {
	case err != nil || limit < time.Second || limit > maxTimeout:
		d.fault(at(e.value), "timeout must be from 1s to %s, such as 30s, not %s", "10m", quote(text))
	case !hasCommand:
		d.fault(at(e.key), "timeout belongs to a rule with command")
	}
	return limit
}

// HasCommands tells whether a guardrail of the agency starts a program.
func (a *Agency) HasCommands() bool {
	starts := func(g Guardrail) bool { return len(g.Command) > 0 }
	return slices.ContainsFunc(a.Agents, func(agent Agent) bool {
		return slices.ContainsFunc(agent.InputGuardrails, starts) || slices.ContainsFunc(agent.OutputGuardrails, starts)
	})
}
