package agencies

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	handoff        = "handoff"
	transferPrefix = "transfer_to_"
)

// flowReader reads communication_flows and remembers what each edge has.
type flowReader struct {
	*decoder
	names *names
	flows []Flow
	sends map[[2]string]sent
	hands map[[2]string]int // the line of an edge's handoff
	own   map[[2]string]int // the index in flows of the first edge of a sender's own tool
}

// sent is the send tool of an edge and the line where it got it.
type sent struct {
	tool string
	line int
}

// edge is one arrow of a chain. It stands where the first of its two names is written: at this offset in the chain's text.
type edge struct {
	from, to string
	chain    *yaml.Node
	offset   int
}

// place of an edge or of a name. To find it takes the whole line, so it is looked for when there is something to report.
func (r *flowReader) place(chain *yaml.Node, offset int) place {
	if r.full() {
		return at(chain)
	}
	return r.source.within(chain, offset)
}

func (r *flowReader) edgeFault(e edge, format string, args ...any) {
	r.fault(r.place(e.chain, e.offset), format, args...)
}

func (d *decoder) flows(n *yaml.Node, names *names) []Flow {
	r := &flowReader{decoder: d, names: names,
		sends: map[[2]string]sent{}, hands: map[[2]string]int{}, own: map[[2]string]int{}}
	for _, item := range d.items(n, "communication_flows") {
		r.flow(item)
	}
	return r.flows
}

// flow reads one element of the list: a chain, or one chain with what its edges have.
func (r *flowReader) flow(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
			chain, flow := *n, Flow{}
			if colon := strings.LastIndexByte(n.Value, ':'); colon >= 0 && strings.TrimSpace(n.Value[colon+1:]) == "handoff" {
				chain.Value, flow.Handoff = n.Value[:colon], true // the whole in quotes, as YAML would have it without
			}
			for _, e := range r.chain(&chain) {
				r.add(e, flow, nil)
			}
			return
		}
		r.wrongType(n, "a communication flow", "a chain of agents such as A > B")
		return
	}
	entries := r.entries(n, "a communication flow")
	if len(n.Content) == 0 {
		r.fault(at(n), "an empty communication flow; write a chain of agents such as A > B")
	}
	for i, e := range entries {
		if i > 0 {
			if slices.Contains(edgeKeys, e.name) {
				r.fault(at(e.key), "%s belongs to the chain above it; indent it further", quote(e.name))
			} else {
				r.fault(at(e.key), "a second chain in one communication flow; begin it with its own -")
			}
			continue
		}
		edges := r.chain(e.key)
		r.attributes(e.value, edges)
	}
}

// chain takes A > B < C apart into its edges, in order, each pointing from the sender to the recipient.
func (r *flowReader) chain(n *yaml.Node) []edge {
	type link struct {
		name   string
		offset int
	}
	var edges []edge
	var left link
	var operator byte
	text := n.Value
	if strings.TrimSpace(text) == "" {
		r.fault(at(n), "an empty communication flow; write a chain of agents such as A > B")
		return nil
	}
	if !strings.ContainsAny(text, "<>") {
		r.fault(at(n), "%s is no communication flow; write a chain of agents such as A > B", quote(text))
		return nil
	}
	if strings.Count(text, "<")+strings.Count(text, ">") > maxAgents {
		r.fault(at(n), "a chain of more than %d edges; write it as several", maxAgents)
		return nil
	}
	for start := 0; start <= len(text); {
		end := len(text)
		if next := strings.IndexAny(text[start:], "<>"); next >= 0 {
			end = start + next
		}
		written := strings.TrimSpace(text[start:end])
		skipped := strings.Index(text[start:end], written)
		right := link{offset: start + skipped}
		switch name, ok := r.names.find(written); {
		case ok:
			right.name = name
		case written == "":
			r.fault(r.place(n, right.offset), "a name is missing in the chain %s", quote(text))
		case strings.ContainsRune(written, ':'):
			r.fault(r.place(n, right.offset), "unknown agent: %s; a chain and what its edges are stand apart as A > B: handoff, with a space", quote(written))
		default:
			r.unknownAgent(r.place(n, right.offset), written, r.names)
		}
		if left.name != "" && right.name != "" {
			e := edge{left.name, right.name, n, left.offset}
			if operator == '<' {
				e.from, e.to = e.to, e.from
			}
			if e.from == e.to {
				r.fault(r.place(n, right.offset), "%s cannot write to itself", quote(e.from))
			} else {
				edges = append(edges, e)
			}
		}
		left = right
		if end < len(text) {
			operator = text[end]
		}
		start = end + 1
	}
	return edges
}

// attributes reads what the edges of a chain have: a handoff, or a send tool of their own.
func (r *flowReader) attributes(n *yaml.Node, edges []edge) {
	if n.Kind == yaml.ScalarNode {
		switch {
		case n.Tag == "!!null":
			r.fault(at(n), "nothing after the colon; write handoff or the edge's own tool, or leave the colon out")
		case n.Tag != "!!str" || n.Value != handoff:
			r.suggest(at(n), closest(n.Value, []string{handoff}),
				"an edge is a handoff or has a tool of its own, not %s", quote(n.Value))
		default:
			for _, e := range edges {
				r.add(e, Flow{Handoff: true}, nil)
			}
		}
		return
	}
	if n.Kind == yaml.SequenceNode {
		r.wrongType(n, "what an edge has", "handoff or a mapping with its tool (a handoff beside a tool is a flow of its own)")
		return
	}
	keys := r.object(n, "an edge", edgeKeys)
	var flow Flow
	named := n
	if e, ok := keys["tool"]; !ok {
		if n.Kind == yaml.MappingNode {
			r.fault(at(n), "the edge has no tool; name the tool that stands instead of send_message")
		}
	} else if tool, ok := r.text(e.value, "tool"); ok {
		named = e.value
		flow.Tool = tool
		r.toolName(tool, at(named))
	}
	if e, ok := keys["description"]; ok {
		flow.Description, _ = r.text(e.value, "description")
	}
	if e, ok := keys["parameters"]; ok {
		flow.Parameters = r.parameters(e.value)
	}
	if e, ok := keys["required"]; ok {
		r.words(e.value, "required", func(name string, n *yaml.Node) {
			flow.Required = append(flow.Required, name)
			var parameters []string
			for _, parameter := range flow.Parameters {
				parameters = append(parameters, parameter.Name)
			}
			if !slices.Contains(parameters, name) {
				r.unknown(at(n), "parameter in required", name, parameters)
			}
		})
	}
	if flow.Tool == "" {
		return
	}
	for _, e := range edges {
		r.add(e, flow, named)
	}
}

// toolName refuses names that a server refuses, and those that the program uses itself.
func (r *flowReader) toolName(tool string, where place) {
	switch {
	case !isToolName(tool):
		r.fault(where, "the tool name %s; at most %d of a-z, A-Z, 0-9, _ and -", quote(tool), maxNameLength)
	case strings.EqualFold(tool, SendMessage) || r.sendName != "" && strings.EqualFold(tool, r.sendName):
		r.fault(where, "%s is the tool that every edge has; leave tool out, or choose another name", quote(tool))
	case strings.HasPrefix(strings.ToLower(tool), transferPrefix):
		r.fault(where, "the tool name %s; names that begin with transfer_to_ are those of handoffs", quote(tool))
	}
}

// add checks one edge against those before it. Tool is where its own tool is named; nil for an edge without.
func (r *flowReader) add(e edge, flow Flow, tool *yaml.Node) {
	pair := [2]string{e.from, e.to}
	flow.From, flow.To = e.from, e.to
	for _, agent := range r.names.agents {
		if agent.Name == e.from && agent.ReceiveOnly {
			r.edgeFault(e, "%s has supports_outbound_communication: false, so it cannot reach %s", quote(e.from), quote(e.to))
		}
	}
	if flow.Handoff {
		if line, ok := r.hands[pair]; ok {
			r.edgeFault(e, "%s hands over to %s already (line %d)", quote(e.from), quote(e.to), line)
			return
		}
		r.hands[pair] = e.chain.Line
		r.flows = append(r.flows, flow)
		return
	}
	if other, ok := r.sends[pair]; ok {
		if flow.Tool == other.tool {
			r.edgeFault(e, "%s may write to %s already (line %d)", quote(e.from), quote(e.to), other.line)
		} else {
			r.edgeFault(e, "a second send tool from %s to %s; the first is in line %d, and an edge has one",
				quote(e.from), quote(e.to), other.line)
		}
		return
	}
	r.sends[pair] = sent{flow.Tool, e.chain.Line}
	if flow.Tool != "" {
		r.ownTool(flow, at(tool))
	}
	r.flows = append(r.flows, flow)
}

// ownTool holds a tool against the sender's other tools, and against its other edges with the same tool.
func (r *flowReader) ownTool(flow Flow, where place) {
	for _, agent := range r.names.agents {
		if agent.Name == flow.From && slices.Contains(agent.Tools, flow.Tool) {
			r.fault(where, "%s has a tool %s already", quote(flow.From), quote(flow.Tool))
		}
	}
	key := [2]string{flow.From, flow.Tool}
	index, ok := r.own[key]
	if !ok {
		r.own[key] = len(r.flows)
		return
	}
	first := r.flows[index]
	if flow.Description != "" && flow.Description != first.Description ||
		!sameParameters(flow, first) {
		r.fault(where, "the tool %s of %s to %s has another description or other parameters than to %s; one tool has one form",
			quote(flow.Tool), quote(flow.From), quote(flow.To), quote(first.To))
	}
}

// sameParameters compares what a model would see, whatever the order.
func sameParameters(a, b Flow) bool {
	equal := func(a, b Parameter) bool { return a.Name == b.Name && bytes.Equal(a.Schema, b.Schema) }
	if slices.EqualFunc(a.Parameters, b.Parameters, equal) && slices.Equal(a.Required, b.Required) {
		return true
	}
	form := func(f Flow) map[string]any {
		form := map[string]any{}
		for _, parameter := range f.Parameters {
			var schema any
			_ = json.Unmarshal(parameter.Schema, &schema) // it was made from a checked value
			form[parameter.Name] = fmt.Sprint(slices.Contains(f.Required, parameter.Name), schema)
		}
		return form
	}
	return reflect.DeepEqual(form(a), form(b))
}
