package tool

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxFaults are told at once; a model mends the first ones first.
const maxFaults = 10

// explainer finds the words for what the common keywords of JSON Schema refuse. It never decides whether something fits.
type explainer struct {
	schema *schema
	faults []string
}

func (e *explainer) say(path, format string, args ...any) {
	if len(e.faults) < maxFaults {
		e.faults = append(e.faults, fmt.Sprintf("%q ", path)+fmt.Sprintf(format, args...))
	}
}

func (e *explainer) explain(at *jsonschema.Schema, value any, path string) {
	at = e.schema.target(at)
	if at == nil {
		return
	}
	if types := typesOf(at); len(types) > 0 && !fitsType(value, types) {
		e.say(path, "must be %s, not %s", describeTypes(types), describe(value))
		return
	}
	if at.Enum != nil && !slices.ContainsFunc(at.Enum, func(allowed any) bool { return sameValue(allowed, value) }) {
		e.say(path, "must be one of %s, not %s", listValues(at.Enum), describe(value))
		return
	}
	if at.Const != nil && !sameValue(*at.Const, value) {
		e.say(path, "must be %s, not %s", inJSON(*at.Const), describe(value))
		return
	}
	switch value := value.(type) {
	case map[string]any:
		e.explainFields(at, value, path)
	case []any:
		e.explainItems(at, value, path)
	case string:
		e.explainString(at, value, path)
	case json.Number:
		e.explainNumber(at, value, path)
	}
}

func (e *explainer) explainFields(at *jsonschema.Schema, fields map[string]any, path string) {
	for _, name := range at.Required {
		if _, given := fields[name]; !given {
			e.say(join(path, name), "is required%s", e.describeField(at.Properties[name]))
		}
	}
	known := slices.Sorted(maps.Keys(at.Properties))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field, isKnown := at.Properties[name]
		switch {
		case isKnown:
			e.explain(field, fields[name], join(path, name))
		case !forbidsOthers(at):
			e.explain(at.AdditionalProperties, fields[name], join(path, name))
		case len(known) == 0:
			e.say(join(path, name), "is unknown; no fields are taken")
		default:
			hint := "the fields are " + quoted(known)
			if near := Nearest(name, known, 1); len(near) > 0 {
				hint = fmt.Sprintf("did you mean %q?", near[0])
			}
			e.say(join(path, name), "is unknown; %s", hint)
		}
	}
}

// describeField tells what a missing field wants: ": a string (which file)".
func (e *explainer) describeField(at *jsonschema.Schema) string {
	at = e.schema.target(at)
	if at == nil {
		return ""
	}
	var text string
	switch {
	case at.Enum != nil:
		text = ": one of " + listValues(at.Enum)
	case at.Const != nil:
		text = ": " + inJSON(*at.Const)
	case len(typesOf(at)) > 0:
		text = ": " + describeTypes(typesOf(at))
	}
	if at.Description != "" {
		text += " (" + clip(at.Description, 120) + ")"
	}
	return text
}

func (e *explainer) explainItems(at *jsonschema.Schema, items []any, path string) {
	if at.MinItems != nil && len(items) < *at.MinItems {
		e.say(path, "must have at least %d items, it has %d", *at.MinItems, len(items))
	}
	if at.MaxItems != nil && len(items) > *at.MaxItems {
		e.say(path, "must have at most %d items, it has %d", *at.MaxItems, len(items))
	}
	for i, item := range items {
		e.explain(at.Items, item, fmt.Sprintf("%s[%d]", path, i))
	}
}

func (e *explainer) explainString(at *jsonschema.Schema, text, path string) {
	length := utf8.RuneCountInString(text)
	switch {
	case at.MinLength != nil && length < *at.MinLength && length == 0:
		e.say(path, "must not be empty")
	case at.MinLength != nil && length < *at.MinLength:
		e.say(path, "must have at least %d characters, it has %d", *at.MinLength, length)
	case at.MaxLength != nil && length > *at.MaxLength:
		e.say(path, "must have at most %d characters, it has %d", *at.MaxLength, length)
	case at.Pattern != "":
		if re, err := regexp.Compile(at.Pattern); err == nil && !re.MatchString(text) {
			e.say(path, "must match the regular expression %s, %s does not", clip(at.Pattern, 200), describe(text))
		}
	}
}

func (e *explainer) explainNumber(at *jsonschema.Schema, number json.Number, path string) {
	value, err := number.Float64()
	if err != nil {
		return
	}
	switch {
	case at.Minimum != nil && value < *at.Minimum:
		e.say(path, "must be at least %s, not %s", plain(*at.Minimum), number)
	case at.Maximum != nil && value > *at.Maximum:
		e.say(path, "must be at most %s, not %s", plain(*at.Maximum), number)
	case at.ExclusiveMinimum != nil && value <= *at.ExclusiveMinimum:
		e.say(path, "must be more than %s, not %s", plain(*at.ExclusiveMinimum), number)
	case at.ExclusiveMaximum != nil && value >= *at.ExclusiveMaximum:
		e.say(path, "must be less than %s, not %s", plain(*at.ExclusiveMaximum), number)
	}
}

func typesOf(at *jsonschema.Schema) []string {
	if at.Type != "" {
		return []string{at.Type}
	}
	return at.Types
}

func fitsType(value any, types []string) bool {
	kind := ""
	switch value := value.(type) {
	case nil:
		kind = "null"
	case bool:
		kind = "boolean"
	case string:
		kind = "string"
	case []any:
		kind = "array"
	case map[string]any:
		kind = "object"
	case json.Number:
		kind = "number"
		if !strings.ContainsAny(plainInteger(value).String(), ".eE") && slices.Contains(types, "integer") {
			kind = "integer"
		}
	}
	return slices.Contains(types, kind)
}

func describeTypes(types []string) string {
	var words []string
	for _, t := range types {
		article := "a "
		switch t {
		case "null":
			article = ""
		case "array", "integer", "object":
			article = "an "
		}
		words = append(words, article+t)
	}
	return strings.Join(words, " or ")
}

// describe names a value: what kind it is and, where it is short, itself.
func describe(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	case string:
		if len(value) > 60 {
			return fmt.Sprintf("the string %q…", clip(value, 60))
		}
		return fmt.Sprintf("the string %q", value)
	default:
		return clip(fmt.Sprint(value), 60)
	}
}

func listValues(values []any) string {
	var list []string
	for i, value := range values {
		if i == 20 {
			list = append(list, fmt.Sprintf("and %d more", len(values)-i))
			break
		}
		list = append(list, inJSON(value))
	}
	return strings.Join(list, ", ")
}

func inJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return clip(string(text), 120)
}

// sameValue compares values as JSON Schema does, as far as one level; what it takes for different is only worded, not decided.
func sameValue(a, b any) bool {
	number := func(v any) any {
		if n, ok := v.(json.Number); ok {
			if f, err := n.Float64(); err == nil {
				return f
			}
		}
		return v
	}
	return reflect.DeepEqual(number(a), number(b))
}

func plain(number float64) string { return strconv.FormatFloat(number, 'f', -1, 64) }
