package engine_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"bureau/agencies"
	"bureau/engine"
	"bureau/engine/llm/llmtest"
)

// offered is what each agent's model is offered when it is asked, as tool names; a send tool is followed by its recipients.
func offered(t *testing.T, yaml string) map[string]string {
	t.Helper()
	b := newBench(t, yaml, nil)
	all := map[string]string{}
	for _, a := range b.agency.Agents {
		b.ok(a.Name, "hi")
		var names []string
		for _, tool := range b.asked(a.Name)[0].Tools {
			name := tool.Name
			if list := recipients(t, tool); list != nil {
				name += strings.Join(list, "+")
			}
			names = append(names, name)
		}
		all[a.Name] = strings.Join(names, " ")
	}
	return all
}

// recipients is the enumeration of a send tool; nil for another tool.
func recipients(t *testing.T, tool llmtest.Tool) []string {
	t.Helper()
	var schema struct {
		Properties map[string]struct {
			Enum []string `json:"enum"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(tool.Parameters, &schema); err != nil {
		t.Fatal(err)
	}
	if list := schema.Properties["recipient_agent"].Enum; list != nil {
		return append([]string{""}, list...)
	}
	return nil
}

func offers(yaml string, want map[string]string) func(*testing.T) {
	return func(t *testing.T) {
		got := offered(t, yaml)
		for agent, tools := range want {
			if got[agent] != tools {
				t.Errorf("%s is offered %q, want %q", agent, got[agent], tools)
			}
		}
	}
}

// refuses checks that a file is refused, and that the error says where and has every part in it.
func refuses(yaml string, parts ...string) func(*testing.T) {
	return func(t *testing.T) {
		_, err := agencies.Parse("test.yaml", []byte("name: test\n"+yaml), nil, agencies.Known{})
		if err == nil {
			t.Fatalf("accepted:\n%s", yaml)
		}
		holds(t, "the error", err.Error(), append(parts, "test.yaml:")...)
	}
}

var flowLines = lines{
	letter: "F", last: 40,
	leftOut: map[string]string{
		"F16": noToolClasses, "F24": "a file with a fault is refused as a whole, so no edge is left half built", "F25": noToolClasses,
		"F26": "a deprecated name of the reference", "F33": "a flow from an agent that only receives is a fault of the file", "F34": noToolClasses,
		"F36": "tools belong to the program and hold no state of an agent; there are no shared copies",
		"F37": "an agency has no tools of its own beside those of its agents", "F38": "tools are not loaded from folders",
	},
	covered: map[string]func(*testing.T){
		"F01": func(t *testing.T) {
			b := newBench(t, agentsOf("A"), nil)
			equal(t, "entry points", b.agency.EntryPoints, []string{"A"})
			if got := b.ok("A", "hi"); got.Agent != "A" || got.Text != "A answers hi" {
				t.Errorf("got %+v", got)
			}
		},
		"F02": offers(agentsOf("A B", "A > B"), map[string]string{"A": "send_message+B", "B": ""}),
		"F03": offers(agentsOf("A B C", "A > B > C: {tool: request}"), map[string]string{"A": "request+B", "B": "request+C", "C": ""}),
		"F04": offers(agentsOf("A B C", "C < B < A: {tool: request}"), map[string]string{"A": "request+B", "B": "request+C", "C": ""}),
		"F05": offers(agentsOf("A B C D", "A > B > C: {tool: request}", "A > C", "B > D: handoff"), map[string]string{
			"A": "request+B send_message+C", "B": "request+C transfer_to_D", "C": "", "D": "",
		}),
		"F06": offers(agentsOf("A B", "A > B", "A > B: handoff"), map[string]string{"A": "send_message+B transfer_to_B"}),
		"F07": offers(agentsOf("A B C", "A > B", "A > C"), map[string]string{"A": "send_message+B+C"}),
		"F08": offers(agentsOf("A B C", "A > B", "A > C", "B > C: handoff"), map[string]string{
			"A": "send_message+B+C", "B": "transfer_to_C", "C": "",
		}),
		"F09": offers(agentsOf("B C D", "B > C: handoff", "B > D: handoff"), map[string]string{"B": "transfer_to_C transfer_to_D"}),
		"F10": offers(agentsOf("A B C", "A > B", "B > A: handoff", "A > C", "B > C: handoff"), map[string]string{
			"A": "send_message+B+C", "B": "transfer_to_A transfer_to_C", "C": "",
		}),
		"F11": refuses(agentsOf("A B", "A > B: {tool: request}", "A > B: {tool: request}"), `"A"`, `"B"`, "already"),
		"F12": refuses(agentsOf("A B", "A > B: {tool: request}", "A > B: {tool: demand}"), "second send tool", `"A"`, `"B"`),
		"F13": refuses(agentsOf("A B C", "A > B > C: {tool: request}", "A > B"), "second send tool", `"A"`, `"B"`),
		"F14": refuses(agentsOf("A B", "A > B", "A > B"), `"A"`, `"B"`, "already"),
		"F15": refuses(agentsOf("A B", "A > B: handoff", "A > B: handoff"), `"A"`, `"B"`, "already"),
		"F17": refuses(agentsOf("A B", "A > B: {class: Other}"), "class"),
		"F18": refuses(agentsOf("A B", "A > B: []"), "what an edge has", "list"),
		"F19": refuses(agentsOf("A B", "A > B: x"), "handoff", `"x"`),
		"F20": refuses(agentsOf("A", "A > Bee"), "Bee"),
		"F21": refuses(agentsOf("A B", "A"), `"A"`),
		"F22": refuses(agentsOf("A B", "A > > B"), "missing"),
		"F23": func(t *testing.T) {
			b := newBench(t, agentsOf("A B C D", "A > B > C > D"), nil)
			var edges []string
			for _, f := range b.agency.Flows {
				edges = append(edges, f.From+f.To)
			}
			equal(t, "edges", edges, []string{"AB", "BC", "CD"})
		},
		"F27": refuses("agents:\n  Bob: {instructions: one}\n  BOB: {instructions: two}\n", "Bob", "BOB"),
		"F28": refuses(agentsOf("A")+"modle: x/y\n", "modle", `"model"`),
		"F29": refuses("communication_flows: []\n", "no agents"),
		"F30": refuses("agents: {}\ncommunication_flows: []\n", "no agents"),
		"F31": func(t *testing.T) {
			refuses(agentsOf("A", "A > A"), `"A"`, "itself")(t)
			refuses(agentsOf("A", "A > A: handoff"), `"A"`, "itself")(t)
		},
		"F32": func(t *testing.T) {
			b := newBench(t, agentsOf("A B C", "B > C"), nil)
			if got := b.ok("C", "hi"); got.Agent != "C" || got.Text != "C answers hi" {
				t.Errorf("got %+v", got)
			}
		},
		"F35": func(t *testing.T) {
			files := fstest.MapFS{"manifesto.md": {Data: []byte("From the file.")}}
			for shared, want := range map[string]string{
				"shared_instructions: As text.": "As text.\n\nI am A", "shared_instructions: {file: manifesto.md}": "From the file.\n\nI am A", "": "I am A",
			} {
				b := newBench(t, agentsOf("A"), nil)
				agency, err := agencies.Parse("test.yaml", []byte("name: test\n"+agentsOf("A")+shared+"\n"), files, agencies.Known{})
				if err != nil {
					t.Fatal(err)
				}
				b.engine = b.newEngine(agency)
				b.ok("A", "hi")
				if got := b.asked("A")[0].System; got != want {
					t.Errorf("with %q the system prompt is %q, want %q", shared, got, want)
				}
			}
		},
		"F39": func(t *testing.T) {
			b := newBench(t, agentsOf("A B", "A > B"), play{"A": first("f", send("c", "B", "m"))})
			other := b.parse(agentsOf("A C", "A > C"))
			b.begin("other")
			b.ok("A", "one")
			if _, err := b.newEngine(other).Turn(t.Context(), turnOf("other", "A", "two")); err != nil {
				t.Fatal(err)
			}
			last := b.asked("A")
			equal(t, "the other agency's thread", heard(last[2])[:1], []string{"user: two"})
			if list := recipients(t, last[2].Tools[0]); !slices.Equal(list, []string{"", "C"}) {
				t.Errorf("recipients there: %q", list)
			}
			holds(t, "the output there", strings.Join(last[3].Results(), ""), "Error: ", `"B"`, "C")
		},
		"F40": refuses(agentsOf("A B")+"entry_points: [A, A, B]\n", `"A"`, "twice"),
	},
}

func turnOf(session, to, text string) engine.Input {
	return engine.Input{SessionID: session, Recipient: to, Text: text}
}
