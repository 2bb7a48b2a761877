package overlay

import (
	"slices"
	"strings"

	"bureau/tui/text"
)

// Agent is an agent of the agency as the dialog shows it.
type Agent struct {
	Name, Description string
	EntryPoint        bool
	Tools             []string
	// Model is what runs for it, as it is shown; empty when that is not known.
	Model string
}

// Flow is who may message, or hand over to, whom. Tool is the name of the send tool, which is shown where it is one of the
// edge's own.
type Flow struct {
	From, To string
	Handoff  bool
	Tool     string
}

// sendMessage is the send tool of an edge that has none of its own.
const sendMessage = "send_message"

// node is a row of the tree: an agent, reached from the one above it.
type node struct {
	agent int
	// lines is what is drawn before the agent: the trunk and the branch.
	lines             string
	messages, handoff bool
	tools             []string
	// seen tells that what the agent reaches in turn is shown at another row.
	seen bool
}

// treeOf lays the flows out as a tree: entry points first, then whoever cannot be reached from them, in the order of the
// agents. An agent that is reached on several ways has its own branches once, at the first.
func treeOf(agents []Agent, flows []Flow) []node {
	index := make(map[string]int, len(agents))
	for i, a := range agents {
		index[a.Name] = i
	}
	edges := make([][]node, len(agents))
	for _, f := range flows {
		from, ok := index[f.From]
		to, known := index[f.To]
		if !ok || !known {
			continue
		}
		i := slices.IndexFunc(edges[from], func(n node) bool { return n.agent == to })
		if i < 0 {
			i = len(edges[from])
			edges[from] = append(edges[from], node{agent: to})
		}
		n := &edges[from][i]
		n.messages = n.messages || !f.Handoff
		n.handoff = n.handoff || f.Handoff
		if f.Tool != "" && f.Tool != sendMessage && !f.Handoff {
			n.tools = append(n.tools, text.Line(f.Tool))
		}
	}
	t := tree{edges: edges, done: make([]bool, len(agents))}
	for _, entries := range []bool{true, false} {
		for i, a := range agents {
			if !t.done[i] && (a.EntryPoint || !entries) {
				t.add(node{agent: i}, "")
			}
		}
	}
	return t.rows
}

type tree struct {
	edges [][]node
	done  []bool
	rows  []node
}

// add appends an agent and all that it reaches; trunk is what stands before the branches below it.
func (t *tree) add(n node, trunk string) {
	children := t.edges[n.agent]
	n.seen = t.done[n.agent] && len(children) > 0
	expand := !t.done[n.agent]
	t.done[n.agent] = true
	t.rows = append(t.rows, n)
	if !expand {
		return
	}
	for i, c := range children {
		c.lines = trunk + "├─ "
		below := trunk + "│  "
		if i == len(children)-1 {
			c.lines, below = trunk+"└─ ", trunk+"   "
		}
		t.add(c, below)
	}
}

// lowered shortens deep branches to w cells, of which the last say where the agent hangs.
func lowered(lines string, w int) string {
	if text.Width(lines) <= w {
		return lines
	}
	return text.CutLeft(strings.TrimRight(lines, " "), max(w-1, 0)) + " "
}
