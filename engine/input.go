package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"bureau/agencies"
	"bureau/engine/llm"
	"bureau/engine/tool"
)

// abilities is what a sender reads of a recipient beside its description.
func abilities(agent agencies.Agent) string {
	text := ""
	if len(agent.Capabilities) > 0 {
		text += " Can: " + strings.Join(agent.Capabilities, "; ") + "."
	}
	if len(agent.CannotDo) > 0 {
		text += " Cannot: " + strings.Join(agent.CannotDo, "; ") + "."
	}
	return text
}

// messageDescription is what a sender reads of the message parameter.
const messageDescription = "The task and what it is for, with all that the recipient needs to know of the conversation so far."

// messageSchema is a text, or the object that a recipient takes; where recipients differ, any of what they take.
func (t sendTool) messageSchema() json.RawMessage {
	plain := mustJSON(map[string]any{"type": "string", "description": messageDescription})
	var forms []json.RawMessage
	var takers [][]string
	for _, name := range t.recipients {
		form := plain
		if schema := t.inputs[name]; schema != nil {
			form = schema
		}
		i := slices.IndexFunc(forms, func(f json.RawMessage) bool { return bytes.Equal(f, form) })
		if i < 0 {
			i = len(forms)
			forms, takers = append(forms, form), append(takers, nil)
		}
		takers[i] = append(takers[i], name)
	}
	if len(forms) == 1 {
		return forms[0]
	}
	about := messageDescription + " Each recipient takes one form:"
	for i, form := range forms {
		what := "an object with " + strings.Join(propertyNames(form), ", ")
		if bytes.Equal(form, plain) {
			what = "a text"
		}
		about += fmt.Sprintf(" %s takes %s.", strings.Join(takers[i], ", "), what)
	}
	return mustJSON(map[string]any{"anyOf": forms, "description": about})
}

// labelled checks the object that a recipient is sent, and writes it as lines, in the order of its schema.
func labelled(schema json.RawMessage, recipient string, raw json.RawMessage) (string, error) {
	if s, err := text(map[string]json.RawMessage{paramMessage: raw}, paramMessage); err == nil && len(raw) > 0 {
		raw = json.RawMessage(s) // some models write an object as a text
	}
	object, _, err := tool.Clean(llm.Tool{Name: paramMessage, Parameters: schema}, raw)
	if err != nil {
		why := err.Error()
		var invalid *tool.InvalidError
		if errors.As(err, &invalid) {
			why = strings.Join(invalid.Faults, "; ")
		}
		return "", fmt.Errorf("the message to %s must be an object that fits this schema: %s\nWhat is wrong: %s", recipient, schema, why)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return "", err
	}
	names := propertyNames(schema)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var lines []string
	for _, name := range names {
		raw, ok := fields[name]
		if !ok {
			continue
		}
		value := string(raw)
		if s, err := text(fields, name); err == nil {
			value = s
		}
		lines = append(lines, name+": "+value)
	}
	return strings.Join(lines, "\n"), nil
}

// propertyNames are the names of an object's properties in the order in which its schema has them.
func propertyNames(schema json.RawMessage) []string {
	var object struct {
		Properties json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &object) != nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(object.Properties))
	if _, err := decoder.Token(); err != nil {
		return nil
	}
	var names []string
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return names
		}
		names = append(names, fmt.Sprint(name))
		var skipped json.RawMessage
		if decoder.Decode(&skipped) != nil {
			return names
		}
	}
	return names
}
