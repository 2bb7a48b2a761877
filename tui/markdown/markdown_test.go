package markdown_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"bureau/tui/markdown"
	"bureau/tui/style"
	"bureau/tui/text"
)

func render(src string, width int) []string {
	return markdown.New(style.New(true)).Render(src, width)
}

// bare takes the styles off.
func bare(rows []string) string { return ansi.Strip(strings.Join(rows, "\n")) }

func corpus(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.md")
	if err != nil || len(files) < 3 {
		t.Fatalf("no corpus: %v", err)
	}
	c := map[string]string{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		c[strings.TrimSuffix(filepath.Base(f), ".md")] = string(b)
	}
	return c
}

func TestGolden(t *testing.T) {
	for name, src := range corpus(t) {
		for _, c := range []struct {
			name  string
			width int
			dark  bool
		}{{"80 dark", 80, true}, {"80 light", 80, false}, {"34 dark", 34, true}} {
			t.Run(name+" "+c.name, func(t *testing.T) {
				golden.RequireEqual(t, strings.Join(markdown.New(style.New(c.dark)).Render(src, c.width), "\n")+"\n")
			})
		}
	}
}

func TestRowsKeepTheirWidthAndCloseTheirStyles(t *testing.T) {
	t.Parallel()
	r := markdown.New(style.New(true))
	for name, src := range corpus(t) {
		for _, width := range []int{1, 2, 3, 5, 8, 11, 12, 13, 14, 17, 20, 30, 41, 60, 79, 100} {
			for _, row := range r.Render(src, width) {
				checkRow(t, name, row, width)
			}
		}
	}
	if r.Render("x", 0) != nil || r.Render("x", -5) != nil {
		t.Error("rows without a width")
	}
	if got := r.Render("", 10); len(got) != 0 {
		t.Errorf("rows of nothing: %q", got)
	}
}

func checkRow(t *testing.T, name, row string, width int) {
	t.Helper()
	if w := text.Width(row); w > width {
		t.Fatalf("%s at %d: %q is %d wide", name, width, row, w)
	}
	if strings.HasSuffix(row, " ") {
		t.Fatalf("%s at %d: padded %q", name, width, row)
	}
	if i := strings.LastIndex(row, "\x1b["); i >= 0 && !strings.HasPrefix(row[i:], "\x1b[m") {
		t.Fatalf("%s at %d: open style in %q", name, width, row)
	}
	if strings.Contains(row, "\n") || text.StylesOnly(row) != row {
		t.Fatalf("%s at %d: unsafe %q", name, width, row)
	}
}

func TestInline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"plain", "hello", "hello"},
		{"emphasis", "a **b** *c* ***d*** ~~e~~ `f`", "a b c d e f"},
		{"soft break", "a\nb", "a\nb"},
		{"hard break", "a  \nb<br>c\\\nd", "a\nb\nc\nd"},
		{"link", "[a](https://x.org/?b=1&c=2)", "a (https://x.org/?b=1&c=2)"},
		{"link that says itself", "[https://x.org](https://x.org) <https://y.org> https://z.org", "https://x.org https://y.org https://z.org"},
		{"mail", "<a@x.org> [b@x.org](mailto:b@x.org) [write](mailto:c@x.org)", "a@x.org b@x.org write (mailto:c@x.org)"},
		{"a lying link", "[https://good.org](https://evil.org)", "https://good.org (https://evil.org)"},
		{"other schemes", "[a](javascript:alert(1)) [b](file:///etc/passwd) [c](d.go) <data:text/html,x> [e](#f)", "a b c data:text/html,x e"},
		{"image", "![a cat](https://x.org/c.png) ![](d.png)", "[image: a cat] (https://x.org/c.png) [image: untitled]"},
		{"reference", "[a][r] [r]\n\n[r]: https://x.org", "a (https://x.org) r (https://x.org)"},
		{"HTML", "a <b>c</b> <T> x", "a <b>c</b> <T> x"},
		{"HTML block", "<div>\n*a*\n</div>", "<div>\n*a*\n</div>"},
		{"entities", "&amp; &lt; &copy; &#65; &nosuch; AT&T", "& < © A &nosuch; AT&T"},
		{"entities twice", "&amp;lt; &amp;#27;[2J", "&lt; &#27;[2J"},
		{"entities in code", "`&lt;&#27;`", "&lt;&#27;"},
		{"backslashes", `\*a\* \\ \" C:\dir \\*`, `*a* \ " C:\dir \*`},
		{"backslashes in code", "`a\\*b\\n`", `a\*b\n`},
		{"control characters from entities", "a&#27;[2Jb&#x9b;c&#7;d&#x202e;e&#13;&#x200b;f&Tab;g", "a[2Jbde\nf   g"},
		{"escape sequences", "a\x1b[2Jb \x1b]52;c;x\a `c\x1b[1md`", "ab  cd"},
		{"emoji are not made", ":smile: (c)", ":smile: (c)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rows := render(c.in, 200)
			if got := bare(rows); got != c.want {
				t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
			}
			for _, row := range rows {
				checkRow(t, c.name, row, 200)
			}
		})
	}
}

func TestCodeKeepsItsColumns(t *testing.T) {
	t.Parallel()
	got := render("```go\nfunc f() {\n\tif x {\n\t\treturn \"a long string that goes over\"\n\n\t}\n```", 30)
	want := "  func f() {\n      if x {\n          return \"a long strin\n  g that goes over\"\n\n      }"
	if bare(got) != want {
		t.Errorf("got\n%s\nwant\n%s", bare(got), want)
	}
	if !strings.Contains(strings.Join(got, ""), "\x1b[") {
		t.Error("no colours")
	}
	if got := bare(render("```nosuchlanguage\na\n```", 30)); got != "  a" {
		t.Errorf("unknown language: %q", got)
	}
}

func TestNarrowTableBecomesAList(t *testing.T) {
	t.Parallel()
	src := "| Name | Count | Note |\n|---|--:|---|\n| a | 1 | x |\n| b | 2 | y |\n"
	if got, want := bare(render(src, 40)), "Name │ Count │ Note\n─────┼───────┼─────\na    │     1 │ x\nb    │     2 │ y"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := bare(render(src, 12)), "Name: a\nCount: 1\nNote: x\n────────────\nName: b\nCount: 2\nNote: y"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestGrowingEqualsFresh holds every prefix of the corpus, grown in small steps, against a fresh rendering.
func TestGrowingEqualsFresh(t *testing.T) {
	t.Parallel()
	for name, src := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := markdown.New(style.New(true))
			for _, step := range []int{1, 61} {
				doc := r.NewDoc()
				for i := 0; i < len(src); i += step {
					to := min(len(src), i+step)
					doc.Append(src[i:to])
					if step == 1 && !strings.ContainsAny(src[max(0, to-3):to], "\n`[]:<-") {
						doc.Rows(50) // where nothing but a word grows, growing is enough
						continue
					}
					got, want := collapsed(doc.Rows(50)), collapsed(r.Render(src[:to], 50))
					if got != want {
						t.Fatalf("step %d, prefix %d %q:\n got\n%s\nwant\n%s", step, to, src[max(0, to-40):to], got, want)
					}
				}
				if doc.Text() != src {
					t.Fatal("the text is not what was appended")
				}
				if got, want := doc.Rows(31), r.Render(src, 31); collapsed(got) != collapsed(want) {
					t.Fatalf("another width:\n got\n%s\nwant\n%s", bare(got), bare(want))
				}
			}
		})
	}
}

// TestGrowingEqualsFreshAtRandom does the same for texts put together from the pieces that could make a cut wrong.
func TestGrowingEqualsFreshAtRandom(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"word", "two words", "\n", "\n", "\n\n", "\n\n", " ", "  ", "    ", "\t", "- ", "* ", "1. ", "2) ", "> ", "# ", "```", "```go\n", "~~~", "````",
		"---", "===", "| a | b |\n|---|---|\n", "| c | d |\n", "<div>", "<!-- ", "-->", "<pre>", "</pre>", "[a]", "[a]: http://x.org", "[b]: y",
		"**bold**", "`code`", "***", "+ ", "10. ", "[x] ", "\\", "&amp;", "    code\n", "漢字。",
	}
	runs := 15
	if n, err := strconv.Atoi(os.Getenv("MARKDOWN_RUNS")); err == nil {
		runs = n
	}
	r := markdown.New(style.New(true))
	for seed := range runs {
		rnd := rand.New(rand.NewPCG(uint64(seed), 7))
		doc, src := r.NewDoc(), ""
		for range 40 {
			piece := pieces[rnd.IntN(len(pieces))]
			src += piece
			doc.Append(piece)
			got, want := collapsed(doc.Rows(30)), collapsed(r.Render(src, 30))
			if got != want {
				t.Fatalf("seed %d, %q:\n got\n%s\nwant\n%s", seed, src, got, want)
			}
		}
	}
}

func collapsed(rows []string) string {
	lines := strings.Split(bare(rows), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Trim(strings.Join(slices.CompactFunc(lines, func(a, b string) bool { return a == "" && b == "" }), "\n"), "\n")
}

func TestSetAndUse(t *testing.T) {
	t.Parallel()
	dark, light := markdown.New(style.New(true)), markdown.New(style.New(false))
	doc := dark.NewDoc()
	doc.Set("# A\n\nb\n\nc\n\nd")
	doc.Rows(20)
	doc.Set("# Z\n\nb")
	if got := bare(doc.Rows(20)); got != "Z\nb" {
		t.Errorf("after another text: %q", got)
	}
	before := strings.Join(doc.Rows(20), "\n")
	doc.Use(light)
	if after := strings.Join(doc.Rows(20), "\n"); after == before || bare(doc.Rows(20)) != "Z\nb" {
		t.Errorf("after another look: %q", after)
	}
	doc.Append("\xe6")
	doc.Rows(20)
	doc.Append("\xbc\xa2")
	if got := bare(doc.Rows(20)); got != "Z\nb漢" {
		t.Errorf("a split character: %q", got)
	}
	if doc.Rows(0) != nil {
		t.Error("rows without a width")
	}
}

func TestHugeTextIsPlain(t *testing.T) {
	t.Parallel()
	para := strings.Repeat("**word** ", 50) + "\n\n"
	src := strings.Repeat(para, 300<<10/len(para))
	if got := strings.Join(render(src, 80)[:1], ""); !strings.Contains(got, "**word**") {
		t.Errorf("rendered: %q", got)
	}
	doc := markdown.New(style.New(true)).NewDoc()
	for i := 0; i < len(src); i += 40_000 {
		doc.Append(src[i:min(len(src), i+40_000)])
		doc.Rows(80)
	}
	rows := doc.Rows(80)
	if strings.Contains(rows[0], "**") || !strings.Contains(rows[len(rows)-1], "**") {
		t.Error("want the first part rendered and the last part plain")
	}
}

// TestHostileStructure is about time and depth: it must end, and soon.
func TestHostileStructure(t *testing.T) {
	t.Parallel()
	for name, piece := range map[string]string{
		"quotes": "> ", "lists": "- ", "brackets": "[", "images": "![", "stars": "*a ", "double stars": "**a ", "ticks": "`a", "pipes": "|a",
		"angle": "<a ", "tildes": "~~a ", "entities": "&#27;", "underscores": "_a_", "links": "[a](", "fences": "```\n", "rules": "---\n",
		"numbers": "1. ", "definitions": "[a]: b\n", "html": "<!-- ", "backslashes": "\\", "newlines": "\n", "items": "- a\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := strings.Repeat(piece, 8<<10/len(piece))
			for _, row := range render(src, 60) {
				checkRow(t, name, row, 60)
			}
		})
	}
}

func FuzzRender(f *testing.F) {
	for _, src := range corpus(f) {
		f.Add(src, 40)
	}
	f.Add("&#27;[2J\x1b]0;x", 10)
	f.Add("- ```\n  x\n\ny\n\n```\na\n\nb", 20)
	f.Fuzz(func(t *testing.T, src string, width int) {
		width = 1 + max(0, width%120)
		if len(src) > 4<<10 {
			src = src[:4<<10]
		}
		r := markdown.New(style.New(true))
		doc := r.NewDoc()
		for i := range 4 {
			to := len(src) * (i + 1) / 4
			doc.Set(src[:to])
			rows := doc.Rows(width)
			fresh := r.Render(src[:to], width)
			for _, row := range slices.Concat(rows, fresh) {
				checkRow(t, "fuzz", row, width)
			}
			if got, want := collapsed(rows), collapsed(fresh); got != want {
				t.Fatalf("prefix %q:\n got\n%s\nwant\n%s", src[:to], got, want)
			}
		}
	})
}

// answer is Markdown as models write it, of about n bytes.
func answer(b *testing.B, n int) string {
	piece := corpus(b)["answer"]
	piece = piece[:strings.Index(piece, "[m]:")]
	return strings.Repeat(piece, 1+n/len(piece))[:n]
}

func BenchmarkFresh(b *testing.B) {
	for _, kb := range []int{1, 10, 50} {
		b.Run(strconv.Itoa(kb)+"KB", func(b *testing.B) {
			src := answer(b, kb<<10)
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				render(src, 80)
			}
		})
	}
}

func BenchmarkStreaming20KBIn100Deltas(b *testing.B) {
	for name, src := range map[string]string{
		"answer": answer(b, 20<<10),
		"fence":  "```go\n" + strings.Repeat("func f(a int) string { return \"x\" } // words\n", 500)[:20<<10],
		"list":   strings.Repeat("- an item with **words** and `code` in it\n", 500)[:20<<10],
		"table":  "| a | b |\n|---|---|\n" + strings.Repeat("| a cell with **words** | `x` |\n", 700)[:20<<10],
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				doc := markdown.New(style.New(true)).NewDoc()
				for i := 0; i < len(src); i += len(src) / 100 {
					doc.Append(src[i:min(len(src), i+len(src)/100)])
					doc.Rows(80)
				}
			}
		})
	}
}

func BenchmarkFirstUse(b *testing.B) {
	for b.Loop() {
		markdown.New(style.New(true)).Render("hello", 80)
	}
}
