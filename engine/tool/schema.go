package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"bureau/engine/llm"
)

// schema is a tool's parameters, ready to check arguments against.
type schema struct {
	root     *jsonschema.Schema
	resolved *jsonschema.Resolved
	// refs are the targets of the document's $ref, by their text.
	refs map[string]*jsonschema.Schema
}

// target follows references to the schema that stands at their end.
func (s *schema) target(at *jsonschema.Schema) *jsonschema.Schema {
	for at != nil && at.Ref != "" {
		at = s.refs[at.Ref]
	}
	return at
}

// schemas remembers what was compiled, by the schema's text. It is a memo: it changes how fast a check is, never what it says.
var schemas = memo{compiled: map[string]*schema{}}

const maxSchemas = 1024

type memo struct {
	mu       sync.Mutex
	compiled map[string]*schema
}

// compiled returns the schema of a tool's arguments; the error names the tool.
func compiled(t llm.Tool) (*schema, error) {
	schemas.mu.Lock()
	s := schemas.compiled[string(t.Parameters)]
	schemas.mu.Unlock()
	if s != nil {
		return s, nil
	}
	s, err := compile(t.Parameters)
	if err != nil {
		return nil, fmt.Errorf("the parameters of tool %q are not a usable JSON Schema: %w", clip(t.Name, maxName), err)
	}
	schemas.mu.Lock()
	defer schemas.mu.Unlock()
	if len(schemas.compiled) >= maxSchemas {
		clear(schemas.compiled)
	}
	schemas.compiled[string(t.Parameters)] = s
	return s, nil
}

const maxSchemaBytes = 256 << 10

func compile(parameters json.RawMessage) (*schema, error) {
	if len(parameters) > maxSchemaBytes {
		return nil, fmt.Errorf("it is %d bytes long, at most %d are accepted", len(parameters), maxSchemaBytes)
	}
	var document map[string]any
	if err := json.Unmarshal(parameters, &document); err != nil {
		return nil, err
	}
	if document["type"] != "object" {
		return nil, errors.New(`its type must be "object"`)
	}
	s := &schema{root: &jsonschema.Schema{}}
	if err := json.Unmarshal(parameters, s.root); err != nil {
		return nil, err
	}
	refs, err := references(document)
	if err != nil {
		return nil, err
	}
	s.refs = refs
	s.resolved, err = s.root.Resolve(nil)
	return s, err
}
