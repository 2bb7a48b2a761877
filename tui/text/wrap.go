package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
)

// Chop breaks text into rows of at most w cells at the ends of the rows only, wherever in a word that is, and keeps every
// space: for code and other text whose columns mean something. No row leaves a style open.
func Chop(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	rows := make([]string, 0, 1+strings.Count(s, "\n")+len(s)/w)
	for line := range strings.SplitSeq(s, "\n") {
		if w == 1 {
			line = narrowed(line)
		}
		start, width := 0, 0
		for i := 0; i < len(line); {
			_, cells, n := next(line[i:])
			if width+cells > w {
				rows = append(rows, line[start:i])
				start, width = i, 0
			}
			i, width = i+n, width+cells
		}
		rows = append(rows, line[start:])
	}
	return closedRows(rows, s)
}

// Wrap breaks text into rows of at most w cells, none with a style left open: at spaces, after hyphens inside words, beside
// wide characters, and anywhere in a word that is wider than a row. Indentation stays on the first row of each line. Width 0
// or less gives no rows; an empty text gives one empty row.
func Wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	rows := make([]string, 0, 1+strings.Count(s, "\n")+len(s)/w)
	for line := range strings.SplitSeq(s, "\n") {
		if plain(line) {
			rows = wrapPlain(rows, line, w)
		} else {
			rows = wrapStyled(rows, line, w)
		}
	}
	return closedRows(rows, s)
}

// closedRows closes the styles of s at the end of each row and opens them again in the next.
func closedRows(rows []string, s string) []string {
	if strings.IndexByte(s, esc) < 0 {
		return rows
	}
	if len(rows) == 1 {
		rows[0] = closed(rows[0])
		return rows
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/4)
	w := lipgloss.NewWrapWriter(&b)
	_, _ = w.Write([]byte(strings.Join(rows, "\n")))
	_ = w.Close()
	return strings.Split(b.String(), "\n")
}

// wrapPlain wraps a line of printable ASCII, where cells are bytes.
func wrapPlain(rows []string, s string, w int) []string {
	indent := len(s) - len(strings.TrimLeft(s, " "))
	if indent > w/2 {
		s = s[indent-w/2:]
		indent = w / 2
	}
	for len(s) > w {
		end, next := w, w
		for i := w; i > indent; i-- {
			if s[i] == ' ' {
				end, next = i, i
				break
			}
			if i < w && s[i] == '-' && isWord(s[i-1]) && isWord(s[i+1]) {
				end, next = i+1, i+1
				break
			}
		}
		for end > indent && s[end-1] == ' ' {
			end--
		}
		for next < len(s) && s[next] == ' ' {
			next++
		}
		rows = append(rows, s[:end])
		s, indent = s[next:], 0
		if s == "" {
			return rows
		}
	}
	return append(rows, s)
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// indentation is how many bytes of spaces and style sequences a line begins with, and how many of them are spaces.
func indentation(s string) (lead, spaces int) {
	for lead < len(s) {
		c, _, n := next(s[lead:])
		switch {
		case c == " ":
			spaces++
		case c == "" || c[0] != esc:
			return lead, spaces
		}
		lead += n
	}
	return lead, spaces
}

// wrapStyled wraps a line of anything: grapheme clusters, and style sequences that take no cell.
func wrapStyled(rows []string, s string, w int) []string {
	if w == 1 {
		s = narrowed(s)
	}
	if lead, spaces := indentation(s); spaces > w/2 {
		s = sequences(s[:lead]) + strings.Repeat(" ", w/2) + s[lead:]
	}
	var (
		start, width      int // of the row
		end, resume, rest int // where the row may break: its end, the start of the next one, the width up to there
		inText, inSpace   bool
		before            string // the last cluster
	)
	for i := 0; i < len(s); {
		c, cells, n := next(s[i:])
		switch {
		case cells == 0:
		case c == " ":
			width += cells
			if inText {
				if !inSpace {
					end = i
				}
				resume, rest = i+n, width
			}
			inSpace, before = true, c
		default:
			if inText && !inSpace && breaks(before, c) {
				end, resume, rest = i, i, width
			}
			for width+cells > w && width > 0 {
				if resume > start {
					rows = append(rows, s[start:end]+sequences(s[end:resume]))
					start, width = resume, width-rest
				} else {
					rows = append(rows, s[start:i])
					start, width = i, 0
				}
				resume = 0
			}
			width += cells
			inText, inSpace, before = true, false, c
		}
		i += n
	}
	if width > w { // the spaces at the end hang over
		if !inText {
			end = start
		}
		return append(rows, s[start:end]+sequences(s[end:]))
	}
	return append(rows, s[start:])
}

// narrowed replaces what one cell cannot hold.
func narrowed(s string) string {
	var b strings.Builder
	for s != "" {
		c, cells, n := next(s)
		if cells > 1 {
			c = ellipsis
		}
		b.WriteString(c)
		s = s[n:]
	}
	return b.String()
}

// sequences returns the style sequences in s without the text between them.
func sequences(s string) string {
	if strings.IndexByte(s, esc) < 0 {
		return ""
	}
	var b strings.Builder
	for s != "" {
		c, _, n := next(s)
		if c[0] == esc {
			b.WriteString(c)
		}
		s = s[n:]
	}
	return b.String()
}

// Rows neither begin with closing punctuation nor end with opening brackets.
const (
	noBreakBefore = "、。，．・：；！？）］｝〕〉》」』】〙〗…‥ー々’”)]},.!?:;%"
	noBreakAfter  = "（［｛〔〈《「『【〘〖‘“([{"
)

// breaks tells whether a row may end between two clusters neither of which is a space.
func breaks(before, after string) bool {
	a, _ := utf8.DecodeLastRuneInString(before)
	b, _ := utf8.DecodeRuneInString(after)
	if a == '-' && before == "-" {
		return unicode.IsLetter(b)
	}
	if !ideograph(a) && !ideograph(b) {
		return false
	}
	return !strings.ContainsRune(noBreakBefore, b) && !strings.ContainsRune(noBreakAfter, a)
}

// ideograph tells of the scripts that are written without spaces.
func ideograph(r rune) bool {
	return r >= 0x2e80 && r <= 0xa4cf || r >= 0xf900 && r <= 0xfaff || r >= 0xff00 && r <= 0xff60 || r >= 0x20000 && r <= 0x3ffff
}
