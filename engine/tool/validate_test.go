package tool_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"bureau/engine/llm"
	"bureau/engine/tool"
)

var search = llm.Tool{Name: "search", Parameters: json.RawMessage(`{
	"type": "object",
	"properties": {
		"pattern": {"type": "string", "description": "What to find", "minLength": 1, "maxLength": 10},
		"in": {"type": "string", "enum": ["names", "contents"]},
		"depth": {"type": "integer", "minimum": 1, "maximum": 3},
		"ratio": {"type": "number", "exclusiveMinimum": 0},
		"case": {"type": "boolean"},
		"maybe": {"type": ["integer", "null"]},
		"either": {"type": ["integer", "string"]},
		"any": {},
		"tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}, "minItems": 1, "maxItems": 2},
		"filter": {"type": "object", "properties": {"colour": {"type": "string"}, "size": {"type": "integer"}}, "required": ["size"], "additionalProperties": false},
		"tree": {"$ref": "#/$defs/node"},
		"kind": {"const": "x"},
		"mixed": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}
	},
	"required": ["pattern"],
	"additionalProperties": false,
	"$defs": {"node": {"type": "object", "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}, "additionalProperties": false}}
}`)}

func TestClean(t *testing.T) {
	t.Parallel()
	tests := []struct {
		object, want string
		unknown      []string
	}{
		{`{"pattern":"a"}`, `{"pattern":"a"}`, nil},
		{`{"pattern":"a","in":"names","depth":3,"ratio":0.5,"case":true,"tags":["x","y"]}`, `{"pattern":"a","in":"names","depth":3,"ratio":0.5,"case":true,"tags":["x","y"]}`, nil},
		{`{"pattern":"a","depth":"2","ratio":"1.5","case":"True"}`, `{"case":true,"depth":2,"pattern":"a","ratio":1.5}`, nil},
		{`{"pattern":"5","any":"5","either":"5"}`, `{"pattern":"5","any":"5","either":"5"}`, nil},
		{`{"pattern":"a","depth":2.0}`, `{"depth":2,"pattern":"a"}`, nil},
		{`{"pattern":"a","depth":2e0,"maybe":"7"}`, `{"depth":2,"maybe":7,"pattern":"a"}`, nil},
		{`{"pattern":"a","maybe":12345678901234567890}`, `{"pattern":"a","maybe":12345678901234567890}`, nil},
		{`{"pattern":"a","depth":null,"in":null,"maybe":null,"any":null,"mixed":5}`, `{"any":null,"maybe":null,"mixed":5,"pattern":"a"}`, nil},
		{`{"pattern":"<a>","zeta":1,"alpha":{"x":1}}`, `{"pattern":"<a>"}`, []string{"alpha", "zeta"}},
		{`{"pattern":"a","filter":{"size":"3","shape":1}}`, `{"filter":{"size":3},"pattern":"a"}`, []string{"filter.shape"}},
		{`{"pattern":"a","tree":{"value":"1","next":{"value":"2","odd":0,"next":{}}}}`, `{"pattern":"a","tree":{"next":{"next":{},"value":2},"value":1}}`, []string{"tree.next.odd"}},
	}
	for _, tt := range tests {
		got, unknown, err := tool.Clean(search, []byte(tt.object))
		if err != nil || string(got) != tt.want || !slices.Equal(unknown, tt.unknown) {
			t.Errorf("Clean(%s) = %s, %q, %v\nwant %s, %q", tt.object, got, unknown, err, tt.want, tt.unknown)
			continue
		}
		if err := tool.Validate(search, got); err != nil {
			t.Errorf("what Clean made of %s does not pass Validate: %v", tt.object, err)
		}
	}
}

func TestCleanRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		object string
		want   []string
	}{
		{`{}`, []string{`"pattern" is required: a string (What to find)`}},
		{`{"pattern":null}`, []string{`"pattern" must be a string, not null`}},
		{`{"pattern":5}`, []string{`"pattern" must be a string, not 5`}},
		{`{"pattern":""}`, []string{`"pattern" must not be empty`}},
		{`{"pattern":"12345678901"}`, []string{`at most 10 characters, it has 11`}},
		{`{"patern":"x"}`, []string{`"pattern" is required`, `unknown and ignored: "patern"`}},
		{`{"pattern":"a","in":"both"}`, []string{`"in" must be one of "names", "contents", not the string "both"`}},
		{`{"pattern":"a","depth":9}`, []string{`"depth" must be at most 3, not 9`}},
		{`{"pattern":"a","depth":"9"}`, []string{`"depth" must be at most 3, not 9`}},
		{`{"pattern":"a","depth":1.5}`, []string{`"depth" must be an integer, not 1.5`}},
		{`{"pattern":"a","depth":"two"}`, []string{`"depth" must be an integer, not the string "two"`}},
		{`{"pattern":"a","depth":""}`, []string{`"depth" must be an integer`}},
		{`{"pattern":"a","depth":"0x2"}`, []string{`"depth" must be an integer`}},
		{`{"pattern":"a","depth":"1e999999999"}`, []string{`"depth" must be an integer`}},
		{`{"pattern":"a","case":1}`, []string{`"case" must be a boolean, not 1`}},
		{`{"pattern":"a","case":"yes"}`, []string{`"case" must be a boolean`}},
		{`{"pattern":"a","ratio":0}`, []string{`"ratio" must be more than 0`}},
		{`{"pattern":"a","maybe":"x"}`, []string{`"maybe" must be an integer or null`}},
		{`{"pattern":"a","tags":[]}`, []string{`"tags" must have at least 1 items`}},
		{`{"pattern":"a","tags":"x"}`, []string{`"tags" must be an array, not the string "x"`}},
		{`{"pattern":"a","tags":["x","A"]}`, []string{`"tags[1]" must match the regular expression ^[a-z]+$`}},
		{`{"pattern":"a","filter":{}}`, []string{`"filter.size" is required: an integer`}},
		{`{"pattern":"a","tree":{"next":{"value":"x"}}}`, []string{`"tree.next.value" must be an integer`}},
		{`{"pattern":"a","kind":"y"}`, []string{`"kind" must be "x"`}},
		{`{"pattern":"a","mixed":"5"}`, []string{"mixed"}},
		{`{"in":1,"depth":0}`, []string{`"pattern" is required`, `"in" must be a string`, `"depth" must be at least 1`}},
		{`[]`, []string{"not one JSON object"}},
		{`null`, []string{"not one JSON object"}},
		{`{"a":1}{}`, []string{"not one JSON object"}},
	}
	for _, tt := range tests {
		got, _, err := tool.Clean(search, []byte(tt.object))
		var invalid *tool.InvalidError
		if !errors.As(err, &invalid) || got != nil || invalid.Tool != "search" {
			t.Errorf("Clean(%s) = %s, %v, want an InvalidError", tt.object, got, err)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("Clean(%s): %q does not say %q", tt.object, err, want)
			}
		}
	}
}

func TestValidateIsStrict(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{"pattern":"a","depth":"2"}`:  `"depth" must be an integer, not the string "2"`,
		`{"pattern":"a","dept":2}`:     `"dept" is unknown; did you mean "depth"?`,
		`{"pattern":"a","zzzzzzzz":2}`: `"zzzzzzzz" is unknown; the fields are`,
	} {
		if err := tool.Validate(search, []byte(object)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate(%s): %v, want %q", object, err, want)
		}
	}
	if err := tool.Validate(search, []byte(`{"pattern":"a"}`)); err != nil {
		t.Error(err)
	}
}

func TestOpenSchemaKeepsUnknownFields(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`{"type":"object","properties":{"a":{"type":"integer"}}}`,
		`{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":true}`,
		`{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":{"type":"integer"}}`,
		`{"type":"object","properties":{"a":{"type":"integer"}},"patternProperties":{"^b":{}},"additionalProperties":false}`,
	} {
		got, unknown, err := tool.Clean(llm.Tool{Name: "open", Parameters: json.RawMessage(schema)}, []byte(`{"a":1,"b":2}`))
		if err != nil || len(unknown) != 0 || string(got) != `{"a":1,"b":2}` {
			t.Errorf("%s: %s, %q, %v", schema, got, unknown, err)
		}
	}
}

func TestUnusableSchema(t *testing.T) {
	t.Parallel()
	_, _, err := tool.Clean(llm.Tool{Name: "broken", Parameters: json.RawMessage(`{`)}, []byte(`{}`))
	var invalid *tool.InvalidError
	if err == nil || errors.As(err, &invalid) || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a broken schema: %v", err)
	}
}

func TestCleanAtOnce(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if _, _, err := tool.Clean(search, []byte(`{"pattern":"a","depth":"2"}`)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzClean(f *testing.F) {
	f.Add(`{"pattern":"a","depth":"2","tree":{"next":{"x":1}},"tags":["a"],"case":"TRUE"}`)
	f.Add(`{"pattern":"a","maybe":" 1e2 ","filter":null}`)
	f.Fuzz(func(t *testing.T, raw string) {
		object, err := tool.Arguments(raw)
		if err != nil {
			return
		}
		cleaned, unknown, err := tool.Clean(search, object)
		if err != nil {
			return
		}
		if err := tool.Validate(search, cleaned); err != nil {
			t.Fatalf("Clean(%s) = %s: %v", object, cleaned, err)
		}
		again, none, err := tool.Clean(search, cleaned)
		if err != nil || len(none) > 0 || string(again) != string(cleaned) {
			t.Fatalf("Clean(%s) = %s, %q, and of that %s, %q, %v", object, cleaned, unknown, again, none, err)
		}
	})
}

func BenchmarkClean(b *testing.B) {
	object := []byte(`{"pattern":"a","depth":"2","in":"names"}`)
	for b.Loop() {
		if _, _, err := tool.Clean(search, object); err != nil {
			b.Fatal(err)
		}
	}
}
