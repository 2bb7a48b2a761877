package tui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"bureau/engine/history"
	"bureau/tui/text"
	"bureau/tui/thread"
)

// plain is the same conversation as lines that are only ever added: for screen readers, dumb terminals and pipes. It
// belongs to one goroutine, which takes lines, events and answers in turn.
type plain struct {
	ctx     context.Context
	o       Options
	out     *bufio.Writer
	asks    bool // somebody types, and is to be told when it is his turn
	agency  Agency
	session Session
	data    *thread.Session
	look    *look

	recipient string
	queue     queue
	draft     string // what was typed on a screen and is not for here
	sent      bool
	said      map[int64]int // bytes of an answer's safe text that are on the screen, by row
	continued string        // lines that ended in a backslash
	choice    func(n int) error
	choices   int
	question  *question // nil while none is open
	over      bool      // nobody can type any more
	leave     time.Time
	quit      bool
}

// shownAtStart is how many rows of a session that is opened again are shown.
const shownAtStart = 20

func runPlain(ctx context.Context, o Options, first opened, signals <-chan os.Signal) (Exit, error) {
	g := &guard{log: o.Log}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g.kill = cancel
	p := &plain{ctx: ctx, o: o, out: bufio.NewWriter(o.Output), agency: o.Backend.Agency(), look: &look{}, asks: isFileTerminal(o.Input)}
	lines := make(chan string)
	g.run(func() { readLines(ctx, o.Input, lines) })
	events := make(chan []history.Event)
	g.run(func() {
		o.Feed.pump(ctx, func(batch []history.Event) {
			select {
			case events <- batch:
			case <-ctx.Done():
			}
		})
	})
	p.show(first)
	if o.Recipient != "" {
		p.recipient = o.Recipient
	}
	p.prompt()
	exit := p.loop(lines, events, signals)
	exit.SessionID = p.session.Info().ID
	err := g.err()
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return exit, errors.Join(err, p.out.Flush(), leave(o, p.session, Draft{Text: p.draft, Queue: p.queue.waiting}, exit))
}

// isFileTerminal tells whether a stream is a terminal for sure.
func isFileTerminal(stream any) bool {
	_, file := stream.(interface{ Fd() uintptr })
	return file && isTerminal(stream)
}

// readLines passes lines on until the input ends, and closes the channel then.
func readLines(ctx context.Context, r io.Reader, lines chan<- string) {
	defer close(lines)
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			select {
			case lines <- strings.TrimRight(line, "\r\n"):
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *plain) loop(lines <-chan string, events <-chan []history.Event, signals <-chan os.Signal) (exit Exit) {
	for !p.quit && (lines != nil || p.busy()) {
		_ = p.out.Flush() // a broken output shows at the end
		select {
		case <-p.ctx.Done():
			return exit
		case s := <-signals:
			if s != os.Interrupt {
				p.endLine()
				return Exit{Signal: s}
			}
			p.interrupt()
		case line, ok := <-lines:
			if !ok {
				lines, p.over = nil, true
				p.endLine()
				p.refuse()
				continue
			}
			p.take(line)
		case batch := <-events:
			p.look.now = time.Now()
			for _, e := range batch {
				if e.SessionID == p.session.Info().ID {
					p.tell(e)
				}
			}
		}
	}
	return exit
}

func (p *plain) busy() bool { return p.sent || p.data.Top != nil && p.data.Top.Working() }

// say writes a line; what it is given may come from anywhere but is a format of ours.
func (p *plain) say(format string, args ...any) {
	_, _ = fmt.Fprintf(p.out, format+"\n", args...)
}

// prompt tells a person that it is his turn.
func (p *plain) prompt() {
	if p.asks && !p.busy() && p.choices == 0 && !p.quit {
		_, _ = fmt.Fprintf(p.out, "You → %s: ", text.Line(p.recipient))
	}
}

// endLine goes on below the prompt where the user has ended no line.
func (p *plain) endLine() {
	if p.asks && !p.busy() {
		p.say("")
	}
}

// show tells of a session that was opened.
func (p *plain) show(o opened) {
	p.session, p.data, p.said = o.session, thread.New(p.agency.sends()), map[int64]int{}
	p.data.LoadConversations(o.conversations)
	p.data.Load(history.UserThread, o.user.rows, o.user.more)
	p.data.LoadDelegations(o.user.delegations)
	p.recipient = firstRecipient(p.agency, o.session)
	p.queue, p.draft = queue{waiting: o.draft.Queue, held: len(o.draft.Queue) > 0}, o.draft.Text
	p.say("%s", strings.TrimSpace(text.Line(p.agency.Name)+". "+text.Line(p.agency.Description)))
	if info := p.session.Model(p.recipient); info.Offline {
		p.say("No model is connected: an offline script answers.")
	} else if info.Ref != "" {
		p.say("Model: %s.", text.Line(info.Ref))
	}
	if why := p.session.ReadOnly(); why != "" {
		p.say("Read only: %s. /fork goes on in a copy.", text.Line(why))
	}
	p.say("/help lists the commands. A line that ends in \\ goes on in the next one.")
	for i, words := range p.starters() {
		p.say("%d. %s", i+1, text.Line(words))
	}
	items := p.data.User.Items
	if len(items) > shownAtStart {
		p.say("%s more before:", count(len(items)-shownAtStart, "item"))
		items = items[len(items)-shownAtStart:]
	}
	for _, it := range items {
		p.item(it)
	}
	for i, msg := range p.queue.waiting {
		p.say("Kept %d: %s", i+1, text.Line(msg.Text))
	}
	if p.queue.held {
		p.say("An empty line sends what is kept.")
	}
}

// interrupt is ctrl+c.
func (p *plain) interrupt() {
	now := time.Now()
	switch {
	case p.busy():
		p.stop()
	case now.Before(p.leave):
		p.quit = true
		p.endLine()
	default:
		p.leave = now.Add(leaveTime)
		p.endLine()
		p.say("ctrl+c again leaves.")
		p.prompt()
	}
}

func (p *plain) stop() {
	p.queue.held = len(p.queue.waiting) > 0
	p.session.Stop()
	p.say("Stopping.")
}

// take handles a line that was typed.
func (p *plain) take(line string) {
	line = strings.ToValidUTF8(line, "\uFFFD")
	if before, more := strings.CutSuffix(line, `\`); more {
		p.continued += before + "\n"
		return
	}
	line, p.continued = p.continued+line, ""
	switch {
	case p.choices > 0:
		p.chosen(line)
	case strings.HasPrefix(line, "/") && !strings.Contains(line, "\n"):
		name, args, _ := strings.Cut(line[1:], " ")
		p.command(name, strings.TrimSpace(args))
	case strings.TrimSpace(line) != "":
		p.submit(line)
	case p.queue.held && !p.busy():
		p.queue.held = false
		p.next()
	}
	p.prompt()
}

// starters are those on offer now: none once something was said.
func (p *plain) starters() []string {
	if p.sent || len(p.data.User.Items) > 0 {
		return nil
	}
	return starters(p.agency, p.recipient)
}

// submit sends a message, or lets it wait.
func (p *plain) submit(words string) {
	words = starterOf(p.starters(), words)
	msg := Queued{Text: words}
	if to, rest, ok := p.mention(words); ok {
		msg = Queued{Recipient: to, Text: rest}
	}
	if err := p.o.Backend.AddInput(p.ctx, words); err != nil {
		p.say("The message is not in the history: %s", text.Line(err.Error()))
	}
	if p.busy() {
		p.queue.push(msg)
		p.say("Waits until the turn ends.")
		return
	}
	p.send(msg)
}

// mention finds the agent that a message addresses at its start.
func (p *plain) mention(words string) (agent, rest string, ok bool) {
	if !strings.HasPrefix(words, "@") {
		return "", "", false
	}
	for _, a := range recipients(p.agency, p.session, p.recipient) {
		n := len(a.Name) + 1
		if len(words) > n && strings.EqualFold(words[1:n], a.Name) && words[n] == ' ' && strings.TrimSpace(words[n:]) != "" {
			return a.Name, strings.TrimSpace(words[n:]), true
		}
	}
	return "", "", false
}

func (p *plain) send(msg Queued) {
	to := msg.Recipient
	if to == "" {
		to = p.recipient
	}
	if why := p.session.ReadOnly(); why != "" {
		p.say("Not sent: %s. /fork goes on in a copy.", text.Line(why))
		return
	}
	err := error(nil)
	if msg.Caller != "" {
		err = p.session.Tell(msg.Caller, msg.Recipient, msg.Text)
	} else {
		err = p.session.Send(to, msg.Text, msg.Recipient != "" && msg.Recipient != p.recipient)
	}
	if err != nil {
		p.say("Not sent: %s", text.Line(err.Error()))
		return
	}
	p.sent = true
	if !p.asks {
		p.say("You → %s:\n%s", text.Line(to), text.Sanitise(msg.Text))
	}
}

// next sends the first of the messages that wait.
func (p *plain) next() {
	if msg, ok := p.queue.takeNext(); ok {
		p.send(msg)
		if p.asks {
			p.say("You → %s:\n%s", text.Line(p.recipient), text.Sanitise(msg.Text))
		}
	}
}
