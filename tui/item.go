package tui

import (
	"fmt"
	"slices"
	"strings"

	"bureau/engine/history"
	"bureau/tui/markdown"
	"bureau/tui/style"
	"bureau/tui/text"
	"bureau/tui/thread"
)

// indent is the room at the left of every row: one cell for the bar of what is selected, one for air.
const indent = "  "

// entry draws an item of a conversation. It is a row of a list; what it shows depends on the item, on whether it is open,
// and on the entry before it.
type entry struct {
	*thread.Item
	look *look
	// open tells that it shows all that there is.
	open bool
	// lead tells that it names its speaker, because the one before it has another or none.
	lead bool
	// air tells that a row is left free above it.
	air bool

	edits uint64
	doc   *markdown.Doc // of an answer that grows
	docOf uint64        // the theme that doc was made in
}

// set changes one of the entry's own flags.
func (e *entry) set(flag *bool, value bool) {
	if *flag != value {
		*flag = value
		e.edits++
	}
}

// moves tells whether time alone changes what is shown.
func (e *entry) moves() bool {
	if e.Run != nil {
		return e.Run.Working()
	}
	if e.Kind == thread.Retry {
		return true
	}
	return (e.Kind == thread.Call || e.Kind == thread.Reasoning) && e.State() == thread.Working
}

// Version changes with what is drawn.
func (e *entry) Version() uint64 {
	v := (e.Item.Version() + e.edits + e.look.theme) << 24
	if e.moves() {
		v |= e.look.tick & (1<<24 - 1)
	}
	return v
}

// safe is the item's text, fit for a terminal.
func (e *entry) safe() string { return text.Sanitise(e.Text()) }

// opens tells whether the item has more to show than it does when it is closed.
func (e *entry) opens() bool {
	switch e.Kind {
	case thread.Reasoning, thread.Reminder:
		return e.Len() > 0
	case thread.Call:
		return true
	}
	return false
}

// Rows draws the item in rows of at most width cells.
func (e *entry) Rows(width int) []string {
	w := max(width-len(indent)-1, 1)
	var rows []string
	switch e.Kind {
	case thread.Input:
		rows = e.input(w)
	case thread.Answer:
		rows = e.answer(w)
	case thread.Reasoning:
		rows = e.reasoning(w)
	case thread.Call:
		rows = e.call(w)
	case thread.Reminder:
		rows = e.reminder(w)
	case thread.Failure:
		rows = e.failure(w)
	case thread.Retry:
		rows = e.retry(w)
	case thread.Notice:
		rows = e.wrapped("! ", e.look.Warning, e.safe(), w)
	}
	if e.lead && e.Kind != thread.Input && e.Kind != thread.Failure {
		rows = append([]string{e.look.name(e.Agent)}, rows...)
	}
	if e.air {
		rows = append([]string{""}, rows...)
	}
	for i, row := range rows {
		if row != "" {
			rows[i] = indent + row
		}
	}
	return rows
}

func (e *entry) input(w int) []string {
	head := e.look.name(e.Speaker()) + e.look.Dim.Render(" "+style.SymbolArrow+" ") + e.look.name(e.Agent)
	rows := []string{text.Cut(head, w)}
	bar := e.look.User
	if e.Speaker() != "" {
		bar = e.look.Agent(e.Speaker())
	}
	edge := bar.Render(style.SymbolLine) + " "
	for _, line := range text.Wrap(e.safe(), max(w-2, 1)) {
		rows = append(rows, edge+line)
	}
	return rows
}

func (e *entry) answer(w int) []string {
	rows := e.markdown(w)
	for i, c := range e.Citations {
		source := strings.TrimSpace(text.Line(c.Title) + " " + text.Line(c.URL))
		rows = append(rows, e.wrapped(fmt.Sprintf("[%d] ", i+1), e.look.Faint, source, w)...)
	}
	switch e.State() {
	case thread.Interrupted:
		rows = append(rows, e.look.Warning.Render(style.SymbolStopped+" interrupted"))
	case thread.Failed:
		rows = append(rows, e.look.Error.Render(text.Cut(style.SymbolFailed+" cut off by an error", w)))
		rows = append(rows, e.hint(w)...)
	}
	return rows
}

// markdown lays an answer out. One that grows keeps what was laid out of it; one that is finished is laid out once, and the
// list keeps its rows while they are near the screen.
func (e *entry) markdown(w int) []string {
	if e.State() != thread.Working {
		e.doc = nil
		rows := e.look.markdown.Render(e.Text(), w)
		if len(rows) == 0 { // marks alone, such as a fence or a link's definition
			rows = text.Wrap(strings.TrimSpace(e.safe()), w)
		}
		return slices.Clone(rows)
	}
	switch {
	case e.doc == nil:
		e.doc = e.look.markdown.NewDoc()
	case e.docOf != e.look.theme:
		e.doc.Use(e.look.markdown)
	}
	e.docOf = e.look.theme
	e.doc.Set(e.Text()) // it makes safe what it is given
	return slices.Clone(e.doc.Rows(w))
}

func (e *entry) reasoning(w int) []string {
	var head string
	switch took := text.Elapsed(e.look.since(e.At, e.Ended)); {
	case e.State() == thread.Working:
		head = e.look.spinner() + e.look.Reasoning.Render(" thinking "+took)
	case e.State() == thread.Interrupted:
		head = e.look.Reasoning.Render("thought, interrupted")
	case e.Ended == 0:
		head = e.look.Reasoning.Render("thought")
	default:
		head = e.look.Reasoning.Render("thought for " + took)
	}
	if e.State() != thread.Working {
		head = e.look.Dim.Render(e.fold()) + " " + head
	}
	if e.Len() == 0 {
		return []string{text.Cut(head, w)}
	}
	if !e.open {
		words := e.safe()
		if e.State() == thread.Working {
			words = tail(words, 400)
			line := text.Line(words)
			return []string{text.Cut(head+" ", w) + e.look.Faint.Render(text.CutLeft(line, max(w-text.Width(head)-1, 0)))}
		}
		return []string{text.Cut(head+" "+e.look.Faint.Render(text.Line(words[:min(len(words), 400)])), w)}
	}
	rows := []string{text.Cut(head, w)}
	return append(rows, e.block(text.Wrap(e.safe(), max(w-2, 1)), e.look.Reasoning)...)
}

func (e *entry) reminder(w int) []string {
	head := e.look.Dim.Render(e.fold()+" ") + e.look.Faint.Render("reminder to ") + e.look.Dim.Render(text.Line(e.Agent))
	if !e.open {
		return []string{text.Cut(head+e.look.Faint.Render(": "+text.Line(e.safe())), w)}
	}
	return append([]string{text.Cut(head, w)}, e.block(text.Wrap(e.safe(), max(w-2, 1)), e.look.Dim)...)
}

func (e *entry) failure(w int) []string {
	what := text.Sanitise(e.Text())
	if what == "" {
		what = "the run ended without an answer"
	}
	rows := e.wrapped(style.SymbolFailed+" ", e.look.Error, text.Line(e.Agent)+": "+what, w)
	return append(rows, e.hint(w)...)
}

// hint says what can be done about a failure.
func (e *entry) hint(w int) []string {
	if e.Hint == "" {
		return nil
	}
	return e.wrapped(indent+style.SymbolArrow+" ", e.look.Dim, text.Sanitise(e.Hint), w)
}

func (e *entry) retry(w int) []string {
	wait := "now"
	if left := e.Until - e.look.now.UnixMicro(); left > 0 {
		wait = "in " + text.Elapsed(e.look.since(1, 1+left+999_999).Truncate(1e9))
		wait = strings.Replace(wait, ".0s", "s", 1)
	}
	line := "trying again " + wait
	if e.Attempt > 0 && e.Of > 0 {
		line += " (attempt " + text.Tokens(int64(e.Attempt)) + " of " + text.Tokens(int64(e.Of)) + ")"
	}
	if e.Len() > 0 {
		line += ": " + text.Line(e.Text())
	}
	return e.wrapped(style.SymbolWaiting+" ", e.look.Warning, line, w)
}

// fold is the sign of what opens.
func (e *entry) fold() string {
	if e.open {
		return style.SymbolOpen
	}
	return style.SymbolClosed
}

// wrapped draws words behind a sign, further rows below the first word.
func (e *entry) wrapped(sign string, s interface{ Render(...string) string }, words string, w int) []string {
	width := text.Width(sign)
	rows := text.Wrap(words, max(w-width, 1))
	for i, row := range rows {
		lead := strings.Repeat(" ", width)
		if i == 0 {
			lead = s.Render(sign)
		}
		rows[i] = text.Cut(lead+s.Render(row), w)
	}
	return rows
}

// block draws rows behind a faint line.
func (e *entry) block(rows []string, s interface{ Render(...string) string }) []string {
	edge := e.look.Border.Render(style.SymbolLine) + " "
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = edge
		if row != "" {
			out[i] += s.Render(row)
		}
	}
	return out
}

// copyText is what the item gives to the clipboard: its words as they are, without frames or wraps.
func (e *entry) copyText() string {
	if e.Kind != thread.Call {
		return e.safe()
	}
	words := text.Line(e.Name) + " " + text.Sanitise(e.Text())
	if e.HasOutput {
		words += "\n\n" + text.Sanitise(e.Output)
	}
	return words
}

// leads tells which conversation a delegation leads to.
func (e *entry) leads() (history.Thread, bool) {
	if e.Kind != thread.Call || e.Run == nil {
		return history.Thread{}, false
	}
	return e.Run.Thread(), true
}

// front is the first n bytes of s, up to the end of a character.
func front(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// tail is the last n bytes of s, from the beginning of a character on.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-n:], "")
}
