package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"bureau/engine/llm"
)

// InvalidError says why arguments do not fit a tool's schema.
type InvalidError struct {
	Tool string
	// Faults says for each field what is wrong and what is allowed, in words for the model; never empty.
	Faults []string
}

// Error lists the faults.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("the arguments do not fit %s: %s", e.Tool, strings.Join(e.Faults, "; "))
}

// Validate holds a JSON object against the tool's schema, to the letter. What does not fit is an *InvalidError; any other error says
// that the schema itself cannot be used. What a model wrote goes through Clean, which also mends what is safe to mend.
func Validate(t llm.Tool, object []byte) error {
	s, err := compiled(t)
	if err != nil {
		return err
	}
	fields, err := decodeObject(object)
	if err != nil {
		return &InvalidError{t.Name, []string{err.Error()}}
	}
	return s.validate(t.Name, fields, object)
}

// Clean makes of a JSON object the arguments that the tool gets, and holds them against its schema as Validate does. Three
// things are mended, everywhere in the object, and nothing else is:
//   - A field that a schema does not know and with "additionalProperties": false does not allow is left out; unknown names
//     them all, as paths ("filter.colour"), sorted.
//   - A number or a boolean that is written as a string, where only a number, an integer or a boolean is wanted, is converted; an
//     integer is written without fraction and exponent (5, not "5" or 5.0).
//   - null for a field that need not be given and cannot be null is left out.
//
// With an error cleaned is nil, and unknown is what was left out.
func Clean(t llm.Tool, object []byte) (cleaned []byte, unknown []string, err error) {
	s, err := compiled(t)
	if err != nil {
		return nil, nil, err
	}
	fields, err := decodeObject(object)
	if err != nil {
		return nil, nil, &InvalidError{t.Name, []string{err.Error()}}
	}
	m := mender{schema: s}
	m.mend(s.root, fields, "")
	cleaned = object
	if m.changed {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(fields); err != nil {
			return nil, m.unknown, err
		}
		cleaned = bytes.TrimRight(b.Bytes(), "\n")
	}
	slices.Sort(m.unknown)
	if err := s.validate(t.Name, fields, cleaned); err != nil {
		var invalid *InvalidError
		if len(m.unknown) > 0 && errors.As(err, &invalid) {
			invalid.Faults = append(invalid.Faults, "unknown and ignored: "+quoted(m.unknown))
		}
		return nil, m.unknown, err
	}
	return cleaned, m.unknown, nil
}

func decodeObject(object []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	dec.UseNumber()
	var fields map[string]any
	if err := dec.Decode(&fields); err != nil || fields == nil || dec.More() {
		return nil, errors.New("they are not one JSON object")
	}
	return fields, nil
}

// validate leaves the decision to the JSON Schema library, and the words to explain where it finds them.
func (s *schema) validate(tool string, fields map[string]any, object []byte) error {
	var instance map[string]any
	if err := json.Unmarshal(object, &instance); err != nil {
		return &InvalidError{tool, []string{err.Error()}}
	}
	verdict := s.resolved.Validate(instance)
	if verdict == nil {
		return nil
	}
	e := explainer{schema: s}
	e.explain(s.root, fields, "")
	if len(e.faults) == 0 {
		e.faults = []string{clip(lastCause(verdict.Error()), 500)}
	}
	return &InvalidError{tool, e.faults}
}

// lastCause keeps the place and the cause of an error that lists every schema on its way.
func lastCause(text string) string {
	const step = "validating "
	if i := strings.LastIndex(text, step); i >= 0 {
		text = text[i+len(step):]
	}
	return strings.TrimPrefix(text, "root: ")
}

type mender struct {
	schema  *schema
	changed bool
	unknown []string
}

// mend changes what is inside value; the value itself is changed by its holder, which gets the new one.
func (m *mender) mend(at *jsonschema.Schema, value any, path string) any {
	at = m.schema.target(at)
	if at == nil {
		return value
	}
	switch value := value.(type) {
	case map[string]any:
		m.mendFields(at, value, path)
	case []any:
		for i := range value {
			value[i] = m.mend(at.Items, value[i], fmt.Sprintf("%s[%d]", path, i))
		}
	case string:
		if converted, ok := fromText(at, value); ok {
			m.changed = true
			return converted
		}
	case json.Number:
		if plain := plainInteger(value); plain != value && wants(at, "integer") {
			m.changed = true
			return plain
		}
	}
	return value
}

func (m *mender) mendFields(at *jsonschema.Schema, fields map[string]any, path string) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field, known := at.Properties[name]
		switch {
		case !known && forbidsOthers(at):
			delete(fields, name)
			m.changed = true
			m.unknown = append(m.unknown, join(path, name))
		case !known:
			fields[name] = m.mend(at.AdditionalProperties, fields[name], join(path, name))
		case fields[name] == nil && !slices.Contains(at.Required, name) && !m.takesNull(field):
			delete(fields, name)
			m.changed = true
		default:
			fields[name] = m.mend(field, fields[name], join(path, name))
		}
	}
}

// forbidsOthers tells whether fields beside the named ones are refused.
func forbidsOthers(at *jsonschema.Schema) bool {
	others := at.AdditionalProperties
	if others == nil || others.Not == nil || len(at.PatternProperties) > 0 {
		return false
	}
	// The library keeps "false" as the schema that nothing fits, and writes it as it was.
	text, err := json.Marshal(others)
	return err == nil && string(text) == "false"
}

// takesNull tells whether null may be a value; a schema that is not plain is given the benefit of the doubt.
func (m *mender) takesNull(at *jsonschema.Schema) bool {
	at = m.schema.target(at)
	if at == nil || at.Type == "" && len(at.Types) == 0 {
		return true
	}
	return at.Type == "null" || slices.Contains(at.Types, "null")
}

// wants tells whether only values of the named types fit, beside null.
func wants(at *jsonschema.Schema, names ...string) bool {
	if at.Type != "" {
		return slices.Contains(names, at.Type)
	}
	for _, name := range at.Types {
		if name != "null" && !slices.Contains(names, name) {
			return false
		}
	}
	return len(at.Types) > 0
}

// fromText reads a number or a boolean that was written as a string, where nothing else would fit.
func fromText(at *jsonschema.Schema, text string) (any, bool) {
	if !wants(at, "number", "integer", "boolean") {
		return nil, false
	}
	text = strings.TrimSpace(text)
	if wants(at, "boolean") {
		switch strings.ToLower(text) {
		case "true":
			return true, true
		case "false":
			return false, true
		}
		return nil, false
	}
	var number json.Number
	if json.Unmarshal([]byte(text), &number) != nil || text[0] == '"' || checkNumber(text) != "" {
		return nil, false
	}
	if wants(at, "integer") {
		number = plainInteger(number)
	}
	return number, true
}

// plainInteger writes a whole number without fraction and exponent; any other number stays as it is.
func plainInteger(number json.Number) json.Number {
	if !strings.ContainsAny(number.String(), ".eE") || checkNumber(number.String()) != "" {
		return number
	}
	value, ok := new(big.Rat).SetString(number.String())
	if !ok || !value.IsInt() {
		return number
	}
	return json.Number(value.Num().String())
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func quoted(names []string) string {
	var list []string
	for _, name := range names {
		list = append(list, fmt.Sprintf("%q", clip(name, 80)))
	}
	return strings.Join(list, ", ")
}
