package agencies

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The bounds of what a pattern includes: files, and bytes of all of them.
const (
	maxIncluded      = 64
	maxIncludedBytes = 1 << 20
)

// instructions reads a text, or the files that it is in: a text of its own, then one file, then those of a pattern.
func (d *decoder) instructions(n *yaml.Node, what string) string {
	if n.Kind != yaml.MappingNode {
		s, _ := d.text(n, what)
		d.refersTo(n, s)
		return s
	}
	keys := d.object(n, what, fileKeys)
	if len(n.Content) == 0 {
		d.fault(at(n), "%s must be text, {file: name.md} or {files: docs/*.md}", what)
	}
	var parts []string
	if e, ok := keys["text"]; ok {
		if s, ok := d.phrase(e.value, "text"); ok {
			parts = append(parts, s)
			d.refersTo(e.value, s)
		}
	}
	if e, ok := keys["file"]; ok {
		if s, ok := d.file(e.value); ok {
			parts = append(parts, s)
			d.refersTo(e.value, s)
		}
	}
	if e, ok := keys["files"]; ok {
		for _, s := range d.included(e.value) {
			parts = append(parts, s)
			d.refersTo(e.value, s)
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	for i, part := range parts {
		parts[i] = strings.TrimRight(part, "\n")
	}
	return strings.Join(parts, "\n\n")
}

func (d *decoder) file(n *yaml.Node) (string, bool) {
	name, ok := d.word(n, "file")
	if !ok {
		return "", false
	}
	text, err := readText(d.files, name)
	if err != nil {
		d.fault(at(n), "%s", fmt.Sprintf("the file %s %s", quote(name), err))
		return "", false
	}
	return text, true
}

// included reads the files of a pattern in the order of their names, each below its name.
func (d *decoder) included(n *yaml.Node) []string {
	pattern, ok := d.word(n, "files")
	if !ok {
		return nil
	}
	clean := path.Clean(strings.ReplaceAll(pattern, `\`, "/"))
	switch {
	case d.files == nil:
		d.fault(at(n), "the files %s cannot be read: the agency has no folder; write the text itself", quote(pattern))
		return nil
	case !fs.ValidPath(clean):
		d.fault(at(n), "the files %s must be relative to the agency's folder, and in it", quote(pattern))
		return nil
	}
	names, err := fs.Glob(d.files, clean)
	switch {
	case err != nil:
		d.fault(at(n), "%s is no pattern of files; write something like docs/*.md", quote(pattern))
		return nil
	case len(names) == 0:
		d.fault(at(n), "no file in the agency's folder matches %s", quote(pattern))
		return nil
	case len(names) > maxIncluded:
		d.fault(at(n), "%d files match %s; at most %d are included", len(names), quote(pattern), maxIncluded)
		return nil
	}
	slices.Sort(names)
	var texts []string
	total := 0
	for _, name := range names {
		text, err := readText(d.files, name)
		if err != nil {
			d.fault(at(n), "%s", fmt.Sprintf("the file %s %s", quote(name), err))
			return nil
		}
		if total += len(text); total > maxIncludedBytes {
			d.fault(at(n), "the files that match %s have more than %d bytes together", quote(pattern), maxIncludedBytes)
			return nil
		}
		texts = append(texts, fmt.Sprintf("File %s:\n\n%s", printable(name), text))
	}
	return texts
}

// reference is {{name}}, the value of a session variable in a text; a backslash before it takes the braces as they are.
var reference = regexp.MustCompile(`\\?\{\{[ \t]*([a-zA-Z0-9_-]{1,64})[ \t]*\}\}`)

// Expand puts the values of session variables in the place of their names in a text. A name that value does not know stays
// as it is written.
func Expand(text string, value func(name string) (string, bool)) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	return reference.ReplaceAllStringFunc(text, func(written string) string {
		if literal, escaped := strings.CutPrefix(written, `\`); escaped {
			return literal
		}
		if v, ok := value(reference.FindStringSubmatch(written)[1]); ok {
			return v
		}
		return written
	})
}

// refersTo checks, once the whole file is read, that the variables of a text are declared.
func (d *decoder) refersTo(n *yaml.Node, text string) {
	if !strings.Contains(text, "{{") {
		return
	}
	d.later = append(d.later, func(a *Agency) {
		var declared []string
		for _, v := range a.Variables {
			declared = append(declared, v.Name)
		}
		seen := map[string]bool{}
		Expand(text, func(name string) (string, bool) {
			if !slices.Contains(declared, name) && !seen[name] {
				seen[name] = true
				d.unknown(at(n), `variable ({{...}} for a literal stands behind a \)`, name, declared)
			}
			return "", true
		})
	})
}

// Variable is a text that tools and instructions of a session share; Value is what it is in a new one.
type Variable struct{ Name, Value string }

const maxVariables = 256

func (d *decoder) variables(n *yaml.Node) []Variable {
	var variables []Variable
	for _, e := range d.entries(n, "variables") {
		if !isToolName(e.name) {
			d.fault(at(e.key), "the variable name %s; at most %d of a-z, A-Z, 0-9, _ and -", quote(e.name), maxNameLength)
		}
		if len(variables) == maxVariables {
			d.fault(at(e.key), "more than %d variables", maxVariables)
			break
		}
		value, _ := d.text(e.value, "the variable "+quote(e.name))
		variables = append(variables, Variable{e.name, value})
	}
	return variables
}
