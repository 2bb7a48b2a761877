package overlay

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/rivo/uniseg"

	"bureau/tui/keymap"
	"bureau/tui/text"
)

// maxLine is how many bytes a Line holds; what goes beyond is not taken.
const maxLine = 4096

// Line is a one-line editor over grapheme clusters: what a reader sees as one character is one step of the caret and one
// backspace. The zero value is empty. Its text is always safe for a terminal.
type Line struct {
	value string
	at    int // the caret: a byte offset into value, always between two clusters
}

// Value returns the text.
func (l *Line) Value() string { return l.value }

// Set replaces the text and puts the caret at its end.
func (l *Line) Set(s string) {
	*l = Line{}
	l.Insert(s)
}

// Insert puts text at the caret, as typed or as pasted: made safe, on one line.
func (l *Line) Insert(s string) {
	s = text.Sanitise(head(s, 2*maxLine)) // of which at most the half is taken
	s = strings.ReplaceAll(strings.Trim(s, "\n"), "\n", " ")
	if room := maxLine - len(l.value); len(s) > room {
		s = s[:snapBack(s, room)]
	}
	before := l.value[:l.at] + s
	l.value = before + l.value[l.at:]
	l.at = snap(l.value, len(before))
}

// Caret returns where the caret is: a byte offset into Value, between two clusters.
func (l *Line) Caret() int { return l.at }

// Home moves the caret before the first character.
func (l *Line) Home() { l.at = 0 }

// End moves the caret behind the last character.
func (l *Line) End() { l.at = len(l.value) }

// HandleKey edits, and tells whether the key was one of an editor.
func (l *Line) HandleKey(keys keymap.Editing, msg tea.KeyPressMsg) bool {
	switch {
	case key.Matches(msg, keys.LineStart):
		l.Home()
	case key.Matches(msg, keys.LineEnd):
		l.End()
	case key.Matches(msg, keys.Left):
		l.at = l.before()
	case key.Matches(msg, keys.Right):
		l.at = l.behind()
	case key.Matches(msg, keys.WordLeft):
		l.at = l.wordBefore()
	case key.Matches(msg, keys.WordRight):
		l.at = l.wordBehind()
	case key.Matches(msg, keys.KillBefore):
		l.remove(0, l.at)
	case key.Matches(msg, keys.KillAfter):
		l.remove(l.at, len(l.value))
	case key.Matches(msg, keys.KillWord):
		l.remove(l.wordBefore(), l.at)
	case key.Matches(msg, keys.Backspace):
		l.remove(l.before(), l.at)
	case key.Matches(msg, keys.Delete):
		l.remove(l.at, l.behind())
	case msg.Text != "":
		l.Insert(msg.Text)
	default:
		return false
	}
	return true
}

// View returns what of the line is shown in w cells, at most w wide, and the caret's column in it, below w. A line that is
// too long is scrolled so that the caret has text on both sides.
func (l *Line) View(w int) (shown string, column int) {
	if w <= 0 {
		return "", 0
	}
	after := text.Width(l.value[l.at:])
	limit := max(w-1-min(after, w/3), 0)
	start := 0
	for width := text.Width(l.value[:l.at]); width > limit && start < l.at; {
		c := cluster(l.value[start:])
		start += len(c)
		width -= text.Width(c)
	}
	end, used := start, 0
	for end < len(l.value) {
		c := cluster(l.value[end:])
		if used += text.Width(c); used > w {
			break
		}
		end += len(c)
	}
	return l.value[start:end], min(text.Width(l.value[start:l.at]), w-1)
}

// remove cuts out what is between two offsets and leaves the caret there.
func (l *Line) remove(from, to int) {
	l.value = l.value[:from] + l.value[to:]
	l.at = snap(l.value, from)
}

// before is the offset one cluster before the caret.
func (l *Line) before() int {
	if l.at == 0 {
		return 0
	}
	return snapBack(l.value, l.at-1)
}

// behind is the offset one cluster behind the caret.
func (l *Line) behind() int { return l.at + len(cluster(l.value[l.at:])) }

// wordBefore is the start of the word that ends before the caret.
func (l *Line) wordBefore() int {
	s := strings.TrimRightFunc(l.value[:l.at], notWord)
	s = strings.TrimRightFunc(s, func(r rune) bool { return !notWord(r) })
	return snapBack(l.value, len(s))
}

// wordBehind is the end of the word that starts behind the caret.
func (l *Line) wordBehind() int {
	s := strings.TrimLeftFunc(l.value[l.at:], notWord)
	s = strings.TrimLeftFunc(s, func(r rune) bool { return !notWord(r) })
	return snap(l.value, len(l.value)-len(s))
}

// notWord tells of what stands between words. Marks and joiners belong to the letter before them.
func notWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && r != '_' && r != '\u200c' && r != '\u200d'
}

// cluster is the first grapheme cluster of s.
func cluster(s string) string {
	if len(s) > 1 && s[0] < utf8.RuneSelf && s[1] < utf8.RuneSelf {
		return s[:1] // text that is safe has no CR LF
	}
	c, _, _, _ := uniseg.FirstGraphemeClusterInString(s, -1)
	return c
}

// head is at most the first n bytes of s, without a part of a character at its end.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// snap is the first end of a cluster at or behind an offset.
func snap(s string, offset int) int {
	end := 0
	for end < offset && end < len(s) {
		end += len(cluster(s[end:]))
	}
	return end
}

// snapBack is the last end of a cluster at or before an offset.
func snapBack(s string, offset int) int {
	end := 0
	for end < len(s) {
		n := len(cluster(s[end:]))
		if end+n > offset {
			break
		}
		end += n
	}
	return end
}
