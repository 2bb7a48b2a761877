package openai

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"bureau/engine/llm"
)

// Texts that stand in a request where a server demands a message and nobody said anything.
const (
	noOutput    = "(no output)"
	noText      = "(empty message)"
	carryOn     = "(The conversation goes on.)"
	bridge      = "I have read the results."
	notePrefix  = "[Note] "
	betweenText = "\n\n"
)

// shape returns the messages as the server wants them. What it is given stays as it is.
func (d Dialect) shape(messages []llm.Message) []llm.Message {
	out := make([]llm.Message, 0, len(messages)+2)
	for _, m := range messages {
		switch {
		case m.Role == llm.RoleAssistant && strings.TrimSpace(m.Content) == "" && len(m.Calls) == 0:
			continue
		case m.Role == llm.RoleSystem && m.Content == "":
			continue
		case m.Role == llm.RoleTool && m.Content == "":
			m.Content = noOutput
		case m.Role == llm.RoleUser && m.Content == "":
			m.Content = noText
		}
		out = append(out, m)
	}
	if d.OneSystemFirst {
		out = oneSystemFirst(out)
	}
	if d.ShortCallIDs {
		out = bridged(out)
		renameCalls(out, shortID)
	}
	renameCalls(out, d.callID)
	return out
}

// callID is an id as the server takes it.
func (d Dialect) callID(id string) string {
	odd := func(r rune) bool { return !isPlain(r) && r != '_' && r != '-' }
	if d.LongestCallID > 0 && utf8.RuneCountInString(id) > d.LongestCallID || d.PlainCallIDs && strings.ContainsFunc(id, odd) {
		return hashedCallID(id)
	}
	return id
}

// oneSystemFirst joins the system messages in front, turns later ones into notes of the user's, and joins neighbours of
// one role.
func oneSystemFirst(messages []llm.Message) []llm.Message {
	out := make([]llm.Message, 0, len(messages)+1)
	begun := false
	for _, m := range messages {
		if m.Role == llm.RoleSystem && begun {
			m = llm.Message{Role: llm.RoleUser, Content: notePrefix + m.Content}
		}
		if m.Role != llm.RoleSystem && !begun {
			begun = true
			if m.Role != llm.RoleUser {
				out = append(out, llm.Message{Role: llm.RoleUser, Content: carryOn})
			}
		}
		if n := len(out); n > 0 && m.Role != llm.RoleTool && out[n-1].Role == m.Role {
			out[n-1] = joined(out[n-1], m)
			continue
		}
		out = append(out, m)
	}
	if n := len(out); n > 0 && (out[n-1].Role == llm.RoleAssistant || out[n-1].Role == llm.RoleSystem) {
		out = append(out, llm.Message{Role: llm.RoleUser, Content: carryOn})
	}
	return out
}

// joined is two messages of one role as one.
func joined(a, b llm.Message) llm.Message {
	switch {
	case a.Content == "":
		a.Content = b.Content
	case b.Content != "":
		a.Content += betweenText + b.Content
	}
	a.Calls = slices.Concat(a.Calls, b.Calls)
	if len(b.Calls) > 0 || a.Reasoning == "" {
		a.Reasoning, a.Wire = b.Reasoning, b.Wire
	}
	return a
}

// bridged puts a word of the assistant's between a tool's message and a user's.
func bridged(messages []llm.Message) []llm.Message {
	out := make([]llm.Message, 0, len(messages)+1)
	for i, m := range messages {
		if m.Role == llm.RoleUser && i > 0 && messages[i-1].Role == llm.RoleTool {
			out = append(out, llm.Message{Role: llm.RoleAssistant, Content: bridge})
		}
		out = append(out, m)
	}
	return out
}

// renameCalls gives every call another id, and its answer the same.
func renameCalls(messages []llm.Message, rename func(string) string) {
	for i, m := range messages {
		if len(m.Calls) > 0 {
			m.Calls = slices.Clone(m.Calls)
			for j := range m.Calls {
				m.Calls[j].ID = rename(m.Calls[j].ID)
			}
		}
		if m.CallID != "" {
			m.CallID = rename(m.CallID)
		}
		messages[i] = m
	}
}

const shortLength = 9

func isPlain(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// shortID is an id of nine letters and digits, the same for a call and its answer in every request.
func shortID(id string) string {
	if len(id) == shortLength && !strings.ContainsFunc(id, func(r rune) bool { return !isPlain(r) }) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	digits := new(big.Int).SetBytes(sum[:]).Text(62)
	return digits[len(digits)-shortLength:]
}

// parameters is a tool's schema as the server takes it: always an object with properties.
func (d Dialect) parameters(schema json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(schema)) == 0 || string(bytes.TrimSpace(schema)) == "null" {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(schema, &object) != nil {
		return schema // the server says what is wrong with it
	}
	_, hasProperties := object["properties"]
	if hasProperties && !d.PlainSchemas && object["type"] != nil {
		return schema
	}
	if object["type"] == nil {
		object["type"] = json.RawMessage(`"object"`)
	}
	if !hasProperties {
		object["properties"] = json.RawMessage(`{}`)
	}
	out, err := json.Marshal(object)
	if err != nil {
		return schema
	}
	if d.PlainSchemas {
		var tree map[string]any
		if json.Unmarshal(out, &tree) != nil {
			return schema
		}
		if plain, err := json.Marshal(plainSchema(oneObject(tree))); err == nil {
			return plain
		}
	}
	return out
}

// oneObject makes one object of a schema whose top is a choice, or a sum, of objects: with all their properties, of which
// those are required that every choice, or any summand, requires. The tool's own check stays as strict as it was.
func oneObject(schema map[string]any) map[string]any {
	out := maps.Clone(schema)
	for _, name := range []string{"anyOf", "oneOf", "allOf"} {
		parts, ok := out[name].([]any)
		if !ok {
			continue
		}
		delete(out, name)
		properties, _ := out["properties"].(map[string]any)
		properties = maps.Clone(properties)
		if properties == nil {
			properties = map[string]any{}
		}
		var common []any
		for i, part := range parts {
			object, _ := part.(map[string]any)
			object = oneObject(object)
			inner, _ := object["properties"].(map[string]any)
			for key, value := range inner {
				if _, taken := properties[key]; !taken {
					properties[key] = value
				}
			}
			required, _ := object["required"].([]any)
			required = unique(required)
			if i == 0 || name == "allOf" {
				common = append(common, required...)
			} else {
				common = slices.DeleteFunc(common, func(key any) bool { return !slices.Contains(required, key) })
			}
		}
		own, _ := out["required"].([]any)
		out["properties"] = properties
		if required := unique(slices.Concat(own, common)); len(required) > 0 {
			out["required"] = required
		}
	}
	return out
}

// unique leaves out what is no text, and what came before.
func unique(names []any) []any {
	var out []any
	for _, name := range names {
		if _, ok := name.(string); ok && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// plainSchema leaves out what OpenAPI's subset of JSON Schema does not have, and says the same by what it has.
func plainSchema(node any) any {
	object, ok := node.(map[string]any)
	if !ok {
		return node
	}
	out := maps.Clone(object)
	for _, name := range []string{"$schema", "$id", "$comment", "additionalProperties", "unevaluatedProperties", "patternProperties", "examples"} {
		delete(out, name)
	}
	if value, ok := out["const"]; ok {
		delete(out, "const")
		out["enum"] = []any{value}
	}
	if types, ok := out["type"].([]any); ok {
		rest := slices.DeleteFunc(slices.Clone(types), func(t any) bool { return t == "null" })
		if len(rest) < len(types) {
			out["nullable"] = true
		}
		delete(out, "type")
		if len(rest) > 0 {
			out["type"] = rest[0]
		}
	}
	for name, child := range out {
		switch name {
		case "properties", "$defs", "definitions":
			if children, ok := child.(map[string]any); ok {
				plain := map[string]any{}
				for key, value := range children {
					plain[key] = plainSchema(value)
				}
				out[name] = plain
			}
		case "items", "not":
			out[name] = plainSchema(child)
		case "anyOf", "oneOf", "allOf":
			if list, ok := child.([]any); ok {
				plain := make([]any, len(list))
				for i, value := range list {
					plain[i] = plainSchema(value)
				}
				out[name] = plain
			}
		}
	}
	return out
}
