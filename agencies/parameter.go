package agencies

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"
)

// maxSchemaDepth of a parameter's schema; more is no tool that a model can call.
const maxSchemaDepth = 32

// sendParameters are the parameters of send_message, which an edge's own tool has too.
var sendParameters = []string{"recipient_agent", "message", "additional_instructions"}

// shape is what a keyword of JSON Schema holds.
type shape int

const (
	anyValue shape = iota
	someText
	someNumber
	someCount
	trueOrFalse
	someList
	oneSchema
	listOfSchemas
	mapOfSchemas
	typeNames
)

// keywords of JSON Schema 2020-12 that a parameter may have. Those that refer to other places are left out: a parameter
// becomes a part of the tool's schema, where its references would lead elsewhere.
var keywords = map[string]shape{
	"type": typeNames, "enum": someList, "const": anyValue, "default": anyValue, "examples": someList,
	"title": someText, "description": someText, "format": someText, "pattern": someText,
	"deprecated": trueOrFalse, "uniqueItems": trueOrFalse,
	"minimum": someNumber, "maximum": someNumber, "exclusiveMinimum": someNumber, "exclusiveMaximum": someNumber,
	"multipleOf": someNumber, "minLength": someCount, "maxLength": someCount, "minItems": someCount, "maxItems": someCount,
	"minContains": someCount, "maxContains": someCount, "minProperties": someCount, "maxProperties": someCount,
	"required": someList, "dependentRequired": anyValue,
	"items": oneSchema, "contains": oneSchema, "additionalProperties": oneSchema, "propertyNames": oneSchema,
	"unevaluatedItems": oneSchema, "unevaluatedProperties": oneSchema, "not": oneSchema,
	"if": oneSchema, "then": oneSchema, "else": oneSchema,
	"prefixItems": listOfSchemas, "allOf": listOfSchemas, "anyOf": listOfSchemas, "oneOf": listOfSchemas,
	"properties": mapOfSchemas, "patternProperties": mapOfSchemas, "dependentSchemas": mapOfSchemas,
}

var schemaTypes = []string{"string", "number", "integer", "boolean", "array", "object", "null"}

// keywordNames in a stable order, for suggestions.
func keywordNames() []string { return slices.Sorted(maps.Keys(keywords)) }

// parameters reads the own parameters of an edge's tool.
func (d *decoder) parameters(n *yaml.Node) []Parameter {
	var parameters []Parameter
	for _, e := range d.entries(n, "parameters") {
		switch {
		case slices.Contains(sendParameters, e.name):
			d.fault(at(e.key), "the parameter %s is one that every send tool has", quote(e.name))
		case !isToolName(e.name):
			d.fault(at(e.key), "the parameter name %s; at most %d of a-z, A-Z, 0-9, _ and -", quote(e.name), maxNameLength)
		}
		if e.value.Kind != yaml.MappingNode {
			d.wrongType(e.value, "the parameter "+quote(e.name), "a JSON Schema such as {type: string}")
			continue
		}
		before := len(d.faults)
		d.schema(e.value, 0)
		text := d.json(e.value, 0)
		if len(d.faults) == before {
			if problem := schemaProblem(text); problem != "" {
				d.fault(at(e.value), "the parameter %s is no JSON Schema: %s", quote(e.name), problem)
			}
		}
		parameters = append(parameters, Parameter{e.name, text})
	}
	return parameters
}

// schema checks the keywords and the types of a schema and of those in it.
func (d *decoder) schema(n *yaml.Node, depth int) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!bool" && depth > 0 {
		return // true and false are schemas too
	}
	if depth > maxSchemaDepth {
		return // json reports it
	}
	for _, e := range d.entries(n, "a JSON Schema") {
		shape, ok := keywords[e.name]
		switch {
		case strings.HasPrefix(e.name, "$"):
			d.fault(at(e.key), "%s in a schema; it cannot refer to other places: write the schema out", quote(e.name))
		case !ok:
			d.unknown(at(e.key), "keyword of JSON Schema", e.name, keywordNames())
		default:
			d.keyword(e, shape, depth)
		}
	}
}

// keyword checks the value of one keyword.
func (d *decoder) keyword(e entry, shape shape, depth int) {
	switch shape {
	case someText:
		d.text(e.value, e.name)
	case someNumber:
		d.number(e.value, e.name, -math.MaxFloat64, math.MaxFloat64)
	case someCount:
		d.integer(e.value, e.name, 0, math.MaxInt32)
	case trueOrFalse:
		d.boolean(e.value, e.name)
	case someList:
		d.items(e.value, e.name)
	case oneSchema:
		d.schema(e.value, depth+1)
	case listOfSchemas:
		for _, item := range d.items(e.value, e.name) {
			d.schema(item, depth+1)
		}
	case mapOfSchemas:
		for _, item := range d.entries(e.value, e.name) {
			d.schema(item.value, depth+1)
		}
	case typeNames:
		d.types(e.value)
	}
}

// types reads the value of type: one name or a list of some.
func (d *decoder) types(n *yaml.Node) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	for _, item := range items {
		if item.Kind == yaml.ScalarNode && item.Tag == "!!null" && item.Value == "null" {
			d.fault(at(item), `the type null is written in quotes: "null"`)
			continue
		}
		if name, ok := d.word(item, "type"); ok && !slices.Contains(schemaTypes, name) {
			d.unknown(at(item), "type", name, schemaTypes)
		}
	}
}

// schemaProblem is what the validator has against a schema; empty for nothing.
func schemaProblem(text json.RawMessage) string {
	var schema jsonschema.Schema
	err := json.Unmarshal(text, &schema)
	if err == nil {
		_, err = schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	}
	if err == nil {
		return ""
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return printable(strings.TrimPrefix(first, "jsonschema.Schema: <anonymous schema>: "))
}

// json writes a value of the file as JSON, in the order of the file.
func (d *decoder) json(n *yaml.Node, depth int) json.RawMessage {
	if depth > 2*maxSchemaDepth {
		d.fault(at(n), "this is nested more than %d times", 2*maxSchemaDepth)
		return json.RawMessage("null")
	}
	var b bytes.Buffer
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i, e := range d.entries(n, "a JSON value") {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(marshal(e.name))
			b.WriteByte(':')
			b.Write(d.json(e.value, depth+1))
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(d.json(item, depth+1))
		}
		b.WriteByte(']')
	case yaml.ScalarNode:
		b.Write(d.scalar(n))
	default:
		b.WriteString("null") // an alias, which is a fault already
	}
	return b.Bytes()
}

func (d *decoder) scalar(n *yaml.Node) json.RawMessage {
	switch n.Tag {
	case "!!null":
		return json.RawMessage("null")
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return marshal(b)
		}
	case "!!int":
		var i int64
		if n.Decode(&i) == nil {
			return marshal(i)
		}
		fallthrough
	case "!!float":
		var f float64
		if n.Decode(&f) == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return marshal(f)
		}
		d.fault(at(n), "%s is no number in JSON", printable(shorten(n.Value)))
		return json.RawMessage("null")
	}
	text := *n
	text.Tag = "!!str" // dates and what is in quotes
	s, _ := d.text(&text, "this text")
	return marshal(s)
}

// marshal is for strings, booleans and finite numbers, which cannot fail.
func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v)
	return bytes.TrimSpace(b.Bytes())
}
