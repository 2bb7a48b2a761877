package overlay

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"bureau/tui/style"
	"bureau/tui/text"
)

// Agency is the agency as a tree of who may message, and hand over to, whom, with who is working now.
type Agency struct {
	name, description string
	recipient         string
	agents            []Agent
	names             []string // as the results tell them, while those in agents are safe to show
	tree              []node
	working           map[string]string
	chooser
	notice string
}

// NewAgency returns the tree of an agency. recipient is the agent that is being addressed; it is marked and selected first.
// Choosing an entry point is Picked with its name. Its id is AgencyID.
func NewAgency(name, description string, agents []Agent, flows []Flow, recipient string) *Agency {
	a := &Agency{name: text.Line(name), description: text.Line(description), recipient: recipient, tree: treeOf(agents, flows)}
	for _, g := range agents {
		a.names = append(a.names, g.Name)
		g.Name, g.Description, g.Model = text.Line(g.Name), text.Line(g.Description), text.Line(g.Model)
		tools := make([]string, len(g.Tools))
		for i, t := range g.Tools {
			tools[i] = text.Line(t)
		}
		g.Tools = tools
		a.agents = append(a.agents, g)
	}
	a.reset(len(a.tree), 0)
	for i, n := range a.tree {
		if a.names[n.agent] == recipient {
			a.selected = i
			break
		}
	}
	return a
}

// SetWorking tells who is working now: what each agent does, by its name. An agent that does nothing is not in it.
func (a *Agency) SetWorking(working map[string]string) {
	a.working = make(map[string]string, len(working))
	for name, what := range working {
		what = text.Line(what)
		if what == "" {
			what = "working"
		}
		a.working[name] = what
	}
}

// ID is AgencyID.
func (a *Agency) ID() string { return AgencyID }

func (a *Agency) size(w, h int) (int, int) {
	const border, head, foot = 2, 2, 7
	return spread(w, h, 90, len(a.tree)+border+head+foot)
}

func (a *Agency) handleKey(e env, msg tea.KeyPressMsg) Result {
	a.notice = ""
	o := e.keys.Overlay
	switch {
	case key.Matches(msg, o.Close):
		return Closed{AgencyID}
	case key.Matches(msg, o.Accept):
		return a.accept()
	default:
		a.chooser.handleKey(o, msg)
	}
	return nil
}

func (a *Agency) accept() Result {
	if len(a.tree) == 0 {
		return nil
	}
	i := a.tree[a.selected].agent
	if !a.agents[i].EntryPoint {
		a.notice = a.agents[i].Name + " is no entry point: other agents message it, you cannot."
		return nil
	}
	return Picked{AgencyID, a.names[i]}
}

func (a *Agency) handlePaste(env, string) Result { return nil }

func (a *Agency) scroll(n int) { a.move(n) }

func (a *Agency) click(_ env, row int) Result {
	if a.chooser.click(row) {
		return a.accept()
	}
	return nil
}

func (a *Agency) draw(e env, w, h int) content {
	var head []string
	if h >= airy && a.description != "" {
		head = []string{styled(e.style.Dim, a.description, w)}
	}
	rows := stacked(h, head, a.foot(e, w, h), func(first, h int) []string {
		from, to := a.window(first, h)
		rows := make([]string, 0, h)
		for i := from; i < to; i++ {
			rows = append(rows, a.row(e, a.tree[i], i == a.selected, w))
		}
		return rows
	})
	note := fmt.Sprintf("%d agents", len(a.agents))
	if len(a.agents) == 1 {
		note = "1 agent"
	}
	if n := len(a.working); n > 0 {
		note += fmt.Sprintf(", %d working", n)
	}
	o := e.keys.Overlay
	legend := []hint{
		{style.SymbolArrow, "messages"}, {style.SymbolHandoff, "hands over"}, {style.SymbolBullet, "entry point"},
	}
	return content{
		title: a.name, note: note, rows: rows,
		hints: append([]hint{hintOf(o.Accept, "address"), hintOf(o.Close, "close")}, legend...),
	}
}

func (a *Agency) row(e env, n node, selected bool, w int) string {
	st, agent := e.style, a.agents[n.agent]
	mark := ""
	if n.messages {
		mark = style.SymbolArrow
	}
	if n.handoff {
		mark += style.SymbolHandoff
	}
	if mark != "" {
		mark += " "
	}
	name := st.Agent(a.names[n.agent])
	if selected {
		name = name.Underline(true)
	}
	row := newRow(w).bar(st, selected).add(st.Faint, lowered(n.lines, w/3)).add(st.Dim, mark).add(name, agent.Name)
	if agent.EntryPoint {
		row.space(1).add(st.Success, style.SymbolBullet)
	}
	if a.names[n.agent] == a.recipient && n.lines == "" {
		row.add(st.Dim, " recipient")
	}
	if len(n.tools) > 0 {
		row.add(st.Tool, " ("+strings.Join(n.tools, ", ")+")")
	}
	if n.seen {
		row.add(st.Faint, " "+style.SymbolUp)
	}
	if what, ok := a.working[a.names[n.agent]]; ok && !n.seen {
		row.space(2).columnRight(st.Running, style.SymbolClosed+" "+what, row.left)
	}
	return row.String()
}

// foot describes the selected agent, always in the same number of rows.
func (a *Agency) foot(e env, w, h int) []string {
	most := min(6, h/3)
	if h < 6 {
		most = 0
	}
	if a.notice != "" {
		rows := foot(a.notice, e.style.Warning, w, max(most, 1))
		return a.filled(rows, most)
	}
	if most == 0 || len(a.tree) == 0 {
		return nil
	}
	n := a.tree[a.selected]
	agent := a.agents[n.agent]
	var facts []string
	if agent.EntryPoint {
		facts = append(facts, "entry point")
	}
	if agent.Model != "" {
		facts = append(facts, agent.Model)
	}
	if what := a.working[a.names[n.agent]]; what != "" {
		facts = append(facts, what)
	}
	if n.seen {
		facts = append(facts, "its own flows are above")
	}
	var tail []string
	if len(facts) > 0 {
		tail = append(tail, e.style.Dim.Render(text.Cut(strings.Join(facts, " · "), w)))
	}
	if len(agent.Tools) > 0 {
		tail = append(tail, newRow(w).add(e.style.Dim, "tools ").add(e.style.Tool, strings.Join(agent.Tools, ", ")).String())
	}
	description := agent.Description
	if description == "" {
		description = "no description"
	}
	head := []string{styled(e.style.Agent(a.names[n.agent]), agent.Name, w)}
	if most < 4 {
		head = nil // the row above says the name
	}
	if room := most - len(tail) - len(head); room > 0 {
		head = append(head, foot(description, e.style.Text, w, min(room, 3))...)
	}
	rows := append(head, tail...)
	return a.filled(rows[:min(len(rows), most)], most)
}

func (a *Agency) filled(rows []string, n int) []string {
	for len(rows) < n {
		rows = append(rows, "")
	}
	return rows
}
