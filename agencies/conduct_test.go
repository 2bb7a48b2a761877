package agencies_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"bureau/agencies"
)

const whole = `
name: t
variables: {topic: fish, user: ""}
send_message: {name: ask_colleague, description: Ask somebody}
agents:
  A:
    instructions: {text: "About {{topic}}.", file: own.md, files: "docs/*.md"}
    tools: [read_file, search_files]
    input_guardrails:
      - {deny: '(?i)password', message: No passwords., raise: true}
      - {max_length: 10}
      - {command: [check, -x], timeout: 5s}
      - {judge: "Is it about fish?", model: openai/small}
    output_guardrails:
      - {allow: fish}
      - {json_schema: {type: object, required: [a], properties: {a: {type: string}}}}
    validation_attempts: 3
    output_type: {type: object, properties: {a: {type: string}}}
    input: {type: object, properties: {q: {type: string}}}
    system_reminders: [Be brief., {every_tool_calls: 2, message: "On {{topic}}?"}]
    tool_use_behavior: {stop_at: [ask_colleague]}
    one_call_at_a_time: [search_files]
    conversation_starters: [Hello]
    quick_replies: ["Yes", "No"]
    capabilities: [swim]
    cannot_do: [fly]
  B: {instructions: x, supports_outbound_communication: false, tool_use_behavior: stop_on_first_tool, system_reminders: One.}
communication_flows: [A > B]
`

func TestConductIsRead(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"own.md": {Data: []byte("Own.\n")}, "docs/b.md": {Data: []byte("Two.\n")}, "docs/a.md": {Data: []byte("One.\n")},
		"docs/c.txt": {Data: []byte("no")},
	}
	agency, err := agencies.Parse("f", []byte(whole), files, everything)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := agency.Agent("A")
	if want := "About {{topic}}.\n\nOwn.\n\nFile docs/a.md:\n\nOne.\n\nFile docs/b.md:\n\nTwo."; a.Instructions != want {
		t.Errorf("instructions %q", a.Instructions)
	}
	in, out := a.InputGuardrails, a.OutputGuardrails
	if len(in) != 4 || !in[0].Deny.MatchString("PassWord") || in[0].Message != "No passwords." || !in[0].Raise || in[1].MaxLength != 10 ||
		in[1].Raise || strings.Join(in[2].Command, " ") != "check -x" || in[2].Timeout != 5*time.Second ||
		in[3].Judge != "Is it about fish?" || in[3].Model != "openai/small" {
		t.Errorf("input guardrails %+v", in)
	}
	if len(out) != 2 || out[0].Allow == nil || len(out[1].Schema) == 0 || a.ValidationAttempts != 3 || !agency.HasCommands() {
		t.Errorf("output guardrails %+v", out)
	}
	if len(a.OutputType) == 0 || len(a.Input) == 0 || len(a.Reminders) != 2 || a.Reminders[0] != (agencies.Reminder{Message: "Be brief."}) ||
		a.Reminders[1].EveryToolCalls != 2 {
		t.Errorf("%+v", a)
	}
	if strings.Join(a.ToolUse.StopAt, "") != "ask_colleague" || strings.Join(a.OneCallAtATime, "") != "search_files" ||
		strings.Join(a.Starters, "") != "Hello" || strings.Join(a.QuickReplies, " ") != "Yes No" ||
		strings.Join(a.Capabilities, "") != "swim" || strings.Join(a.CannotDo, "") != "fly" {
		t.Errorf("%+v", a)
	}
	b, _ := agency.Agent("B")
	if !b.ReceiveOnly || !b.ToolUse.StopOnFirst || b.ValidationAttempts != agencies.DefaultValidationAttempts || len(b.Reminders) != 1 {
		t.Errorf("%+v", b)
	}
	send := agency.SendTools("A")
	if len(send) != 1 || send[0].Name != "ask_colleague" || send[0].Description != "Ask somebody" {
		t.Errorf("send tools %+v", send)
	}
	if len(agency.Variables) != 2 || agency.Variables[0] != (agencies.Variable{Name: "topic", Value: "fish"}) {
		t.Errorf("variables %+v", agency.Variables)
	}
	if err := schemaError(t, []byte(whole)); err != nil {
		t.Errorf("the schema: %v", err)
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	value := func(name string) (string, bool) { return "<" + name + ">", name != "c" }
	for text, want := range map[string]string{
		"plain": "plain", "{{a}} {{ b-2 }}{{c}}": "<a> <b-2>{{c}}", `\{{a}}`: "{{a}}", "{{a b}} {{}} {a}": "{{a b}} {{}} {a}", "{{{a}}}": "{<a>}",
	} {
		if got := agencies.Expand(text, value); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
}
