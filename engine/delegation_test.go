package engine_test

import (
	"slices"
	"testing"
)

const twoAgents = `
agents:
  A: {instructions: I am A}
  B: {instructions: I am B}
communication_flows: [A > B]
`

func TestDelegationIsStoredAsItHappens(t *testing.T) { // X01, X02
	b := newBench(t, twoAgents, play{"A": first("final", send("c1", "B", "do it")), "B": says("done")})
	result := b.ok("A", "hi")
	if result.Text != "final" || result.Agent != "A" {
		t.Errorf("result %q of %s", result.Text, result.Agent)
	}
	want := []string{
		"A< user: hi", "A< call send_message", "B<A user: do it", "B<A assistant: done", "A< output: done", "A< assistant: final",
	}
	if got := b.lines(); !slices.Equal(got, want) {
		t.Errorf("rows\n got %q\nwant %q", got, want)
	}
	for _, m := range b.rows() {
		nested := m.CallerAgent != ""
		if nested != (m.ParentCallID == "c1") || nested != (m.ParentRunID == result.RunID) || m.TraceID != result.TraceID {
			t.Errorf("labels of %s: parent %q %q, trace %q", line(m), m.ParentRunID, m.ParentCallID, m.TraceID)
		}
	}
}
