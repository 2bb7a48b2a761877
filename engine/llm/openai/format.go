package openai

import (
	"encoding/json"
	"slices"

	"bureau/engine/llm"
)

// askInWords adds what the answer must be to the instructions.
func askInWords(messages []llm.Message, format llm.Format) []llm.Message {
	out := slices.Clone(messages)
	if len(out) > 0 && out[0].Role == llm.RoleSystem {
		out[0].Content += betweenText + format.InWords()
		return out
	}
	return slices.Insert(out, 0, llm.Message{Role: llm.RoleSystem, Content: format.InWords()})
}

// format is what the request says of the format of the answer: messages that ask for it in words, or the setting for it; nil for none.
// A schema that says of every object which fields it has and that all must be there is held to the letter by servers that can.
func (m *Model) format(req llm.Request, h habits) ([]llm.Message, map[string]any) {
	format := req.Settings.Format
	switch {
	case format == nil:
		return req.Messages, nil
	case h.formatInWords || m.provider.Dialect.FormatOrTools && len(req.Tools) > 0:
		return askInWords(req.Messages, *format), nil
	}
	var schema any
	strict := json.Unmarshal(format.Schema, &schema) == nil && isStrict(schema)
	return req.Messages, map[string]any{"name": format.Name, "schema": format.Schema, "strict": strict}
}

// looseKeywords are those that no strict server takes.
var looseKeywords = []string{"allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties",
	"propertyNames", "contains", "minContains", "maxContains", "prefixItems", "uniqueItems", "unevaluatedItems", "unevaluatedProperties",
	"minProperties", "maxProperties", "default"}

// isStrict tells whether a schema, and every schema in it, is one that a strict server takes.
func isStrict(node any) bool {
	schema, ok := node.(map[string]any)
	if !ok {
		return false // true stands for any value
	}
	properties, _ := schema["properties"].(map[string]any)
	if schema["type"] == "object" || properties != nil {
		required, _ := schema["required"].([]any)
		if schema["additionalProperties"] != false || len(required) != len(properties) {
			return false
		}
		for name, child := range properties {
			if !slices.Contains(required, any(name)) || !isStrict(child) {
				return false
			}
		}
	}
	for keyword, value := range schema {
		if slices.Contains(looseKeywords, keyword) || keyword == "items" && !isStrict(value) {
			return false
		}
	}
	choices, _ := schema["anyOf"].([]any)
	return !slices.ContainsFunc(choices, func(choice any) bool { return !isStrict(choice) })
}
