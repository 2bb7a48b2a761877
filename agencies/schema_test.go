package agencies_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"bureau/agencies"

	"github.com/google/jsonschema-go/jsonschema"
)

func parsedSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	var schema jsonschema.Schema
	if err := json.Unmarshal(agencies.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	return &schema
}

func TestSchemaHasTheKeysOfTheDecoder(t *testing.T) {
	t.Parallel()
	schema := parsedSchema(t)
	objects := map[string]*jsonschema.Schema{"": schema}
	for name, definition := range schema.Defs {
		if definition.Properties != nil {
			objects[name] = definition
		}
	}
	if want := slices.Sorted(maps.Keys(agencies.Keys)); !slices.Equal(slices.Sorted(maps.Keys(objects)), want) {
		t.Errorf("the schema has the objects %q", slices.Sorted(maps.Keys(objects)))
	}
	for name, object := range objects {
		want := slices.Sorted(slices.Values(agencies.Keys[name]))
		if got := slices.Sorted(maps.Keys(object.Properties)); !slices.Equal(got, want) {
			t.Errorf("%q: the schema has %q, the decoder %q", name, got, want)
		}
		if object.AdditionalProperties == nil || object.AdditionalProperties.Not == nil {
			t.Errorf("%q: the schema allows unknown keys", name)
		}
	}
}

// The bounds of every number: what the schema calls the lowest and the highest loads, and what is beyond does not.
func TestSchemaHasTheBoundsOfTheDecoder(t *testing.T) {
	t.Parallel()
	schema := parsedSchema(t)
	check := func(key, format string, number *jsonschema.Schema) {
		values := map[float64]bool{*number.Maximum: true, *number.Maximum + 2: false}
		if lowest := number.ExclusiveMinimum; lowest != nil {
			values[*lowest], values[*lowest+1] = false, true
		} else {
			values[*number.Minimum], values[*number.Minimum-1] = true, false
		}
		for value, sound := range values {
			_, err := agencies.Parse("f", fmt.Appendf(nil, format, key, value), nil, everything)
			if (err == nil) != sound {
				t.Errorf("%s: %.0f: %v", key, value, err)
			}
		}
	}
	for key, number := range schema.Defs["limits"].Properties {
		check(key, threeAgents+"limits: {%s: %.0f}\n", number)
	}
	for key, number := range schema.Defs["sessionLimits"].Properties {
		check(key, threeAgents+"session_limits: {%s: %.0f}\n", number)
	}
	check("max_silence", oneAgent+"    %s: %.0f\n", schema.Defs["agent"].Properties["max_silence"])
	for key, number := range schema.Defs["settings"].Properties {
		if number.Minimum != nil {
			check(key, oneAgent+"    model_settings: {%s: %.0f}\n", number)
		}
	}
	for _, effort := range schema.Defs["settings"].Properties["reasoning_effort"].Enum {
		mustParse(t, oneAgent+fmt.Sprintf("    model_settings: {reasoning_effort: %s}\n", effort))
	}
	defaults, err := json.Marshal(map[string]int{
		"max_depth": agencies.DefaultLimits.MaxDepth, "max_runs": agencies.DefaultLimits.MaxRuns,
		"max_turn_calls": agencies.DefaultLimits.MaxTurnCalls, "max_calls": agencies.DefaultLimits.MaxCalls,
		"max_handoffs": agencies.DefaultLimits.MaxHandoffs, "max_silence": agencies.DefaultLimits.MaxSilence,
	})
	if err != nil {
		t.Fatal(err)
	}
	inSchema := map[string]json.RawMessage{}
	for key, number := range schema.Defs["limits"].Properties {
		if number.Default != nil {
			inSchema[key] = number.Default
		}
	}
	if got, _ := json.Marshal(inSchema); string(got) != string(defaults) {
		t.Errorf("the schema has the defaults %s, not %s", got, defaults)
	}
}

func TestSchemaRefusesMistakes(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"agents: {A: {instructions: x}}", "name: t", "name: My Team\nagents: {A: {instructions: x}}", "name: t\nagents: {}",
		"name: t\nagents: {A: {}}", "name: t\nagents: {A: {instructions: x, tool: []}}", "name: t\nagents: {'A:B': {instructions: x}}",
		threeAgents + flows + "  - A", threeAgents + flows + "  - A > B: shout", threeAgents + flows + "  - A > B: {tool: a b}",
		threeAgents + "limits: {max_depth: 0}", threeAgents + "entry_points: []", threeAgents + "shared_instructions: {filez: x}",
		oneAgent + "    input_guardrails: [{deny: x, allow: y}]", oneAgent + "    output_guardrails: [{deny: x, raise: true}]",
		oneAgent + "    system_reminders: {message: x}", oneAgent + "    output_type: {properties: {}}",
	} {
		if schemaError(t, []byte(file)) == nil {
			t.Errorf("the schema has nothing against\n%s", file)
		}
		if _, err := agencies.Parse("f", []byte(file), nil, everything); err == nil {
			t.Errorf("the decoder has nothing against\n%s", file)
		}
	}
}
