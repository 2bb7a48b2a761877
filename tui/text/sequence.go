package text

import (
	"strings"
	"unicode/utf8"
)

// sequence returns the length of the escape sequence that s begins with, 0 if it begins with none. Both spellings of the
// introducers count, ESC and a letter or a single C1 character, the latter as the raw byte or in UTF-8.
//
// A control string (OSC, DCS, APC, PM, SOS) that ESC opens runs to its end, or to the end of the text. One that a C1
// character opens counts only when it ends on the same line: such characters are mostly the rest of a broken encoding, and
// must not swallow what follows.
func sequence(s string) int {
	if s[0] == esc {
		return escSequence(s)
	}
	c, size := s[0], 1
	if c == 0xc2 && len(s) > 1 {
		c, size = s[1], 2
	}
	switch {
	case c < 0x80 || c > 0x9f:
		return 0
	case c == 0x9b:
		return size + csi(s[size:])
	case isString(c - 0x40):
		line, _, _ := strings.Cut(s[size:], "\n")
		if n, ended := controlString(line); ended {
			return size + n
		}
	}
	if size == 1 {
		return 0
	}
	return size
}

func escSequence(s string) int {
	if len(s) == 1 {
		return 1
	}
	switch c := s[1]; {
	case c == '[':
		return 2 + csi(s[2:])
	case isString(c):
		n, _ := controlString(s[2:])
		return 2 + n
	case c == 'N' || c == 'O': // the next character from another set
		if len(s) > 2 && s[2] >= 0x20 && s[2] < 0x7f {
			return 3
		}
		return 2
	case c >= 0x20 && c <= 0x2f:
		n := 2
		for n < len(s) && s[n] >= 0x20 && s[n] <= 0x2f {
			n++
		}
		if n < len(s) && s[n] >= 0x30 && s[n] <= 0x7e {
			n++
		}
		return n
	case c >= 0x30 && c <= 0x7e:
		return 2
	}
	return 1
}

// isString tells whether ESC and c open a control string.
func isString(c byte) bool {
	switch c {
	case ']', 'P', '_', '^', 'X':
		return true
	}
	return false
}

// csi returns how much of s belongs to a control sequence after its introducer.
func csi(s string) int {
	n := 0
	for n < len(s) && s[n] >= 0x20 && s[n] <= 0x3f {
		n++
	}
	if n < len(s) && s[n] >= 0x40 && s[n] <= 0x7e {
		n++
	}
	return n
}

// controlString returns how much of s belongs to a control string after its introducer, and whether it ends. An ESC that
// begins something else ends it too, and is left.
func controlString(s string) (n int, ended bool) {
	for n < len(s) {
		switch c := s[n]; {
		case c == 0x07, c == 0x18, c == 0x1a:
			return n + 1, true
		case c == esc && strings.HasPrefix(s[n+1:], `\`):
			return n + 2, true
		case c == esc && n+1 < len(s):
			return n, true
		case c < utf8.RuneSelf:
			n++
		default:
			r, size := utf8.DecodeRuneInString(s[n:])
			n += size
			if r == 0x9c || r == utf8.RuneError && size == 1 && c == 0x9c {
				return n, true
			}
		}
	}
	return n, false
}
