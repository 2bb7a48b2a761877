package agencies_test

import (
	"slices"
	"strings"
	"testing"

	"bureau/agencies"
)

// The names that other programs fold into one another, and a few that need quotes or look like operators.
func TestNamesOfAnyScript(t *testing.T) {
	t.Parallel()
	names := []string{"風林火山 Agent", "疾風迅雷 Agent", "规划", "Billing Agent", "billing-agent", "billing.agent",
		"👩‍💻 Coder", "Ünïcode", "A/B", "Rene\u0301", "x - y", "it's", "don’t", "#1", "null value", "π"}
	var file strings.Builder
	file.WriteString("name: t\nagents:\n")
	for _, name := range names {
		file.WriteString("  \"" + name + "\": {instructions: x}\n")
	}
	file.WriteString("communication_flows:\n  - \"" + strings.Join(names, " > ") + "\"\n")
	agency := mustParse(t, file.String())
	for i, agent := range agency.Agents {
		if agent.Name != names[i] {
			t.Errorf("%q became %q", names[i], agent.Name)
		}
		if i > 0 && wired(agency, names[i-1]) != "send_message("+names[i]+")" {
			t.Errorf("%q can reach %s", names[i-1], wired(agency, names[i-1]))
		}
	}
	agency = mustParse(t, "name: t\nagents:\n  Rene\u0301: {instructions: x}\n  B: {instructions: x}\ncommunication_flows: [B > Ren\u00e9]\n")
	if got := wired(agency, "B"); got != "send_message(Rene\u0301)" {
		t.Errorf("the composed form of a name leads to %q", got)
	}
}

func TestChains(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ chain, want string }{
		{"A > B", "A>B"},
		{"A>B", "A>B"},
		{"B < A", "A>B"},
		{"C < B < A", "B>C A>B"},
		{"A > B < C", "A>B C>B"},
		{"A < B > C", "B>A B>C"},
		{"A > B > C > A", "A>B B>C C>A"},
		{"'A > B'", "A>B"},
		{"\"A > \\u0042\"", "A>B"},
		{">-\n    A >\n    B", "A>B"},
		{"A >\n    B", "A>B"},
	} {
		if got := edgesOf(mustParse(t, threeAgents+flows+"  - "+test.chain+"\n")); got != test.want {
			t.Errorf("%s gives %s, not %s", test.chain, got, test.want)
		}
	}
}

func TestEverythingThatAFileCanSay(t *testing.T) {
	t.Parallel()
	agency := mustParse(t, `
name: all-of-it
description: |
  Two
  lines
shared_instructions: {file: sub/b.md}
model: openai/org/model:tag
agents:
  A:
    description: d
    instructions: {file: ./sub/b.md}
    model: replay/some file.jsonl
    model_settings: {temperature: 0, top_p: 1, max_output_tokens: 5, reasoning_effort: low, parallel_tool_calls: false, seed: 7, stop: "\n"}
    tools: [read_file]
    handoff_reminder:
  B: {instructions: x, max_silence: 4, handoff_reminder: Go on., model_settings: {stop: [a, b]}}
  C: {instructions: x, handoff_reminder: ""}
entry_points: [B, A]
communication_flows:
  - A > B < C:
      tool: ask
      description: Ask
      parameters:
        z: {type: [string, "null"], default: 2020-01-01, description: <z>}
        a: {type: array, items: {enum: [1, 2.5, true, null, x]}}
      required: [a]
  - A > C: {tool: ask, parameters: {a: {items: {enum: [1, 2.5, true, null, x]}, type: array}, z: {description: <z>, type: [string, "null"], default: 2020-01-01}}, required: [a]}
limits: {max_depth: 1, max_runs: 2, max_tokens: 5, max_cost: 0.5, max_seconds: 7, max_silence: 9}
session_limits: {max_tokens: 50, max_cost: 3}
`)
	if agency.Name != "all-of-it" || agency.Description != "Two\nlines\n" || agency.SharedInstructions != "Answer.\n" ||
		agency.Model != "openai/org/model:tag" || !slices.Equal(agency.EntryPoints, []string{"B", "A"}) {
		t.Errorf("%+v", agency)
	}
	if want := (agencies.Limits{
		MaxDepth: 1, MaxRuns: 2, MaxTurnCalls: 400, MaxCalls: 60, MaxHandoffs: 6, MaxTokens: 5, MaxCost: 0.5, MaxSeconds: 7, MaxSilence: 9,
	}); agency.Limits != want || agency.SessionLimits != (agencies.SessionLimits{MaxTokens: 50, MaxCost: 3}) || agency.Agents[1].MaxSilence != 4 {
		t.Errorf("%+v", agency.Limits)
	}
	a, s := agency.Agents[0], agency.Agents[0].Settings
	if a.Instructions != "Answer.\n" || a.Model != "replay/some file.jsonl" || !slices.Equal(a.Tools, []string{"read_file"}) ||
		*s.Temperature != 0 || *s.TopP != 1 || s.MaxOutputTokens != 5 || s.ReasoningEffort != "low" ||
		*s.ParallelToolCalls || *s.Seed != 7 || !slices.Equal(s.Stop, []string{"\n"}) {
		t.Errorf("%+v %+v", a, s)
	}
	if *a.HandoffReminder != "" || *agency.Agents[1].HandoffReminder != "Go on." || *agency.Agents[2].HandoffReminder != "" {
		t.Error("the handoff reminders differ")
	}
	tools := agency.SendTools("A")
	if len(tools) != 1 || tools[0].Description != "Ask" || !slices.Equal(tools[0].Recipients, []string{"B", "C"}) ||
		!slices.Equal(tools[0].Required, []string{"a"}) || len(tools[0].Parameters) != 2 {
		t.Fatalf("%+v", tools)
	}
	z, p := tools[0].Parameters[0], tools[0].Parameters[1]
	if z.Name != "z" || string(z.Schema) != `{"type":["string","null"],"default":"2020-01-01","description":"<z>"}` ||
		string(p.Schema) != `{"type":"array","items":{"enum":[1,2.5,true,null,"x"]}}` {
		t.Errorf("%s\n%s", z.Schema, p.Schema)
	}
}

func TestJSONIsYAML(t *testing.T) {
	t.Parallel()
	agency := mustParse(t, "\ufeff{\r\n\t\"name\": \"t\",\r\n\t\"agents\": {\"\\ud83d\\ude00 A\\/B\": {\"instructions\": \"a\\u00e9\\\\ud83d\\n\"}}\r\n}\r\n")
	if agent := agency.Agents[0]; agent.Name != "😀 A/B" || agent.Instructions != "aé\\ud83d\n" {
		t.Errorf("%q: %q", agent.Name, agent.Instructions)
	}
}

func TestSharedInstructions(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"":                                      "",
		"shared_instructions: ''":               "",
		"shared_instructions: Be brief.":        "Be brief.",
		"shared_instructions: {file: sub/b.md}": "Answer.\n",
	} {
		if got := mustParse(t, threeAgents+file+"\n").SharedInstructions; got != want {
			t.Errorf("%s gives %q", file, got)
		}
	}
}

// FuzzParse holds that no file brings the reader down, and that every fault stands in the file.
func FuzzParse(f *testing.F) {
	f.Add(threeAgents + flows + "  - A > B: {tool: ask, parameters: {p: {type: string}}, required: [p]}\n")
	f.Add(oneAgent + "    tools: [x, *y]\n\tz: &a [<<, !!x 1]\n---\n")
	f.Add("{\"name\": \"\\ud83d\\ude00\", \"agents\": {}}")
	f.Add("a: |\n \u2028\r\r\nb: 'x\n\n")
	f.Fuzz(func(t *testing.T, file string) {
		agency, err := agencies.Parse("f", []byte(file), faultFiles, everything)
		if err == nil {
			agencies.Draw(agency)
			if len(agency.Agents) == 0 || len(agency.EntryPoints) == 0 {
				t.Fatal("sound without agents or entry points")
			}
			return
		}
		text := strings.TrimPrefix(file, "\ufeff")
		lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), "\n")
		for _, fault := range err.(*agencies.FileError).Faults {
			if fault.Line < 1 || fault.Line > len(lines) || fault.Column < 1 ||
				fault.Column > len([]rune(lines[fault.Line-1]))+1 {
				t.Errorf("%d:%d is not in the file: %s", fault.Line, fault.Column, fault.Message)
			}
		}
	})
}

func BenchmarkParseTwentyAgents(b *testing.B) {
	var file strings.Builder
	file.WriteString("name: t\nagents:\n")
	for i := range 20 {
		name := string(rune('A' + i))
		file.WriteString("  " + name + ":\n    description: Does " + name + "\n    tools: [read_file, search_files]\n    instructions: |\n" +
			strings.Repeat("      A line of instructions, as long as such a line usually is in a file.\n", 20))
	}
	file.WriteString("communication_flows:\n")
	for i := range 19 {
		file.WriteString("  - A > " + string(rune('B'+i)) + ": {tool: ask, parameters: {p: {type: string, enum: [a, b]}}, required: [p]}\n")
	}
	data := []byte(file.String())
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := agencies.Parse("f", data, nil, everything); err != nil {
			b.Fatal(err)
		}
	}
}
