// Package composer is the input at the bottom of the screen: a text of several lines for one recipient, with earlier
// messages, completion of agents and commands, and pastes. It knows neither engine nor what a message does: a key gives an
// [Action] that the caller carries out.
//
// It is an editor of its own: the cursor steps over whole characters as a reader sees them and stands in the right cell
// beside wide ones, a long paste is one thing that can be deleted, and a key costs the length of the text once. What comes
// from outside is drawn safe, and sent as it is but for control characters.
//
// A composer belongs to the goroutine that draws.
package composer

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"bureau/tui/keymap"
	"bureau/tui/style"
	"bureau/tui/text"
)

// A paste of more becomes a chip; a text that is set becomes one when it is too long to edit.
const (
	chipLines = 10
	chipBytes = 4 << 10
	editBytes = 64 << 10
)

// Terminals without bracketed paste send a paste as keys. So many runes, none longer after the one before than this, are
// no typing, and an enter that follows as fast is a new line. But programs that drive a terminal type a line and its enter
// like that: the first enter of a burst sends when nothing follows it for a rest.
const (
	burstRunes = 20
	burstGap   = 10 * time.Millisecond
	burstRest  = 60 * time.Millisecond
)

// Rested is the message that a burst of keys may have ended with an enter. It is handed to [Composer.Rested].
type Rested struct{ strokes int }

// Composer is the input. It is made by [New].
type Composer struct {
	styles  *style.Styles
	keys    keymap.Map
	now     func() time.Time
	width   int
	maxRows int
	focused bool
	prompt  string

	buffer     buffer
	rows       []row // of what is shown; nil when that changed
	top        int   // the first row in view
	complete   Completer
	completion completion
	history    []string
	browsed    int // which earlier message is shown, counted from 1; 0 for none
	search     *search

	burst   int  // runes that came in a row without a pause
	broken  bool // the burst has an enter already
	strokes int  // keys and pastes so far
	lastKey time.Time
}

// New returns an empty composer with the focus.
func New(s *style.Styles) *Composer {
	return &Composer{styles: s, keys: keymap.Default(), now: time.Now, width: 80, maxRows: 8, focused: true}
}

// SetStyles changes the look.
func (c *Composer) SetStyles(s *style.Styles) { c.styles = s }

// SetClock replaces the clock by which fast keys are told from typing.
func (c *Composer) SetClock(now func() time.Time) { c.now = now }

// SetWidth gives the width in cells of the rows that are drawn.
func (c *Composer) SetWidth(w int) {
	c.width, c.rows = max(w, 1), nil
}

// SetMaxRows bounds the height; a longer text scrolls.
func (c *Composer) SetMaxRows(n int) { c.maxRows = max(n, 1) }

// SetPrompt names the recipient.
func (c *Composer) SetPrompt(recipient string) {
	c.prompt, c.rows = recipient, nil
}

// SetCompleter gives what can be mentioned and commanded.
func (c *Composer) SetCompleter(complete Completer) { c.complete = complete }

// Focus shows the cursor.
func (c *Composer) Focus() { c.focused = true }

// Blur hides the cursor and closes what is open.
func (c *Composer) Blur() {
	c.focused = false
	c.search, c.rows = nil, nil
	c.completion.dismissed = true
}

// Value is the text, pastes in full.
func (c *Composer) Value() string { return c.buffer.value() }

// SetValue replaces the text and puts the cursor at its end.
func (c *Composer) SetValue(s string) {
	c.search, c.browsed = nil, 0
	c.load(s)
}

// Clear empties the composer and returns what was in it.
func (c *Composer) Clear() string {
	s := c.Value()
	c.SetValue("")
	return s
}

func (c *Composer) load(s string) {
	s = clean(s)
	if len(s) > editBytes {
		c.buffer.set("")
		c.buffer.insertChip(s, label("text of", s))
	} else {
		c.buffer.set(s)
	}
	c.completion = completion{}
	c.changed()
	c.completion.dismissed = true
}

// label names a text that is not shown.
func label(what, s string) string {
	if n := strings.Count(s, "\n"); n > 0 {
		return fmt.Sprintf("[%s %d lines]", what, n+1)
	}
	return fmt.Sprintf("[%s %s]", what, text.Bytes(int64(len(s))))
}

// changed is called after the text or the cursor has changed.
func (c *Composer) changed() {
	c.rows = nil
	c.refresh()
}

// HandlePaste inserts a paste; it never sends. A long one is drawn as a chip, which stands for it.
func (c *Composer) HandlePaste(s string) {
	defer func() { c.burst, c.broken, c.lastKey = burstRunes, false, c.now() }() // what follows as fast may belong to it
	c.strokes++
	s = clean(s)
	if c.search != nil {
		c.search.query.insert(text.Line(s))
		c.search.run(c.history)
		c.rows = nil
		return
	}
	c.browsed = 0
	if strings.Count(strings.TrimRight(s, "\n"), "\n") >= chipLines || len(s) > chipBytes {
		c.buffer.insertChip(s, label("pasted", strings.TrimRight(s, "\n")))
	} else {
		c.buffer.insert(s)
	}
	c.changed()
}

// HandleKey handles a key, and returns what it asks for. The command is what the caller has to run for it, nil for nothing.
func (c *Composer) HandleKey(msg tea.KeyPressMsg) (Action, tea.Cmd) {
	fast := c.fast(msg)
	defer func() { c.rows = nil }()
	if c.search != nil {
		c.searchKey(msg)
		return nil, nil
	}
	if c.completion.open() && c.completionKey(msg) {
		return nil, nil
	}
	k := c.keys.Composer
	switch {
	case key.Matches(msg, k.Newline):
		c.insert("\n")
	case key.Matches(msg, k.Send):
		if fast {
			return nil, c.breakLine()
		}
		return c.send(), nil
	case key.Matches(msg, k.Earlier):
		if !c.moveRow(-1) && (len(c.buffer.cells) == 0 || c.browsing()) {
			c.browse(1)
		}
	case key.Matches(msg, k.Later):
		if !c.moveRow(1) && c.browsing() {
			c.browse(-1)
		}
	case key.Matches(msg, k.Search):
		c.startSearch()
	case key.Matches(msg, k.Editor):
		return OpenEditor{}, nil
	case msg.Text != "":
		c.insert(clean(msg.Text))
	default:
		before := len(c.buffer.cells)
		c.editKey(&c.buffer, msg)
		if len(c.buffer.cells) != before {
			c.browsed = 0
		}
		c.changed()
	}
	return nil, nil
}

func (c *Composer) insert(s string) {
	c.browsed = 0
	c.buffer.insert(s)
	c.changed()
}

// send reads the text and, if it asks for something, empties the composer. A backslash before the cursor makes enter a new
// line.
func (c *Composer) send() Action {
	if b := &c.buffer; b.at > 0 && b.cells[b.at-1].value == `\` {
		b.remove(b.at - 1)
		c.insert("\n")
		return nil
	}
	action := c.read(c.Value())
	if action != nil {
		c.SetValue("")
	}
	return action
}

// fast tells whether a key is an enter that follows a burst, and counts the burst.
func (c *Composer) fast(msg tea.KeyPressMsg) bool {
	now := c.now()
	if now.Sub(c.lastKey) > burstGap {
		c.burst = 0
	}
	if now.Sub(c.lastKey) > burstRest {
		c.broken = false
	}
	c.lastKey = now
	c.strokes++
	c.burst += utf8.RuneCountInString(msg.Text)
	return c.burst >= burstRunes && key.Matches(msg, c.keys.Composer.Send)
}

// breakLine takes an enter within a burst as a new line, and asks for a word when it may have been the end of the burst.
func (c *Composer) breakLine() tea.Cmd {
	c.insert("\n")
	if c.broken {
		return nil
	}
	c.broken = true
	rested := Rested{c.strokes}
	return tea.Tick(burstRest, func(time.Time) tea.Msg { return rested })
}

// HandlePasteEnd is told where a paste ends. One that holds the mark of an end itself ends twice, and what stands between
// has come as keys, which must not send.
func (c *Composer) HandlePasteEnd() { c.strokes++ }

// Rested sends what a burst typed, if its only enter was its end.
func (c *Composer) Rested(r Rested) Action {
	if b := &c.buffer; r.strokes != c.strokes || b.at == 0 || b.cells[b.at-1].value != "\n" {
		return nil
	}
	c.buffer.remove(c.buffer.at - 1)
	c.changed()
	return c.send()
}

// completionKey handles a key that belongs to an open completion.
func (c *Composer) completionKey(msg tea.KeyPressMsg) bool {
	p := &c.completion
	switch {
	case key.Matches(msg, c.keys.Composer.Accept), p.navigated && key.Matches(msg, c.keys.Composer.Send):
		c.accept()
	case key.Matches(msg, c.keys.Composer.Earlier):
		p.step(-1)
	case key.Matches(msg, c.keys.Composer.Later):
		p.step(1)
	case key.Matches(msg, c.keys.Global.Back):
		p.dismissed = true
	default:
		return false
	}
	return true
}

// editKey handles the keys of a line editor.
func (c *Composer) editKey(b *buffer, msg tea.KeyPressMsg) {
	k := c.keys.Editing
	switch {
	case key.Matches(msg, k.Left):
		b.move(-1)
	case key.Matches(msg, k.Right):
		b.move(1)
	case key.Matches(msg, k.WordLeft):
		b.at = b.wordLeft()
	case key.Matches(msg, k.WordRight):
		b.at = b.wordRight()
	case key.Matches(msg, k.LineStart):
		b.at = b.lineStart()
	case key.Matches(msg, k.LineEnd):
		b.at = b.lineEnd()
	case key.Matches(msg, k.Backspace):
		b.remove(max(0, b.at-1))
	case key.Matches(msg, k.Delete):
		b.remove(min(len(b.cells), b.at+1))
	case key.Matches(msg, k.KillWord):
		b.remove(b.wordLeft())
	case key.Matches(msg, k.KillBefore):
		if start := b.lineStart(); start < b.at {
			b.remove(start)
		} else {
			b.remove(max(0, b.at-1))
		}
	case key.Matches(msg, k.KillAfter):
		if end := b.lineEnd(); end > b.at {
			b.remove(end)
		} else {
			b.remove(min(len(b.cells), b.at+1))
		}
	}
}
