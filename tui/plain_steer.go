package tui

import (
	"strings"

	"bureau/engine/history"
	"bureau/tui/text"
)

// ask puts a question, of which the next line is the answer. Where nobody can type, the answer is to stop.
func (p *plain) ask(e history.Event) {
	q := readQuestion(e)
	if q == nil {
		return
	}
	p.question = q
	if p.over {
		p.refuse()
		return
	}
	choices := q.choices()
	labels := make([]string, len(choices))
	for i, c := range choices {
		labels[i] = c.label + ": " + c.detail
	}
	p.say("%s waits: %s.", text.Line(e.Agent), text.Line(q.Message))
	p.choose("How to go on", labels, func(n int) error {
		p.question = nil
		p.session.Answer(choices[n].answer)
		return nil
	})
}

// refuse answers an open question with a stop.
func (p *plain) refuse() {
	if p.question != nil {
		p.question, p.choices = nil, 0
		p.session.Answer(Answer{})
	}
}

// now says something to the agents at work; where none is, it sends.
func (p *plain) now(words string) {
	switch {
	case words == "":
		p.say("Usage: /now TEXT")
	case !p.busy():
		p.submit(words)
	default:
		run := ""
		if to, rest, ok := strings.Cut(words, " "); ok && strings.HasPrefix(to, "@") {
			working := workingRun(p.data, "", to[1:])
			if working == nil {
				p.say("%s is not at work for another agent.", text.Line(to[1:]))
				return
			}
			run, words = working.ID, rest
		}
		p.outcome("", p.session.Steer(run, words))
	}
}

// tellPair says something into a sub-conversation: at once to a run that is under way, else in a turn of its own.
func (p *plain) tellPair(args string) {
	agent, words, _ := strings.Cut(strings.TrimPrefix(args, "@"), " ")
	words = strings.TrimSpace(words)
	run := newestRun(p.data, agent)
	switch {
	case agent == "" || words == "":
		p.say("Usage: /tell AGENT TEXT")
	case run == nil:
		p.say("No agent has asked %s anything yet.", text.Line(agent))
	case run.Working():
		p.outcome("", p.session.Steer(run.ID, words))
	case p.busy():
		p.queue.push(Queued{Caller: run.From, Recipient: run.To, Text: words})
		p.say("Waits until the turn ends.")
	default:
		p.send(Queued{Caller: run.From, Recipient: run.To, Text: words})
	}
}

// cancel stops one delegation.
func (p *plain) cancel(agent string) {
	run := workingRun(p.data, "", strings.TrimPrefix(agent, "@"))
	switch {
	case agent == "":
		p.say("Usage: /cancel AGENT")
	case run == nil:
		p.say("%s is not at work for another agent.", text.Line(agent))
	default:
		p.outcome("Stopping "+text.Line(run.To)+".", p.session.CancelRun(run.ID))
	}
}
