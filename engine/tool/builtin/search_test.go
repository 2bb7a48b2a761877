package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"bureau/engine/tool/builtin"
)

func TestSearchFiles(t *testing.T) {
	t.Parallel()
	ts := newTools(t, builtin.Options{}, map[string]string{
		"main.go":                "package main\n\nfunc main() { Run() }\n",
		"cmd/run.go":             "package cmd\r\n\r\nfunc Run() {}\r\n",
		"cmd/run_test.go":        "package cmd\n",
		"docs/a.md":              "Run it\n",
		"docs/de/b.md":           "run it, Ünit\n",
		"latin.txt":              "caf\xe9 Run\n",
		"wide.txt":               "\xff\xfeR\x00u\x00n\x00\n\x00",
		"bin":                    "Run\x00\x01",
		".git/config":            "Run",
		"sub/.git/config":        "Run",
		"node_modules/x/main.go": "Run",
		"long.txt":               strings.Repeat("語", 2000) + "needle" + strings.Repeat("語", 2000),
	})
	tests := []struct{ arguments, want string }{
		{`{"pattern":"Run"}`, "cmd/run.go:3: func Run() {}\ndocs/a.md:1: Run it\nlatin.txt:1: café Run\nmain.go:3: func main() { Run() }\nwide.txt:1: Run\n"},
		{`{"pattern":"^run","ignore_case":true,"in":"contents"}`, "docs/de/b.md:1: run it, Ünit\ndocs/a.md:1: Run it\nwide.txt:1: Run\n"},
		{`{"pattern":"ünit","ignore_case":"true"}`, "docs/de/b.md:1: run it, Ünit\n"},
		{`{"pattern":"é"}`, "latin.txt:1: café Run\n"},
		{`{"pattern":"\\{\\}$"}`, "cmd/run.go:3: func Run() {}\n"},
		{`{"pattern":"f(un)c +(R|r)un"}`, "cmd/run.go:3: func Run() {}\n"},
		{`{"pattern":"[Rr]un (it|at), .nit|zebra"}`, "docs/de/b.md:1: run it, Ünit\n"},
		{`{"pattern":"^(?:caf|x).( Run)+$"}`, "latin.txt:1: café Run\n"},
		{`{"pattern":"Run","path":"cmd"}`, "cmd/run.go:3: func Run() {}\n"},
		{`{"pattern":"Run","path":"./cmd/run.go"}`, "cmd/run.go:3: func Run() {}\n"},
		{`{"pattern":"Run","path":"node_modules/x"}`, "node_modules/x/main.go:1: Run\n"},
		{`{"pattern":"(?i)run","glob":"*.md"}`, "docs/de/b.md:1: run it, Ünit\ndocs/a.md:1: Run it\n"},
		{`{"pattern":"(?i)run","glob":"docs/*.md"}`, "docs/a.md:1: Run it\n"},
		{`{"pattern":"(?i)run","glob":"**/*.md","path":"docs"}`, "docs/de/b.md:1: run it, Ünit\ndocs/a.md:1: Run it\n"},
		{`{"pattern":"(?i)run","glob":"de/*","path":"docs"}`, "docs/de/b.md:1: run it, Ünit\n"},
		{`{"pattern":"(?i)run","glob":"{main,run}.[a-h]o"}`, "cmd/run.go:3: func Run() {}\nmain.go:3: func main() { Run() }\n"},
		{`{"pattern":"package","glob":"run?test.go"}`, "cmd/run_test.go:1: package cmd\n"},
		{`{"pattern":"\\.go$","in":"names"}`, "cmd/run.go\ncmd/run_test.go\nmain.go\n"},
		{`{"pattern":"^run","in":"names"}`, "cmd/run.go\ncmd/run_test.go\n"},
		{`{"pattern":"^docs","in":"names"}`, "docs/\ndocs/de/\ndocs/de/b.md\ndocs/a.md\n"},
		{`{"pattern":".","in":"names","glob":"*.md"}`, "docs/de/b.md\ndocs/a.md\n"},
		{`{"pattern":"zebra"}`, `No line of 8 text files in "." matches "zebra" (1 binary file was left out).`},
		{`{"pattern":"zebra","in":"names","path":"docs"}`, `None of 3 names in "docs" matches "zebra".`},
		{`{"pattern":"Run","path":"bin"}`, `No line of 0 text files in "bin" matches "Run" (1 binary file was left out).`},
	}
	for _, tt := range tests {
		if got, err := ts.call(t.Context(), "search_files", tt.arguments); err != nil || got != tt.want {
			t.Errorf("search_files %s = %q, %v\nwant %q", tt.arguments, got, err, tt.want)
		}
	}
	out := ts.must(t, "search_files", `{"pattern":"needle"}`)
	if !strings.HasPrefix(out, "long.txt:1: …語") || !strings.Contains(out, "語needle語") || !strings.HasSuffix(out, "語…\n") || len(out) > 400 || !utf8.ValidString(out) {
		t.Errorf("a long line: %q", out)
	}
	refused := []struct{ arguments, want string }{
		{`{}`, `"pattern" is required`},
		{`{"pattern":""}`, `"pattern" must not be empty`},
		{`{"pattern":"日(?=b)"}`, `the pattern "日(?=b)" is not valid: invalid or unsupported Perl syntax at character 2 ("(?=")`},
		{`{"pattern":"a[b","ignore_case":true}`, `missing closing ] at character 2 ("[b")`},
		{`{"pattern":"f("}`, `the pattern "f(" is not valid: missing closing )`},
		{`{"pattern":"a**"}`, `invalid nested repetition operator at character 2`},
		{`{"pattern":"` + strings.Repeat("a", 1001) + `"}`, "1001 bytes long"},
		{`{"pattern":"a","in":"both"}`, `"in" must be one of "contents", "names"`},
		{`{"pattern":"a","glob":"[a"}`, `the glob "[a" has a [ without a ] at character 1`},
		{`{"pattern":"a","glob":"{a"}`, "{ without a }"},
		{`{"pattern":"a","glob":"[z-a]"}`, "is not valid"},
		{`{"pattern":"a","path":"nope"}`, `there is no "nope"`},
		{`{"pattern":"a","path":"../x"}`, "outside the working folder"},
	}
	for _, tt := range refused {
		got, err := ts.call(t.Context(), "search_files", tt.arguments)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("search_files %s = %q, %v, want an error with %q", tt.arguments, got, err, tt.want)
		}
	}
}

func TestSearchFilesCutsWithACount(t *testing.T) {
	t.Parallel()
	ts := newTools(t, builtin.Options{}, map[string]string{"a.txt": strings.Repeat("hit\n", 150), "b.txt": strings.Repeat("hit\n", 150)})
	out := ts.must(t, "search_files", `{"pattern":"hit"}`)
	if strings.Count(out, ": hit\n") != 200 || !strings.Contains(out, "[200 of 300 matching lines in 2 files are shown, search_files left out the others") {
		t.Errorf("%.300q", out[len(out)-300:])
	}
	ts = newTools(t, builtin.Options{MaxOutput: 2 << 10}, map[string]string{"a.txt": strings.Repeat("hit "+strings.Repeat("語", 50)+"\n", 150)})
	out = ts.must(t, "search_files", `{"pattern":"hit"}`)
	if len(out) > 2<<10 || !strings.Contains(out, "of 150 matching lines in 1 file are shown") || !utf8.ValidString(out) {
		t.Errorf("%d bytes: %q", len(out), out)
	}
}

func TestSearchFilesLeavesOutLargeFiles(t *testing.T) {
	t.Parallel()
	ts := newTools(t, builtin.Options{}, map[string]string{"small.txt": "needle\n"})
	check(t, os.WriteFile(filepath.Join(ts.dir, "large.txt"), []byte("needle"), 0o644))
	check(t, os.Truncate(filepath.Join(ts.dir, "large.txt"), 4<<20+1))
	if got := ts.must(t, "search_files", `{"pattern":"needle"}`); got != "small.txt:1: needle\n[1 file over 4 MiB was left out]\n" {
		t.Errorf("%q", got)
	}
}

// A search ends in its time with what it has found.
func TestSearchFilesOutOfTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	files := map[string]string{"z.txt": "needle\n"}
	for i := range 100 {
		files[fmt.Sprintf("a%02d.txt", i)] = "needle\n"
	}
	clock := func() time.Time { now = now.Add(time.Second); return now }
	out := newTools(t, builtin.Options{Now: clock}, files).must(t, "search_files", `{"pattern":"needle"}`)
	if n := strings.Count(out, ": needle\n"); n < 10 || n > 25 || !strings.Contains(out, "[stopped after 20s, before everything was searched]") {
		t.Errorf("%d found: %q", n, out)
	}
	// So does one within a single line.
	long := map[string]string{"line.txt": strings.Repeat("x", 1<<20) + "needle"}
	out = newTools(t, builtin.Options{Now: clock}, long).must(t, "search_files", `{"pattern":"needle$"}`)
	if !strings.Contains(out, "stopped after 20s") {
		t.Errorf("%q", out)
	}
}

func TestSearchFilesEndsWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	clock := func() time.Time {
		if calls++; calls == 5 {
			cancel()
		}
		return time.Time{}
	}
	ts := newTools(t, builtin.Options{Now: clock}, map[string]string{"line.txt": "y" + strings.Repeat("x", 4<<20-10)})
	if out, err := ts.call(ctx, "search_files", `{"pattern":"(x{1,30}){1,30}y"}`); !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v", out, err)
	}
	if calls > 10 {
		t.Errorf("it went on for %d looks at the clock", calls)
	}
}

func BenchmarkSearchFiles(b *testing.B) {
	files := map[string]string{}
	line := "func process(ctx context.Context, items []string) error { return nil }\n"
	for i := range 2000 {
		text := strings.Repeat(line, 100)
		if i%100 == 0 {
			text += "the Needle in the haystack\n"
		}
		files[fmt.Sprintf("pkg%02d/file%04d.go", i%40, i)] = text
	}
	ts := newTools(b, builtin.Options{}, files)
	for name, arguments := range map[string]string{
		"literal":    `{"pattern":"Needle"}`,
		"expression": `{"pattern":"[Nn]eedle in (the|a)"}`,
		"any case":   `{"pattern":"needle","ignore_case":true}`,
		"names":      `{"pattern":"file19.*go$","in":"names"}`,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				out, err := ts.call(b.Context(), "search_files", arguments)
				if err != nil || strings.Count(out, "\n") < 20 {
					b.Fatal(out, err)
				}
			}
		})
	}
}
