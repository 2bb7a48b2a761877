package tool

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Registry is the tools that an agency file may name. Fill it before it is shared: reading is safe for concurrent use,
// registering is not.
type Registry struct {
	names []string
	tools map[string]Tool
}

// Register adds tools. It fails, with none of them added, when a name is not legal or is taken, or a schema is not valid.
func (r *Registry) Register(tools ...Tool) error {
	set, err := NewSet(tools...)
	if err != nil {
		return err
	}
	for _, name := range set.names {
		if _, taken := r.tools[name]; taken {
			return fmt.Errorf("a tool named %q is registered already", name)
		}
	}
	if r.tools == nil {
		r.tools = make(map[string]Tool, len(tools))
	}
	for _, name := range set.names {
		r.names = append(r.names, name)
		r.tools[name] = set.tools[name]
	}
	return nil
}

// Names lists the registered names in the order of their registration.
func (r *Registry) Names() []string { return slices.Clone(r.names) }

// Pick makes the set of the named tools, in the order of the names. Names that are unknown or repeated are errors, reported all
// at once.
func (r *Registry) Pick(names []string) (*Set, error) {
	tools := make([]Tool, 0, len(names))
	var faults []error
	for _, name := range names {
		if t, ok := r.tools[name]; ok {
			tools = append(tools, t)
			continue
		}
		hint := "there are no tools"
		if near := Nearest(name, r.names, 3); len(near) > 0 {
			hint = "did you mean " + strings.Join(near, " or ") + "?"
		} else if len(r.names) > 0 {
			hint = "there are " + strings.Join(r.names, ", ")
		}
		faults = append(faults, fmt.Errorf("unknown tool %q: %s", clip(name, 80), hint))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return NewSet(tools...)
}
