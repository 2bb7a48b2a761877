package agencies_test

import (
	"testing"

	"bureau/agencies"
)

func TestFaultsOfFlows(t *testing.T) {
	t.Parallel()
	checkFaults(t, []faultCase{
		{"flow with an unknown agent", threeAgents + flows + "  - A > Dave\n", []string{"7:9: unknown agent: \"Dave\"; there is: A, B, C"}},
		{"flow with an unknown agent in quotes", threeAgents + flows + "  - \"A > Dave\"\n", []string{"7:10: unknown agent: \"Dave\"; there is: A, B, C"}},
		{"flow in another case", threeAgents + flows + "  - a > B\n", []string{"7:5: unknown agent: \"a\"; did you mean \"A\"?"}},
		{"flow with a foreign arrow", threeAgents + flows + "  - A -> B\n", []string{"7:5: unknown agent: \"A -\"; did you mean \"A\"?"}},
		{"flow without an arrow", threeAgents + flows + "  - A B\n", []string{"7:5: \"A B\" is no communication flow; write a chain of agents such as A > B"}},
		{"flow with a comma", threeAgents + flows + "  - [A, B]\n", []string{"7:5: a communication flow must be a chain of agents such as A > B, not a list"}},
		{"flow that ends in an arrow", threeAgents + flows + "  - A > B >\n", []string{"7:12: a name is missing in the chain \"A > B >\""}},
		{"flow that begins with an arrow", threeAgents + flows + "  - < A\n", []string{"7:5: a name is missing in the chain \"< A\""}},
		{"flow with two arrows", threeAgents + flows + "  - A >> B\n", []string{"7:8: a name is missing in the chain \"A >> B\""}},
		{"flow to itself", threeAgents + flows + "  - A > A\n", []string{"7:9: \"A\" cannot write to itself"}},
		{"flow to itself in a chain", threeAgents + flows + "  - A > B < B\n", []string{"7:13: \"B\" cannot write to itself"}},
		{"flow a number", threeAgents + flows + "  - 5\n", []string{"7:5: a communication flow must be a chain of agents such as A > B, not a number"}},
		{"flow empty", threeAgents + flows + "  - \"\"\n", []string{"7:5: an empty communication flow; write a chain of agents such as A > B"}},
		{"flow an empty mapping", threeAgents + flows + "  - {}\n", []string{"7:5: an empty communication flow; write a chain of agents such as A > B"}},
		{"flows a mapping", threeAgents + flows + "  A > B: handoff\n", []string{"7:3: communication_flows must be a list, not a mapping"}},
		{"flows null", threeAgents + "communication_flows:\n", []string{"6:21: communication_flows must be a list, not nothing"}},
		{"edge twice", threeAgents + flows + "  - A > B\n  - A > B\n", []string{"8:5: \"A\" may write to \"B\" already (line 7)"}},
		{"edge twice through chains", threeAgents + flows + "  - A > B > C\n  - C < B\n", []string{"8:5: \"B\" may write to \"C\" already (line 7)"}},
		{"edge twice in one chain", threeAgents + flows + "  - A > B < A\n", []string{"7:9: \"A\" may write to \"B\" already (line 7)"}},
		{"a second send tool", threeAgents + flows + "  - A > B\n  - A > B: {tool: ask}\n", []string{"8:5: a second send tool from \"A\" to \"B\"; the first is in line 7, and an edge has one"}},
		{"a second send tool, the default after its own", threeAgents + flows + "  - A > B > C: {tool: ask}\n  - A > B\n", []string{"8:5: a second send tool from \"A\" to \"B\"; the first is in line 7, and an edge has one"}},
		{"two tools on one edge", threeAgents + flows + "  - A > B: {tool: ask}\n  - A > B: {tool: beg}\n", []string{"8:5: a second send tool from \"A\" to \"B\"; the first is in line 7, and an edge has one"}},
		{"one tool twice on an edge", threeAgents + flows + "  - A > B: {tool: ask}\n  - A > B: {tool: ask}\n", []string{"8:5: \"A\" may write to \"B\" already (line 7)"}},
		{"handoff twice", threeAgents + flows + "  - A > B: handoff\n  - B < A: handoff\n", []string{"8:5: \"A\" hands over to \"B\" already (line 7)"}},
		{"attribute misspelled", threeAgents + flows + "  - A > B: handof\n", []string{"7:12: an edge is a handoff or has a tool of its own, not \"handof\"; did you mean \"handoff\"?"}},
		{"attribute unknown", threeAgents + flows + "  - A > B: send_message\n", []string{"7:12: an edge is a handoff or has a tool of its own, not \"send_message\""}},
		{"attribute missing", threeAgents + flows + "  - A > B:\n", []string{"7:11: nothing after the colon; write handoff or the edge's own tool, or leave the colon out"}},
		{"attribute a list", threeAgents + flows + "  - A > B: [handoff]\n", []string{"7:12: what an edge has must be handoff or a mapping with its tool (a handoff beside a tool is a flow of its own), not a list"}},
		{"no space after the colon", threeAgents + flows + "  - A > B:handof\n", []string{"7:9: unknown agent: \"B:handof\"; a chain and what its edges are stand apart as A > B: handoff, with a space"}},
		{"two chains in one flow", threeAgents + flows + "  - A > B: handoff\n    B > C: handoff\n", []string{"8:5: a second chain in one communication flow; begin it with its own -"}},
		{"attributes not indented", threeAgents + flows + "  - A > B:\n    tool: ask\n", []string{
			"7:11: nothing after the colon; write handoff or the edge's own tool, or leave the colon out",
			"8:5: \"tool\" belongs to the chain above it; indent it further",
		}},
	})
}

func TestHandoffInQuotes(t *testing.T) {
	t.Parallel()
	for _, flow := range []string{`"A > B: handoff"`, `'A > B:handoff'`, `A > B:handoff`, `A > B: handoff`} {
		a, err := agencies.Parse("x.yaml", []byte(threeAgents+flows+"  - "+flow+"\n"), nil, agencies.Known{})
		if err != nil || len(a.Flows) != 1 || !a.Flows[0].Handoff || a.Flows[0].To != "B" {
			t.Errorf("%s: %+v, %v", flow, a, err)
		}
	}
}
