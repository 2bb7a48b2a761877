package agencies

import (
	_ "embed"
	"slices"
)

//go:embed schema.json
var schemaFile []byte

// Schema is the JSON Schema (draft 2020-12) of the file format, for editors. It knows every key that Load knows and no
// other; what refers from one part of a file to another (agents in flows, tools, providers) only Load can check.
func Schema() []byte { return slices.Clone(schemaFile) }
