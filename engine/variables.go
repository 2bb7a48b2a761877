package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"bureau/agencies"
	"bureau/engine/llm"
	"bureau/engine/tool"
)

// The tools that read and write the variables of a session.
const (
	toolGetVariable = "get_variable"
	toolSetVariable = "set_variable"
)

// ToolNames are the tools of the engine itself that an agency file may name, beside those that Options.Tools knows.
func ToolNames() []string { return []string{toolGetVariable, toolSetVariable} }

// The bounds of a session's variables: how many, and bytes of a value.
const (
	maxVariables     = 256
	maxVariableBytes = 64 << 10
)

var variableName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// variables are the values of a session's variables: what was set, else what the agency says.
func (e *Engine) variables(ctx context.Context, session string) (map[string]string, error) {
	set, err := e.options.Log.Variables(ctx, session)
	if err != nil {
		return nil, fmt.Errorf("read the session: %w", err)
	}
	values := map[string]string{}
	for _, v := range e.options.Agency.Variables {
		values[v.Name] = v.Value
	}
	maps.Copy(values, set)
	return values, nil
}

// expand puts the values of the session's variables into texts, in place.
func (r *run) expand(ctx context.Context, texts ...*string) error {
	if !slices.ContainsFunc(texts, func(text *string) bool { return strings.Contains(*text, "{{") }) {
		return nil
	}
	values, err := r.turn.engine.variables(ctx, r.turn.input.SessionID)
	if err != nil {
		return err
	}
	for _, text := range texts {
		*text = agencies.Expand(*text, func(name string) (string, bool) {
			value, ok := values[name]
			return value, ok
		})
	}
	return nil
}

// own picks the tools that an agent file names, in its order: the engine's own and those of the registry.
func (e *Engine) own(names []string) (*tool.Set, error) {
	isOwn := func(name string) bool { return slices.Contains(ToolNames(), name) }
	picked, err := e.options.Tools(slices.DeleteFunc(slices.Clone(names), isOwn))
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(names, isOwn) {
		return picked, nil
	}
	tools := make([]tool.Tool, 0, len(names))
	for _, name := range names {
		if isOwn(name) {
			tools = append(tools, variableTool{engine: e, writes: name == toolSetVariable})
		} else if t, ok := picked.Get(name); ok {
			tools = append(tools, t)
		}
	}
	return tool.NewSet(tools...)
}

// variableTool reads or writes a variable of the session that it is called in.
type variableTool struct {
	engine *Engine
	writes bool
}

// Definition describes the tool, with the variables that the agency declares.
func (v variableTool) Definition() llm.Tool {
	about := "Every agent of this session reads and writes the same ones."
	if declared := v.engine.options.Agency.Variables; len(declared) > 0 {
		names := make([]string, len(declared))
		for i, d := range declared {
			names[i] = d.Name
		}
		about += " There are: " + strings.Join(names, ", ") + "."
	}
	properties := map[string]any{"name": map[string]any{"type": "string", "description": "The variable's name."}}
	if !v.writes {
		return llm.Tool{Name: toolGetVariable, Description: "Reads a variable of the session. " + about, Parameters: mustJSON(map[string]any{
			"type": "object", "properties": properties, "required": []string{"name"}, "additionalProperties": false,
		})}
	}
	properties["value"] = map[string]any{"type": "string", "description": "Its new value; it takes the place of the old one."}
	return llm.Tool{Name: toolSetVariable, Description: "Sets a variable of the session. " + about, Parameters: mustJSON(map[string]any{
		"type": "object", "properties": properties, "required": []string{"name", "value"}, "additionalProperties": false,
	})}
}

// Run reads or writes.
func (v variableTool) Run(ctx context.Context, call tool.Call) (string, error) {
	var args struct{ Name, Value string }
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return "", err
	}
	values, err := v.engine.variables(ctx, call.Session)
	if err != nil {
		return "", err
	}
	old, known := values[args.Name]
	if !v.writes {
		if !known {
			return "", fmt.Errorf("there is no variable %q; there are: %s", args.Name, strings.Join(slices.Sorted(maps.Keys(values)), ", "))
		}
		return old, nil
	}
	switch {
	case !variableName.MatchString(args.Name):
		return "", fmt.Errorf("%q is no name of a variable: 1 to 64 letters, digits, _ and - are", args.Name)
	case len(args.Value) > maxVariableBytes:
		return "", fmt.Errorf("the value has %d bytes; at most %d are kept", len(args.Value), maxVariableBytes)
	case !known && len(values) >= maxVariables:
		return "", fmt.Errorf("the session has %d variables already, and no more are kept", len(values))
	}
	if err := v.engine.options.Log.SetVariable(ctx, call.Session, args.Name, args.Value); err != nil {
		return "", err
	}
	return args.Name + " is set.", nil
}
