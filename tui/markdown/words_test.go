package markdown_test

import (
	"strings"
	"testing"

	"bureau/tui/markdown"
	"bureau/tui/style"
)

func TestWordsAreWithoutMarks(t *testing.T) {
	t.Parallel()
	r := markdown.New(style.New(true))
	for src, want := range map[string]string{
		"":                                      "",
		"**Monday**: _rain_, `umbrella`":        "Monday: rain, umbrella",
		"# The week\n\n- **Monday**\n- Sunday":  "The week Monday Sunday",
		"```go\nfmt.Println(\"x\")\n```\nDone.": `fmt.Println("x") Done.`,
		"```go\nunfinished":                     "unfinished",
		"~~~\n~~~":                              "",
		"See [the page](https://x.y) now":       "See the page now",
		"| a | b |\n|---|---|\n| 1 | 2 |":       "a b 1 2",
		"C# and #5, __init__.py, 2 * 3 * 4":     "C# and #5, init.py, 2 * 3 * 4",
		"snake_case_name and `__init__`":        "snake_case_name and __init__",
		"> quoted\n\n1. one\n2. two":            "quoted one two",
		"a\\*b &amp; c &#27;[31m":               "a*b & c",
		"red \x1b[31mtext\x1b]0;t\x07 end":      "red text end",
		"line one\nline two":                    "line one line two",
		"天気は**晴れ**です":                           "天気は晴れです",
	} {
		if got := r.Words(src); got != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		} else if strings.ContainsAny(got, "\n\x1b") {
			t.Errorf("%q is not one safe line", got)
		}
	}
	if got := r.Words(strings.Repeat("**a** ", 20_000)); got == "" {
		t.Error("nothing is said of a long text")
	}
}
