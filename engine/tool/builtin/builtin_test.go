package builtin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"bureau/engine/tool"
	"bureau/engine/tool/builtin"
)

// tools are the four tools on a folder that holds the files.
type tools struct {
	dir string
	set *tool.Set
}

func newTools(tb testing.TB, opts builtin.Options, files map[string]string) tools {
	tb.Helper()
	dir := tb.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			check(tb, os.MkdirAll(path, 0o755))
			continue
		}
		check(tb, os.MkdirAll(filepath.Dir(path), 0o755))
		check(tb, os.WriteFile(path, []byte(text), 0o644))
	}
	root, err := os.OpenRoot(dir)
	check(tb, err)
	tb.Cleanup(func() { _ = root.Close() })
	set, err := tool.NewSet(builtin.New(root, opts)...)
	check(tb, err)
	return tools{dir, set}
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// call runs a tool as the engine does: arguments are parsed and held against the schema first.
func (ts tools) call(ctx context.Context, name, arguments string) (string, error) {
	found, ok := ts.set.Get(name)
	if !ok {
		return "", errors.New("no such tool")
	}
	object, err := tool.Arguments(arguments)
	if err != nil {
		return "", err
	}
	cleaned, _, err := tool.Clean(found.Definition(), object)
	if err != nil {
		return "", err
	}
	return found.Run(ctx, tool.Call{ID: "call_1", Agent: "Reporter", Arguments: cleaned})
}

func (ts tools) must(t *testing.T, name, arguments string) string {
	t.Helper()
	out, err := ts.call(t.Context(), name, arguments)
	if err != nil {
		t.Fatalf("%s %s: %v", name, arguments, err)
	}
	return out
}

func object(pairs ...any) string {
	fields := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		fields[pairs[i].(string)] = pairs[i+1]
	}
	text, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestDefinitions(t *testing.T) {
	t.Parallel()
	ts := newTools(t, builtin.Options{}, nil)
	if got := strings.Join(ts.set.Names(), " "); got != "read_file list_directory search_files current_time" {
		t.Errorf("tools: %s", got)
	}
	for _, def := range ts.set.Definitions() {
		var schema struct {
			Type                 string
			Properties           map[string]struct{ Type, Description string }
			Required             []string
			AdditionalProperties *bool
		}
		if err := json.Unmarshal(def.Parameters, &schema); err != nil {
			t.Fatal(err)
		}
		if schema.Type != "object" || schema.AdditionalProperties == nil || *schema.AdditionalProperties || schema.Required == nil || def.Description == "" {
			t.Errorf("%s: %+v", def.Name, schema)
		}
		for name, property := range schema.Properties {
			if property.Type == "" || property.Description == "" {
				t.Errorf("%s.%s has no type or description", def.Name, name)
			}
		}
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	wide := func(text string, order func([]byte, uint16) []byte, mark string) string {
		b := []byte(mark)
		for _, unit := range utf16.Encode([]rune(text)) {
			b = order(b, unit)
		}
		return string(b)
	}
	little := func(b []byte, u uint16) []byte { return append(b, byte(u), byte(u>>8)) }
	big := func(b []byte, u uint16) []byte { return append(b, byte(u>>8), byte(u)) }
	ts := newTools(t, builtin.Options{}, map[string]string{
		"plain.txt":    "one\ntwo\nthree",
		"ends.txt":     "one\ntwo\n",
		"crlf.txt":     "one\r\ntwo\r\n",
		"empty":        "",
		"bom.txt":      "\xef\xbb\xbfcafé\n",
		"onlybom.txt":  "\xef\xbb\xbf",
		"latin.txt":    "caf\xe9\nna\xefve\n",
		"le.txt":       wide("日本\nok 🙂\n", little, "\xff\xfe"),
		"be.txt":       wide("日本\nok 🙂\n", big, "\xfe\xff"),
		"esc.txt":      "\x1b[31mred\x1b[0m",
		"pic.png":      "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
		"prog":         "\x7fELF\x02\x01\x01\x00\x00",
		"late":         strings.Repeat("text\n", 3000) + "\x00\x01\n",
		"dir/in ü.txt": "inside",
	})
	tests := []struct{ arguments, want string }{
		{`{"path":"plain.txt"}`, "one\ntwo\nthree"},
		{`{"path":"./dir/../plain.txt"}`, "one\ntwo\nthree"},
		{`{"path":"dir\\in ü.txt"}`, "inside"},
		{object("path", filepath.Join(ts.dir, "dir", "in ü.txt")), "inside"},
		{`{"path":"ends.txt","offset":1,"limit":2}`, "one\ntwo\n"},
		{`{"path":"ends.txt","limit":"1"}`, "[ends.txt: lines 1-1 of 2, 8 bytes; read_file left out 1 more: go on with offset 2]\none\n"},
		{`{"path":"plain.txt","offset":2,"limit":1}`, "[plain.txt: lines 2-2 of 3, 13 bytes; read_file left out 1 more: go on with offset 3]\ntwo\n"},
		{`{"path":"plain.txt","offset":2}`, "[plain.txt: lines 2-3 of 3, 13 bytes]\ntwo\nthree"},
		{`{"path":"crlf.txt"}`, "one\r\ntwo\r\n"},
		{`{"path":"empty"}`, "[empty: the file is empty]\n"},
		{`{"path":"onlybom.txt"}`, "[onlybom.txt: the file holds no text]\n"},
		{`{"path":"bom.txt"}`, "café\n"},
		{`{"path":"latin.txt"}`, "[latin.txt: Latin-1 text, shown as UTF-8]\ncafé\nnaïve\n"},
		{`{"path":"le.txt"}`, "[le.txt: UTF-16 text, shown as UTF-8]\n日本\nok 🙂\n"},
		{`{"path":"be.txt","offset":2}`, "[be.txt: lines 2-2 of 2, 20 bytes; UTF-16 text, shown as UTF-8]\nok 🙂\n"},
		{`{"path":"esc.txt"}`, "\x1b[31mred\x1b[0m"},
		{`{"path":"late","limit":1}`, "[late: lines 1-1 of 3001, 14.7 KiB; read_file left out 3000 more: go on with offset 2]\ntext\n"},
	}
	for _, tt := range tests {
		if got, err := ts.call(t.Context(), "read_file", tt.arguments); err != nil || got != tt.want {
			t.Errorf("read_file %s = %q, %v\nwant %q", tt.arguments, got, err, tt.want)
		}
	}
	refused := []struct{ arguments, want string }{
		{`{}`, `"path" is required`},
		{`{"path":""}`, "path is empty"},
		{`{"path":"nope.txt"}`, `there is no "nope.txt"; list_directory`},
		{`{"path":"dir"}`, `"dir" is a folder; list_directory`},
		{`{"path":"."}`, "is a folder"},
		{`{"path":"plain.txt/x"}`, `"plain.txt/x" cannot be read: not a directory`},
		{`{"path":"pic.png"}`, `"pic.png" is a binary file (image/png, 16 bytes)`},
		{`{"path":"prog"}`, "ELF program"},
		{`{"path":"late"}`, "is a binary file (unknown kind"},
		{`{"path":"plain.txt","offset":4}`, `"plain.txt" has 3 lines; offset 4 is past its end`},
		{`{"path":"plain.txt","offset":0}`, `"offset" must be at least 1`},
		{`{"path":"plain.txt","limit":-1}`, `"limit" must be at least 1`},
	}
	for _, tt := range refused {
		got, err := ts.call(t.Context(), "read_file", tt.arguments)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("read_file %s = %q, %v, want an error with %q", tt.arguments, got, err, tt.want)
		}
	}
}

// A long file comes in parts that together are the file.
func TestReadFileInParts(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "%d: 日本語 🙂 %s\n", i, strings.Repeat("x", i%70))
	}
	const limit = 4 << 10
	ts := newTools(t, builtin.Options{MaxOutput: limit}, map[string]string{"long.txt": b.String()})
	var whole strings.Builder
	offset, parts := 1, 0
	for offset > 0 {
		out := ts.must(t, "read_file", object("path", "long.txt", "offset", offset))
		if len(out) > limit || !utf8.ValidString(out) {
			t.Fatalf("%d bytes at offset %d, more than %d or no UTF-8", len(out), offset, limit)
		}
		header, text, _ := strings.Cut(out, "\n")
		whole.WriteString(text)
		offset = 0
		if _, next, more := strings.Cut(header, "go on with offset "); more {
			if _, err := fmt.Sscanf(next, "%d", &offset); err != nil {
				t.Fatal(err)
			}
		}
		parts++
	}
	if whole.String() != b.String() || parts < 10 {
		t.Errorf("%d parts of %d bytes are not the file of %d bytes", parts, whole.Len(), b.Len())
	}
}

func TestReadFileWithOneLongLine(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"ascii":        strings.Repeat("x", 300_000) + "\nend\n",
		"three bytes":  strings.Repeat("語", 100_000) + "\nend\n",
		"three, later": "a" + strings.Repeat("語", 100_000) + "\nend\n",
		"Latin-1":      strings.Repeat("\x80", 300_000) + "\nend\n",
	} {
		const limit = 2 << 10
		ts := newTools(t, builtin.Options{MaxOutput: limit}, map[string]string{"long.txt": text})
		out := ts.must(t, "read_file", `{"path":"long.txt"}`)
		if len(out) > limit || len(out) < limit/2 || !utf8.ValidString(out) || strings.ContainsRune(out, utf8.RuneError) {
			t.Errorf("%s: %d bytes: %.300q", name, len(out), out)
		}
		if !strings.Contains(out, "read_file cut line 1, 29") && !strings.Contains(out, "read_file cut line 1, 293.0 KiB long") ||
			!strings.Contains(out, "go on with offset 2") {
			t.Errorf("%s: %.300q", name, out)
		}
		if rest := ts.must(t, "read_file", `{"path":"long.txt","offset":2}`); !strings.HasSuffix(rest, "]\nend\n") {
			t.Errorf("%s: after the long line: %.300q", name, rest)
		}
	}
}

func TestListDirectory(t *testing.T) {
	t.Parallel()
	ts := newTools(t, builtin.Options{}, map[string]string{
		"b.txt": "12", "a.txt": strings.Repeat("x", 2048), "z/deep/er/file": "1", "z/x.go": "1", "empty/": "", ".git/config": "1", ".hidden": "", "日本.md": "1",
	})
	tests := []struct{ arguments, want string }{
		{`{}`, ".git/\nempty/\nz/\n.hidden  0 bytes\na.txt  2.0 KiB\nb.txt  2 bytes\n日本.md  1 byte\n"},
		{`{"path":"","depth":2}`, ".git/\nempty/  (empty)\nz/\nz/deep/\nz/x.go  1 byte\n.hidden  0 bytes\na.txt  2.0 KiB\nb.txt  2 bytes\n日本.md  1 byte\n"},
		{`{"path":"z","depth":"3"}`, "deep/\ndeep/er/\ndeep/er/file  1 byte\nx.go  1 byte\n"},
		{`{"path":"z/deep/"}`, "er/\n"},
		{`{"path":"empty"}`, `The folder "empty" is empty.`},
		{`{"path":".git"}`, "config  1 byte\n"},
		{object("path", ts.dir+"/z"), "deep/\nx.go  1 byte\n"},
	}
	for _, tt := range tests {
		if got, err := ts.call(t.Context(), "list_directory", tt.arguments); err != nil || got != tt.want {
			t.Errorf("list_directory %s = %q, %v\nwant %q", tt.arguments, got, err, tt.want)
		}
	}
	for arguments, want := range map[string]string{
		`{"path":"a.txt"}`: `"a.txt" is not a folder; read_file`,
		`{"path":"nope"}`:  `there is no "nope"`,
		`{"depth":4}`:      `"depth" must be at most 3`,
		`{"path":".."}`:    "outside the working folder",
	} {
		if got, err := ts.call(t.Context(), "list_directory", arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("list_directory %s = %q, %v, want an error with %q", arguments, got, err, want)
		}
	}
	if got := newTools(t, builtin.Options{}, nil).must(t, "list_directory", ""); got != `The folder "." is empty.` {
		t.Errorf("an empty folder: %q", got)
	}
}

func TestListDirectoryCutsWithACount(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("folder/file-%04d.txt", i)] = ""
	}
	ts := newTools(t, builtin.Options{MaxOutput: 2 << 10}, files)
	out := ts.must(t, "list_directory", `{"path":"folder"}`)
	shown := strings.Count(out, "file-")
	if len(out) > 2<<10 || shown < 20 || !strings.Contains(out, fmt.Sprintf("left out %d entries", 500-shown)) {
		t.Errorf("%d bytes, %d shown: %q", len(out), shown, out)
	}
}

func TestOddNames(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("such names need a file system that takes any bytes")
	}
	ts := newTools(t, builtin.Options{}, map[string]string{"bad\xffname": "needle", "new\nline": "needle", "\x1b[31m": "needle", "nul": "needle", "C:": "needle"})
	want := "\"\\x1b[31m\"  6 bytes\nC:  6 bytes\n\"bad\\xffname\"  6 bytes\n\"new\\nline\"  6 bytes\nnul  6 bytes\n"
	if got := ts.must(t, "list_directory", ""); got != want {
		t.Errorf("list_directory = %q\nwant %q", got, want)
	}
	if got := ts.must(t, "search_files", `{"pattern":"needle"}`); strings.Count(got, "\n") != 5 || !utf8.ValidString(got) || !strings.Contains(got, `"new\nline":1: needle`) {
		t.Errorf("search_files = %q", got)
	}
	if got := ts.must(t, "read_file", `{"path":"new\nline"}`); got != "needle" {
		t.Errorf("read_file = %q", got)
	}
}

func TestCurrentTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, time.February, 29, 23, 30, 15, 0, time.UTC)
	ts := newTools(t, builtin.Options{Now: func() time.Time { return now }}, nil)
	for arguments, want := range map[string]string{
		``:                                "2024-02-29T23:30:15Z\nThursday, UTC (UTC, UTC+00:00)",
		`{"timezone":"Europe/Berlin"}`:    "2024-03-01T00:30:15+01:00\nFriday, Europe/Berlin (CET, UTC+01:00)",
		`{"timezone":" Asia/Kathmandu "}`: "2024-03-01T05:15:15+05:45\nFriday, Asia/Kathmandu (+0545, UTC+05:45)",
	} {
		if got := ts.must(t, "current_time", arguments); got != want {
			t.Errorf("current_time %s = %q, want %q", arguments, got, want)
		}
	}
	for _, zone := range []string{"Mars/Olympus", "../../etc/passwd", "/etc/passwd", "Europe", "a\x00b", strings.Repeat("x", 10000)} {
		_, err := ts.call(t.Context(), "current_time", object("timezone", zone))
		if err == nil || !strings.Contains(err.Error(), "unknown time zone") || len(err.Error()) > 1000 {
			t.Errorf("time zone %.40q: %v", zone, err)
		}
	}
}

func TestCancelledContext(t *testing.T) {
	t.Parallel()
	ts := newTools(t, builtin.Options{}, map[string]string{"a/b.txt": "needle"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, arguments := range map[string]string{
		"read_file": `{"path":"a/b.txt"}`, "list_directory": `{"depth":3}`, "search_files": `{"pattern":"needle"}`, "current_time": "",
	} {
		if _, err := ts.call(ctx, name, arguments); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFileThatChanges(t *testing.T) {
	t.Parallel()
	ts := newTools(t, builtin.Options{}, map[string]string{"grows.log": string(bytes.Repeat([]byte("line\n"), 1000))})
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		path := filepath.Join(ts.dir, "grows.log")
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.WriteFile(path, bytes.Repeat([]byte("line\n"), i%2000), 0o644)
		}
	}()
	for range 200 {
		out, err := ts.call(t.Context(), "read_file", `{"path":"grows.log"}`)
		if err != nil {
			t.Errorf("a file that changes: %v", err)
		}
		if strings.HasPrefix(out, "[") {
			_, out, _ = strings.Cut(out, "\n")
		}
		if strings.Trim(out, "line\n") != "" {
			t.Errorf("read %.100q", out)
		}
	}
	close(stop)
	<-done
}

func mustSet(tb testing.TB, list []tool.Tool) *tool.Set {
	tb.Helper()
	set, err := tool.NewSet(list...)
	check(tb, err)
	return set
}
