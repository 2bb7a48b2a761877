package agencies_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"bureau/agencies"
	"bureau/engine/history"
)

// rehearsed is the agency of the rehearsals in these tests.
func rehearsed(t testing.TB) *agencies.Agency {
	t.Helper()
	a, err := agencies.Parse("a.yaml", []byte(`name: a
agents:
  Guide: {instructions: x, tools: [current_time]}
  Scout: {instructions: x, tools: [list_directory]}
  Reader: {instructions: x, tools: [read_file]}
communication_flows:
  - Guide > Scout > Reader
  - Guide > Reader: {tool: request_read}
  - Guide > Reader: handoff
`), nil, everything)
	if err != nil {
		t.Fatal(err)
	}
	a.Script = []byte("agents: {}")
	return a
}

var rehearsalFiles = fstest.MapFS{
	"other.script.yaml": {Data: []byte("agents: {}")},
	"testdata/x/a.txt":  {Data: []byte("a")},
}

func TestRehearsalsAreRead(t *testing.T) {
	t.Parallel()
	got, err := agencies.ParseRehearsals("a.test.yaml", []byte(`rehearsals:
  - name: everything
    cassette: first.cassette.jsonl
    model: ollama/qwen3:8b
    folder: testdata/x
    files: {notes.txt: "hello", sub/b.txt: ""}
    clock: 2026-11-30T12:34:00+01:00
    limit: 45s
    turns:
      - say: What is there?
        to: Guide
        expect:
          answered_by: Reader
          asked: [Guide > Scout > Reader, Reader < Guide]
          asked_only: []
          tools: {Reader: [read_file, read_file], Guide: [request_read, send_message, transfer_to_Reader]}
          no_tools: [search_files]
          handoffs: [Guide > Reader]
          answer: {contains: [a, b], matches: '(?i)c', excludes: d}
          rows:
            - {agent: Guide, caller: null, type: message, role: user, origin: handoff_reminder, status: completed, contains: x}
            - {caller: Guide, name: read_file}
          at_most: {calls: 8, tokens: 9000, runs: 6}
          exit: 0
      - say: And then?
  - name: fails
    script: other.script.yaml
    turns:
      - say: Do
        expect: {exit: model, error: {contains: full}}
`), rehearsed(t), rehearsalFiles, everything)
	if err != nil {
		t.Fatal(err)
	}
	first := got[0]
	if first.Name != "everything" || first.Cassette != "first.cassette.jsonl" || first.Model != "ollama/qwen3:8b" || first.Folder != "testdata/x" ||
		first.Files["notes.txt"] != "hello" || len(first.Files) != 2 || first.Limit != 45*time.Second || first.Line != 2 ||
		!first.Clock.Equal(time.Date(2026, 11, 30, 11, 34, 0, 0, time.UTC)) {
		t.Errorf("the rehearsal is read as %+v", first)
	}
	turn := first.Turns[0]
	want := turn.Expect
	if turn.Say != "What is there?" || turn.To != "Guide" || want.AnsweredBy.Value != "Reader" || want.Outcome.Value != "" || first.Turns[1].To != "" {
		t.Errorf("the turn is read as %+v", turn)
	}
	var asked []string
	for _, p := range want.Asked {
		asked = append(asked, p.Value.String())
	}
	if !slices.Equal(asked, []string{"Guide > Scout", "Scout > Reader", "Guide > Reader"}) || want.AskedOnly == nil || len(want.AskedOnly.Value) != 0 {
		t.Errorf("asked: %v, only %v", asked, want.AskedOnly)
	}
	if p := want.Asked[1].Position; p.Line != 14 || p.Column != 27 {
		t.Errorf("Scout > Reader stands at %v", p)
	}
	if len(want.Tools) != 5 || want.Tools[1].Value != (agencies.AgentTool{Agent: "Reader", Tool: "read_file"}) || want.NoTools[0].Value != "search_files" {
		t.Errorf("tools: %v, none of %v", want.Tools, want.NoTools)
	}
	if len(want.Handoffs.Value) != 1 || len(want.Answer.Contains) != 2 || len(want.Answer.Matches) != 1 || want.Answer.Excludes[0].Value != "d" {
		t.Errorf("handoffs %v, answer %v", want.Handoffs, want.Answer)
	}
	row := want.Rows[0].Value
	if row.Caller == nil || *row.Caller != "" || *want.Rows[1].Value.Caller != "Guide" || row.Type != history.TypeMessage || row.Origin != history.OriginHandoffReminder {
		t.Errorf("rows: %+v", want.Rows)
	}
	if len(want.AtMost) != 3 || want.AtMost[1].Value != (agencies.Most{Of: "tokens", Most: 9000}) {
		t.Errorf("at most %v", want.AtMost)
	}
	if second := got[1]; second.Script != "other.script.yaml" || second.Turns[0].Expect.Outcome.Value != history.CodeModel || second.Clock.IsZero() {
		t.Errorf("the second is read as %+v", second)
	}
}

// turn is a rehearsal of one turn with these expectations, which begin in line 5.
func turn(expect string) string {
	return "rehearsals:\n- name: n\n  turns:\n  - say: x\n    expect: " + expect + "\n"
}

func TestRehearsalFaults(t *testing.T) {
	t.Parallel()
	one := func(rest string) string { return "rehearsals:\n- name: n\n  turns: [{say: x}]\n  " + rest + "\n" }
	for _, test := range []struct {
		name, file string
		want       []string
	}{
		{"empty", "", []string{"1:1: the file is empty; it needs the key rehearsals"}},
		{"two documents", one("") + "---\na: 1\n", []string{"5:1: a second YAML document; a file of rehearsals is one"}},
		{"a list", "- a\n", []string{"1:1: the file must be a mapping (key: value), not a list"}},
		{"other key", "tests: []\n", []string{
			`1:1: unknown key of the file: "tests"; did you mean "rehearsals"?`, "1:1: there are no rehearsals; write rehearsals: and below it a list"}},
		{"none", "rehearsals: []\n", []string{"1:13: there are no rehearsals; write a list of them"}},
		{"anchor", "rehearsals: &a\n- name: n\n  turns: [{say: x}]\n", []string{"1:13: an anchor (&a); write the value out where it is needed"}},
		{"all at once", "rehearsals:\n- nam: n\n  turns: []\n- name: [a]\n- x\n", []string{
			`2:3: unknown key of a rehearsal: "nam"; did you mean "name"?`,
			"2:3: the rehearsal has no name; write name: what it shows",
			"3:10: there are no turns; write what the user says, as - say: Hello",
			"4:3: the rehearsal has no turns; write turns: and below it what the user says, as - say: Hello",
			"4:9: name must be text, not a list",
			"5:3: a rehearsal must be a mapping (key: value), not text",
		}},
		{"same name", "rehearsals:\n- name: n\n  turns: [{say: x}]\n- name: n\n  turns: [{say: x}]\n", []string{
			`4:3: a second rehearsal with the name "n"; the first is in line 2`}},
		{"long name", "rehearsals:\n- name: " + strings.Repeat("n", 201) + "\n  turns: [{say: x}]\n", []string{"2:9: the name has 201 characters; at most 200"}},
		{"both sources", one("script: other.script.yaml\n  cassette: c.jsonl"), []string{"5:3: a script and a cassette; a rehearsal is answered by one of them"}},
		{"model without a cassette", one("model: ollama/x"), []string{"4:3: model says what a cassette is recorded from, and there is none; write cassette: NAME.cassette.jsonl"}},
		{"unknown provider", one("cassette: c.jsonl\n  model: ollame/x"), []string{`5:10: unknown provider: "ollame"; did you mean "ollama"?`}},
		{"script that is not there", one("script: no.yaml"), []string{`4:11: the script "no.yaml" is not in the agency's folder, or cannot be read there`}},
		{"script outside", one("script: ../a.yaml"), []string{`4:11: the script "../a.yaml" is outside the agency's folder`}},
		{"absolute script", one("script: /etc/passwd"), []string{`4:11: the script "/etc/passwd" must be relative to the agency's folder`}},
		{"script that is a folder", one("script: testdata"), []string{`4:11: the script "testdata" is not a file`}},
		{"folder that is a file", one("folder: other.script.yaml"), []string{`4:11: the folder "other.script.yaml" is a file; a single one can stand under files`}},
		{"cassette by another name", one("cassette: c.yaml"), []string{`4:13: the name of a cassette ends in .jsonl, as in first.cassette.jsonl, not "c.yaml"`}},
		{"cassette outside", one("cassette: ../c.jsonl"), []string{`4:13: the cassette "../c.jsonl" is outside the agency's folder`}},
		{"files outside", one(`files: {../a: x, /b: x, "": x, c: 1}`), []string{
			`4:11: "../a" is no path of a file; write one relative to the folder of the rehearsal`,
			`4:20: "/b" is no path of a file; write one relative to the folder of the rehearsal`,
			`4:27: "" is no path of a file; write one relative to the folder of the rehearsal`,
			"4:37: the text of a file must be text (put it in quotes), not a number",
		}},
		{"file in a file", one("files: {a: x, a/b: y, c: x, ./c: y}"), []string{
			`4:10: "a" is both a file and the folder of "a/b"`, `4:31: the file "c" is there already under another spelling`}},
		{"clock", one("clock: noon"), []string{"4:10: clock must be a time with its zone, as in 2026-11-30T12:34:00Z"}},
		{"limit", one("limit: 1h"), []string{"4:10: limit must be a time from 1s to 10m, as in 45s"}},
		{"turns", "rehearsals:\n- name: n\n  turns:\n  - {}\n  - {say: ' ', to: Guyde}\n  - {message: x}\n  - x\n", []string{
			"4:5: the turn says nothing; write say: and the user's message",
			"5:11: say is empty", `5:20: unknown agent: "Guyde"; did you mean "Guide"?`,
			"6:5: the turn says nothing; write say: and the user's message", `6:6: unknown key of a turn: "message"; did you mean "say"?`,
			"7:5: a turn must be a mapping (key: value), not text",
		}},
		{"nothing expected", turn("{}"), []string{
			"5:13: expect expects nothing; there is: exit, answered_by, asked, asked_only, tools, no_tools, handoffs, answer, error, rows, at_most"}},
		{"expectation", turn("{answerd_by: Guide}"), []string{`5:14: unknown key of expect: "answerd_by"; did you mean "answered_by"?`}},
		{"exit", turn("{exit: 2}"), []string{"5:20: exit must be 0 or answered, 1 or failed, 3 or model, 4 or denied, 5 or limit"}},
		{"answer of a failure", turn("{exit: limit, answer: {contains: x}}"), []string{"5:27: an answer of a turn that must fail; what its error says is under error"}},
		{"error of an answer", turn("{error: {contains: x}}"), []string{"5:14: an error of a turn that must be answered; write exit beside it: failed, model, denied or limit"}},
		{"pairs", turn("{asked: [Guide, Guide > Scot, Reader > Guide, 1, Scout > Scout]}"), []string{
			`5:22: "Guide" says not who and whom; write it as A > B`,
			`5:37: unknown agent: "Scot"; did you mean "Scout"?`,
			`5:43: "Reader" may not message "Guide"; it may message: none`,
			"5:59: an element of asked must be text (put it in quotes), not a number",
			`5:70: "Scout" cannot write to itself`,
		}},
		{"handoffs", turn("{handoffs: [Guide > Scout]}"), []string{`5:25: "Guide" may not hand over to "Scout"; it may hand over to: Reader`}},
		{"tools", turn("{tools: {Guide: [read_file], Scot: [a], Scout: x}, no_tools: [write_file]}"), []string{
			`5:30: unknown tool in the tools of "Guide": "read_file"; there is: current_time, send_message, request_read`,
			`5:42: unknown agent: "Scot"; did you mean "Scout"?`,
			`5:60: the tools of "Scout" must be a list, not text`,
			`5:75: unknown tool in no_tools: "write_file"; did you mean "read_file"?`,
		}},
		{"texts", turn(`{answer: {contains: [], matches: "(", excludes: ["", 1], is: x}}`), []string{
			`5:46: "(" is no regular expression: error parsing regexp: missing closing ): ` + "`(`",
			"5:62: an empty text in excludes says nothing", "5:66: excludes must be text (put it in quotes), not a number",
			`5:70: unknown key of answer: "is"; there is: contains, matches, excludes`,
		}},
		{"rows", turn("{rows: [{}, {type: call, role: bot, caller: Gide}]}"), []string{
			"5:21: the row says nothing; there is: agent, caller, type, role, name, origin, status, contains",
			`5:32: unknown type: "call"; there is: message, function_call, function_call_output, reasoning`,
			`5:44: unknown role: "bot"; there is: user, assistant, system`, `5:57: unknown agent: "Gide"; did you mean "Guide"?`,
		}},
		{"bounds", turn("{at_most: {calls: -1, tokens: 1.5, money: 1}}"), []string{
			"5:31: calls must be from 0 to 1000000000, not -1", "5:43: tokens must be a whole number, not 1.5",
			`5:48: unknown key of at_most: "money"; there is: calls, tokens, runs`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := agencies.ParseRehearsals("f", []byte(test.file), rehearsed(t), rehearsalFiles, everything)
			if _, ok := errors.AsType[*agencies.FileError](err); !ok {
				t.Fatalf("the error is %v", err)
			}
			got := strings.Split(strings.ReplaceAll("\n"+err.Error(), "\nf:", "\n"), "\n")[1:]
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(test.want, "\n\t"))
			}
		})
	}
}

func TestRehearsalsWithoutAnAnswerer(t *testing.T) {
	t.Parallel()
	a := rehearsed(t)
	a.Script = nil
	_, err := agencies.ParseRehearsals("f", []byte("rehearsals:\n- name: n\n  turns: [{say: x}]\n"), a, nil, everything)
	want := "f:2:3: nothing answers: the agency has no script beside it; write script: FILE, or cassette: FILE to record one"
	if err == nil || err.Error() != want {
		t.Errorf("the error is %v", err)
	}
}

func TestRehearsalsStandBesideTheAgency(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := write(t, folder, "duo.yaml", named("duo"))
	a, err := agencies.Load(path, everything)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := a.Rehearsals(everything); got != nil || err != nil {
		t.Errorf("without a file: %v, %v", got, err)
	}
	beside := write(t, folder, "duo.test.yaml", "rehearsals:\n- name: n\n  script: s.yaml\n  turns: [{say: x}]\n")
	write(t, folder, "s.yaml", "agents: {}")
	if got, err := a.Rehearsals(everything); len(got) != 1 || err != nil || a.RehearsalsPath() != beside {
		t.Errorf("with a file: %v, %v", got, err)
	}
	write(t, folder, "duo.test.yaml", strings.Repeat("#", 1<<20+1))
	if _, err := a.Rehearsals(everything); err == nil || !strings.Contains(err.Error(), "has 1048577 bytes; at most 1048576 are read") {
		t.Errorf("a file too large: %v", err)
	}
	if _, err := agencies.Load(path, everything); err != nil {
		t.Errorf("rehearsals that cannot be read keep the agency shut: %v", err)
	}
}

func TestRehearsalsAreNoAgencies(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	write(t, work, ".bureau/agencies/duo.yaml", named("duo"))
	write(t, work, ".bureau/agencies/duo.test.yaml", "rehearsals: []")
	for _, l := range agencies.List(agencies.Places{Work: work}, everything) {
		if strings.Contains(l.Name, "test") {
			t.Errorf("%s is listed", l.Path)
		}
	}
}

func TestTheFolderOfAnAgencyHasNoWayOut(t *testing.T) {
	t.Parallel()
	outside := write(t, t.TempDir(), "secret.txt", "secret")
	folder := t.TempDir()
	path := write(t, folder, "duo.yaml", named("duo"))
	if err := os.Symlink(outside, filepath.Join(folder, "link.txt")); err != nil {
		t.Skip("no links here")
	}
	a, err := agencies.Load(path, everything)
	if err != nil {
		t.Fatal(err)
	}
	files, closeFolder, err := a.OpenFolder()
	if err != nil {
		t.Fatal(err)
	}
	defer closeFolder()
	if data, err := fs.ReadFile(files, "link.txt"); err == nil {
		t.Errorf("through the link: %q", data)
	}
	if _, err := fs.ReadFile(files, "duo.yaml"); err != nil {
		t.Error(err)
	}
}

func FuzzRehearsals(f *testing.F) {
	for _, file := range []string{
		turn("{asked: [Guide > Scout], tools: {Guide: [x]}, answer: {matches: a}, rows: [{caller: null}], at_most: {calls: 1}}"),
		"rehearsals: [{name: n, files: {a/b: c}, clock: 2026-01-01T00:00:00Z, limit: 3s, turns: [{say: x, to: Guide}]}]",
		"rehearsals:\n- {cassette: a.jsonl, model: ollama/x, folder: testdata/x}\n", "{\"rehearsals\":[]}", "rehearsals: *a", "\xff",
	} {
		f.Add([]byte(file))
	}
	a := rehearsed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := agencies.ParseRehearsals("f", data, a, rehearsalFiles, everything)
		if err != nil {
			file, ok := errors.AsType[*agencies.FileError](err)
			if !ok || len(file.Faults) == 0 {
				t.Fatalf("the error is %v", err)
			}
			for _, fault := range file.Faults {
				if fault.Line < 1 || fault.Column < 1 || fault.Message == "" {
					t.Fatalf("the fault is %+v", fault)
				}
			}
			return
		}
		for _, r := range got {
			if r.Name == "" || len(r.Turns) == 0 {
				t.Fatalf("without a fault: %+v", r)
			}
			for name := range r.Files {
				if !filepath.IsLocal(filepath.FromSlash(name)) {
					t.Fatalf("the file %q leads outside", name)
				}
			}
		}
	})
}
