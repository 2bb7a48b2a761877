// Package tool is what an agent can do: the interface of a tool, the set that an agent is given, and the check of
// arguments against a tool's JSON Schema. The tools themselves live in the packages below it. A Tool is safe for
// concurrent use.
package tool

import (
	"context"

	"bureau/engine/llm"
)

// Tool is something that an agent can call.
type Tool interface {
	// Definition describes it to a model. It does not change while a session runs.
	Definition() llm.Tool
	// Run carries out one call. The arguments have passed the schema. An error is told to the model in words, as an output
	// that begins with "Error: ", and ends nothing; only the context's end ends a run.
	Run(ctx context.Context, call Call) (string, error)
}

// Call is one call of a tool.
type Call struct {
	ID string
	// Session is the one that the call belongs to, Agent the caller.
	Session, Agent string
	// Arguments is a JSON object that has passed the tool's schema.
	Arguments []byte
}
