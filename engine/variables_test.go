package engine_test

import (
	"strings"
	"testing"

	"bureau/engine/llm/llmtest"
)

const sharing = `
variables: {topic: fish, user: ""}
shared_instructions: For {{user}}.
agents:
  A: {instructions: "About {{ topic }}, literally \\{{topic}}.", tools: [get_variable, set_variable]}
  B: {instructions: "I am B", tools: [set_variable, get_variable]}
communication_flows: [A > B]
`

// sharedVariables are the lines on what agents share in a session.
var sharedVariables = map[string]func(*testing.T){
	"E11": func(t *testing.T) {
		b := newBench(t, sharing, play{"A": first("done", call("c1", "set_variable", `{"name":"topic","value":"birds"}`))})
		b.ok("A", "one")
		b.engine = b.newEngine(b.agency) // as after a restart
		b.ok("A", "two")
		equal(t, "prompts", []string{b.asked("A")[0].System, b.asked("A")[1].System, b.asked("A")[2].System}, []string{
			"For .\n\nAbout fish, literally {{topic}}.", "For .\n\nAbout birds, literally {{topic}}.", "For .\n\nAbout birds, literally {{topic}}.",
		})
		b.begin("other")
		b.session = "other"
		b.ok("A", "three")
		if got := b.asked("A")[4].System; !strings.Contains(got, "About fish") {
			t.Errorf("another session has %q", got)
		}
	},
	"X22": func(t *testing.T) {
		b := newBench(t, sharing, play{
			"A": inTurn(calls(send("c1", "B", "m")), calls(call("c2", "get_variable", `{"name":"topic"}`)), text("done")),
			"B": first("r", call("c3", "set_variable", `{"name":"topic","value":"trees"}`)),
		})
		b.ok("A", "one")
		equal(t, "A's outputs", b.outputs("A"), []string{"r", "trees"})
		if set, err := b.store.Variables(t.Context(), b.session); err != nil || set["topic"] != "trees" {
			t.Errorf("stored: %q, %v", set, err)
		}
	},
}

func TestVariableTools(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tool, arguments, want string }{
		{"get_variable", `{"name":"topic"}`, "fish"},
		{"get_variable", `{"name":"user"}`, ""},
		{"get_variable", `{"name":"other"}`, `Error: there is no variable "other"; there are: topic, user`},
		{"get_variable", `{}`, "Error: the arguments of get_variable do not fit"},
		{"set_variable", `{"name":"new-one","value":"x"}`, "new-one is set."},
		{"set_variable", `{"name":"a b","value":"x"}`, `Error: "a b" is no name of a variable`},
		{"set_variable", `{"name":"topic","value":"` + strings.Repeat("x", 64<<10+1) + `"}`, "Error: the value has 65537 bytes; at most 65536 are kept"},
	} {
		b := newBench(t, sharing, play{"A": first("done", call("c1", c.tool, c.arguments))})
		b.ok("A", "hi")
		if got := b.outputs("A")[0]; !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %.60s: %q", c.tool, c.arguments, got)
		}
	}
}

// What a sender adds is the sender's word, and no text of the agency's.
func TestVariablesAreNotPutIntoWhatPeopleSay(t *testing.T) {
	t.Parallel()
	b := newBench(t, sharing, play{"A": first("done", sendWith("c1", "B", "m {{topic}}", "add {{topic}}"))})
	b.ok("A", "hi {{topic}}")
	for _, r := range []*llmtest.Request{b.asked("A")[0], b.asked("B")[0]} {
		if body := string(r.Body); !strings.Contains(body, "{{topic}}") || strings.Contains(r.Last, "fish") || strings.Contains(r.System, "add fish") {
			t.Errorf("%s is asked %s", r.Model, body)
		}
	}
}
