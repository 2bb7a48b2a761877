// Package text measures, cuts, wraps and makes safe every string that the terminal shows, and formats the figures beside
// them. It is the only package that does: what is measured by one rule and cut by another breaks the screen. It knows
// nothing of what a text means. All functions are pure and safe for concurrent use.
//
// Text from outside (models, tools, files, names, errors) goes through [Sanitise] or [Line] once, on its way in. The other
// functions take text that is safe, with the program's own style sequences in it.
package text

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	esc     = 0x1b
	tabStop = 4
	// maxMarks bounds the combining marks on one character: more are an attack on the rows above and below.
	maxMarks = 8
)

// Sanitise makes text of several lines safe for a terminal. The result is valid UTF-8 without any control character but
// line feeds: escape sequences are removed whole, an unterminated one up to the end of the text; CR LF and CR become LF; tabs
// become spaces up to the next multiple of four cells; characters that reorder or hide text are dropped.
//
// Of a text that grows, the whole text so far is sanitised each time, never its pieces one by one: a sequence may be split
// between two of them.
func Sanitise(s string) string {
	clean := cleanPrefix(s)
	if clean == len(s) {
		return s
	}
	w := writer{}
	w.out.Grow(len(s) + 16)
	w.out.WriteString(s[:clean])
	w.lineStart = strings.LastIndexByte(s[:clean], '\n') + 1
	for i := clean; i < len(s); {
		if n := cleanPrefix(s[i:]); n > 0 {
			w.write(s[i : i+n])
			i += n
			continue
		}
		if n := sequence(s[i:]); n > 0 {
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\r':
			if !strings.HasPrefix(s[i+1:], "\n") {
				w.write("\n")
			}
		case r == '\t':
			w.tab()
		case r == '\u2028' || r == '\u2029':
			w.write("\n")
		case r == utf8.RuneError && size == 1:
			w.write("\uFFFD")
		case isMark(r):
			w.mark(s[i : i+size])
		case !hidden(r):
			w.write(s[i : i+size])
		}
		i += size
	}
	return w.out.String()
}

// Line makes text safe like [Sanitise] and puts it on one line: newlines and runs of space become one space, none at the
// ends.
func Line(s string) string {
	s = Sanitise(s)
	if s == "" || s[0] != ' ' && s[len(s)-1] != ' ' && !strings.Contains(s, "\n") && !strings.Contains(s, "  ") {
		return s
	}
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\n' }), " ")
}

// Visible makes text of several lines safe like [Sanitise], but shows what that would drop as \x1b, \u202e and the like: for
// what a user decides on, where leaving something out would hide what it does.
func Visible(s string) string {
	if cleanPrefix(s) == len(s) {
		return s
	}
	w := writer{}
	for i := 0; i < len(s); {
		if n := cleanPrefix(s[i:]); n > 0 {
			w.write(s[i : i+n])
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case r == '\r':
			w.write(`\r`)
		case r == '\t':
			w.tab()
		case r == utf8.RuneError && size == 1, r < 0x20, r == 0x7f:
			w.write(fmt.Sprintf(`\x%02x`, s[i]))
		case r == '\u2028' || r == '\u2029' || r <= 0xffff && hidden(r):
			w.write(fmt.Sprintf(`\u%04x`, r))
		case hidden(r):
			w.write(fmt.Sprintf(`\U%08x`, r))
		case isMark(r):
			w.mark(s[i : i+size])
		default:
			w.write(s[i : i+size])
		}
		i += size
	}
	return w.out.String()
}

// StylesOnly makes text safe like [Sanitise], but keeps the sequences that set colours and weight: for what a library has
// styled. Tabs are dropped: there is no telling where they stood.
func StylesOnly(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if n := cleanPrefix(s[i:]); n > 0 {
			b.WriteString(s[i : i+n])
			i += n
			continue
		}
		if n := sequence(s[i:]); n > 0 {
			if isStyle(s[i : i+n]) {
				b.WriteString(s[i : i+n])
			}
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !hidden(r) && (r != utf8.RuneError || size > 1) {
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// isStyle tells whether a sequence is ESC [ digits m.
func isStyle(seq string) bool {
	body, ok := strings.CutPrefix(seq, "\x1b[")
	if !ok || !strings.HasSuffix(body, "m") {
		return false
	}
	return strings.Trim(body[:len(body)-1], "0123456789;:") == ""
}

// cleanPrefix returns the length of the longest prefix that needs no change.
func cleanPrefix(s string) int {
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f || c == '\n' {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			return i
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || r < 0xa0 || isMark(r) || hidden(r) || r == '\u2028' || r == '\u2029' {
			return i
		}
		i += size
	}
	return len(s)
}

// hidden tells of characters that are not shown: controls, and those that reorder text, are invisible, or carry data that
// nobody sees. The joiners that scripts and emoji need (U+200C, U+200D) and the two selectors of text and emoji presentation
// stay.
func hidden(r rune) bool {
	switch {
	case r < 0xa0:
		return r < 0x20 && r != '\n' || r >= 0x7f
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x180e:
		return true
	case r < 0x200b:
		return false
	case r <= 0x206f:
		return r == 0x200b || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060
	case r < 0xfe00:
		return false
	case r <= 0xfe0d, r == 0xfeff, r >= 0xfff9 && r <= 0xfffb, r == 0xfffe, r == 0xffff:
		return true
	}
	return r >= 0xe0000 && r <= 0xe0fff
}

// isMark tells of the combining marks of no script of its own, which can be piled up without end.
func isMark(r rune) bool {
	return r >= 0x300 && r <= 0x36f || r >= 0x1ab0 && r <= 0x1aff || r >= 0x1dc0 && r <= 0x1dff ||
		r >= 0x20d0 && r <= 0x20ff || r >= 0xfe20 && r <= 0xfe2f
}

// writer builds the result and knows where in it the last tab stop was, so that a tab costs what was written since.
type writer struct {
	out       strings.Builder
	lineStart int // where the line, or what follows its last tab, starts in out
	marks     int // combining marks in a row
}

func (w *writer) write(s string) {
	w.marks = 0
	if nl := strings.LastIndexByte(s, '\n'); nl >= 0 {
		w.lineStart = w.out.Len() + nl + 1
	}
	w.out.WriteString(s)
}

func (w *writer) mark(s string) {
	if w.marks++; w.marks <= maxMarks {
		w.out.WriteString(s)
	}
}

func (w *writer) tab() {
	w.marks = 0
	col := Width(w.out.String()[w.lineStart:])
	w.out.WriteString("    "[col%tabStop:])
	w.lineStart = w.out.Len()
}
