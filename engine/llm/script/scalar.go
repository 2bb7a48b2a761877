package script

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// maxNumber is the largest step, turn, window and the like that a script may name.
const maxNumber = 100_000_000

func (p *parser) scalar(n *yaml.Node, what string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		p.fault(n, "%s must be a single value, not %s", what, kindOf(n))
		return "", false
	}
	return n.Value, true
}

func (p *parser) str(n *yaml.Node, what string) string {
	s, ok := p.scalar(n, what)
	if ok && s == "" {
		p.fault(n, "%s must not be empty", what)
	}
	return s
}

func (p *parser) choice(n *yaml.Node, what string, allowed []string) string {
	s, ok := p.scalar(n, what)
	if ok && !slices.Contains(allowed, s) {
		p.fault(n, "%s cannot be %q; it is one of %s", what, clip(s), strings.Join(allowed, ", "))
		return ""
	}
	return s
}

func (p *parser) number(n *yaml.Node, what string) int {
	s, ok := p.scalar(n, what)
	if !ok {
		return 0
	}
	i, err := strconv.Atoi(s)
	if err != nil || i < 0 || i > maxNumber {
		p.fault(n, "%s must be a whole number from 0 to %d, not %q", what, maxNumber, clip(s))
		return 0
	}
	return i
}

func (p *parser) duration(n *yaml.Node, what string) time.Duration {
	s, ok := p.scalar(n, what)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > maxWait {
		p.fault(n, "%s must be a duration such as 8ms or 1.5s, up to %s, not %q", what, maxWait, clip(s))
		return 0
	}
	return d
}

// patterns reads one regular expression, or a list of which all must match.
func (p *parser) patterns(n *yaml.Node, what string) patterns {
	if n.Kind != yaml.SequenceNode {
		return patterns{p.pattern(n, what)}
	}
	if len(n.Content) == 0 {
		p.fault(n, "%s is an empty list; it needs a regular expression", what)
	}
	var all patterns
	for _, item := range n.Content {
		all = append(all, p.pattern(item, what))
	}
	return all
}

func (p *parser) pattern(n *yaml.Node, what string) *regexp.Regexp {
	s := p.str(n, what)
	re, err := regexp.Compile(s)
	if err != nil {
		p.fault(n, "%s is not a regular expression: %s", what, reason(err))
	}
	return re
}

// reason is what a regular expression's error says, without its preamble.
func reason(err error) string { return strings.TrimPrefix(err.Error(), "error parsing regexp: ") }

func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode && len(n.Content) == 0:
		return "an empty mapping"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode && len(n.Content) == 0:
		return "an empty list"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.ShortTag() == "!!null":
		return "nothing"
	default:
		return fmt.Sprintf("%q", clip(n.Value))
	}
}

// clip keeps a quoted value short enough for one line of an error.
func clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
