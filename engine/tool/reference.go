package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxInPlace bounds how many schemas apply to one value at once, through references and combinations. A schema that applies
// itself to the same value has no end and exceeds any bound.
const maxInPlace = 1000

// references collects the target of every $ref of a schema document, by its text. References lead to a place in the same
// document ("#/$defs/name"); others, and schemas that a check would not come to an end with, are errors.
func references(document map[string]any) (map[string]*jsonschema.Schema, error) {
	found := map[string]*jsonschema.Schema{}
	var walk func(node any, isRoot bool) error
	walk = func(node any, isRoot bool) error {
		switch node := node.(type) {
		case []any:
			for _, item := range node {
				if err := walk(item, false); err != nil {
					return err
				}
			}
		case map[string]any:
			for _, keyword := range []string{"$id", "$dynamicRef", "$recursiveRef"} {
				// An identifier below the root would give references below it another document.
				if _, ok := node[keyword].(string); ok && (keyword != "$id" || !isRoot) {
					return fmt.Errorf("%s is not supported here", keyword)
				}
			}
			if ref, ok := node["$ref"].(string); ok {
				target, err := follow(document, ref)
				if err != nil {
					return err
				}
				if found[ref], err = asSchema(target); err != nil {
					return fmt.Errorf("$ref %q: %w", ref, err)
				}
			}
			budget := maxInPlace
			if err := spend(document, node, &budget); err != nil {
				return err
			}
			for _, child := range node {
				if err := walk(child, false); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := walk(document, true); err != nil {
		return nil, err
	}
	return found, nil
}

func asSchema(node any) (*jsonschema.Schema, error) {
	text, err := json.Marshal(node)
	if err != nil {
		return nil, err
	}
	s := &jsonschema.Schema{}
	return s, json.Unmarshal(text, s)
}

// follow finds what a reference points to: a JSON pointer as the fragment of a URL.
func follow(document map[string]any, ref string) (any, error) {
	pointer, isLocal := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(pointer)
	if !isLocal || err != nil || pointer != "" && pointer[0] != '/' {
		return nil, fmt.Errorf("$ref %q is not supported: only a place in the same schema is, such as \"#/$defs/name\"", clip(ref, 200))
	}
	var at any = document
	if pointer == "" {
		return at, nil
	}
	for _, step := range strings.Split(pointer[1:], "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch node := at.(type) {
		case map[string]any:
			at = node[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(node) {
				at = nil
				break
			}
			at = node[i]
		default:
			at = nil
		}
		if at == nil {
			return nil, fmt.Errorf("$ref %q leads nowhere", clip(ref, 200))
		}
	}
	return at, nil
}

// spend counts the schemas that apply to a value wherever node does.
func spend(document map[string]any, node any, budget *int) error {
	if *budget--; *budget < 0 {
		return errors.New("it refers to itself without end, or combines more than " + strconv.Itoa(maxInPlace) + " schemas")
	}
	schema, ok := node.(map[string]any)
	if !ok {
		return nil
	}
	var applied []any
	if ref, ok := schema["$ref"].(string); ok {
		target, err := follow(document, ref)
		if err != nil {
			return err
		}
		applied = append(applied, target)
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		if list, ok := schema[keyword].([]any); ok {
			applied = append(applied, list...)
		}
	}
	for _, keyword := range []string{"not", "if", "then", "else"} {
		applied = append(applied, schema[keyword])
	}
	for _, keyword := range []string{"dependentSchemas", "dependencies"} {
		if byName, ok := schema[keyword].(map[string]any); ok {
			for _, s := range byName {
				applied = append(applied, s)
			}
		}
	}
	for _, s := range applied {
		if _, isSchema := s.(map[string]any); !isSchema {
			continue
		}
		if err := spend(document, s, budget); err != nil {
			return err
		}
	}
	return nil
}
