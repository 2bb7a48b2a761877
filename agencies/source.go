package agencies

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxFileSize of an agency file, of a script beside it and of an instruction file, in bytes.
const maxFileSize = 1 << 20

// place is a position in the file, both counted from 1.
type place struct{ line, column int }

func at(n *yaml.Node) place { return place{n.Line, n.Column} }

// source is the text of an agency file: as the parser reads it, and in lines as a user sees it.
type source struct {
	data  []byte
	lines []string
}

// newSource checks what must hold before YAML is read: the size, the encoding, and that no character is invisible.
func newSource(data []byte) (*source, *Fault) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(data) > maxFileSize {
		return nil, &Fault{1, 1, fmt.Sprintf("the file has more than %d bytes; "+
			"long instructions can stand in files of their own", maxFileSize), ""}
	}
	if where, what := badCharacter(data); what != "" {
		return nil, &Fault{where.line, where.column, what, ""}
	}
	isJSON := bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))
	if isJSON {
		data = spacesForTabs(data)
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	if isJSON {
		data = plainEscapes(data)
	}
	return &source{data: data, lines: strings.Split(text, "\n")}, nil
}

// plainEscapes rewrites the escapes that JSON has and the YAML parser has not: a character beyond U+FFFF as two of them
// (\ud83d\ude00), and \/. Many programs write both.
func plainEscapes(data []byte) []byte {
	joined := make([]byte, 0, len(data))
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' || i+1 == len(data) {
			joined = append(joined, data[i])
			continue
		}
		if r := utf16.DecodeRune(escaped(data[i:]), escaped(data[min(i+6, len(data)):])); r != utf8.RuneError {
			joined = fmt.Appendf(joined, `\U%08x`, r)
			i += 11
			continue
		}
		if data[i+1] != '/' {
			joined = append(joined, '\\')
		}
		joined = append(joined, data[i+1])
		i++
	}
	return joined
}

// spacesForTabs makes each tab at the start of a line one space, so that columns stay: JSON may be indented with tabs.
func spacesForTabs(data []byte) []byte {
	data = bytes.Clone(data)
	indentation := true
	for i, b := range data {
		if indentation && b == '\t' {
			data[i] = ' '
		}
		indentation = b == '\n' || b == '\r' || indentation && (b == ' ' || b == '\t')
	}
	return data
}

// escaped is the number of the escape (\uXXXX) that data begins with; -1 for none.
func escaped(data []byte) rune {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return -1
	}
	number, err := strconv.ParseUint(string(data[2:6]), 16, 32)
	if err != nil {
		return -1
	}
	return rune(number)
}

// badCharacter finds the first thing in data that no text file should hold; what is empty when there is none.
func badCharacter(data []byte) (where place, what string) {
	where = place{1, 1}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return where, fmt.Sprintf("byte 0x%02x is not UTF-8; save the file as UTF-8", data[i])
		case isHidden(r) && r != '\n' && r != '\t' && r != '\r':
			return where, fmt.Sprintf("control character U+%04X; remove it", r)
		case r == '\n' || r == '\r' && !bytes.HasPrefix(data[i+1:], []byte("\n")):
			where = place{where.line + 1, 0}
		}
		i += size
		where.column++
	}
	return where, ""
}

// isHidden tells whether r steers a display instead of being shown: controls, line separators and changes of direction.
func isHidden(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff ||
		r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// within is the place of the part of n's text that begins at byte offset, where the file shows that text as it is.
func (s *source) within(n *yaml.Node, offset int) place {
	if n.Line < 1 || n.Line > len(s.lines) {
		return at(n)
	}
	skip := n.Column - 1
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		skip++
	}
	rest := s.lines[n.Line-1]
	for ; skip > 0 && rest != ""; skip-- {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	before := n.Value[:offset]
	if !strings.HasPrefix(rest, before) {
		return at(n)
	}
	line := s.lines[n.Line-1]
	column := utf8.RuneCountInString(line[:len(line)-len(rest)]) + utf8.RuneCountInString(before) + 1
	return place{n.Line, column}
}

// clamp moves a place into the file, whatever the parser claimed.
func (s *source) clamp(p place) place {
	p.line = min(max(p.line, 1), len(s.lines))
	p.column = min(max(p.column, 1), utf8.RuneCountInString(s.lines[p.line-1])+1)
	return p
}

// document is the root of the file's one YAML document.
func (s *source) document(k kind) (*yaml.Node, *Fault) {
	nodes, problem := parseYAML(s.data)
	if problem != "" {
		return nil, s.syntaxFault(problem)
	}
	if len(nodes) == 0 {
		return nil, &Fault{1, 1, "the file is empty; " + k.empty, ""}
	}
	if len(nodes) > 1 {
		where := s.clamp(at(nodes[1]))
		return nil, &Fault{where.line, where.column, "a second YAML document; " + k.second, ""}
	}
	return nodes[0].Content[0], nil
}

// parseYAML reads up to two documents. The problem is the parser's own message, with the line in front where it knows one.
func parseYAML(data []byte) (nodes []*yaml.Node, problem string) {
	defer func() {
		if r := recover(); r != nil { // the parser panics on some malformed input that it should refuse
			nodes, problem = nil, "this cannot be read as YAML"
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for len(nodes) < 2 {
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, strings.TrimPrefix(err.Error(), "yaml: ")
		}
		if len(node.Content) == 0 {
			return nil, "this cannot be read as YAML"
		}
		nodes = append(nodes, &node)
	}
	return nodes, ""
}

// splitProblem takes the line off a message of the parser; 0 where there is none.
func splitProblem(problem string) (line int, message string) {
	if rest, ok := strings.CutPrefix(problem, "line "); ok {
		if number, message, ok := strings.Cut(rest, ": "); ok {
			if line, err := strconv.Atoi(number); err == nil {
				return line, message
			}
		}
	}
	return 0, problem
}

// grammarProblems are messages whose line the parser counts from 0, where all others count from 1.
var grammarProblems = map[string]bool{
	"did not find expected <document start>": true,
	"did not find expected node content":     true,
	"did not find expected key":              true,
	"did not find expected '-' indicator":    true,
	"did not find expected ',' or ']'":       true,
	"did not find expected ',' or '}'":       true,
}

// hints say in a user's words what the parser's messages usually come from, and which characters of the line it may be.
var hints = map[string]struct{ text, characters string }{
	"mapping values are not allowed in this context": {`a ": " where no key can stand; put text that holds one in quotes, or correct the indentation`, ":"},
	"did not find expected key":                      {"this does not continue what stands above; check the indentation and the quotes", ""},
	"did not find expected '-' indicator":            {"a list goes on with '-' at the same indentation", ""},
	"did not find expected ',' or ']'":               {"this [ is not closed, or a comma is missing in it", "["},
	"did not find expected ',' or '}'":               {"this { is not closed, or a comma is missing in it", "{"},
	"could not find expected ':'":                    {"a key without ':' after it, or a text that is indented too little", ""},
	"found unexpected end of stream":                 {"a quote is opened here and not closed", "\"'"},
	"found character that cannot start any token":    {"a value cannot begin with this character; put it in quotes", "@`%"},
	"did not find expected <document start>":         {"this belongs to nothing; check the indentation", ""},
	"found unknown escape character":                 {`an unknown escape in double quotes; write \\ for a backslash, or use single quotes`, `\`},
	"did not find expected node content":             {"a value is missing here", ""},
}

// syntaxFault turns the parser's message into a fault with the best position that can be had: it names lines only, for a
// broken block the line where the block began, and for an unknown alias none.
func (s *source) syntaxFault(problem string) *Fault {
	line, message := splitProblem(problem)
	hint := hints[message]
	switch {
	case message == "did not find expected key" || message == "did not find expected '-' indicator":
		line = s.firstLineWith(message)
	case grammarProblems[message]:
		line++
	case strings.HasPrefix(message, "unknown anchor '"):
		name, _, _ := strings.Cut(strings.TrimPrefix(message, "unknown anchor '"), "'")
		line = 1 + slices.IndexFunc(s.lines, func(line string) bool { return strings.Contains(line, "*"+name) })
		hint.characters = "*"
	}
	where := s.clamp(place{line, 1})
	text := s.lines[where.line-1]
	indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	if tab := strings.IndexByte(indent, '\t'); tab >= 0 {
		return &Fault{where.line, tab + 1, "a tab in the indentation; YAML wants spaces", ""}
	}
	where.column = len(indent) + 1
	if last := strings.LastIndexAny(text, hint.characters); last >= 0 {
		where.column = utf8.RuneCountInString(text[:last]) + 1
	}
	if hint.text != "" {
		message = hint.text
	}
	return &Fault{where.line, where.column, "not YAML: " + printable(message), ""}
}

// firstLineWith is the first line that brings the parser to this message: what stands before it is read without.
func (s *source) firstLineWith(message string) int {
	low, high := 1, len(s.lines)
	for low < high {
		middle := (low + high) / 2
		_, problem := parseYAML([]byte(strings.Join(s.lines[:middle], "\n") + "\n"))
		if _, found := splitProblem(problem); found == message {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}
