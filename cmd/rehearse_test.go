package cmd_test

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"bureau/engine/llm/llmtest"
)

func TestShippedAgenciesAreRehearsed(t *testing.T) {
	t.Parallel()
	u := newUser(t, nil)
	out := u.must("test", "tour", "newsroom")
	if !regexp.MustCompile(`(?m)^\d\d rehearsals, all ok$`).MatchString(out) || strings.Contains(out, "FAIL") {
		t.Error(out)
	}
	if _, err := os.Stat(u.db); err == nil {
		t.Error("a rehearsal wrote to the user's database")
	}
	if left, _ := os.ReadDir(u.folder); len(left) > 0 {
		t.Errorf("a rehearsal left %v in the working folder", left)
	}
}

// soloFile is an agency of one agent whose script reads whatever file it is told to.
const soloFile = "name: solo\nmodel: openai/test\nagents:\n  Solo: {instructions: x, tools: [read_file, list_directory, current_time]}\n"

const soloScript = `agents:
  Solo:
    - on: {step: 0, message: '^read '}
      call: [{read_file: {path: '{{find "^read (.*)" .Message}}'}}]
    - on: {after: read_file}
      say: 'It says: {{output 0}}'
    - on: {step: 0, message: '^wait'}
      wait: 5s
      say: waited
    - on: {step: 0, message: '^fail'}
      fail: {kind: auth}
    - on: {step: 0, message: '^loop'}
      call: [{current_time: {}}]
    - on: {after: current_time, message: '^loop'}
      call: [{current_time: {n: '{{outputs "current_time"}}'}}]
    - say: '{{.Message}}'
`

// solo is a user with the agency solo, whose rehearsals are these, and a model server in the environment that must not be asked.
func solo(t *testing.T, rehearsals string) *user {
	t.Helper()
	server := llmtest.NewServer(t, func(*llmtest.Request) llmtest.Response { return llmtest.Response{Text: "from the server"} })
	t.Cleanup(func() {
		if asked := server.Requests(); len(asked) > 0 {
			t.Errorf("the server was asked %d times", len(asked))
		}
	})
	u := newUser(t, map[string]string{
		".bureau/agencies/solo.yaml": soloFile, ".bureau/agencies/solo.script.yaml": soloScript,
		".bureau/agencies/solo.test.yaml": rehearsals, "own.txt": "the user's own",
	})
	u.env = append(u.env, "OPENAI_BASE_URL="+server.URL, "OPENAI_API_KEY=sk-of-the-user-0123456789abcdef")
	return u
}

func TestRehearsalsReadNothingOutsideTheirFolder(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(secret, []byte("SECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	u := solo(t, `rehearsals:
  - name: outside
    files: {a.txt: inside}
    turns:
      - {say: read a.txt, expect: {answer: {contains: inside}}}
      - {say: read own.txt, expect: {answer: {contains: "there is no", excludes: the user's own}}}
      - {say: read ../bureau.db, expect: {answer: {contains: "outside the working folder"}}}
      - {say: read `+secret+`, expect: {answer: {contains: "outside the working folder", excludes: SECRET}}}
  - name: links that stay inside are kept
    folder: data/good
    turns:
      - {say: read sub/link.txt, expect: {answer: {contains: of the top}}}
      - {say: read sub/b.txt, expect: {answer: {contains: written over}}}
    files: {sub/b.txt: written over}
  - name: links that lead out are refused
    folder: data/bad
    turns: [{say: read link.txt}]
`)
	shelf := filepath.Join(u.folder, ".bureau", "agencies", "data")
	for name, content := range map[string]string{"good/top.txt": "of the top", "good/sub/b.txt": "of the folder", "bad/x": ""} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(shelf, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(shelf, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"good/sub/link.txt": "../top.txt", "bad/link.txt": secret} {
		if err := os.Symlink(target, filepath.Join(shelf, link)); err != nil {
			t.Skip("no links here")
		}
	}
	out, errOut, code := u.run("test")
	if code != 1 {
		t.Errorf("exit %d\n%s", code, errOut)
	}
	for _, line := range []string{
		"ok    solo: outside\n", "ok    solo: links that stay inside are kept\n", "FAIL  solo: links that lead out are refused\n",
		"copy the folder data/bad: the link link.txt leads outside\n", "\n3 rehearsals, 1 failed\n",
	} {
		if !strings.Contains(out, line) {
			t.Errorf("missing %q in\n%s", line, out)
		}
	}
	if strings.Contains(out, "SECRET") {
		t.Error("the secret was read")
	}
}

func TestHowTurnsEnd(t *testing.T) {
	t.Parallel()
	u := solo(t, `rehearsals:
  - name: answered
    turns: [{say: hello, expect: {answer: {matches: ^hello}}}, {say: again, expect: {answer: {matches: ^again}}}]
  - name: the model fails
    turns: [{say: fail, expect: {exit: model, error: {contains: auth}}}, {say: hello, expect: {exit: 0}}]
  - name: a limit is reached
    turns: [{say: loop, expect: {exit: limit, error: {contains: max_calls}, at_most: {calls: 60}}}]
  - name: the script of another name
    script: other.yaml
    turns: [{say: hello, expect: {answer: {matches: ^from another}}}]
  - name: differs
    turns: [{say: hello, expect: {answered_by: Solo, tools: {Solo: [read_file]}, answer: {contains: goodbye}}}, {say: fail}]
  - name: has no cassette
    cassette: no.cassette.jsonl
    turns: [{say: hello}]
`)
	if err := os.WriteFile(filepath.Join(u.folder, ".bureau/agencies/other.yaml"), []byte("agents: {Solo: [{say: from another}]}"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errOut, code := u.run("test", "solo")
	if code != 1 || !strings.Contains(errOut, "not everything went as it was rehearsed") {
		t.Errorf("exit %d: %s", code, errOut)
	}
	for _, line := range []string{
		"ok    solo: answered\nok    solo: the model fails\nok    solo: a limit is reached\nok    solo: the script of another name\nFAIL  solo: differs\n",
		`      .bureau/agencies/solo.test.yaml:12:69: turn 1, tools: expected Solo: read_file, got none` + "\n",
		`solo.test.yaml:12:101: turn 1, answer.contains: expected a text with "goodbye", got "hello"` + "\n",
		`solo.test.yaml:12:113: turn 2, exit: expected answered, got model: "script/solo: `,
		"FAIL  solo: has no cassette\n", "there is no cassette no.cassette.jsonl yet; make it with: bureau test --record\n",
		"\n6 rehearsals, 2 failed\n",
	} {
		if !strings.Contains(out, line) {
			t.Errorf("missing %q in\n%s", line, out)
		}
	}
	if out := u.must("test", "--run", "^answered$", "-v"); !strings.Contains(out, "| You to Solo:\n      | hello\n") || !strings.HasSuffix(out, "1 rehearsal, all ok\n") {
		t.Error(out)
	}
}

func TestRehearsalsAreBoundInTime(t *testing.T) {
	t.Parallel()
	endless := strings.Repeat("      - {say: loop}\n", 100)
	u := solo(t, "rehearsals:\n  - name: never ends\n    limit: 1s\n    turns:\n"+endless)
	file := filepath.Join(u.folder, ".bureau/agencies/solo.yaml")
	if err := os.WriteFile(file, []byte(soloFile+"limits: {max_calls: 10000, max_turn_calls: 100000}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, code := u.run("test")
	if code != 1 || !strings.Contains(out, "solo.test.yaml:2:5: it took longer than 1s and was stopped; if it needs that, write a longer limit, up to 10m\n") {
		t.Errorf("exit %d\n%s", code, out)
	}
}

func TestRehearsalsEndAtAnInterrupt(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt can be sent")
	}
	endless := strings.Repeat("      - {say: loop}\n", 100)
	u := solo(t, "rehearsals:\n  - name: ends\n    turns: [{say: hello}]\n  - name: never ends\n    limit: 10m\n    turns:\n"+endless)
	file := filepath.Join(u.folder, ".bureau/agencies/solo.yaml")
	if err := os.WriteFile(file, []byte(soloFile+"limits: {max_calls: 10000, max_turn_calls: 100000}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	temporary := t.TempDir()
	c := u.command("test", "--junit", "report.xml")
	c.Env = append(c.Env, "TMPDIR="+temporary)
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, len("ok    solo: ends\n"))
	if _, err := stdout.Read(first); err != nil || string(first) != "ok    solo: ends\n" {
		t.Fatalf("%q, %v", first, err)
	}
	started := time.Now()
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit %d after %s", code, time.Since(started))
	}
	if left, _ := os.ReadDir(temporary); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if report, err := os.ReadFile(filepath.Join(u.folder, "report.xml")); err != nil || !strings.Contains(string(report), `tests="1"`) {
		t.Errorf("the report of what had ended: %s, %v", report, err)
	}
}

const deskRehearsals = `rehearsals:
  - name: works together
    cassette: cassettes/first.cassette.jsonl
    folder: data
    turns:
      - say: do it
        expect:
          asked: [Boss > Worker > Clerk, Boss > Clerk]
          tools: {Worker: [list_directory]}
          rows: [{agent: Worker, type: function_call_output, name: list_directory, contains: plan.txt}]
      - say: to the front, please
        expect: {answered_by: Front, handoffs: [Boss > Front]}
`

func TestCassettesAreRecordedAndReplayed(t *testing.T) {
	t.Parallel()
	const key = "sk-of-the-user-0123456789abcdef"
	server := llmtest.NewServer(t, func(r *llmtest.Request) llmtest.Response {
		answer := team(r)
		if answer.Text != "" {
			answer.Text += " " + key // a server that gives away what it was given
		}
		return answer
	})
	u := newUser(t, map[string]string{"desk.yaml": deskFile, "desk.test.yaml": deskRehearsals, "data/plan.txt": "x"})
	online := *u
	online.env = append(append([]string{}, u.env...), "OPENAI_BASE_URL="+server.URL, "OPENAI_API_KEY="+key)

	if _, errOut, code := u.run("test", "./desk.yaml", "--record"); code != 2 || !strings.Contains(errOut, "OPENAI_API_KEY") {
		t.Errorf("without a server: exit %d\n%s", code, errOut)
	}
	out := online.must("test", "./desk.yaml", "--record", "--model", "openai/test")
	if !strings.Contains(out, "ok    desk: works together\n") {
		t.Error(out)
	}
	asked := len(server.Requests())
	if asked < 6 || len(server.Refused()) > 0 {
		t.Errorf("%d requests, refused: %v", asked, server.Refused())
	}
	file := filepath.Join(u.folder, "cassettes", "first.cassette.jsonl")
	cassette, err := os.ReadFile(file)
	if err != nil || strings.Count(string(cassette), "\n") != asked || strings.Contains(string(cassette), key) {
		t.Errorf("%d lines for %d requests, with the key: %v, %v", strings.Count(string(cassette), "\n"), asked, strings.Contains(string(cassette), key), err)
	}
	if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 1 {
		t.Errorf("left beside it: %v", left)
	}
	for range 3 {
		if out := u.must("test", "./desk.yaml"); !strings.Contains(out, "1 rehearsal, all ok") {
			t.Error(out)
		}
	}
	if again := len(server.Requests()); again != asked {
		t.Errorf("the replay asked the server %d times", again-asked)
	}

	// What cannot be recorded leaves the cassette that there is.
	refusing := llmtest.NewServer(t, answers["refusing"])
	online.env = append(online.env, "OPENAI_BASE_URL="+refusing.URL)
	out, _, code := online.run("test", "./desk.yaml", "--record", "--model", "openai/test")
	if code != 1 || !strings.Contains(out, "the cassette could not be recorded: turn 1: ") || !strings.Contains(out, "no such key") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != string(cassette) {
		t.Errorf("the cassette was lost: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 1 {
		t.Errorf("left beside it: %v", left)
	}

	// The model of the rehearsal says in whose dialect the cassette is asked; no key is needed for it.
	withModel := strings.Replace(deskRehearsals, "    folder:", "    model: mistral/small\n    folder:", 1)
	if err := os.WriteFile(filepath.Join(u.folder, "desk.test.yaml"), []byte(withModel), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := u.must("test", "./desk.yaml"); !strings.Contains(out, "1 rehearsal, all ok") {
		t.Error(out)
	}
}

func TestReportsOfRehearsals(t *testing.T) {
	t.Parallel()
	u := solo(t, "rehearsals:\n  - name: \"a < b & \\\"c\\\"\"\n    turns: [{say: \"]]> <x/>\"}]\n  - name: differs\n    turns: [{say: hello, expect: {answered_by: Solo, answer: {contains: x}}}]\n")
	out, _, code := u.run("test", "--json", "--junit", "report.xml")
	var report struct {
		Total, Failed int
		Rehearsals    []struct {
			Agency, Name string
			OK           bool
			Turns        []struct{ Answer string }
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != 1 {
		t.Fatalf("exit %d, %v\n%s", code, err, out)
	}
	if report.Total != 2 || report.Failed != 1 || !report.Rehearsals[0].OK || report.Rehearsals[1].Turns[0].Answer != "hello" {
		t.Errorf("%+v", report)
	}
	data, err := os.ReadFile(filepath.Join(u.folder, "report.xml"))
	if err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Name string `xml:"name,attr"`
			Out  string `xml:"system-out"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal(data, &suites); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if suites.Failures != 1 || len(suites.Cases) != 2 || suites.Cases[0].Name != `a < b & "c"` || !strings.Contains(suites.Cases[0].Out, "]]> <x/>") {
		t.Errorf("%+v", suites)
	}
}

func TestTheRehearsalsOfTheDocumentsAreSound(t *testing.T) {
	t.Parallel()
	texts := documents(t)
	block := func(document, beginning string) string {
		for _, block := range yamlBlocks(texts[document]) {
			if strings.HasPrefix(block, beginning) {
				return block
			}
		}
		t.Fatalf("%s has no block that begins with %q", document, beginning)
		return ""
	}
	u := newUser(t, map[string]string{
		"reviewers.yaml":      block("../README.md", "name: reviewers"),
		"reviewers.test.yaml": block("../docs/rehearsals.md", "rehearsals:"),
		"down.script.yaml":    "agents: {Lead: [{fail: {kind: auth, message: the server is down}}]}",
		"testdata/change/go":  "package main",
	})
	u.must("agency", "check", "./reviewers.yaml")
	if out := u.must("test", "./reviewers.yaml", "--run", "down"); !strings.Contains(out, "1 rehearsal, all ok") {
		t.Error(out)
	}
	u.must("agency", "new", "desk")
	if err := os.WriteFile(filepath.Join(u.folder, ".bureau", "agencies", "desk.test.yaml"), []byte(block("../README.md", "rehearsals:")), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := u.must("test", "desk"); !strings.Contains(out, "1 rehearsal, all ok") {
		t.Error(out)
	}
}
