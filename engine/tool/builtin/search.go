package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	"unicode"

	"bureau/engine/llm"
	"bureau/engine/tool"
)

const (
	maxPattern    = 1000
	maxResults    = 200
	maxSearchFile = 4 << 20
	maxSearchTime = 20 * time.Second
)

type searchArgs struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	In         string `json:"in"`
	Glob       string `json:"glob"`
	IgnoreCase bool   `json:"ignore_case"`
}

func searchFilesTool(dir *folder, maxOutput int, now func() time.Time) tool.Tool {
	return function[searchArgs]{
		definition: llm.Tool{
			Name: "search_files",
			Description: "Finds lines in text files, or names of files and folders, by a regular expression. Gives path:line: text, or paths. " +
				"Leaves out .git, node_modules, binary files, links and files over 4 MiB.",
			Parameters: json.RawMessage(`{
				"type": "object",
				"properties": {
					"pattern": {"type": "string", "minLength": 1, "description": "A regular expression (RE2 syntax), matched within one line or one path"},
					"path": {"type": "string", "description": "The folder or file to search, relative to the working folder. Default: the working folder"},
					"in": {"type": "string", "enum": ["contents", "names"], "description": "Search the lines of files or the paths. Default: contents"},
					"glob": {"type": "string", "description": "Only files whose name, or path if it holds a /, matches, such as *.go or docs/**/*.md"},
					"ignore_case": {"type": "boolean", "description": "Whether upper and lower case are the same. Default: false"}
				},
				"required": ["pattern"],
				"additionalProperties": false
			}`),
		},
		run: func(ctx context.Context, args searchArgs) (string, error) {
			return searchFiles(ctx, dir, maxOutput, now, args)
		},
	}
}

func searchFiles(ctx context.Context, dir *folder, maxOutput int, now func() time.Time, args searchArgs) (string, error) {
	pattern, err := compilePattern(args.Pattern, args.IgnoreCase)
	if err != nil {
		return "", err
	}
	s := search{dir: dir, pattern: pattern, room: maxOutput - headerRoom, now: now, until: now().Add(maxSearchTime)}
	s.literal = requiredLiteral(pattern)
	switch args.In {
	case "", "contents":
	case "names":
		s.inNames = true
	default:
		return "", fmt.Errorf("in must be contents or names, not %s", quote(args.In))
	}
	if args.Glob != "" {
		if len(args.Glob) > maxPattern {
			return "", fmt.Errorf("the glob is %d bytes long; at most %d are accepted", len(args.Glob), maxPattern)
		}
		if s.glob, err = compileGlob(args.Glob); err != nil {
			return "", err
		}
	}
	path := args.Path
	if path == "" {
		path = "."
	}
	name, info, err := dir.find(path)
	if err != nil {
		return "", err
	}
	s.base = name
	if info.IsDir() {
		err = s.walk(ctx, name, 1)
	} else {
		err = s.one(ctx, name)
	}
	if err != nil && !errors.Is(err, errOutOfTime) {
		return "", err
	}
	return s.report(args.Pattern, err != nil), nil
}

// one searches a single file, whatever its name is.
func (s *search) one(ctx context.Context, name string) error {
	if s.inNames {
		s.matchName(name, "")
		return nil
	}
	return s.matchFile(ctx, name)
}

func compilePattern(pattern string, ignoreCase bool) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, errors.New("the pattern is empty; list_directory shows what there is")
	}
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("the pattern is %d bytes long; at most %d are accepted", len(pattern), maxPattern)
	}
	text := pattern
	if ignoreCase {
		text = "(?i)" + pattern
	}
	compiled, err := regexp.Compile(text)
	if err == nil {
		return compiled, nil
	}
	var fault *syntax.Error
	if !errors.As(err, &fault) {
		return nil, fmt.Errorf("the pattern %s is not valid: %w", quote(pattern), err)
	}
	where := ""
	if at := strings.Index(pattern, fault.Expr); at >= 0 && fault.Expr != pattern && fault.Expr != "" {
		where = fmt.Sprintf(" at character %d (%s)", len([]rune(pattern[:at]))+1, quote(fault.Expr))
	}
	return nil, fmt.Errorf("the pattern %s is not valid: %s%s; RE2 syntax has no lookaround and no backreferences, and \\ stands before a character meant literally",
		quote(pattern), fault.Code, where)
}

// requiredLiteral finds the longest text that is in every match, which is far quicker to look for than the pattern. It is of ASCII
// alone, which reads the same in every encoding that a line may have, and empty where there is none.
func requiredLiteral(pattern *regexp.Regexp) string {
	tree, err := syntax.Parse(pattern.String(), syntax.Perl)
	if err != nil {
		return ""
	}
	return longestLiteral(tree)
}

func longestLiteral(tree *syntax.Regexp) string {
	switch tree.Op {
	case syntax.OpLiteral:
		text := string(tree.Rune)
		if tree.Flags&syntax.FoldCase != 0 || strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
			return ""
		}
		return text
	case syntax.OpCapture, syntax.OpPlus:
		return longestLiteral(tree.Sub[0])
	case syntax.OpConcat:
		longest := ""
		for _, part := range tree.Sub {
			if text := longestLiteral(part); len(text) > len(longest) {
				longest = text
			}
		}
		return longest
	default:
		return ""
	}
}
