package agencies

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"bureau/engine/history"
)

// outcomes are the values of exit: the code of a command of the same kind, or the word of the event that ends the turn.
var outcomes = map[string]history.Code{
	"0": "", "answered": "", "1": history.CodeFailed, "failed": history.CodeFailed, "3": history.CodeModel, "model": history.CodeModel,
	"4": history.CodeDenied, "denied": history.CodeDenied, "5": history.CodeLimit, "limit": history.CodeLimit,
}

func (r *rehearsalReader) expect(n *yaml.Node) Expect {
	var want Expect
	keys := r.object(n, "expect", expectKeys)
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		r.fault(at(n), "expect expects nothing; there is: %s", listing(expectKeys))
	}
	if e, ok := keys["exit"]; ok {
		code, ok := outcomes[e.value.Value]
		if !ok || e.value.Kind != yaml.ScalarNode {
			r.fault(at(e.value), "exit must be 0 or answered, 1 or failed, 3 or model, 4 or denied, 5 or limit")
		}
		want.Outcome = Wanted[history.Code]{positionOf(e.value), code}
	}
	if e, ok := keys["answered_by"]; ok {
		want.AnsweredBy = &Wanted[string]{positionOf(e.value), r.agent(e.value, "answered_by")}
	}
	if e, ok := keys["asked"]; ok {
		want.Asked = r.pairs(e.value, "asked", false)
	}
	if e, ok := keys["asked_only"]; ok {
		want.AskedOnly = allOf(e.value, r.pairs(e.value, "asked_only", false))
	}
	if e, ok := keys["handoffs"]; ok {
		want.Handoffs = allOf(e.value, r.pairs(e.value, "handoffs", true))
	}
	if e, ok := keys["tools"]; ok {
		want.Tools = r.agentTools(e.value)
	}
	if e, ok := keys["no_tools"]; ok {
		want.NoTools = r.toolNames(e.value, "no_tools", r.allTools())
	}
	if e, ok := keys["answer"]; ok {
		want.Answer = r.textRule(e.value, "answer")
		if want.Outcome.Value != "" {
			r.fault(at(e.key), "an answer of a turn that must fail; what its error says is under error")
		}
	}
	if e, ok := keys["error"]; ok {
		want.Error = r.textRule(e.value, "error")
		if want.Outcome.Value == "" {
			r.fault(at(e.key), "an error of a turn that must be answered; write exit beside it: failed, model, denied or limit")
		}
	}
	if e, ok := keys["rows"]; ok {
		for _, item := range r.items(e.value, "rows") {
			want.Rows = append(want.Rows, Wanted[RowRule]{positionOf(item), r.row(item)})
		}
	}
	if e, ok := keys["at_most"]; ok {
		want.AtMost = r.most(e.value)
	}
	return want
}

func allOf(n *yaml.Node, pairs []Wanted[Pair]) *Wanted[[]Pair] {
	all := &Wanted[[]Pair]{Position: positionOf(n), Value: []Pair{}}
	for _, p := range pairs {
		all.Value = append(all.Value, p.Value)
	}
	return all
}

// pairs reads a list of chains such as A > B. Each must be one that the flows of the agency allow.
func (r *rehearsalReader) pairs(n *yaml.Node, what string, handoffs bool) []Wanted[Pair] {
	var pairs []Wanted[Pair]
	flows := &flowReader{decoder: r.decoder, names: r.names}
	for _, item := range r.items(n, what) {
		text, ok := r.word(item, "an element of "+what)
		if !ok {
			continue
		}
		if !strings.ContainsAny(text, "<>") {
			r.fault(at(item), "%s says not who and whom; write it as A > B", quote(text))
			continue
		}
		for _, e := range flows.chain(item) {
			where := flows.place(item, e.offset)
			may, verb := r.recipients(e.from), "message"
			if handoffs {
				may, verb = r.agency.Handoffs(e.from), "hand over to"
			}
			if !slices.Contains(may, e.to) {
				r.fault(where, "%s may not %s %s; it may %s: %s", quote(e.from), verb, quote(e.to), verb, listing(may))
			}
			pairs = append(pairs, Wanted[Pair]{Position{where.line, where.column}, Pair{e.from, e.to}})
		}
	}
	return pairs
}

// recipients are the agents that sender may message.
func (r *rehearsalReader) recipients(sender string) []string {
	var all []string
	for _, tool := range r.agency.SendTools(sender) {
		all = append(all, tool.Recipients...)
	}
	return all
}

// agentTools reads a mapping of agents to lists of their tools.
func (r *rehearsalReader) agentTools(n *yaml.Node) []Wanted[AgentTool] {
	var tools []Wanted[AgentTool]
	for _, e := range r.entries(n, "tools (an agent: [a tool])") {
		name, ok := r.names.find(e.name)
		if !ok {
			r.unknownAgent(at(e.key), e.name, r.names)
			continue
		}
		for _, tool := range r.toolNames(e.value, "the tools of "+quote(name), r.toolsOf(name)) {
			tools = append(tools, Wanted[AgentTool]{tool.Position, AgentTool{name, tool.Value}})
		}
	}
	return tools
}

// toolNames reads a list of tools that are among those that there are. The tools of handoffs are known by their beginning.
func (r *rehearsalReader) toolNames(n *yaml.Node, what string, there []string) []Wanted[string] {
	var tools []Wanted[string]
	for _, item := range r.items(n, what) {
		name, ok := r.word(item, "an element of "+what)
		if !ok {
			continue
		}
		if !slices.Contains(there, name) && !strings.HasPrefix(name, "transfer_to_") {
			r.unknown(at(item), "tool in "+what, name, there)
		}
		tools = append(tools, Wanted[string]{positionOf(item), name})
	}
	return tools
}

// toolsOf are the tools that an agent has, those that carry messages among them.
func (r *rehearsalReader) toolsOf(name string) []string {
	agent, _ := r.agency.Agent(name)
	tools := slices.Clone(agent.Tools)
	for _, send := range r.agency.SendTools(name) {
		tools = append(tools, send.Name)
	}
	return tools
}

func (r *rehearsalReader) allTools() []string {
	all := slices.Clone(r.known.Tools)
	for _, agent := range r.agency.Agents {
		for _, tool := range r.toolsOf(agent.Name) {
			if !slices.Contains(all, tool) {
				all = append(all, tool)
			}
		}
	}
	return all
}

func (r *rehearsalReader) textRule(n *yaml.Node, what string) TextRule {
	var rule TextRule
	keys := r.object(n, what, textRuleKeys)
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		r.fault(at(n), "%s expects nothing; there is: %s", what, listing(textRuleKeys))
	}
	if e, ok := keys["contains"]; ok {
		rule.Contains = r.texts(e.value, "contains")
	}
	if e, ok := keys["excludes"]; ok {
		rule.Excludes = r.texts(e.value, "excludes")
	}
	if e, ok := keys["matches"]; ok {
		for _, text := range r.texts(e.value, "matches") {
			expression, err := regexp.Compile(text.Value)
			if err != nil {
				r.fault(place{text.Line, text.Column}, "%s is no regular expression: %s", quote(text.Value), printable(shorten(err.Error())))
				continue
			}
			rule.Matches = append(rule.Matches, Wanted[*regexp.Regexp]{text.Position, expression})
		}
	}
	return rule
}

// texts reads one text or a list of some. An empty one is in every text.
func (r *rehearsalReader) texts(n *yaml.Node, what string) []Wanted[string] {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	var texts []Wanted[string]
	for _, item := range items {
		text, ok := r.text(item, what)
		if ok && text == "" {
			r.fault(at(item), "an empty text in %s says nothing", what)
		}
		texts = append(texts, Wanted[string]{positionOf(item), text})
	}
	return texts
}

func (r *rehearsalReader) row(n *yaml.Node) RowRule {
	var row RowRule
	keys := r.object(n, "a row", rowRuleKeys)
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		r.fault(at(n), "the row says nothing; there is: %s", listing(rowRuleKeys))
	}
	if e, ok := keys["agent"]; ok {
		row.Agent = r.agent(e.value, "agent")
	}
	if e, ok := keys["caller"]; ok {
		caller := "" // a key with nothing after it, or null, is the user, as in the table
		if e.value.Tag != "!!null" {
			caller = r.agent(e.value, "caller (null for the user)")
		}
		row.Caller = &caller
	}
	row.Type = oneOf(r, keys, "type", history.TypeMessage, history.TypeCall, history.TypeOutput, history.TypeReason)
	row.Role = oneOf(r, keys, "role", history.RoleUser, history.RoleAssistant, history.RoleSystem)
	row.Status = oneOf(r, keys, "status", history.StatusCompleted, history.StatusInterrupted, history.StatusFailed)
	if e, ok := keys["name"]; ok {
		row.Name, _ = r.word(e.value, "name")
	}
	if e, ok := keys["origin"]; ok {
		origin, _ := r.word(e.value, "origin")
		row.Origin = history.Origin(origin)
	}
	if e, ok := keys["contains"]; ok {
		row.Contains, _ = r.text(e.value, "contains")
	}
	return row
}

// oneOf reads a word that is one of a few.
func oneOf[T ~string](r *rehearsalReader, keys map[string]entry, key string, values ...T) T {
	e, ok := keys[key]
	if !ok {
		return ""
	}
	word, ok := r.word(e.value, key)
	if !ok {
		return ""
	}
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	if !slices.Contains(words, word) {
		r.unknown(at(e.value), key, word, words)
	}
	return T(word)
}

func (r *rehearsalReader) most(n *yaml.Node) []Wanted[Most] {
	const highest = 1_000_000_000
	var bounds []Wanted[Most]
	keys := r.object(n, "at_most", mostKeys)
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		r.fault(at(n), "at_most bounds nothing; there is: %s", listing(mostKeys))
	}
	for _, key := range mostKeys {
		if e, ok := keys[key]; ok {
			if i := r.integer(e.value, key, 0, highest); i != nil {
				bounds = append(bounds, Wanted[Most]{positionOf(e.value), Most{key, *i}})
			}
		}
	}
	return bounds
}

// String is the rule in words.
func (row RowRule) String() string {
	var parts []string
	add := func(key, value string) {
		if value != "" {
			parts = append(parts, key+" "+value)
		}
	}
	add("agent", row.Agent)
	if row.Caller != nil && *row.Caller == "" {
		parts = append(parts, "caller null")
	} else if row.Caller != nil {
		add("caller", *row.Caller)
	}
	add("type", string(row.Type))
	add("role", string(row.Role))
	add("name", row.Name)
	add("origin", string(row.Origin))
	add("status", string(row.Status))
	if row.Contains != "" {
		parts = append(parts, fmt.Sprintf("contains %s", quote(row.Contains)))
	}
	return strings.Join(parts, ", ")
}
