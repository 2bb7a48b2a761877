package text_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"bureau/tui/text"
)

func TestSanitise(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"plain", "hello\nworld", "hello\nworld"},
		{"empty", "", ""},
		{"colour", "a\x1b[31mred\x1b[0mb", "aredb"},
		{"clear screen", "a\x1b[2Jb", "ab"},
		{"private mode", "a\x1b[?1049lb", "ab"},
		{"intermediate", "a\x1b[!pb", "ab"},
		{"clipboard, BEL", "a\x1b]52;c;aGk=\ab", "ab"},
		{"clipboard, ST", "a\x1b]52;c;aGk=\x1b\\b", "ab"},
		{"link", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"DCS", "a\x1bPq#0;2;0;0;0\x1b\\b", "ab"},
		{"APC", "a\x1b_Gf=100;AAAA\x1b\\b", "ab"},
		{"PM", "a\x1b^x\x1b\\b", "ab"},
		{"SOS", "a\x1bXx\x1b\\b", "ab"},
		{"OSC over lines", "a\x1b]0;x\ny\ab", "ab"},
		{"OSC broken by another sequence", "a\x1b]0;x\x1b[2Jb", "ab"},
		{"OSC cancelled", "a\x1b]0;x\x18b", "ab"},
		{"OSC with non-ASCII", "a\x1b]0;漢字é\ab", "ab"},
		{"unterminated OSC", "a\x1b]52;c;aGk=", "a"},
		{"unterminated DCS", "a\x1bPqrs\nb", "a"},
		{"unterminated CSI", "a\x1b[12;", "a"},
		{"lone ESC", "a\x1b", "a"},
		{"ESC ESC", "a\x1b\x1b[2Jb", "ab"},
		{"ESC before text", "a\x1b漢", "a漢"},
		{"CSI broken by LF", "a\x1b[3\nb", "a\nb"},
		{"reset", "a\x1bcb", "ab"},
		{"charset", "a\x1b(0b", "ab"},
		{"SS3", "a\x1bOPb", "ab"},
		{"raw CSI", "a\x9b2Jb", "ab"},
		{"CSI in UTF-8", "a\u009b2Jb", "ab"},
		{"raw OSC", "a\x9d52;c;aGk=\x07b", "ab"},
		{"OSC in UTF-8", "a\u009d52;c;aGk=\u009cb", "ab"},
		{"a broken quotation mark swallows nothing", "a\x9d b\nc", "a\uFFFD b\nc"},
		{"a doubly encoded one neither", "â\u0080\u009d b", "â b"},
		{"other C1", "a\u0085b\u0084c", "abc"},
		{"C0", "a\x00\x07\x08\x0b\x0c\x7fb", "ab"},
		{"CRLF", "a\r\nb\rc\n", "a\nb\nc\n"},
		{"tabs", "\ta\tbcd\te\n漢\tx", "    a   bcd e\n漢  x"},
		{"tab after a sequence", "\x1b[1ma\x1b[0m\tb", "a   b"},
		{"bidi", "a\u202eb\u2066c\u2069\u200fd", "abcd"},
		{"invisible", "a\u200bb\u00adc\u2060d\ufeffe\u180ef", "abcdef"},
		{"tags", "a\U000e0041\U000e0042b", "ab"},
		{"selectors that carry data", "a\ufe00\U000e0101b", "ab"},
		{"separators", "a\u2028b\u2029c", "a\nb\nc"},
		{"invalid", "a\xffb\xc3", "a\uFFFDb\uFFFD"},
		{"a sequence between halves of a character", "\xc2\x1b[m\x9b2J", "\uFFFD"},
		{"emoji and joiners stay", "👨‍👩‍👧 ⚠️ 1️⃣ é हिन्दी می\u200cخواهم", "👨‍👩‍👧 ⚠️ 1️⃣ é हिन्दी می\u200cخواهم"},
		{"marks", "a" + strings.Repeat("\u0301", 100) + "b", "a" + strings.Repeat("\u0301", 8) + "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := text.Sanitise(c.in); got != c.want {
				t.Errorf("Sanitise(%q)\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
}

func TestSanitisingAGrowingTextNeverLetsASequenceThrough(t *testing.T) {
	t.Parallel()
	whole := "一 \x1b[31mred\x1b[0m \x1b]52;c;aGk=\x1b\\ \u009b2J \x1bP+q\x1b\\ \x9d0;t\a\r\n\tend\x1b"
	for i := range len(whole) + 1 {
		safe(t, text.Sanitise(whole[:i]))
	}
}

// safe fails the test when s holds anything that a terminal could take for more than text.
func safe(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Fatalf("not UTF-8: %q", s)
	}
	for _, r := range s {
		if r != '\n' && (r < 0x20 || r >= 0x7f && r <= 0x9f) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			t.Fatalf("%U in %q", r, s)
		}
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                        "",
		"plain":                   "plain",
		"  a \r\n\t b\x1b[2J  c ": "a b c",
		"a\nb":                    "a b",
		"x\x1b]0;y\a":             "x",
		" \n ":                    "",
	} {
		if got := text.Line(in); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestVisibleHidesNothing(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"rm -rf x\r\n":           "rm -rf x\n",
		"ls\x1b[2Kecho ok":       `ls\x1b[2Kecho ok`,
		"a\rb":                   `a\rb`,
		"a\tb":                   "a   b",
		"a\u202eb":               `a\u202eb`,
		"a\u009b2J\x9bx\xff\x7f": `a\u009b2J\x9bx\xff\x7f`,
		"a\U000e0041":            `a\U000e0041`,
		"a\u2028b":               `a\u2028b`,
		"漢":                      "漢",
	} {
		if got := text.Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	const red, off = "\x1b[31m", "\x1b[m"
	for _, c := range []struct {
		name, got, want string
	}{
		{"fits", text.Cut("hello", 5), "hello"},
		{"cut", text.Cut("hello", 4), "hel…"},
		{"cut to one", text.Cut("hello", 1), "…"},
		{"cut to none", text.Cut("hello", 0), ""},
		{"cut to less", text.Cut("hello", -3), ""},
		{"cut wide", text.Cut("漢字漢字", 5), "漢字…"},
		{"cut wide in the middle", text.Cut("漢字漢字", 4), "漢…"},
		{"cut wide to one", text.Cut("漢字", 1), "…"},
		{"cut a family", text.Cut("👨‍👩‍👧👨‍👩‍👧", 3), "👨‍👩‍👧…"},
		{"cut styled", text.Cut(red+"hello"+off, 3), red + "he…" + off},
		{"close", text.Cut(red+"hello", 9), red + "hello" + off},
		{"cut left", text.CutLeft("/usr/lib/file.go", 8), "…file.go"},
		{"cut left wide", text.CutLeft("漢字漢字", 4), "…字"},
		{"cut left styled", text.CutLeft(red+"hello"+off, 3), red + "…lo" + off},
		{"cut left fits", text.CutLeft("abc", 3), "abc"},
		{"cut left to none", text.CutLeft("abc", 0), ""},
		{"pad", text.Pad("ab", 4), "ab  "},
		{"pad cuts", text.Pad("abcdef", 4), "abc…"},
		{"pad wide", text.Pad("漢字漢", 4), "漢… "},
		{"pad styled", text.Pad(red+"ab", 4), red + "ab" + off + "  "},
		{"pad nothing", text.Pad("ab", 0), ""},
		{"pad left", text.PadLeft("ab", 4), "  ab"},
		{"pad far", text.Pad("", 300), strings.Repeat(" ", 300)},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
	for s, want := range map[string]int{"": 0, "abc": 3, "漢字": 4, "é": 1, "👨‍👩‍👧": 2, red + "ab" + off: 2} {
		if got := text.Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	const red, off = "\x1b[31m", "\x1b[m"
	for _, c := range []struct {
		name, in string
		w        int
		want     []string
	}{
		{"empty", "", 5, []string{""}},
		{"no width", "abc", 0, nil},
		{"fits", "ab cd", 5, []string{"ab cd"}},
		{"spaces", "ab cd ef", 5, []string{"ab cd", "ef"}},
		{"run of spaces", "ab    cd", 4, []string{"ab", "cd"}},
		{"spaces inside stay", "ab  cd", 9, []string{"ab  cd"}},
		{"spaces at the end", "abc     ", 4, []string{"abc"}},
		{"long word", "abcdefgh ij", 3, []string{"abc", "def", "gh", "ij"}},
		{"hyphen", "well-known", 7, []string{"well-", "known"}},
		{"flag", "use --force", 6, []string{"use", "--forc", "e"}},
		{"lines", "a\n\nb", 5, []string{"a", "", "b"}},
		{"indentation", "  ab cd", 5, []string{"  ab", "cd"}},
		{"deep indentation", "        ab", 4, []string{"  ab"}},
		{"indentation and a long word", "  abcdef", 4, []string{"  ab", "cdef"}},
		{"blank", "      ", 4, []string{"  "}},
		{"wide", "漢字漢字", 5, []string{"漢字", "漢字"}},
		{"wide after a word", "see漢字漢字", 6, []string{"see漢", "字漢字"}},
		{"closing punctuation", "漢字漢。字", 6, []string{"漢字", "漢。字"}},
		{"too wide", "a漢b", 1, []string{"a", "…", "b"}},
		{"accents", "éé éé", 2, []string{"éé", "éé"}},
		{"styles", red + "ab cd" + off + " ef", 2, []string{red + "ab" + off, red + "cd" + off, "ef"}},
		{"style over lines", red + "a\nb", 5, []string{red + "a" + off, red + "b" + off}},
		{"style in the space", "ab " + red + " cd", 3, []string{"ab" + red + off, red + "cd" + off}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := text.Wrap(c.in, c.w)
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") || len(got) != len(c.want) {
				t.Errorf("Wrap(%q, %d)\n got %q\nwant %q", c.in, c.w, got, c.want)
			}
		})
	}
}

func TestChop(t *testing.T) {
	t.Parallel()
	const red, off = "\x1b[31m", "\x1b[m"
	for _, c := range []struct {
		in   string
		w    int
		want []string
	}{
		{"", 3, []string{""}},
		{"ab cd", 3, []string{"ab ", "cd"}},
		{"    x", 3, []string{"   ", " x"}},
		{"漢字", 3, []string{"漢", "字"}},
		{"a漢", 1, []string{"a", "…"}},
		{"ab\n\ncd", 9, []string{"ab", "", "cd"}},
		{red + "abcd" + off, 2, []string{red + "ab" + off, red + "cd" + off}},
		{"abc", 0, nil},
	} {
		if got := text.Chop(c.in, c.w); !slices.Equal(got, c.want) {
			t.Errorf("Chop(%q, %d) = %q, want %q", c.in, c.w, got, c.want)
		}
	}
}

func TestStylesOnly(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"\x1b[1;38;2;1;2;3mx\x1b[m":              "\x1b[1;38;2;1;2;3mx\x1b[m",
		"\x1b]8;;http://x\x1b\\x\x1b]8;;\x1b\\":  "x",
		"a\x1b[2Jb\x1b[?1mc\x1b[>4;2md\u009b1me": "abcde",
		"a\x07\t\r\x00b\xff\u202e":               "ab",
		"a\nb":                                   "a\nb",
	} {
		if got := text.StylesOnly(in); got != want {
			t.Errorf("StylesOnly(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{text.Tokens(0), "0"}, {text.Tokens(950), "950"}, {text.Tokens(1234), "1.2k"}, {text.Tokens(34_400), "34k"},
		{text.Tokens(999_499), "999k"}, {text.Tokens(999_500), "1.0M"}, {text.Tokens(3_400_000), "3.4M"}, {text.Tokens(-5), "0"},
		{text.Elapsed(0), "0.0s"}, {text.Elapsed(400 * time.Millisecond), "0.4s"}, {text.Elapsed(12 * time.Second), "12s"},
		{text.Elapsed(185 * time.Second), "3m05s"}, {text.Elapsed(130 * time.Minute), "2h10m"},
		{text.Elapsed(76 * time.Hour), "3d04h"}, {text.Elapsed(-time.Second), "0.0s"}, {text.Elapsed(9990 * time.Millisecond), "9s"},
		{text.Bytes(950), "950 B"}, {text.Bytes(1234), "1.2 KB"}, {text.Bytes(34 << 20), "34 MB"}, {text.Bytes(1<<20 - 1), "1.0 MB"},
		{text.Bytes(-1), "0 B"},
		{text.Ago(0), "just now"}, {text.Ago(5 * time.Minute), "5m ago"}, {text.Ago(3 * time.Hour), "3h ago"},
		{text.Ago(50 * time.Hour), "2d ago"}, {text.Ago(800 * 24 * time.Hour), "2y ago"}, {text.Ago(-time.Hour), "just now"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

var hostile = []string{
	"plain text", "\x1b[31mred\x1b[0m", "a\x1b]52;c;x", "\u009b2J\x9d\x9c", "漢字 かな 한글 กำ हिन्दी", "か\u3099漢\ufe00、漢\u0301漢\u200d漢龥ヺ〇々ー", "👨‍👩‍👧🇩🇪1️⃣⚠️👍🏽é",
	"  indented\ttab\r\n\rx", "\x1b[1m\x1b[38;2;1;2;3mlong-word-with-hyphens and   spaces\x1b[m  ", "\x1b]8;;http://x\x1b\\l\x1b]8;;\x1b\\",
	"\xff\xfe\xc3\u202e\u200b", "\u0301\u0301", "\x1bP\x1b\\\x1b_\x1b^\x1bX",
}

func FuzzSanitise(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := text.Sanitise(s)
		safe(t, out)
		if again := text.Sanitise(out); again != out {
			t.Fatalf("not stable: %q, then %q", out, again)
		}
		if line := text.Line(s); strings.ContainsAny(line, "\n\t") {
			t.Fatalf("not a line: %q", line)
		}
		safe(t, text.Line(s))
		safe(t, text.Visible(s))
	})
}

func FuzzWrap(f *testing.F) {
	for i, s := range hostile {
		f.Add(s, i)
	}
	f.Fuzz(func(t *testing.T, s string, w int) {
		w = max(-2, w%200)
		safe := text.Sanitise(s)
		for _, in := range []string{safe, "\x1b[31m" + safe + "\x1b[1m " + safe} {
			if got, want := text.Width(in), ansi.StringWidth(in); got != want {
				t.Fatalf("Width(%q) = %d, but the terminal's library has %d", in, got, want)
			}
			rows := slices.Concat(text.Wrap(in, w), text.Chop(in, w))
			if w > 0 && len(rows) == 0 {
				t.Fatalf("no rows for %q", in)
			}
			for _, r := range rows {
				if got := text.Width(r); got > w {
					t.Fatalf("Wrap(%q, %d): %q is %d wide", in, w, r, got)
				}
				if strings.Contains(r, "\n") {
					t.Fatalf("newline in %q", r)
				}
			}
			if got := text.Width(text.Cut(in, w)); got > max(w, 0) {
				t.Fatalf("Cut(%q, %d) is %d wide", in, w, got)
			}
			if got := text.Width(text.CutLeft(in, w)); got > max(w, 0) {
				t.Fatalf("CutLeft(%q, %d) is %d wide", in, w, got)
			}
			if got := text.Width(text.Pad(in, w)); got != max(w, 0) {
				t.Fatalf("Pad(%q, %d) is %d wide", in, w, got)
			}
		}
	})
}

func BenchmarkSanitise(b *testing.B) {
	for name, s := range map[string]string{
		"ascii":   strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 1000),
		"cjk":     strings.Repeat("議事録を確認して、要点をまとめてください。\n", 1000),
		"hostile": strings.Repeat("\x1b[31mred\x1b[0m\tand\x1b]0;t\a more\r\n", 1000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				text.Sanitise(s)
			}
		})
	}
}

func BenchmarkWrap(b *testing.B) {
	for name, s := range map[string]string{
		"ascii":  strings.Repeat("The quick brown fox jumps over the lazy dog. ", 1000),
		"cjk":    strings.Repeat("議事録を確認して、要点をまとめてください。", 1000),
		"styled": strings.Repeat("The \x1b[1mquick\x1b[m brown fox jumps over the lazy dog. ", 1000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				text.Wrap(s, 80)
			}
		})
		b.Run(name+" by lipgloss", func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				lipgloss.Wrap(s, 80, "")
			}
		})
	}
}
