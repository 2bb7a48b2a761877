package tui

import (
	"strings"
	"time"

	"bureau/engine/history"
	"bureau/tui/text"
	"bureau/tui/thread"
)

// tell takes in an event, and writes what it says to somebody who reads along.
func (p *plain) tell(e history.Event) {
	p.data.Apply(e)
	top := e.SubagentRunID == "" && e.CallerAgent == ""
	switch e.Type {
	case history.EventRunStarted:
		p.sent = false
	case history.EventTextContent, history.EventTextEnd:
		if top {
			p.flow(e, e.Type == history.EventTextEnd)
		} else if e.Type == history.EventTextEnd {
			p.task(e)
		}
	case history.EventCallEnd:
		p.call(e)
	case history.EventCallResult:
		if e.IsError {
			p.say("%s failed: %s", text.Line(e.Name), text.Line(firstLine(e.Content, 300)))
		}
	case history.EventSubagentFinished, history.EventSubagentError:
		p.ended(e)
	case history.EventRunFinished, history.EventRunError:
		p.turnEnded(e)
	case history.EventCustom:
		p.custom(e, top)
	}
}

// flow writes what is new of an answer, in whole lines, and all of it at the end.
func (p *plain) flow(e history.Event, end bool) {
	it := itemOf(p.data.User, e.MessageID)
	if it == nil || it.Kind != thread.Answer && it.Kind != thread.Failure {
		return
	}
	words := text.Sanitise(it.Text())
	done, begun := p.said[it.ID]
	if !end {
		words = words[:strings.LastIndexByte(words, '\n')+1]
	}
	if len(words) > done || end && !begun {
		if !begun {
			p.say("%s:", text.Line(it.Agent))
		}
		fresh := words[min(done, len(words)):]
		p.said[it.ID] = len(words)
		if fresh = strings.TrimSuffix(fresh, "\n"); fresh != "" || !end {
			p.say("%s", fresh)
		}
	}
	if end {
		delete(p.said, it.ID)
		for i, c := range it.Citations {
			p.say("[%d] %s", i+1, strings.TrimSpace(text.Line(c.Title)+" "+text.Line(c.URL)))
		}
		if it.State() == thread.Interrupted {
			p.say("(interrupted)")
		}
	}
}

// task tells what an agent asks another.
func (p *plain) task(e history.Event) {
	if it := itemOf(p.data.Thread(e.Thread()), e.MessageID); it != nil && it.Kind == thread.Input {
		p.say("%s → %s: %s", speaker(it), text.Line(it.Agent), text.Line(firstLine(it.Text(), 300)))
	}
}

// after says how an answer ended that did not end well.
func (p *plain) after(it *thread.Item) {
	if it.State() == thread.Interrupted {
		p.say("(interrupted)")
	}
	if it.Hint != "" {
		p.say("What to do: %s", text.Line(it.Hint))
	}
}

func itemOf(t *thread.Thread, id int64) *thread.Item {
	for i := len(t.Items) - 1; i >= 0; i-- {
		if t.Items[i].ID == id {
			return t.Items[i]
		}
	}
	return nil
}

// call tells of a tool that is used; a message to another agent is told as its task.
func (p *plain) call(e history.Event) {
	t := p.data.Thread(e.Thread())
	if t == nil {
		return
	}
	if it := itemOf(t, e.MessageID); it != nil && it.Carries == thread.Nothing {
		p.say("%s uses %s %s", text.Line(e.Agent), text.Line(e.Name), text.Cut(shortArguments(it.Text()), 120))
	}
}

func (p *plain) ended(e history.Event) {
	run := p.data.Run(e.SubagentRunID)
	if run == nil {
		return
	}
	how := "done"
	if e.Type == history.EventSubagentError {
		how = "failed: " + text.Line(e.Message)
		if e.Code == history.CodeInterrupted {
			how = "stopped"
		}
	}
	var facts []string
	for _, f := range p.look.facts(run) {
		if f != "failed" && f != "stopped" {
			facts = append(facts, f)
		}
	}
	p.say("%s → %s: %s (%s)", text.Line(run.From), text.Line(run.To), how, strings.Join(facts, ", "))
}

// turnEnded sends what waits, or keeps it when the turn did not end well.
func (p *plain) turnEnded(e history.Event) {
	p.sent = false
	if p.question != nil {
		p.question, p.choices = nil, 0
	}
	if e.Type == history.EventRunError {
		p.failed(e)
		if p.queue.held = len(p.queue.waiting) > 0; p.queue.held {
			p.say("%s kept; an empty line sends the first.", count(len(p.queue.waiting), "message"))
		}
	} else if !p.queue.held {
		p.next()
	}
	p.prompt()
}

// failed says why a turn ended without an answer, and what to do about it. The reason stands there already where it has a row.
func (p *plain) failed(e history.Event) {
	if e.Code == history.CodeInterrupted {
		p.say("Stopped.")
		return
	}
	items := p.data.User.Items
	if n := len(items); n == 0 || items[n-1].Kind != thread.Failure || !items[n-1].Stored() {
		p.say("Error: %s", text.Line(e.Message))
	}
	if e.Hint != "" {
		p.say("What to do: %s", text.Line(e.Hint))
	}
}

func (p *plain) custom(e history.Event, top bool) {
	switch e.Name {
	case history.CustomHandoff, history.CustomRecipient:
		from, to := control(e)
		if to == "" {
			return
		}
		if e.Name == history.CustomHandoff {
			p.say("%s hands over to %s.", text.Line(from), text.Line(to))
		}
		if top {
			p.recipient = to
		}
	case history.CustomQuestion:
		p.ask(e)
	case history.CustomRetry, history.CustomWarning, history.CustomLimit:
		t := p.data.Thread(e.Thread())
		if t == nil || len(t.Items) == 0 {
			return
		}
		it := t.Items[len(t.Items)-1]
		if it.Kind == thread.Retry {
			wait := time.Duration(max(it.Until-it.At, 0)) * time.Microsecond
			p.say("%s: trying again in %s: %s", text.Line(it.Agent), text.Elapsed(wait), text.Line(it.Text()))
		} else if it.Kind == thread.Notice {
			p.say("Warning: %s", text.Line(it.Text()))
		}
	}
}

// speaker is who said an item.
func speaker(it *thread.Item) string {
	if from := it.Speaker(); from != "" {
		return text.Line(from)
	}
	return "You"
}

// item writes an item that was read.
func (p *plain) item(it *thread.Item) {
	switch it.Kind {
	case thread.Input:
		p.say("%s → %s:\n%s", speaker(it), text.Line(it.Agent), text.Sanitise(it.Text()))
	case thread.Answer, thread.Failure:
		p.say("%s:\n%s", text.Line(it.Agent), text.Sanitise(it.Text()))
		p.after(it)
	case thread.Call:
		switch it.Carries {
		case thread.Control:
			p.say("%s hands over to %s.", text.Line(it.Agent), text.Line(it.Recipient()))
		case thread.Message:
			p.say("%s → %s: %s", text.Line(it.Agent), text.Line(it.Recipient()), text.Line(firstLine(it.Task(), 300)))
		default:
			p.say("%s uses %s %s", text.Line(it.Agent), text.Line(it.Name), text.Cut(shortArguments(it.Text()), 120))
		}
	}
}
