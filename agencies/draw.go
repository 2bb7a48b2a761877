package agencies

import (
	"fmt"
	"slices"
	"strings"
)

// Draw is a picture of the agency for a terminal, in plain text with a line break at its end: who may message whom and who
// hands over to whom, as a tree below each entry point. An agent's own edges are drawn where it stands first; anywhere else
// it is marked "↑ see above". Agents that no entry point leads to come last. The same agency is always drawn the same.
func Draw(a *Agency) string {
	d := drawing{agency: a, drawn: map[string]bool{}}
	fmt.Fprintf(&d.out, "%s", a.Name)
	if a.Description != "" {
		fmt.Fprintf(&d.out, ": %s", oneLine(a.Description))
	}
	d.out.WriteString("\n\n")
	for i, name := range a.EntryPoints {
		kind := "entry point"
		if i == 0 {
			kind = "entry point, default recipient"
		}
		d.root(name, kind)
	}
	isRecipient := func(agent Agent) bool {
		return slices.ContainsFunc(a.Flows, func(f Flow) bool { return f.To == agent.Name })
	}
	// Those that nobody leads to at all first, so that the others stand below them.
	for _, agent := range slices.Concat(slices.DeleteFunc(slices.Clone(a.Agents), isRecipient), a.Agents) {
		if !d.drawn[agent.Name] {
			d.root(agent.Name, "no entry point leads to it")
		}
	}
	d.legend()
	return d.out.String()
}

type drawing struct {
	agency *Agency
	out    strings.Builder
	drawn  map[string]bool
	// What the legend has to explain.
	sends, own, handoffs bool
}

func (d *drawing) root(name, kind string) {
	fmt.Fprintf(&d.out, "%s (%s)%s\n", name, kind, d.about(name))
	d.below(name, "")
}

// about is what follows a name: the description, or that the agent stands further up.
func (d *drawing) about(name string) string {
	if d.drawn[name] {
		return "  ↑ see above"
	}
	agent, _ := d.agency.Agent(name)
	if agent.Description == "" {
		return ""
	}
	return "  " + oneLine(agent.Description)
}

// below draws the edges of an agent that is drawn for the first time.
func (d *drawing) below(name, indent string) {
	if d.drawn[name] {
		return
	}
	d.drawn[name] = true
	flows := slices.DeleteFunc(slices.Clone(d.agency.Flows), func(f Flow) bool { return f.From != name })
	for i, flow := range flows {
		branch, further := "├─", "│  "
		if i == len(flows)-1 {
			branch, further = "└─", "   "
		}
		fmt.Fprintf(&d.out, "%s%s%s %s%s\n", indent, branch, d.arrow(flow), flow.To, d.about(flow.To))
		d.below(flow.To, indent+further)
	}
}

func (d *drawing) arrow(flow Flow) string {
	switch {
	case flow.Handoff:
		d.handoffs = true
		return "⇒"
	case flow.Tool != "":
		d.own = true
		return ">[" + flow.Tool + "]"
	}
	d.sends = true
	return ">"
}

func (d *drawing) legend() {
	var lines []string
	if d.sends {
		lines = append(lines, ">  sends a message and waits for the answer")
	}
	if d.own {
		lines = append(lines, ">[tool]  the same, with a tool of its own")
	}
	if d.handoffs {
		lines = append(lines, "⇒  hands the conversation over")
	}
	if len(lines) > 0 {
		d.out.WriteString("\n" + strings.Join(lines, "\n") + "\n")
	}
}

// oneLine is a text with every run of white space made one space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
