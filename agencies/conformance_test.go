package agencies_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bureau/agencies"
)

// wired is what an agent can reach, in a line: its send tools with their recipients, then its handoffs.
func wired(a *agencies.Agency, agent string) string {
	var parts []string
	for _, tool := range a.SendTools(agent) {
		parts = append(parts, tool.Name+"("+strings.Join(tool.Recipients, ",")+")")
	}
	for _, to := range a.Handoffs(agent) {
		parts = append(parts, "handoff("+to+")")
	}
	return strings.Join(parts, " ")
}

// edgesOf is the edges of an agency in order.
func edgesOf(a *agencies.Agency) string {
	var edges []string
	for _, flow := range a.Flows {
		edges = append(edges, flow.From+">"+flow.To)
	}
	return strings.Join(edges, " ")
}

func mustParse(t *testing.T, file string) *agencies.Agency {
	t.Helper()
	agency, err := agencies.Parse("f", []byte(file), faultFiles, everything)
	if err != nil {
		t.Fatal(err)
	}
	return agency
}

// The lines F01 to F40 of the conformance table: for each what must come of it, or why no file can say it.
func TestConformanceOfFlows(t *testing.T) {
	t.Parallel()
	const four = threeAgents + "  D: {instructions: x}\n"
	cases := []struct {
		id, flows string
		// want is agent: what it can reach, separated by semicolons; edges all edges in order; fault a part of the error.
		want, edges, fault string
		// cannot is why the line has no meaning in a file.
		cannot string
	}{
		{id: "F01", want: "A: ; B: ; C: ; D: "},
		{id: "F02", flows: "[A > B]", want: "A: send_message(B); B: "},
		{id: "F03", flows: "[{A > B > C: {tool: ask}}]", want: "A: ask(B); B: ask(C); C: ", edges: "A>B B>C"},
		{id: "F04", flows: "[{C < B < A: {tool: ask}}]", want: "A: ask(B); B: ask(C); C: "},
		{id: "F05", flows: "[{A > B > C: {tool: ask}}, A > D, {B > D: handoff}]",
			want: "A: ask(B) send_message(D); B: ask(C) handoff(D); C: ; D: "},
		{id: "F06", flows: "[A > B, {A > B: handoff}]", want: "A: send_message(B) handoff(B); B: "},
		{id: "F07", flows: "[A > B, A > C]", want: "A: send_message(B,C)"},
		{id: "F08", flows: "[A > B, A > C, {B > C: handoff}]", want: "A: send_message(B,C); B: handoff(C); C: "},
		{id: "F09", flows: "[{B > C: handoff}, {B > D: handoff}]", want: "B: handoff(C) handoff(D)"},
		{id: "F10", flows: "[A > B, {B > A: handoff}, A > C, {B > C: handoff}]",
			want: "A: send_message(B,C); B: handoff(A) handoff(C)"},
		{id: "F11", flows: "[A > B, A > B]", fault: `"A" may write to "B" already`},
		{id: "F12", flows: "[{A > B: {tool: ask}}, {A > B: {tool: beg}}]", fault: `a second send tool from "A" to "B"`},
		{id: "F13", flows: "[{A > B > C: {tool: ask}}, A > B]", fault: `a second send tool from "A" to "B"`},
		{id: "F14", flows: "[A > B > C, C < B]", fault: `"B" may write to "C" already`},
		{id: "F15", flows: "[{A > B: handoff}, {A > B: handoff}]", fault: `"A" hands over to "B" already`},
		{id: "F16", cannot: "there is one kind of handoff, so an edge cannot have two different ones"},
		{id: "F17", flows: "[{A > B: shout}]", fault: `an edge is a handoff or has a tool of its own, not "shout"`},
		{id: "F18", flows: "[{A > B: []}]", fault: "must be handoff or a mapping with its tool"},
		{id: "F19", flows: "[{A > B: x}]", fault: `not "x"`},
		{id: "F20", flows: "[A > Zed]", fault: `unknown agent: "Zed"`},
		{id: "F21", flows: "[A, [A], [A, B, C, D]]", fault: "write a chain of agents such as A > B"},
		{id: "F22", flows: "[A > 5]", fault: `unknown agent: "5"`},
		{id: "F23", flows: "[A > B > C > D]", edges: "A>B B>C C>D"},
		{id: "F24", flows: "[{A > B: {tool: 'a b'}}, A > C]", fault: `the tool name "a b"`},
		{id: "F25", cannot: "handoffs stand in the flows alone, so none can be given to an agent twice"},
		{id: "F26", cannot: "the format has no older names"},
		{id: "F27", cannot: "an agent is one key of a mapping; the same name twice is among the faults of agents"},
		{id: "F28", flows: "[]\nmodle: x", fault: `unknown key of the agency: "modle"; did you mean "model"`},
		{id: "F29", cannot: "without entry_points the first agent is one; a file without agents is a fault"},
		{id: "F30", cannot: "agents: {} is among the faults of agents"},
		{id: "F31", flows: "[A > A, {B > B: handoff}]", fault: `"A" cannot write to itself`},
		{id: "F32", flows: "[C > D]", want: "A: ; C: send_message(D); D: "},
		{id: "F33", cannot: "whoever stands left of an arrow may send; there is no setting against it"},
		{id: "F34", flows: "[{A > B: {tool: ask}}, A > C]", want: "A: ask(B) send_message(C)"},
		{id: "F35", cannot: "texts and files of shared instructions have a test of their own"},
		{id: "F36", cannot: "tools are names here; what is shared between agents is not this package's"},
		{id: "F37", cannot: "tools are names here, and a name twice is a fault"},
		{id: "F38", cannot: "the format names no folder of tools"},
		{id: "F39", cannot: "an agency is a value of its own and shares nothing with another"},
		{id: "F40", flows: "[A > B]\nentry_points: [A, A, B]", fault: `"A" stands twice in entry_points`},
	}
	for i, test := range cases {
		if want := fmt.Sprintf("F%02d", i+1); test.id != want {
			t.Fatalf("the line %s is missing", want)
		}
		t.Run(test.id, func(t *testing.T) {
			t.Parallel()
			if test.cannot != "" {
				t.Skip(test.cannot)
			}
			file := four
			if test.flows != "" {
				file += "communication_flows: " + test.flows + "\n"
			}
			agency, err := agencies.Parse("f", []byte(file), nil, everything)
			if test.fault != "" {
				if err == nil || !strings.Contains(err.Error(), test.fault) {
					t.Fatalf("the error is %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(agency.Agents) != 4 || !slices.Equal(agency.EntryPoints, []string{"A"}) {
				t.Errorf("agents %v, entry points %v", agency.Agents, agency.EntryPoints)
			}
			if test.edges != "" && edgesOf(agency) != test.edges {
				t.Errorf("the edges are %s", edgesOf(agency))
			}
			for line := range strings.SplitSeq(test.want, "; ") {
				if agent, want, ok := strings.Cut(line, ": "); ok && wired(agency, agent) != want {
					t.Errorf("%s can reach %q, not %q", agent, wired(agency, agent), want)
				}
			}
		})
	}
}
