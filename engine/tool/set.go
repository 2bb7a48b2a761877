package tool

import (
	"errors"
	"fmt"
	"slices"

	"bureau/engine/llm"
)

// Set is the tools that one agent is given, in a fixed order. It never changes; it is safe to share.
type Set struct {
	names []string
	tools map[string]Tool
}

// NewSet joins tools. Their names must be legal and unique, and their parameters a JSON Schema of type object that can be
// checked against; all faults are reported at once, each with the tool's name.
func NewSet(tools ...Tool) (*Set, error) {
	set := &Set{tools: make(map[string]Tool, len(tools))}
	var faults []error
	for i, t := range tools {
		if t == nil {
			faults = append(faults, fmt.Errorf("tool %d of the set is nil", i+1))
			continue
		}
		def := t.Definition()
		if err := checkDefinition(def); err != nil {
			faults = append(faults, err)
			continue
		}
		if _, taken := set.tools[def.Name]; taken {
			faults = append(faults, fmt.Errorf("two tools are named %q (tool %d and tool %d of the set): give one of them another name",
				def.Name, slices.Index(set.names, def.Name)+1, i+1))
			continue
		}
		set.names = append(set.names, def.Name)
		set.tools[def.Name] = t
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return set, nil
}

func checkDefinition(def llm.Tool) error {
	if !IsLegal(def.Name) {
		return fmt.Errorf("tool name %q is not legal: 1 to %d letters, digits, _ and - are", clip(def.Name, 80), maxName)
	}
	_, err := compiled(def)
	return err
}

// Definitions describes the tools to a model, in order.
func (s *Set) Definitions() []llm.Tool {
	defs := make([]llm.Tool, 0, len(s.names))
	for _, name := range s.names {
		defs = append(defs, s.tools[name].Definition())
	}
	return defs
}

// Get finds a tool by its exact name.
func (s *Set) Get(name string) (Tool, bool) {
	t, ok := s.tools[name]
	return t, ok
}

// Names lists the tools' names, in order.
func (s *Set) Names() []string { return slices.Clone(s.names) }

// Nearest returns up to n names that a model may have meant by a name that is not there, the likeliest first; none when
// nothing is close.
func (s *Set) Nearest(name string, n int) []string { return Nearest(name, s.names, n) }
