package script

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"bureau/engine/llm"

	"github.com/agnivade/levenshtein"
	"go.yaml.in/yaml/v3"
)

// maxScript is the largest script that is read, in bytes.
const maxScript = 1 << 20

// maxFaults is how many faults are told; the others are counted.
const maxFaults = 50

// maxWait is the longest wait that a script may ask for: a slip such as 8m for 8ms should not look like a hang.
const maxWait = 10 * time.Minute

// Parse reads a script. The name stands in errors and in what a model says when no rule holds. The error tells all faults
// at once (past fifty, their number), a line each, as name:line:column: what is wrong.
func Parse(name string, data []byte) (*Script, error) {
	if len(data) > maxScript {
		return nil, fmt.Errorf("%s:1:1: the script has %d bytes; at most %d are read", name, len(data), maxScript)
	}
	p := &parser{name: name, lines: strings.Split(string(data), "\n")}
	root := p.document(data)
	script := &Script{name: name, agents: map[string][]*rule{}}
	if root != nil {
		p.script(root, script)
	}
	if len(p.faults) > 0 {
		return nil, p.err()
	}
	return script, nil
}

type fault struct {
	line, column int
	what         string
}

// parser turns nodes into a script and collects what is wrong with them.
type parser struct {
	name   string
	lines  []string
	faults []fault
	// repeated counts the bytes that aliases stand for.
	repeated int
}

func (p *parser) fault(n *yaml.Node, format string, args ...any) {
	p.faultAt(n.Line, n.Column, format, args...)
}

func (p *parser) faultAt(line, column int, format string, args ...any) {
	p.faults = append(p.faults, fault{max(1, line), max(1, column), fmt.Sprintf(format, args...)})
}

func (p *parser) err() error {
	slices.SortStableFunc(p.faults, func(a, b fault) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	told := p.faults[:min(len(p.faults), maxFaults)]
	errs := make([]error, len(told))
	for i, f := range told {
		errs[i] = fmt.Errorf("%s:%d:%d: %s", p.name, f.line, f.column, f.what)
	}
	if more := len(p.faults) - len(told); more > 0 {
		errs = append(errs, fmt.Errorf("%s: and %d more", p.name, more))
	}
	return errors.Join(errs...)
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(?s:(.*))$`)

// document reads the one document of a file; nil with a fault when there is none.
func (p *parser) document(data []byte) *yaml.Node {
	documents, err := decode(data)
	switch {
	case err != nil:
		p.syntax(err)
	case len(documents) == 0 || len(documents[0].Content) == 0:
		p.faultAt(1, 1, "the script is empty; it needs the key agents")
	case len(documents) > 1:
		p.fault(documents[1], "a script is one YAML document; this is a second")
	case !p.aliases(documents[0]):
		return documents[0].Content[0]
	}
	return nil
}

// decode reads up to two documents.
func decode(data []byte) (documents []*yaml.Node, err error) {
	defer func() {
		if recover() != nil { // the parser panics on some input that it should refuse
			err = errors.New("this cannot be read")
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for len(documents) < 2 {
		var document yaml.Node
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return documents, nil
		} else if err != nil {
			return nil, err
		}
		documents = append(documents, &document)
	}
	return documents, nil
}

func (p *parser) syntax(err error) {
	line, what := 1, err.Error()
	if m := yamlLine.FindStringSubmatch(what); m != nil {
		if m[1] != "" {
			line, _ = strconv.Atoi(m[1])
		}
		what = m[2]
	}
	p.faultAt(line, 1, "not YAML: %s", what)
}

// aliases puts single values in the place of their aliases, so that a pattern need be written once. Aliases of mappings and
// lists are refused: none can make a script larger than its file.
func (p *parser) aliases(n *yaml.Node) bool {
	found := false
	for i, child := range n.Content {
		switch {
		case child.Kind != yaml.AliasNode:
			found = p.aliases(child) || found
		case child.Alias != nil && child.Alias.Kind == yaml.ScalarNode:
			if p.repeated += len(child.Alias.Value); p.repeated > maxScript {
				p.fault(child, "the aliases repeat more than %d bytes", maxScript)
				return true
			}
			n.Content[i] = child.Alias
		default:
			p.fault(child, "the alias %q stands for a mapping or a list; write it out: only single values can be repeated so", clip(child.Value))
			found = true
		}
	}
	return found
}

// mapping calls visit for every key of a mapping, once each, and refuses keys that visit does not know.
func (p *parser) mapping(n *yaml.Node, what string, known []string, visit func(key string, value *yaml.Node)) {
	p.pairs(n, what, func(key, value *yaml.Node) {
		if !slices.Contains(known, key.Value) {
			p.fault(key, "unknown key %q in %s; %s", clip(key.Value), what, suggest(key.Value, known))
			return
		}
		visit(key.Value, value)
	})
}

// pairs calls visit for every entry of a mapping and refuses keys that repeat or are no text.
func (p *parser) pairs(n *yaml.Node, what string, visit func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		p.fault(n, "%s must be a mapping (key: value), not %s", what, kindOf(n))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			p.fault(key, "a key of %s must be text, not %s", what, kindOf(key))
			continue
		}
		if line, twice := seen[key.Value]; twice {
			p.fault(key, "the key %q stands in %s twice; the first is in line %d", clip(key.Value), what, line)
			continue
		}
		seen[key.Value] = key.Line
		visit(key, value)
	}
}

func (p *parser) script(n *yaml.Node, s *Script) {
	known := []string{"pace", "window", "agents"}
	hasAgents := false
	p.mapping(n, "a script", known, func(key string, v *yaml.Node) {
		switch key {
		case "pace":
			s.pace = p.duration(v, "pace")
		case "window":
			s.window = p.number(v, "window")
		case "agents":
			hasAgents = true
			p.pairs(v, "agents", func(name, rules *yaml.Node) {
				s.order = append(s.order, name.Value)
				s.agents[name.Value] = p.rules(rules, name.Value)
			})
			if v.Kind == yaml.MappingNode && len(v.Content) == 0 {
				p.fault(v, "agents names no agent")
			}
		}
	})
	if !hasAgents && n.Kind == yaml.MappingNode {
		p.fault(n, "the script has no key agents; it maps each agent to its rules")
	}
}

func (p *parser) rules(n *yaml.Node, agent string) []*rule {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		p.fault(n, "%q needs a list of rules, not %s", clip(agent), kindOf(n))
		return nil
	}
	var rules []*rule
	for _, item := range n.Content {
		rules = append(rules, p.rule(item))
	}
	return rules
}

func (p *parser) rule(n *yaml.Node) *rule {
	r := &rule{}
	known := []string{"on", "wait", "reason", "say", "call", "fail", "finish"}
	p.mapping(n, "a rule", known, func(key string, v *yaml.Node) {
		switch key {
		case "on":
			p.condition(v, &r.on)
		case "wait":
			r.wait = p.duration(v, key)
		case "reason":
			r.reason = p.text(v, key)
		case "say":
			r.say = p.text(v, key)
		case "call":
			r.calls = p.calls(v)
		case "fail":
			r.fail = p.failure(v)
		case "finish":
			finishes := []string{string(llm.FinishStop), string(llm.FinishToolCalls), string(llm.FinishLength), string(llm.FinishFilter)}
			r.finish = llm.Finish(p.choice(v, key, finishes))
		}
	})
	answers := func(keys ...string) bool {
		return n.Kind == yaml.MappingNode && slices.ContainsFunc(keys, func(k string) bool { return has(n, k) })
	}
	if n.Kind == yaml.MappingNode && !answers("say", "call", "fail") {
		p.fault(n, "the rule answers nothing; it needs say, call or fail")
	}
	return r
}

func (p *parser) condition(n *yaml.Node, c *condition) {
	known := []string{"message", "output", "system", "step", "turn", "after", "tool", "handoff"}
	p.mapping(n, "on", known, func(key string, v *yaml.Node) {
		switch key {
		case "message":
			c.message = p.patterns(v, key)
		case "output":
			c.output = p.patterns(v, key)
		case "system":
			c.system = p.patterns(v, key)
		case "step":
			step := p.number(v, key)
			c.step = &step
		case "turn":
			turn := p.number(v, key)
			c.turn = &turn
		case "after":
			c.after = p.str(v, key)
		case "tool":
			c.tool = p.str(v, key)
		case "handoff":
			came := p.choice(v, key, []string{"true", "false"}) == "true"
			c.handoff = &came
		}
	})
}

func (p *parser) calls(n *yaml.Node) []call {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		p.fault(n, "call must be a list of entries tool: arguments, not %s", kindOf(n))
		return nil
	}
	var calls []call
	for _, item := range n.Content {
		if item.Kind != yaml.MappingNode || len(item.Content) != 2 {
			p.fault(item, "a call is one entry tool: {arguments}; calls at the same time are further entries of the list")
			continue
		}
		p.pairs(item, "a call", func(name, arguments *yaml.Node) {
			c := call{tool: name.Value}
			switch {
			case arguments.Kind == yaml.MappingNode:
				c.arguments = p.value(arguments)
			case arguments.Kind == yaml.ScalarNode && arguments.ShortTag() == "!!str":
				c.raw = p.text(arguments, "the arguments")
			default:
				p.fault(arguments, "the arguments of %q must be a mapping, {} for none, not %s", clip(name.Value), kindOf(arguments))
			}
			calls = append(calls, c)
		})
	}
	return calls
}

// kinds are the failures that a script may rehearse.
var kinds = []string{
	string(llm.KindConnect), string(llm.KindTimeout), string(llm.KindRateLimit), string(llm.KindQuota), string(llm.KindServer),
	string(llm.KindTruncated), string(llm.KindEmpty), string(llm.KindAuth), string(llm.KindNotFound), string(llm.KindRequest),
	string(llm.KindOverflow), string(llm.KindNoTools), string(llm.KindProtocol), string(llm.KindModelFault), string(llm.KindFilter),
}

func (p *parser) failure(n *yaml.Node) *failure {
	f := &failure{}
	known := []string{"kind", "status", "code", "message", "retry_after", "after_words", "times"}
	p.mapping(n, "fail", known, func(key string, v *yaml.Node) {
		switch key {
		case "kind":
			f.kind = llm.Kind(p.choice(v, key, kinds))
		case "status":
			f.status = p.number(v, key)
			if f.status != 0 && (f.status < 400 || f.status > 599) {
				p.fault(v, "status must be an HTTP error, 400 to 599, not %d", f.status)
			}
		case "code":
			f.code = p.str(v, key)
		case "message":
			f.message = p.str(v, key)
		case "retry_after":
			f.retryAfter = p.duration(v, key)
		case "after_words":
			f.afterWords = p.number(v, key)
		case "times":
			f.times = p.number(v, key)
		}
	})
	if n.Kind == yaml.MappingNode && !has(n, "kind") && !has(n, "status") {
		p.fault(n, "fail needs kind or status")
	}
	if f.kind == "" {
		f.kind = kindOfStatus(f.status)
	}
	return f
}

func kindOfStatus(status int) llm.Kind {
	switch {
	case status == 401 || status == 403:
		return llm.KindAuth
	case status == 402:
		return llm.KindQuota
	case status == 404:
		return llm.KindNotFound
	case status == 408:
		return llm.KindTimeout
	case status == 429:
		return llm.KindRateLimit
	case status >= 500:
		return llm.KindServer
	default:
		return llm.KindRequest
	}
}

func has(n *yaml.Node, key string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return true
		}
	}
	return false
}

func suggest(word string, known []string) string {
	best, distance := "", 3
	for _, k := range known {
		if d := levenshtein.ComputeDistance(strings.ToLower(clip(word)), k); d < distance {
			best, distance = k, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %s?", best)
	}
	return "known are " + strings.Join(known, ", ")
}
