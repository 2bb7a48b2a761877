package composer

import (
	"strings"

	"bureau/tui/style"
	"bureau/tui/text"
)

// Candidate is something that a completion offers.
type Candidate struct {
	Value  string // what stands behind the trigger
	Detail string // said beside it
}

// Completer returns all candidates for a trigger: '@' for the agents that can be addressed, '/' for the commands. It is asked
// at every key, so it answers at once.
type Completer func(trigger rune) []Candidate

// maxCandidates is how many rows a completion has.
const maxCandidates = 8

// completion is the list that opens behind a trigger at the start of a message.
type completion struct {
	trigger   rune
	found     []Candidate
	selected  int
	navigated bool // enter accepts only what was chosen
	dismissed bool // until the trigger stands alone or is gone
}

// refresh opens, narrows or closes the completion after the text or the cursor changed.
func (c *Composer) refresh() {
	trigger, typed, ok := c.typed()
	if !ok {
		c.completion = completion{}
		return
	}
	p := &c.completion
	before := ""
	if p.navigated && p.selected < len(p.found) {
		before = p.found[p.selected].Value
	}
	p.trigger, p.found = trigger, match(c.complete(trigger), typed)
	p.selected, p.navigated = 0, false
	if typed == "" { // the trigger alone opens it again
		p.dismissed = false
	}
	for i, f := range p.found {
		if before != "" && f.Value == before {
			p.selected, p.navigated = i, true
		}
	}
}

// typed is what stands between a trigger at the start and the cursor.
func (c *Composer) typed() (trigger rune, typed string, ok bool) {
	b := &c.buffer
	if c.complete == nil || b.at == 0 || b.cells[0].value != "@" && b.cells[0].value != "/" {
		return 0, "", false
	}
	for _, cell := range b.cells[:b.at] {
		if cell.chip || cell.newline() || cell.space() && b.cells[0].value == "/" {
			return 0, "", false
		}
	}
	return rune(b.cells[0].value[0]), join(b.cells[1:b.at]), true
}

// match returns the candidates that begin with what was typed, then those that hold it.
func match(all []Candidate, typed string) []Candidate {
	var begin, hold []Candidate
	folded := strings.ToLower(typed)
	for _, c := range all {
		switch v := strings.ToLower(c.Value); {
		case strings.HasPrefix(v, folded):
			begin = append(begin, c)
		case strings.Contains(v, folded):
			hold = append(hold, c)
		}
	}
	return append(begin, hold...)
}

func (p *completion) open() bool { return len(p.found) > 0 && !p.dismissed }

func (p *completion) step(n int) {
	p.selected = (p.selected + n + len(p.found)) % len(p.found)
	p.navigated = true
}

// accept puts the selected candidate in place of what was typed, and of what the cursor stood before of the same word.
func (c *Composer) accept() {
	p := c.completion
	end := c.buffer.at
	for end < len(c.buffer.cells) && !c.buffer.cells[end].space() && !c.buffer.cells[end].chip {
		end++
	}
	if end < len(c.buffer.cells) && c.buffer.cells[end].value == " " {
		end++
	}
	with := cells(string(p.trigger) + p.found[p.selected].Value + " ")
	c.buffer.replace(0, end, with)
	c.buffer.at = len(with)
	c.changed()
	c.completion.dismissed = true
}

// Completion returns the rows of what is offered, best first, and whether anything is: candidates, or the messages that a
// search found. While it is open, tab, enter, the arrows up and down and esc belong to the composer.
func (c *Composer) Completion() (rows []string, open bool) {
	if c.search != nil {
		return c.search.rows(c), true
	}
	p := &c.completion
	if !p.open() {
		return nil, false
	}
	widest := 0
	for _, f := range p.found {
		widest = max(widest, text.Width(text.Line(f.Value)))
	}
	widest = min(widest, max(c.width/2, 8))
	first := window(p.selected, len(p.found))
	for i := first; i < min(first+maxCandidates, len(p.found)); i++ {
		f := p.found[i]
		row := string(p.trigger) + text.Pad(text.Line(f.Value), widest)
		rows = append(rows, c.offer(row, text.Line(f.Detail), i == p.selected))
	}
	return rows, true
}

// window is the first of the rows that are shown when one of n is selected.
func window(selected, n int) int {
	return max(0, min(selected-maxCandidates/2, n-maxCandidates))
}

// offer draws a row of what is offered.
func (c *Composer) offer(row, detail string, selected bool) string {
	mark := "  "
	if selected {
		mark, row = c.styles.Selected.Render(style.SymbolPrompt)+" ", c.styles.Selected.Render(row)
	}
	if detail != "" {
		row += "  " + c.styles.Dim.Render(detail)
	}
	return text.Cut(mark+row, c.width)
}
