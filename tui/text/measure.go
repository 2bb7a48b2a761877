package text

import (
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

const ellipsis = "…"

// Width returns the cells that a line takes. Style sequences take none.
func Width(s string) int {
	if plain(s) {
		return len(s)
	}
	width := 0
	for s != "" {
		_, cells, n := next(s)
		width += cells
		s = s[n:]
	}
	return width
}

// Grapheme returns what a reader takes for the first character of a text, and the cells that it takes; nothing for an empty
// text.
func Grapheme(s string) (cluster string, cells int) {
	if s == "" {
		return "", 0
	}
	cluster, cells, _ = next(s)
	return cluster, cells
}

// next returns the first grapheme cluster or escape sequence of s, the cells it takes, and its length in bytes.
func next(s string) (c string, cells, n int) {
	if s[0] == esc {
		n = escSequence(s)
		return s[:n], 0, n
	}
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		if s[0] < 0x20 || s[0] == 0x7f {
			return s[:1], 0, 1
		}
		return s[:1], 1, 1
	}
	if alone(s) {
		return s[:3], 2, 3
	}
	c, cells = ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return c, cells, len(c)
}

// alone tells, for most of Chinese and Japanese text, what the library would find out more slowly: that a character is wide
// and nothing that follows belongs to it.
func alone(s string) bool {
	if !wideAndSimple(s) {
		return false
	}
	return len(s) == 3 || s[3] < utf8.RuneSelf || wideAndSimple(s[3:])
}

func wideAndSimple(s string) bool {
	if len(s) < 3 || s[0] < 0xe3 || s[0] > 0xe9 {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s)
	return r >= 0x4e00 && r <= 0x9fff || r >= 0x3041 && r <= 0x3096 || r >= 0x30a1 && r <= 0x30fa || r == 0x3001 || r == 0x3002
}

// plain tells whether s is printable ASCII only, one cell a byte.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// Cut shortens a line to at most w cells; what is cut ends in an ellipsis, and no style is left open.
func Cut(s string, w int) string {
	switch {
	case w <= 0:
		return ""
	case plain(s):
		if len(s) <= w {
			return s
		}
		return s[:w-1] + ellipsis
	}
	var end, used int // where the ellipsis goes, when one is needed
	for i := 0; i < len(s); {
		_, cells, n := next(s[i:])
		if used+cells > w {
			return closed(s[:end] + ellipsis)
		}
		i, used = i+n, used+cells
		if used < w {
			end = i
		}
	}
	return closed(s)
}

// CutLeft shortens a line to its last w cells; what is cut begins with an ellipsis, and no style is left open.
func CutLeft(s string, w int) string {
	if w <= 0 {
		return ""
	}
	over := Width(s) - w
	if over <= 0 {
		return closed(s)
	}
	if plain(s) {
		return ellipsis + s[over+1:]
	}
	over++ // the ellipsis
	var styles strings.Builder
	i := 0
	for i < len(s) && over > 0 {
		c, cells, n := next(s[i:])
		if c[0] == esc {
			styles.WriteString(c)
		}
		i, over = i+n, over-cells
	}
	return closed(styles.String() + ellipsis + s[i:])
}

// closed closes the styles and links that s leaves open.
func closed(s string) string {
	if strings.IndexByte(s, esc) < 0 || strings.HasSuffix(s, ansi.ResetStyle) && !strings.Contains(s, "\x1b]") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 4)
	w := lipgloss.NewWrapWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

// Pad brings a line to exactly w cells: with spaces at its end, or by cutting it.
func Pad(s string, w int) string {
	width := Width(s)
	if width > w {
		s = Cut(s, w)
		width = Width(s)
	}
	return closed(s) + spaces(w-width)
}

// PadLeft brings a line to exactly w cells: with spaces before it, or by cutting it.
func PadLeft(s string, w int) string {
	width := Width(s)
	if width > w {
		s = Cut(s, w)
		width = Width(s)
	}
	return spaces(w-width) + closed(s)
}

const blank = "                                                                                                                                "

func spaces(n int) string {
	switch {
	case n <= 0:
		return ""
	case n <= len(blank):
		return blank[:n]
	}
	return strings.Repeat(" ", n)
}
