package agencies

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	// maxNameLength of agencies, agents and tools, in characters.
	maxNameLength = 64
	// maxAgents of an agency.
	maxAgents = 256
	// quotes may stand around a name without belonging to it, wherever a model or a person writes one.
	quotes = "\"'`“”‘’«»"
)

// agentNameFault says why name cannot be an agent's; empty when it can.
func agentNameFault(name string) string {
	switch {
	case name != strings.TrimSpace(name):
		return "begins or ends with a space"
	case nameKey(name) == "":
		return "is empty"
	case characters(name) > maxNameLength:
		return fmt.Sprintf("has %d characters; at most %d", characters(name), maxNameLength)
	}
	for _, r := range name {
		if r == '\n' || r == '\t' { // all other control characters are refused wherever they stand
			return "must stand on one line, without tabs"
		}
		if strings.ContainsRune("><,@:", r) {
			return fmt.Sprintf("holds %q; a name is without > < , @ and :", r)
		}
	}
	return ""
}

// nameKey is equal for names that a person or a model would confuse: it folds case, Unicode forms, outer spaces and quotes.
func nameKey(name string) string {
	name = norm.NFKC.String(strings.ToLower(strings.ToUpper(norm.NFKC.String(name))))
	return strings.TrimFunc(name, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(quotes, r) })
}

// agencyNameFault says why name cannot be an agency's; empty when it can.
func agencyNameFault(name string) string {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' {
			return fmt.Sprintf("holds %q; it is written in a-z, 0-9 and -", r)
		}
	}
	if len(name) > maxNameLength {
		return fmt.Sprintf("has %d characters; at most %d", len(name), maxNameLength)
	}
	if name == "" {
		return "is empty"
	}
	return ""
}

// isToolName tells whether every server accepts name for a tool or for a parameter of one.
func isToolName(name string) bool {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return false
		}
	}
	return name != "" && len(name) <= maxNameLength
}

// composed is the one form of a name that looks the same.
func composed(name string) string { return norm.NFC.String(name) }

// yamlWord writes an agency's name so that YAML takes it for text: one of digits alone would be a number.
func yamlWord(name string) string {
	nodes, problem := parseYAML([]byte("name: " + name))
	if problem == "" && len(nodes) == 1 {
		if root := nodes[0].Content[0]; len(root.Content) == 2 && isText(root.Content[1]) && root.Content[1].Value == name {
			return name
		}
	}
	return `"` + name + `"`
}
