package agencies

import (
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Reminder is a system message that is sent for one model call and never stored.
type Reminder struct {
	// EveryToolCalls is after how many tool calls of the agent it is due; 0 is after every message of the user.
	EveryToolCalls int
	Message        string
}

// ToolUse says what follows a reply that calls tools. The zero value asks the model again.
type ToolUse struct {
	// StopOnFirst makes the output of the reply's first tool the answer.
	StopOnFirst bool
	// StopAt makes the output of the first of these tools the answer.
	StopAt []string
}

var (
	conductKeys = []string{"input_guardrails", "output_guardrails", "validation_attempts", "output_type", "system_reminders",
		"tool_use_behavior", "one_call_at_a_time", "conversation_starters", "quick_replies", "supports_outbound_communication",
		"capabilities", "cannot_do", "input"}
	reminderKeys = []string{"every_tool_calls", "message"}
	toolUseKeys  = []string{"stop_at"}
	toolUseWords = []string{"run_llm_again", "stop_on_first_tool"}
)

// conduct reads how an agent behaves: what it may be sent and answer, and what follows its calls.
func (d *decoder) conduct(keys map[string]entry, agent *Agent) {
	agent.ValidationAttempts = DefaultValidationAttempts
	if e, ok := keys["input_guardrails"]; ok {
		agent.InputGuardrails = d.guardrails(e.value, e.name, inputGuardrailKeys)
	}
	if e, ok := keys["output_guardrails"]; ok {
		agent.OutputGuardrails = d.guardrails(e.value, e.name, outputGuardrailKeys)
	}
	if e, ok := keys["validation_attempts"]; ok {
		if i := d.integer(e.value, e.name, 0, 10); i != nil {
			agent.ValidationAttempts = *i
		}
	}
	if e, ok := keys["output_type"]; ok {
		agent.OutputType = d.objectSchema(e.value, e.name)
	}
	if e, ok := keys["input"]; ok {
		agent.Input = d.objectSchema(e.value, e.name)
		d.usableInput(e.value, agent.Input)
	}
	if e, ok := keys["system_reminders"]; ok {
		agent.Reminders = d.reminders(e.value)
	}
	if e, ok := keys["tool_use_behavior"]; ok {
		agent.ToolUse = d.toolUse(e.value, agent.Name)
	}
	if e, ok := keys["one_call_at_a_time"]; ok {
		agent.OneCallAtATime = d.ownTools(e.value, e.name, agent.Name)
	}
	for key, list := range map[string]*[]string{
		"conversation_starters": &agent.Starters, "quick_replies": &agent.QuickReplies,
		"capabilities": &agent.Capabilities, "cannot_do": &agent.CannotDo,
	} {
		if e, ok := keys[key]; ok {
			d.words(e.value, key, func(word string, _ *yaml.Node) { *list = append(*list, strings.TrimSpace(word)) })
		}
	}
	if e, ok := keys["supports_outbound_communication"]; ok {
		if b := d.boolean(e.value, e.name); b != nil {
			agent.ReceiveOnly = !*b
		}
	}
}

// usableInput refuses an input that a sender could not fill in.
func (d *decoder) usableInput(n *yaml.Node, schema json.RawMessage) {
	var object struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if n.Kind == yaml.MappingNode && json.Unmarshal(schema, &object) == nil && len(object.Properties) == 0 {
		d.fault(at(n), "input has no properties; write what the agent is sent, such as {type: object, properties: {topic: {type: string}}}")
	}
}

func (d *decoder) reminders(n *yaml.Node) []Reminder {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	var reminders []Reminder
	for _, item := range items {
		if item.Kind != yaml.MappingNode {
			text, _ := d.phrase(item, "a reminder")
			d.refersTo(item, text)
			reminders = append(reminders, Reminder{Message: text})
			continue
		}
		var r Reminder
		keys := d.object(item, "a reminder", reminderKeys)
		if e, ok := keys["every_tool_calls"]; !ok {
			d.fault(at(item), "the reminder says not when; write every_tool_calls, or the text alone for one after every message of the user")
		} else if i := d.integer(e.value, e.name, 1, 10_000); i != nil {
			r.EveryToolCalls = *i
		}
		if e, ok := keys["message"]; !ok {
			d.fault(at(item), "the reminder has no message")
		} else {
			r.Message, _ = d.phrase(e.value, "message")
			d.refersTo(e.value, r.Message)
		}
		reminders = append(reminders, r)
	}
	return reminders
}

func (d *decoder) toolUse(n *yaml.Node, agent string) ToolUse {
	if n.Kind != yaml.MappingNode {
		word, ok := d.word(n, "tool_use_behavior")
		if ok && !slices.Contains(toolUseWords, word) {
			d.unknown(at(n), "tool_use_behavior", word, append(slices.Clone(toolUseWords), "{stop_at: [tool]}"))
		}
		return ToolUse{StopOnFirst: word == "stop_on_first_tool"}
	}
	keys := d.object(n, "tool_use_behavior", toolUseKeys)
	e, ok := keys["stop_at"]
	if !ok {
		d.fault(at(n), "tool_use_behavior is run_llm_again, stop_on_first_tool or {stop_at: [tool]}")
		return ToolUse{}
	}
	return ToolUse{StopAt: d.ownTools(e.value, "stop_at", agent)}
}

// ownTools reads names of tools that the agent has: those that it is given, and those that its edges give it.
func (d *decoder) ownTools(n *yaml.Node, what, agent string) []string {
	var names []string
	d.words(n, what, func(word string, n *yaml.Node) {
		names = append(names, word)
		d.later = append(d.later, func(a *Agency) {
			owner, _ := a.Agent(agent)
			tools := slices.Clone(owner.Tools)
			for _, send := range a.SendTools(agent) {
				tools = append(tools, send.Name)
			}
			if !slices.Contains(tools, word) {
				d.unknown(at(n), "tool of "+quote(agent)+" in "+what, word, tools)
			}
		})
	})
	return names
}

// phrase reads a text that must not be empty; it may have several lines.
func (d *decoder) phrase(n *yaml.Node, what string) (string, bool) {
	s, ok := d.text(n, what)
	if ok && strings.TrimSpace(s) == "" {
		d.fault(at(n), "%s is empty", what)
		return "", false
	}
	return s, ok
}

// objectSchema reads a JSON Schema of an object.
func (d *decoder) objectSchema(n *yaml.Node, what string) json.RawMessage {
	if n.Kind != yaml.MappingNode {
		d.wrongType(n, what, "a JSON Schema such as {type: object, properties: {title: {type: string}}}")
		return nil
	}
	before := len(d.faults)
	d.schema(n, 0)
	text := d.json(n, 0)
	if len(d.faults) > before {
		return nil
	}
	var schema struct {
		Type any `json:"type"`
	}
	if json.Unmarshal(text, &schema) == nil && schema.Type != "object" {
		d.fault(at(n), "the schema of %s must have type: object", what)
		return nil
	}
	if problem := schemaProblem(text); problem != "" {
		d.fault(at(n), "%s is no JSON Schema: %s", what, problem)
		return nil
	}
	return text
}
