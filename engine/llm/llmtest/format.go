package llmtest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// checkFormat holds the format of the answer to the letter, a strict schema as a strict server does.
func checkFormat(r *Request) *refusal {
	raw, ok := r.Fields["response_format"]
	if !ok {
		return nil
	}
	var format struct {
		Type   string `json:"type"`
		Schema *struct {
			Name        string         `json:"name"`
			Description string         `json:"description"`
			Schema      map[string]any `json:"schema"`
			Strict      bool           `json:"strict"`
		} `json:"json_schema"`
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	switch err := decoder.Decode(&format); {
	case err != nil:
		return refuse("response_format: %v", err)
	case format.Type == "text" || format.Type == "json_object":
		return nil
	case format.Type != "json_schema" || format.Schema == nil:
		return refuse("response_format.type is not text, json_object or json_schema with its json_schema")
	case !legalName.MatchString(format.Schema.Name):
		return refuse("response_format.json_schema.name %q does not match %s", format.Schema.Name, legalName)
	case format.Schema.Schema["type"] != "object":
		return refuse("response_format.json_schema.schema is not of type object")
	case format.Schema.Strict:
		return checkStrict(format.Schema.Schema)
	}
	return nil
}

// checkTextFormat is checkFormat for the Responses API, where the schema stands beside its type.
func checkTextFormat(r *Request) *refusal {
	var text struct {
		Format map[string]json.RawMessage `json:"format"`
	}
	if raw, ok := r.Fields["text"]; ok && json.Unmarshal(raw, &text) != nil {
		return refuse("text is not an object with a format")
	}
	if text.Format == nil {
		return nil
	}
	format := map[string]any{"type": text.Format["type"]}
	delete(text.Format, "type")
	if len(text.Format) > 0 {
		format["json_schema"] = text.Format
	}
	raw, err := json.Marshal(format)
	if err != nil {
		return refuse("text.format: %v", err)
	}
	return checkFormat(&Request{Fields: map[string]json.RawMessage{"response_format": raw}})
}

// checkStrict refuses an object that leaves open which fields it has.
func checkStrict(node any) *refusal {
	switch node := node.(type) {
	case map[string]any:
		if node["type"] == "object" {
			properties, _ := node["properties"].(map[string]any)
			names := slices.Sorted(maps.Keys(properties))
			required, _ := node["required"].([]any)
			if node["additionalProperties"] != false {
				return refuse("Invalid schema for response_format: 'additionalProperties' is required to be supplied and to be false")
			}
			for _, name := range names {
				if !slices.Contains(required, any(name)) {
					return refuse("Invalid schema for response_format: 'required' must include every key in properties. Missing '%s'", name)
				}
			}
		}
		for _, child := range node {
			if fault := checkStrict(child); fault != nil {
				return fault
			}
		}
	case []any:
		for _, child := range node {
			if fault := checkStrict(child); fault != nil {
				return fault
			}
		}
	}
	return nil
}
