package overlay_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/rivo/uniseg"

	"bureau/tui/keymap"
	"bureau/tui/overlay"
)

func TestLine(t *testing.T) {
	t.Parallel()
	const family, flag = "👨‍👩‍👧", "🇩🇪"
	for _, c := range []struct {
		name, value, keys string
		want              string
		column            int
	}{
		{"empty", "", "backspace delete left right ctrl+w", "", 0},
		{"typed", "", "a 漢 b", "a漢b", 4},
		{"middle", "你好世界abcdef", "ctrl+a right right right right ，", "你好世界，abcdef", 10},
		{"family is one", "a" + family + "b", "left backspace", "ab", 1},
		{"flag is one", flag + flag, "left backspace", flag, 0},
		{"accent goes with its letter", "e\u0301x", "left backspace", "x", 0},
		{"accent that is typed joins", "e", "\u0301 left", "e\u0301", 0},
		{"delete", "a" + family + "b", "ctrl+a right delete", "ab", 1},
		{"kill before", "one two", "left left left ctrl+u", "two", 0},
		{"kill after", "one two", "ctrl+a right ctrl+k", "o", 1},
		{"kill word", "one two  ", "ctrl+w", "one ", 4},
		{"kill word at a slash", "openai/gpt", "ctrl+w", "openai/", 7},
		{"words", "one two 漢字", "ctrl+a ctrl+right ctrl+right alt+b X", "one Xtwo 漢字", 5},
		{"ctrl+h", "ab", "ctrl+h", "a", 1},
		{"ends", "ab", "ctrl+a X ctrl+e Y", "XabY", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var l overlay.Line
			l.Set(c.value)
			for _, k := range strings.Fields(c.keys) {
				if !l.HandleKey(keymap.Default().Editing, press(k)) {
					t.Errorf("%s is no key of the editor", k)
				}
			}
			shown, column := l.View(40)
			if l.Value() != c.want || shown != c.want || column != c.column {
				t.Errorf("%q, shown as %q, caret at %d; want %q, caret at %d", l.Value(), shown, column, c.want, c.column)
			}
		})
	}
}

func TestLineLeavesOtherKeys(t *testing.T) {
	t.Parallel()
	var l overlay.Line
	for _, k := range []string{"enter", "esc", "up", "ctrl+x", "f1", "tab", "alt+x"} {
		if l.HandleKey(keymap.Default().Editing, press(k)) || l.Value() != "" {
			t.Errorf("%s was taken for an edit: %q", k, l.Value())
		}
	}
}

func TestLinePaste(t *testing.T) {
	t.Parallel()
	var l overlay.Line
	l.Insert("one\r\ntwo\tthree\x1b[31m\x07\n")
	if l.Value() != "one two three" {
		t.Errorf("pasted as %q", l.Value())
	}
	l.Set(strings.Repeat("漢", 1_000_000))
	if n := len(l.Value()); n == 0 || n > 4096 || !utf8.ValidString(l.Value()) {
		t.Errorf("%d bytes were taken", n)
	}
	l.Insert("x")
	l.Insert("y")
	if n := len(l.Value()); n > 4096 {
		t.Errorf("%d bytes were taken", n)
	}
}

func TestLineScrolls(t *testing.T) {
	t.Parallel()
	var l overlay.Line
	l.Set("0123456789漢字漢字漢字")
	for _, c := range []struct {
		keys, shown string
		column      int
	}{
		{"", "字漢字漢字", 9 + 1},
		{"ctrl+a", "0123456789", 0},
	} {
		for _, k := range strings.Fields(c.keys) {
			l.HandleKey(keymap.Default().Editing, press(k))
		}
		if shown, column := l.View(11); !strings.HasPrefix(shown, c.shown) || column != c.column {
			t.Errorf("after %q %q is shown, caret at %d; want %q, caret at %d", c.keys, shown, column, c.shown, c.column)
		}
	}
}

// FuzzLine edits at random and holds that the caret is between two clusters, that the text is one safe line, and that what
// is shown fits and has the caret in it.
func FuzzLine(f *testing.F) {
	f.Add("a漢👨‍👩‍👧e\u0301🇩🇪🇫🇷", []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, uint8(10))
	f.Add("\u200d\u0301x\u202e\x1b[2J\r\n", []byte{12, 4, 12, 9, 12, 10, 3}, uint8(1))
	f.Add("हिन्दी กำ 1️⃣ ❤️", []byte{2, 9, 2, 10, 2, 6, 12}, uint8(5))
	keys := []string{
		"left", "right", "backspace", "delete", "ctrl+a", "ctrl+e", "ctrl+left", "ctrl+right", "ctrl+u", "ctrl+k", "ctrl+w", "x", "paste",
	}
	f.Fuzz(func(t *testing.T, s string, ops []byte, width uint8) {
		if len(s) > 200 || len(ops) > 60 {
			t.Skip()
		}
		w := int(width)%60 + 1
		var l overlay.Line
		l.Set(s)
		for _, op := range ops {
			k := keys[int(op)%len(keys)]
			if k == "paste" {
				l.Insert(s)
			} else {
				l.HandleKey(keymap.Default().Editing, press(k))
			}
			v := l.Value()
			if !utf8.ValidString(v) || strings.ContainsAny(v, "\x1b\n\r\t\u202e") {
				t.Fatalf("after %s the line is %q", k, v)
			}
			if !between(v, l.Caret()) {
				t.Fatalf("after %s the caret is at byte %d of %q, inside a cluster", k, l.Caret(), v)
			}
			shown, column := l.View(w)
			if ansi.StringWidth(shown) > w || column < 0 || column >= w {
				t.Fatalf("%q with the caret at %d is shown in %d cells", shown, column, w)
			}
		}
	})
}

// between tells whether an offset is between two grapheme clusters.
func between(s string, offset int) bool {
	g := uniseg.NewGraphemes(s)
	for g.Next() {
		from, to := g.Positions()
		if offset > from && offset < to {
			return false
		}
	}
	return offset >= 0 && offset <= len(s)
}
