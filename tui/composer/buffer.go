package composer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"bureau/tui/text"
)

// cell is what the cursor steps over and backspace takes away: a character as a reader sees it, a newline, or a chip, which
// stands for a long paste.
type cell struct {
	value string // what is sent
	shown string // what is drawn; safe
	width int
	chip  bool
}

func (c cell) newline() bool { return c.value == "\n" }

func (c cell) space() bool {
	r, _ := utf8.DecodeRuneInString(c.value)
	return !c.chip && unicode.IsSpace(r)
}

// cells splits text into cells.
func cells(s string) []cell {
	out := make([]cell, 0, len(s))
	for s != "" {
		if s[0] == '\n' || s[0] == '\t' {
			c := cell{value: s[:1]}
			if s[0] == '\t' {
				c.shown, c.width = "    ", 4
			}
			out, s = append(out, c), s[1:]
			continue
		}
		value, width := text.Grapheme(s)
		shown := text.Sanitise(value)
		if shown != value {
			width = text.Width(shown)
		}
		out, s = append(out, cell{value: value, shown: shown, width: width}), s[len(value):]
	}
	return out
}

// clean takes from text what can be no part of a message: controls other than newlines and tabs. Newlines become LF.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.Contains(s, "\r") {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// buffer is the text that is edited and the cursor in it, before cells[at].
type buffer struct {
	cells []cell
	at    int
}

func (b *buffer) value() string { return join(b.cells) }

func join(cells []cell) string {
	var s strings.Builder
	for _, c := range cells {
		s.WriteString(c.value)
	}
	return s.String()
}

func (b *buffer) set(s string) {
	b.cells = cells(s)
	b.at = len(b.cells)
}

// insert adds text at the cursor. What belongs to the character before or behind it becomes one with that.
func (b *buffer) insert(s string) {
	from, to := b.at, b.at
	if from > 0 && !b.cells[from-1].chip {
		from--
		s = b.cells[from].value + s
	}
	behind := 0
	if to < len(b.cells) && !b.cells[to].chip {
		behind = len(b.cells[to].value)
		s += b.cells[to].value
		to++
	}
	added := cells(s)
	b.replace(from, to, added)
	// The cursor goes behind the new text, or behind the character that this became part of.
	b.at = from + len(added)
	for n := 0; b.at > from && n < behind; {
		n += len(b.cells[b.at-1].value)
		if n > behind {
			break
		}
		b.at--
	}
}

func (b *buffer) insertChip(value, shown string) {
	b.replace(b.at, b.at, []cell{{value: value, shown: shown, width: text.Width(shown), chip: true}})
	b.at++
}

// replace puts cells in place of those from one index to another.
func (b *buffer) replace(from, to int, with []cell) {
	out := make([]cell, 0, len(b.cells)-(to-from)+len(with))
	b.cells = append(append(append(out, b.cells[:from]...), with...), b.cells[to:]...)
}

// remove takes out the cells between an index and the cursor.
func (b *buffer) remove(other int) {
	from, to := min(b.at, other), max(b.at, other)
	b.replace(from, to, nil)
	b.at = from
}

func (b *buffer) move(n int) { b.at = max(0, min(len(b.cells), b.at+n)) }

// lineStart and lineEnd are where the line with the cursor begins, and where its newline is.
func (b *buffer) lineStart() int {
	i := b.at
	for i > 0 && !b.cells[i-1].newline() {
		i--
	}
	return i
}

func (b *buffer) lineEnd() int {
	i := b.at
	for i < len(b.cells) && !b.cells[i].newline() {
		i++
	}
	return i
}

// wordLeft and wordRight are where the word before the cursor begins, and where the one behind it ends.
func (b *buffer) wordLeft() int {
	i := b.at
	for i > 0 && b.cells[i-1].space() {
		i--
	}
	if i > 0 && b.cells[i-1].chip {
		return i - 1
	}
	for i > 0 && !b.cells[i-1].space() && !b.cells[i-1].chip {
		i--
	}
	return i
}

func (b *buffer) wordRight() int {
	i := b.at
	for i < len(b.cells) && b.cells[i].space() {
		i++
	}
	if i < len(b.cells) && b.cells[i].chip {
		return i + 1
	}
	for i < len(b.cells) && !b.cells[i].space() && !b.cells[i].chip {
		i++
	}
	return i
}
