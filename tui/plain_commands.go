package tui

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bureau/tui/text"
)

// plainCommands are the commands that make sense without a screen.
var plainCommands = []struct{ name, args, title string }{
	{"help", "", "these commands"},
	{"new", "", "begin a new session"},
	{"sessions", "[WORDS]", "open another session"},
	{"fork", "", "go on in a copy of the session"},
	{"to", "[AGENT]", "choose the recipient, who stays; @AGENT at the start of a message addresses one for it alone"},
	{"now", "TEXT", "say something to the agents at work, without waiting for the end of the turn"},
	{"tell", "AGENT TEXT", "say something into the sub-conversation in which an agent was asked last"},
	{"cancel", "AGENT", "stop one delegation alone"},
	{"agency", "", "who may message whom"},
	{"panes", "", "read what two agents said to each other"},
	{"export", "[markdown|json]", "write the session to a file"},
	{"rename", "TITLE", "give the session a title"},
	{"usage", "", "tokens and cost of the session"},
	{"stop", "", "stop the turn under way"},
	{"quit", "", "leave"},
}

func (p *plain) command(name, args string) {
	switch strings.ToLower(name) {
	case "help":
		for _, c := range plainCommands {
			p.say("%s", strings.TrimRight("/"+c.name+" "+c.args, " ")+": "+c.title)
		}
	case "quit":
		p.quit = true
	case "stop":
		if !p.busy() {
			p.say("Nothing is under way.")
			return
		}
		p.stop()
	case "to":
		p.to(args)
	case "now":
		p.now(args)
	case "tell":
		p.tellPair(args)
	case "cancel":
		p.cancel(args)
	case "agency":
		p.describe()
	case "panes":
		p.panes()
	case "usage":
		p.usage()
	case "export":
		p.export(args)
	case "rename":
		if id := p.session.Info().ID; id == "" || args == "" {
			p.say("Usage: /rename TITLE, once the session has a message.")
		} else {
			p.outcome("Renamed.", p.o.Backend.Rename(p.ctx, id, args))
		}
	case "new", "fork", "sessions":
		p.another(strings.ToLower(name), args)
	default:
		p.say("There is no command /%s; /help lists them.", text.Line(name))
	}
}

func (p *plain) outcome(done string, err error) {
	if err != nil {
		p.say("Error: %s", text.Line(err.Error()))
		return
	}
	if done != "" {
		p.say("%s", done)
	}
}

// choose offers numbered choices; the next line is the answer.
func (p *plain) choose(what string, labels []string, pick func(n int) error) {
	if len(labels) == 0 {
		p.say("There is nothing to choose from.")
		return
	}
	for i, label := range labels {
		p.say("%d. %s", i+1, label)
	}
	p.say("%s: a number, or an empty line for none.", what)
	p.choice, p.choices = pick, len(labels)
}

func (p *plain) chosen(line string) {
	if strings.TrimSpace(line) == "" {
		p.choices = 0
		p.refuse()
		return
	}
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || n < 1 || n > p.choices {
		p.say("A number from 1 to %d, or an empty line for none.", p.choices)
		return
	}
	p.choices = 0
	if err := p.choice(n - 1); err != nil {
		p.say("Error: %s", text.Line(err.Error()))
	}
}

func (p *plain) to(agent string) {
	list := recipients(p.agency, p.session, p.recipient)
	if agent != "" {
		i := slices.IndexFunc(list, func(a Agent) bool { return strings.EqualFold(a.Name, strings.TrimPrefix(agent, "@")) })
		if i < 0 {
			p.say("There is no recipient %s; there are %s.", text.Line(agent), text.Line(names(list)))
			return
		}
		p.recipient = list[i].Name
		p.say("Messages go to %s.", text.Line(p.recipient))
		return
	}
	labels := make([]string, len(list))
	for i, a := range list {
		labels[i] = text.Line(a.Name + ": " + a.Description)
	}
	p.choose("Recipient", labels, func(n int) error {
		p.recipient = list[n].Name
		return nil
	})
}

func (p *plain) describe() {
	for _, a := range p.agency.Agents {
		line := a.Name
		if a.EntryPoint {
			line += " (entry point)"
		}
		p.say("%s", text.Line(line+": "+a.Description))
	}
	for _, f := range p.agency.Flows {
		how := "may message"
		if f.Handoff {
			how = "may hand over to"
		}
		p.say("%s", text.Line(f.From+" "+how+" "+f.To))
	}
	for _, run := range p.data.Working() {
		p.say("%s works now.", text.Line(run.To))
	}
}

// panes offers the sub-conversations, and writes the one that is chosen.
func (p *plain) panes() {
	labels := make([]string, len(p.data.Pairs))
	for i, t := range p.data.Pairs {
		labels[i] = text.Line(t.Key.A + " and " + t.Key.B)
		if run := t.Current(); run != nil {
			labels[i] = text.Line(run.From + " → " + run.To + ": " + firstLine(run.Task, 100))
		}
	}
	p.choose("Conversation", labels, func(n int) error {
		t := p.data.Pairs[n]
		f, err := fetch(p.ctx, p.session, t.Key, 0, page)
		if err != nil {
			return err
		}
		p.data.Load(f.key, f.rows, f.more)
		p.data.LoadDelegations(f.delegations)
		for _, it := range t.Items {
			p.item(it)
		}
		return nil
	})
}

func (p *plain) usage() {
	u, window, err := p.session.Usage(p.ctx)
	if err != nil {
		p.outcome("", err)
		return
	}
	p.say("%d input and %d output tokens in %s; %d of them cached, %d for reasoning.",
		u.InputTokens, u.OutputTokens, count(int(u.Requests), "request"), u.CachedTokens, u.ReasoningTokens)
	if u.Cost != nil {
		p.say("Cost: %s.", money(*u.Cost))
	}
	if window > 0 {
		p.say("The last request held %d tokens.", window)
	}
}

func (p *plain) export(format string) {
	if format == "" {
		format = "markdown"
	}
	if format != "markdown" && format != "json" {
		p.say("The format is markdown or json.")
		return
	}
	path, err := p.session.Export(p.ctx, format)
	p.outcome("Written to "+text.Line(path)+".", err)
}

// another opens another session: a new one, a copy of this one, or one that is chosen.
func (p *plain) another(how, query string) {
	if p.busy() {
		p.say("A turn is under way; /stop ends it.")
		return
	}
	current := p.session.Info().ID
	switch how {
	case "new":
		p.outcome("", p.open("", open))
	case "fork":
		if current == "" {
			p.say("There is nothing to copy yet.")
			return
		}
		p.outcome("", p.open(current, fork))
	default:
		sessions, err := p.o.Backend.Sessions(p.ctx, query, howManySessions)
		if err != nil {
			p.outcome("", err)
			return
		}
		labels := make([]string, len(sessions))
		for i, s := range sessions {
			labels[i] = text.Line(s.Title + " (" + s.Agency + ", " + s.ID + ")")
		}
		p.choose("Session", labels, func(n int) error { return p.open(sessions[n].ID, open) })
	}
}

func (p *plain) open(id string, open func(context.Context, Backend, string) (opened, error)) error {
	if id != "" && id == p.session.Info().ID && p.session.ReadOnly() == "" {
		return nil
	}
	o, err := open(p.ctx, p.o.Backend, id)
	if err != nil {
		return err
	}
	before := p.session
	p.show(o)
	if err := before.Close(); err != nil {
		return fmt.Errorf("close the session before: %w", err)
	}
	return nil
}
