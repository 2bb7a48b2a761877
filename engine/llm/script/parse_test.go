package script_test

import (
	"strings"
	"testing"

	"bureau/engine/llm"
	"bureau/engine/llm/script"
)

func TestParseTellsAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	const text = `pace: fast
windows: 3
agents:
  A:
    - sya: hello
    - on: {step: -1, mesage: x, message: "("}
      say: |
        fine
          {{.Massage}} and {{upper .Message}}
      call: [read_file: [1]]
    - say: "{{"
      fail: {kind: explode, status: 200}
  B: []
`
	want := []string{
		`t.yaml:1:7: pace must be a duration such as 8ms or 1.5s, up to 10m0s, not "fast"`,
		`t.yaml:2:1: unknown key "windows" in a script; did you mean window?`,
		`t.yaml:5:7: unknown key "sya" in a rule; did you mean say?`,
		`t.yaml:5:7: the rule answers nothing; it needs say, call or fail`,
		`t.yaml:6:18: step must be a whole number from 0 to 100000000, not "-1"`,
		`t.yaml:6:22: unknown key "mesage" in on; did you mean message?`,
		`t.yaml:6:42: message is not a regular expression: missing closing ): ` + "`(`",
		`t.yaml:9:13: say: unknown field .Massage; known are .Message, .Agent, .Step, .Turn`,
		`t.yaml:9:30: say: the function "upper" is not available here; known are output, outputs, find, count, first, lines, cut, quote, trim, json, default, eq, ne, and, or, not`,
		`t.yaml:10:25: the arguments of "read_file" must be a mapping, {} for none, not a list`,
		`t.yaml:11:12: say is not a template: unclosed action`,
		`t.yaml:12:20: kind cannot be "explode"; it is one of connect, timeout, rate_limit, quota, server, truncated, empty, auth, not_found, request, overflow, no_tools, protocol, model_fault, content_filter`,
		`t.yaml:12:37: status must be an HTTP error, 400 to 599, not 200`,
		`t.yaml:13:6: "B" needs a list of rules, not an empty list`,
	}
	_, err := script.Parse("t.yaml", []byte(text))
	if err == nil {
		t.Fatal("no fault was found")
	}
	got := strings.Split(err.Error(), "\n")
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("missing: %s", want[i])
		case i >= len(want):
			t.Errorf("one too many: %s", got[i])
		case got[i] != want[i]:
			t.Errorf("fault %d\n got %s\nwant %s", i, got[i], want[i])
		}
	}
}

func TestParseIsStrict(t *testing.T) {
	t.Parallel()
	rule := func(text string) string { return "agents:\n  A:\n    - " + text + "\n" }
	tests := []struct{ name, text, want string }{
		{"empty", "", "1:1: the script is empty"},
		{"only a comment", "# nothing\n", "1:1: the script is empty"},
		{"no agents", "pace: 1ms", "1:1: the script has no key agents"},
		{"agents of nothing", "agents: {}", "1:9: agents names no agent"},
		{"agents as a list", "agents: [a]", "1:9: agents must be a mapping (key: value), not a list"},
		{"a script as text", "hello", `1:1: a script must be a mapping (key: value), not "hello"`},
		{"not YAML", "agents:\n  A: [\n", "not YAML: "},
		{"tabs", "agents:\n\tA: 1\n", ":2:1: not YAML: found character that cannot start any token"},
		{"two documents", "agents: {A: [say: x]}\n---\na: 1\n", "2:1: a script is one YAML document"},
		{"the same agent twice", "agents:\n  A: [say: x]\n  A: [say: y]\n", `3:3: the key "A" stands in agents twice; the first is in line 2`},
		{"the same key twice", rule("say: x\n      say: y"), `4:7: the key "say" stands in a rule twice; the first is in line 3`},
		{"a key that is a list", "agents:\n  ? [a]\n  : [say: x]\n", "2:5: a key of agents must be text, not a list"},
		{"an alias of a list", "agents:\n  A: &a [say: x]\n  B: *a\n", `3:6: the alias "a" stands for a mapping or a list`},
		{"rules as a mapping", "agents:\n  A: {say: x}\n", `2:6: "A" needs a list of rules, not a mapping`},
		{"a rule as text", rule("hello"), `3:7: a rule must be a mapping (key: value), not "hello"`},
		{"say nothing", rule("say:"), "3:11: say must be text, not nothing"},
		{"say a list", rule("say: [a]"), "3:12: say must be text, not a list"},
		{"call a mapping", rule("call: {read_file: {}}"), "3:13: call must be a list of entries tool: arguments, not a mapping"},
		{"two tools in one call", rule("call: [{a: {}, b: {}}]"), "3:14: a call is one entry tool: {arguments}"},
		{"arguments of nothing", rule("call: [a: ]"), `3:15: the arguments of "a" must be a mapping, {} for none, not nothing`},
		{"arguments that JSON lacks", rule("call: [a: {x: .inf}]"), `3:21: ".inf" has no form in JSON`},
		{"an argument twice", rule("call: [a: {x: 1, x: 2}]"), `3:24: the key "x" stands in the arguments twice`},
		{"fail without a kind", rule("fail: {message: x}"), "3:13: fail needs kind or status"},
		{"fail as text", rule("fail: server"), `3:13: fail must be a mapping (key: value), not "server"`},
		{"a finish of its own", rule("say: x\n      finish: soon"), `4:15: finish cannot be "soon"; it is one of stop, tool_calls, length, content_filter`},
		{"a long wait", rule("say: x\n      wait: 11m"), `4:13: wait must be a duration such as 8ms or 1.5s, up to 10m0s, not "11m"`},
		{"a negative wait", rule("say: x\n      wait: -1s"), "4:13: wait must be a duration"},
		{"a bare number", rule("say: x\n      wait: 5"), "4:13: wait must be a duration"},
		{"no pattern", rule("on: {message: []}\n      say: x"), "3:21: message is an empty list"},
		{"a bad pattern in a list", rule("on: {message: [a, '*']}\n      say: x"), "3:25: message is not a regular expression"},
		{"handoff", rule("on: {handoff: maybe}\n      say: x"), `3:21: handoff cannot be "maybe"; it is one of true, false`},
		{"after nothing", rule("on: {after: ''}\n      say: x"), "3:19: after must not be empty"},
		{"range", rule("say: '{{range 9}}x{{end}}'"), "3:12: say: {{range 9}}x{{end}} is not available here"},
		{"with", rule("say: '{{with .Message}}x{{end}}'"), "is not available here"},
		{"a variable", rule("say: '{{$x := 1}}'"), "variables are not available here"},
		{"the dot", rule("say: '{{.}}'"), ". is not available here"},
		{"a field of a field", rule("say: '{{.Message.X}}'"), "unknown field .Message.X"},
		{"a template of its own", rule(`say: '{{define "x"}}{{end}}'`), "defines a template of its own"},
		{"a call of one", rule(`say: '{{template "x"}}'`), "is not available here"},
		{"a function of text/template", rule("say: '{{printf \"%d\" 1}}'"), `the function "printf" is not available here; known are output, `},
		{"too few arguments", rule("say: '{{first .Message}}'"), "first takes 2 arguments, not 1"},
		{"too many arguments", rule("say: '{{.Message | trim .Agent}}'"), "trim takes 1 argument, not 2"},
		{"arguments for a field", rule("say: '{{.Message 1}}'"), ".Message is no function"},
		{"a function as an argument", rule("say: '{{trim first}}'"), "must stand in parentheses"},
		{"a slip", rule("say: '{{trimm .Message}}'"), `the function "trimm" is not available here; did you mean trim?`},
		{"a fraction", rule("say: '{{first 1.5 .Message}}'"), "1.5 is not a whole number"},
		{"find without a pattern", rule("say: '{{find .Message .Message}}'"), "the pattern of find must be written out as text"},
		{"find with a piped text", rule("say: '{{\"x\" | find \"(\"}}'"), "the pattern of find is not a regular expression"},
		{"count with a bad pattern", rule("say: '{{count \"[\" .Message}}'"), "the pattern of count is not a regular expression"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := script.Parse("t.yaml", []byte(test.text))
			if err == nil || !strings.HasPrefix(err.Error(), "t.yaml:") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v\nwant %s", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one fault: %v", err)
			}
		})
	}
}

func TestParseRefusesWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	_, err := script.Parse("t.yaml", []byte("agents: {A: [say: x]}\n#"+strings.Repeat("x", 1<<20)))
	if err == nil || !strings.Contains(err.Error(), "t.yaml:1:1: the script has 1048599 bytes; at most 1048576 are read") {
		t.Errorf("got %v", err)
	}
}

func TestParseBoundsWhatAHostileScriptCosts(t *testing.T) {
	t.Parallel()
	_, err := script.Parse("t.yaml", []byte("agents: {A: [say: &a "+strings.Repeat("x", 500_000)+strings.Repeat(", say: *a", 50_000)+"]}"))
	if err == nil || !strings.Contains(err.Error(), "the aliases repeat more than 1048576 bytes") {
		t.Errorf("a long alias: %.200v", err)
	}
	_, err = script.Parse("t.yaml", []byte("agents: {A: ["+strings.Repeat("x, ", 1000)+"]}"))
	if err == nil || strings.Count(err.Error(), "\n") != 50 || !strings.HasSuffix(err.Error(), "t.yaml: and 950 more") {
		t.Errorf("many faults: %.200v", err)
	}
}

func TestAliasesOfSingleValues(t *testing.T) {
	t.Parallel()
	m := parse(t, "agents: {A: [{on: {message: &desk desk}, say: &text 'one {{.Step}}'}, {on: {system: *desk}, say: *text}, say: two]}").Model("A", ref)
	for want, messages := range map[string][]llm.Message{"one 0": {system("desk"), user("x")}, "two": {user("x")}} {
		if reply, err := ask(t, m, llm.Request{Messages: messages}); err != nil || reply.Text != want {
			t.Errorf("got %q, %v; want %q", reply.Text, err, want)
		}
	}
}

// FuzzParse holds that a script which is accepted answers whatever it is told, with valid arguments, and that one which is
// not names a place for every fault.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "agents: {A: [say: hello]}", "pace: 1ms\nwindow: 3\nagents:\n  A:\n    - on: {message: x, step: 1}\n      say: |\n        {{.Message | cut 3}}\n",
		"agents: {A: [{call: [{x: {a: [1, 0x1F, .5, 1e3, 2026-01-01, ~, yes, '{{.Agent}}']}}], say: '{{find \"a(b)\" .Message}}'}]}",
		"agents: {A: [{fail: {status: 429, times: 1}, say: a}]}", "agents: {A: [{call: [x: 'raw {{.Turn}}']}]}", "a: &a [*a]", "? - a\n: b", "%YAML 9.9\n---\n", "agents: {A: &x [say: *x]}",
	} {
		f.Add([]byte(seed), "hello")
	}
	f.Fuzz(func(t *testing.T, data []byte, said string) {
		s, err := script.Parse("f.yaml", data)
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if strings.HasPrefix(line, "f.yaml:0:") {
					t.Errorf("no place: %s", line)
				}
			}
			if !strings.HasPrefix(err.Error(), "f.yaml:") {
				t.Errorf("no name: %v", err)
			}
			return
		}
		for _, agent := range append(s.Agents(), "another") {
			m := s.Model(agent, ref, script.Pace(0))
			for _, messages := range [][]llm.Message{nil, {user(said)}, {system(said), user(said), calling("x"), output("x", said)}} {
				reply, err := ask(t, m, llm.Request{Messages: messages})
				if err == nil && reply.IsEmpty() {
					t.Errorf("%q is answered with nothing", said)
				}
			}
		}
	})
}
