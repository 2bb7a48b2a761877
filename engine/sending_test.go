package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bureau/engine/llm/llmtest"
)

const formalCheck = `
agents:
  A: {instructions: I am A}
  B: {instructions: I am B, description: Checks}
  C: {instructions: I am C}
communication_flows:
  - A > B:
      tool: request_check
      description: Ask for a formal check
      parameters:
        priority: {type: string, enum: [low, high]}
        count: {type: integer}
      required: [priority]
  - A > C
`

// sends lets A make one call with these arguments, which must be refused, and checks the facts in the output, and that A's run
// went on and nobody was asked.
func sends(yaml, tool, arguments string, parts ...string) func(*testing.T) {
	return func(t *testing.T) {
		b := newBench(t, yaml, play{"A": inTurn(calls(call("c1", tool, arguments)), text("went on"))})
		if got := b.ok("A", "hi").Text; got != "went on" {
			t.Errorf("answer %q", got)
		}
		output := strings.Join(b.outputs("A"), "|")
		holds(t, "the output", output, append(parts, "Error: ")...)
		if got := b.asked("A")[1].Results(); !slices.Equal(got, []string{output}) {
			t.Errorf("A was told %q, stored is %q", got, output)
		}
		for _, m := range b.rows() {
			if m.CallerAgent != "" {
				t.Errorf("a row of a nested run: %s", line(m))
			}
		}
	}
}

func schemaOf(t *testing.T, yaml, agent, name string) (schema struct {
	Type                 string
	Properties           map[string]json.RawMessage
	Required             []string
	AdditionalProperties *bool
}, tool llmtest.Tool,
) {
	t.Helper()
	b := newBench(t, yaml, nil)
	b.ok(agent, "hi")
	tool, ok := b.asked(agent)[0].Tool(name)
	if !ok {
		t.Fatalf("%s is not offered %s", agent, name)
	}
	if err := json.Unmarshal(tool.Parameters, &schema); err != nil {
		t.Fatal(err)
	}
	return schema, tool
}

var sendLines = lines{
	letter: "S", last: 16,
	leftOut: map[string]string{
		"S07": noToolClasses, "S08": noToolClasses, "S10": "a parameter whose schema is not valid is a fault of the file",
	},
	covered: map[string]func(*testing.T){
		"S01": func(t *testing.T) {
			schema, tool := schemaOf(t, agentsOf("A B C", "A > B", "A > C"), "A", "send_message")
			want := []string{"recipient_agent", "message", "additional_instructions"}
			if schema.Type != "object" || !slices.Equal(schema.Required, want) || len(schema.Properties) != 3 ||
				schema.AdditionalProperties == nil || *schema.AdditionalProperties {
				t.Errorf("schema %s", tool.Parameters)
			}
			for _, name := range want {
				holds(t, name, string(schema.Properties[name]), `"type":"string"`)
			}
			holds(t, "recipients", string(schema.Properties["recipient_agent"]), `["B","C"]`)
		},
		"S02": func(t *testing.T) {
			_, tool := schemaOf(t, "agents:\n  A: {instructions: x}\n  B: {instructions: x}\n  C: {instructions: x, description: Checks facts}\n"+
				"communication_flows: [A > B, A > C]\n", "A", "send_message")
			holds(t, "the description", tool.Description, "- B: No description provided", "- C: Checks facts")
		},
		"S03": func(t *testing.T) {
			_, tool := schemaOf(t, agentsOf("A B C", "A > B", "A > C"), "A", "send_message")
			holds(t, "the description", tool.Description, "- B: ", "- C: ")
		},
		"S04": refuses(agentsOf("A B", "A > B", "A > B"), `"B"`, "already"),
		"S05": func(t *testing.T) {
			_, tool := schemaOf(t, formalCheck, "A", "request_check")
			holds(t, "the description", tool.Description, "Ask for a formal check", "- B: Checks")
		},
		"S06": func(t *testing.T) {
			schema, tool := schemaOf(t, formalCheck, "A", "request_check")
			want := []string{"recipient_agent", "message", "additional_instructions", "priority"}
			if !slices.Equal(schema.Required, want) || len(schema.Properties) != 5 {
				t.Errorf("schema %s", tool.Parameters)
			}
			b := newBench(t, formalCheck, play{"A": first("f", call("c1", "request_check",
				`{"recipient_agent":"B","message":"m","additional_instructions":"","count":2,"priority":"high"}`))})
			b.ok("A", "hi")
			if got := b.asked("B")[0].Last; got != "m\n\npriority: high\ncount: 2" {
				t.Errorf("B is told %q", got)
			}
		},
		"S09": sends(formalCheck, "request_check", `{"recipient_agent":"B","message":"m","priority":"urgent"}`, "priority", "low", "high"),
		"S11": sends(agentsOf("A B", "A > B"), "send_message", `{"recipient_agent": "B", `, "send_message", "byte", `"recipient_agent"`),
		"S12": sends(agentsOf("A B", "A > B"), "send_message", `{"recipient_agent":"B"}`, `"message"`, "send_message"),
		"S13": sends(agentsOf("A B", "A > B"), "send_message", `{"message":"m"}`, `"recipient_agent"`, "send_message"),
		"S14": sends(agentsOf("A B C", "A > B", "A > C"), "send_message", `{"recipient_agent":"zed","message":"m"}`, `"zed"`, "B, C"),
		"S15": func(t *testing.T) {
			b := newBench(t, agentsOf("A B", "A > B"), play{"A": first("f", send("c1", "b", "m"))})
			b.ok("A", "hi")
			equal(t, "rows", b.lines(), []string{
				"A< user: hi", "A< call send_message", "B<A user: m", "B<A assistant: B answers m", "A< output: B answers m", "A< assistant: f",
			})
		},
		"S16": func(t *testing.T) {
			sends(formalCheck, "send_message", `{"recipient_agent":"B","message":"m"}`, `"B"`, "C")(t)
			sends(formalCheck, "request_check", `{"recipient_agent":"C","message":"m","priority":"low"}`, `"C"`, "B")(t)
		},
	},
}

// A recipient is found however a model writes it, and one that does not exist is never written to.
func TestRecipientsAreFoundHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	const yaml = "agents:\n  A: {instructions: x}\n  \"Caf\\u00e9 Écho\": {instructions: x}\n  engineer: {instructions: x}\n" +
		"communication_flows: [A > Café Écho, A > engineer]\n"
	for written, want := range map[string]string{
		`"Café Écho"`: "Café Écho", `"CAFÉ ÉCHO"`: "Café Écho", `"café écho"`: "Café Écho",
		`"  Café Écho\n"`: "Café Écho", `"\"Café Écho\""`: "Café Écho", `"'engineer'"`: "engineer", `"“engineer”"`: "engineer",
		`"Cafe\u0301 E\u0301cho"`: "Café Écho", `"Café  Écho"`: "Café Écho",
		`{"type":"engineer"}`: "engineer", `["engineer"]`: "engineer", `[{"name":"Engineer"}]`: "engineer",
		`"enginer"`: "", `""`: "", `null`: "", `["engineer","Café Écho"]`: "", `{}`: "", `7`: "", `"A"`: "",
	} {
		t.Run(written, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, yaml, play{"A": inTurn(
				calls(call("c1", "send_message", fmt.Sprintf(`{"recipient_agent":%s,"message":"m"}`, written))),
				calls(send("c2", "engineer", "again")), text("f"),
			)})
			b.ok("A", "hi")
			told := map[string]int{}
			for _, m := range b.rows() {
				if m.CallerAgent == "A" && m.Role == "user" {
					told[m.Agent]++
				}
			}
			output := b.outputs("A")[0]
			switch {
			case want == "":
				holds(t, "the output", output, "Error: ", "Café Écho, engineer")
				if len(told) != 1 || told["engineer"] != 1 {
					t.Errorf("told %v", told)
				}
			case !strings.Contains(output, " answers m"):
				t.Errorf("output %q", output)
			case told[want] == 0:
				t.Errorf("told %v, want %s", told, want)
			}
			if second := b.outputs("A")[1]; second != "engineer answers again" {
				t.Errorf("the second call gave %q", second)
			}
		})
	}
}

func TestSendingTakesUnknownKeysAndMissingOptionalOnes(t *testing.T) {
	t.Parallel()
	b := newBench(t, twoAgents, play{"A": first("f", call("c1", "send_message", `{"recipient_agent":"B","message":"m","prompt":"p"}`))})
	b.ok("A", "hi")
	holds(t, "the output", b.outputs("A")[0], "B answers m")
	if w := b.custom("warning"); len(w) != 1 || !strings.Contains(fmt.Sprint(w[0]), "prompt") {
		t.Errorf("warnings %v", w)
	}
}
