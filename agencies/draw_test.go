package agencies_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"bureau/agencies"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"
)

func TestDraw(t *testing.T) {
	t.Parallel()
	got := agencies.Draw(mustParse(t, `
name: t
description: "Two\nlines"
agents:
  A: {instructions: x, description: Leads}
  B: {instructions: x}
  C: {instructions: x}
  Lost: {instructions: x}
  Loster: {instructions: x, description: Is told what to do}
  Roundabout: {instructions: x}
  Return: {instructions: x}
entry_points: [A, C]
communication_flows:
  - A > B > C
  - A > B: handoff
  - B > A: {tool: ask}
  - Loster > Lost > B
  - Roundabout > Return > Roundabout
`))
	want := `t: Two lines

A (entry point, default recipient)  Leads
├─> B
│  ├─> C
│  └─>[ask] A  ↑ see above
└─⇒ B  ↑ see above
C (entry point)  ↑ see above
Loster (no entry point leads to it)  Is told what to do
└─> Lost
   └─> B  ↑ see above
Roundabout (no entry point leads to it)
└─> Return
   └─> Roundabout  ↑ see above

>  sends a message and waits for the answer
>[tool]  the same, with a tool of its own
⇒  hands the conversation over
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestNewLoads(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"my-team", "007", "null", "true", "-", "---", "1e3", strings.Repeat("a", 64)} {
		starter, err := agencies.New(name)
		file := starter.Agency
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		agency, err := agencies.Parse("f", file, nil, agencies.Known{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if agency.Name != name || agency.Limits != agencies.DefaultLimits {
			t.Errorf("%s became %+v", name, agency)
		}
		validate(t, name, file)
	}
	for _, name := range []string{"", "My", "a b", "../a", strings.Repeat("a", 65)} {
		if _, err := agencies.New(name); err == nil {
			t.Errorf("%q is taken for a name", name)
		}
	}
}

// What the starter file shows in comments works too when the comments are taken off.
func TestNewWithItsComments(t *testing.T) {
	t.Parallel()
	starter, err := agencies.New("t")
	if err != nil {
		t.Fatal(err)
	}
	text := string(starter.Agency)
	for _, key := range []string{"# model:", "# tools:", "# model_settings:", "# limits:", "# session_limits:", "# - Editor > Researcher:", "#     tool:",
		"#     description:", "#     parameters:", "#       urgency:", "#     required:"} {
		if !strings.Contains(text, key) {
			t.Errorf("the file does not show %s", key)
		}
		text = strings.ReplaceAll(text, key, strings.TrimPrefix(key, "# "))
	}
	agency := mustParse(t, text)
	researcher, _ := agency.Agent("Researcher")
	editor, _ := agency.Agent("Editor")
	if agency.Model == "" || len(researcher.Tools) != 3 || editor.Model == "" || editor.Settings.Temperature == nil ||
		wired(agency, "Editor") != "check_fact(Researcher) handoff(Lead)" {
		t.Errorf("%+v", agency)
	}
}

// validate holds a file that loads against the schema.
func validate(t *testing.T, name string, file []byte) {
	t.Helper()
	if err := schemaError(t, file); err != nil {
		t.Errorf("%s: the schema has against it: %v", name, err)
	}
}

func schemaError(t *testing.T, file []byte) error {
	t.Helper()
	var schema jsonschema.Schema
	if err := json.Unmarshal(agencies.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := yaml.NewDecoder(bytes.NewReader(file)).Decode(&value); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return resolved.Validate(value)
}

func TestShippedAgenciesFitTheSchema(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"newsroom", "tour"} {
		file, err := os.ReadFile("shipped/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		validate(t, name, file)
	}
}
