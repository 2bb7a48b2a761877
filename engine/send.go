package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"bureau/agencies"
	"bureau/engine/llm"
	"bureau/engine/tool"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// The parameters that every send tool has.
const (
	paramRecipient    = "recipient_agent"
	paramMessage      = "message"
	paramInstructions = "additional_instructions"
)

// sendTool is a tool that carries messages: one for each sender and tool name, with the recipients that it may reach.
type sendTool struct {
	definition llm.Tool
	recipients []string
	parameters []agencies.Parameter
	required   []string
	// inputs are the schemas of what those recipients are sent that take an object.
	inputs map[string]json.RawMessage
	// extra describes the edge's own parameters alone, for their check.
	extra llm.Tool
}

func newSendTool(agency *agencies.Agency, send agencies.SendTool) (sendTool, error) {
	var text strings.Builder
	text.WriteString(strings.TrimSpace(send.Description))
	if text.Len() == 0 {
		text.WriteString("Ask a colleague and get the answer back, in one step. The colleague sees this message and what you two " +
			"said to each other before, but not your conversation with anybody else, and the user does not see the answer: pass on " +
			"what matters. Ask again to go on. You may ask several colleagues at once, but each of them only once at a time.")
	}
	text.WriteString("\n\nRecipients:")
	for _, name := range send.Recipients {
		recipient, _ := agency.Agent(name)
		role := strings.TrimSpace(recipient.Description)
		if role == "" {
			role = "No description provided"
		}
		fmt.Fprintf(&text, "\n- %s: %s%s", name, role, abilities(recipient))
	}
	t := sendTool{recipients: send.Recipients, parameters: send.Parameters, required: send.Required, inputs: map[string]json.RawMessage{}}
	for _, name := range send.Recipients {
		if recipient, _ := agency.Agent(name); recipient.Input != nil {
			t.inputs[name] = recipient.Input
		}
	}
	own := objectSchema(t.parameters, t.required)
	t.extra = llm.Tool{Name: send.Name, Parameters: own}
	t.definition = llm.Tool{Name: send.Name, Description: text.String(), Parameters: t.schema()}
	return t, nil
}

// schema has the parameters of every send tool and the edge's own. All of the former are named as required, so that models
// fill them in; a message without additional instructions is delivered all the same.
func (t sendTool) schema() json.RawMessage {
	common := []agencies.Parameter{
		{Name: paramRecipient, Schema: mustJSON(map[string]any{
			"type": "string", "enum": t.recipients, "description": "The name of the agent that is asked.",
		})},
		{Name: paramMessage, Schema: t.messageSchema()},
		{Name: paramInstructions, Schema: mustJSON(map[string]any{
			"type": "string", "description": "More instructions for the recipient, for this message alone; an empty string for none.",
		})},
	}
	required := append([]string{paramRecipient, paramMessage, paramInstructions}, t.required...)
	return objectSchema(append(common, t.parameters...), required)
}

// objectSchema keeps the order of the parameters, so that a prompt's bytes do not change from run to run.
func objectSchema(parameters []agencies.Parameter, required []string) json.RawMessage {
	properties := make([]string, len(parameters))
	for i, p := range parameters {
		properties[i] = string(mustJSON(p.Name)) + ":" + string(p.Schema)
	}
	if required == nil {
		required = []string{}
	}
	return fmt.Appendf(nil, `{"type":"object","properties":{%s},"required":%s,"additionalProperties":false}`,
		strings.Join(properties, ","), mustJSON(required))
}

// delivery is a message that has passed the checks.
type delivery struct {
	recipient, message, additional string
	// ignored are keys that the tool does not have.
	ignored []string
}

// read checks the arguments of a call; a fault is in words for the sender.
func (t sendTool) read(name string, object []byte) (delivery, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return delivery{}, fmt.Errorf("the arguments of %s must be a JSON object: %w", name, err)
	}
	recipient, err := t.recipient(name, fields[paramRecipient])
	if err != nil {
		return delivery{}, err
	}
	d := delivery{recipient: recipient}
	if schema := t.inputs[recipient]; schema != nil {
		d.message, err = labelled(schema, recipient, fields[paramMessage])
	} else {
		d.message, err = text(fields, paramMessage)
	}
	if err != nil {
		return delivery{}, err
	}
	if strings.TrimSpace(d.message) == "" {
		return delivery{}, fmt.Errorf("the required parameter %q of %s is missing", paramMessage, name)
	}
	if d.additional, err = text(fields, paramInstructions); err != nil {
		return delivery{}, err
	}
	if err := t.extras(fields, &d); err != nil {
		return delivery{}, err
	}
	for key := range fields {
		known := key == paramRecipient || key == paramMessage || key == paramInstructions ||
			slices.ContainsFunc(t.parameters, func(p agencies.Parameter) bool { return p.Name == key })
		if !known {
			d.ignored = append(d.ignored, key)
		}
	}
	slices.Sort(d.ignored)
	return d, nil
}

func text(fields map[string]json.RawMessage, name string) (string, error) {
	raw, ok := fields[name]
	if !ok || string(raw) == "null" {
		return "", nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", fmt.Errorf("the parameter %q must be a string", name)
	}
	return s, nil
}

// recipient finds whom the sender means: whatever the case, outer spaces, quotes and the Unicode form; an object or a list
// with one text in it is taken for that text.
func (t sendTool) recipient(tool string, raw json.RawMessage) (string, error) {
	written := strings.TrimSpace(string(raw))
	if s, ok := onlyText(raw); ok {
		written = s
	}
	if written == "" || written == "null" {
		return "", fmt.Errorf("the required parameter %q of %s is missing; recipients: %s", paramRecipient, tool, strings.Join(t.recipients, ", "))
	}
	var found []string
	for _, name := range t.recipients {
		if name == written {
			return name, nil
		}
		if fold(name) == fold(written) {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", fmt.Errorf("there is no recipient %q; recipients of %s: %s", written, tool, strings.Join(t.recipients, ", "))
	default:
		return "", fmt.Errorf("%q could be each of %s; write the name exactly", written, strings.Join(found, ", "))
	}
}

// onlyText finds the one text in a JSON value.
func onlyText(raw json.RawMessage) (string, bool) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, true
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) == 1 {
		return onlyText(list[0])
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) == nil && len(object) == 1 {
		for _, v := range object {
			return onlyText(v)
		}
	}
	return "", false
}

func fold(name string) string {
	name = strings.Trim(strings.TrimSpace(name), "\"'`“”‘’«»「」")
	return cases.Fold().String(norm.NFC.String(strings.Join(strings.Fields(name), " ")))
}

// extras checks the edge's own parameters and adds them to the message as labelled lines.
func (t sendTool) extras(fields map[string]json.RawMessage, d *delivery) error {
	given := map[string]json.RawMessage{}
	for _, p := range t.parameters {
		if raw, ok := fields[p.Name]; ok && string(raw) != "null" {
			given[p.Name] = raw
		}
	}
	cleaned, _, err := tool.Clean(t.extra, mustJSON(given))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(cleaned, &given); err != nil {
		return err
	}
	var lines []string
	for _, p := range t.parameters {
		raw, ok := given[p.Name]
		if !ok {
			continue
		}
		value := string(raw)
		if s, err := text(given, p.Name); err == nil {
			value = s
		}
		lines = append(lines, p.Name+": "+value)
	}
	if len(lines) > 0 {
		d.message += "\n\n" + strings.Join(lines, "\n")
	}
	return nil
}
