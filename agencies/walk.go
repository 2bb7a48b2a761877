package agencies

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// decoder walks the nodes of one file and collects every fault. What it cannot read it leaves at its zero value and goes on.
type decoder struct {
	source *source
	files  fs.FS
	known  Known
	faults []Fault
	// later are checks that need the whole agency.
	later []func(*Agency)
	// sendName is what the send tool is called in this agency; empty for the usual name.
	sendName string
}

func (d *decoder) fault(where place, format string, args ...any) {
	d.suggest(where, "", format, args...)
}

// full tells that no more faults are taken, so that none is worth any work.
func (d *decoder) full() bool { return len(d.faults) > maxFaults }

func (d *decoder) suggest(where place, suggestion, format string, args ...any) {
	if d.full() {
		return
	}
	if len(d.faults) == maxFaults {
		format, args, suggestion = "more than %d mistakes; the rest is not shown", []any{maxFaults}, ""
	}
	where = d.source.clamp(where)
	d.faults = append(d.faults, Fault{where.line, where.column, fmt.Sprintf(format, args...), suggestion})
}

// plain refuses, in the whole file, what makes it mean something else than it shows: anchors, aliases, tags, keys that are
// no text or stand twice, and hidden characters, which quotes can spell.
func (d *decoder) plain(n *yaml.Node) {
	switch {
	case n.Kind == yaml.AliasNode:
		d.fault(at(n), "an alias (*%s); write the value out", printable(shorten(n.Value)))
		return
	case n.Anchor != "":
		d.fault(at(n), "an anchor (&%s); write the value out where it is needed", printable(shorten(n.Anchor)))
	case n.Style&yaml.TaggedStyle != 0:
		d.fault(at(n), "a tag (%s); values are written without, and in quotes where text looks like something else",
			printable(shorten(n.Tag)))
	}
	switch n.Kind {
	case yaml.ScalarNode:
		if hidden := strings.IndexFunc(n.Value, func(r rune) bool { return isHidden(r) && r != '\n' && r != '\t' }); hidden >= 0 {
			r, _ := utf8.DecodeRuneInString(n.Value[hidden:])
			d.fault(at(n), "this text holds the control character U+%04X", r)
		}
	case yaml.MappingNode:
		d.plainKeys(n)
	}
	for _, child := range n.Content {
		d.plain(child)
	}
}

func (d *decoder) plainKeys(n *yaml.Node) {
	lines := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch line, twice := lines[key.Value]; {
		case key.Tag == "!!merge":
			d.fault(at(key), "a merge key (<<); write the values out")
		case !isText(key):
			d.wrongType(key, "a key", "text (put it in quotes)")
		case twice:
			d.fault(at(key), "%s stands here twice; the first is in line %d", quote(key.Value), line)
		default:
			lines[key.Value] = key.Line
		}
	}
}

func isText(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!str" }

// kindOf says what a node is, for messages.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.Tag {
	case "!!null":
		return "nothing"
	case "!!bool":
		return "true or false"
	case "!!int", "!!float":
		return "a number"
	case "!!timestamp":
		return "a date"
	}
	return "text"
}

// wrongType reports that n is not what it should be. Aliases and tags are reported once, by plain.
func (d *decoder) wrongType(n *yaml.Node, what, wanted string) {
	if n.Kind == yaml.AliasNode || n.Style&yaml.TaggedStyle != 0 {
		return
	}
	d.fault(at(n), "%s must be %s, not %s", what, wanted, kindOf(n))
}

// entry is one key of a mapping with its value.
type entry struct {
	name       string
	key, value *yaml.Node
}

// entries are the pairs of a mapping in the order of the file, without those that plain has refused.
func (d *decoder) entries(n *yaml.Node, what string) []entry {
	if n.Kind != yaml.MappingNode {
		d.wrongType(n, what, "a mapping (key: value)")
		return nil
	}
	entries := make([]entry, 0, len(n.Content)/2)
	seen := make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; isText(key) && !seen[key.Value] {
			seen[key.Value] = true
			entries = append(entries, entry{key.Value, key, n.Content[i+1]})
		}
	}
	return entries
}

// misnamed are words of other programs' files, with the key that they mean here.
var misnamed = map[string]string{
	"flows": "communication_flows", "handoffs": "communication_flows", "edges": "communication_flows",
	"prompt": "instructions", "system_prompt": "instructions", "system": "instructions", "role": "description",
	"manifesto": "shared_instructions", "settings": "model_settings", "max_tokens": "max_output_tokens",
	"max_completion_tokens": "max_output_tokens", "entrypoints": "entry_points", "entry_point": "entry_points",
	"path": "file", "name": "tool", "params": "parameters", "pattern": "deny", "guardrails": "input_guardrails",
	"response_format": "output_type", "output_schema": "output_type", "input_schema": "input", "starters": "conversation_starters",
	"context": "variables", "user_context": "variables", "reminders": "system_reminders", "tool_use_behaviour": "tool_use_behavior",
	"message": "say", "input": "say", "agent": "to", "recipient": "to", "expected": "expect", "assert": "expect",
	"messages": "turns", "steps": "turns", "tests": "rehearsals", "timeout": "limit", "now": "clock", "includes": "contains",
}

// object reads a mapping with known keys; others are faults and left out.
func (d *decoder) object(n *yaml.Node, what string, keys []string) map[string]entry {
	found := make(map[string]entry, len(keys))
	for _, e := range d.entries(n, what) {
		if slices.Contains(keys, e.name) {
			found[e.name] = e
			continue
		}
		d.unknown(at(e.key), "key of "+what, e.name, keys)
	}
	return found
}

// unknown reports a word that is none of those that there are.
func (d *decoder) unknown(where place, kind, word string, words []string) {
	if d.full() {
		return
	}
	suggestion := ""
	if len(d.faults) < maxSuggestions {
		suggestion = closest(word, words)
	}
	if meant := misnamed[word]; suggestion == "" && slices.Contains(words, meant) {
		suggestion = meant
	}
	message := fmt.Sprintf("unknown %s: %s", kind, quote(word))
	if suggestion == "" {
		message += "; there is: " + listing(words)
	}
	d.suggest(where, suggestion, "%s", message)
}

// text reads a string of any length, of several lines too.
func (d *decoder) text(n *yaml.Node, what string) (string, bool) {
	if !isText(n) {
		wanted := "text"
		if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
			wanted = "text (put it in quotes)"
		}
		d.wrongType(n, what, wanted)
		return "", false
	}
	return n.Value, true
}

// word reads a string that must not be empty and stands on one line.
func (d *decoder) word(n *yaml.Node, what string) (string, bool) {
	s, ok := d.text(n, what)
	switch {
	case !ok:
		return "", false
	case strings.TrimSpace(s) == "":
		d.fault(at(n), "%s is empty", what)
		return "", false
	case strings.ContainsAny(s, "\n\t"):
		d.fault(at(n), "%s must stand on one line, without tabs", what)
		return "", false
	}
	return s, true
}

// items are the elements of a list.
func (d *decoder) items(n *yaml.Node, what string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		d.wrongType(n, what, "a list")
		return nil
	}
	return n.Content
}

// words reads a list of different words and hands on each with its node.
func (d *decoder) words(n *yaml.Node, what string, each func(word string, n *yaml.Node)) {
	lines := map[string]int{}
	for _, item := range d.items(n, what) {
		word, ok := d.word(item, "an element of "+what)
		if !ok {
			continue
		}
		if line, ok := lines[word]; ok {
			d.fault(at(item), "%s stands twice in %s; the first is in line %d", quote(word), what, line)
			continue
		}
		lines[word] = item.Line
		each(word, item)
	}
}

func (d *decoder) boolean(n *yaml.Node, what string) *bool {
	var b bool
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || n.Decode(&b) != nil {
		d.wrongType(n, what, "true or false")
		return nil
	}
	return &b
}

// number reads a number between lowest and highest.
func (d *decoder) number(n *yaml.Node, what string, lowest, highest float64) *float64 {
	var f float64
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || n.Decode(&f) != nil {
		d.wrongType(n, what, "a number")
		return nil
	}
	if !(f >= lowest && f <= highest) { // so that NaN is outside
		d.fault(at(n), "%s must be from %v to %v, not %s", what, lowest, highest, printable(shorten(n.Value)))
		return nil
	}
	return &f
}

// integer reads a whole number between lowest and highest.
func (d *decoder) integer(n *yaml.Node, what string, lowest, highest int) *int {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!float" {
		d.fault(at(n), "%s must be a whole number, not %s", what, printable(shorten(n.Value)))
		return nil
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" {
		d.wrongType(n, what, "a whole number")
		return nil
	}
	var i int
	if n.Decode(&i) != nil || i < lowest || i > highest {
		d.fault(at(n), "%s must be from %d to %d, not %s", what, lowest, highest, printable(shorten(n.Value)))
		return nil
	}
	return &i
}

// characters counts what a user would call the length of a name.
func characters(s string) int { return utf8.RuneCountInString(s) }
