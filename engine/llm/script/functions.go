package script

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"unicode/utf8"
)

// arities are the functions of a template with the fewest and the most arguments that each takes: those below, and the three
// that text/template itself defines.
var arities = []struct {
	name        string
	least, most int
}{
	{"output", 1, 2},
	{"outputs", 0, 1},
	{"find", 2, 2},
	{"count", 2, 2},
	{"first", 2, 2},
	{"lines", 1, 1},
	{"cut", 2, 2},
	{"quote", 1, 1},
	{"trim", 1, 1},
	{"json", 2, 2},
	{"default", 2, 2},
	{"eq", 2, 2},
	{"ne", 2, 2},
	{"and", 1, 9},
	{"or", 1, 9},
	{"not", 1, 1},
}

func names() []string {
	var all []string
	for _, f := range arities {
		all = append(all, f.name)
	}
	return all
}

// arity is how many arguments a function takes; -1 for one that does not exist.
func arity(name string) (least, most int) {
	for _, f := range arities {
		if f.name == name {
			return f.least, f.most
		}
	}
	return -1, -1
}

func arguments(least, most int) string {
	switch {
	case least == most && most == 1:
		return "1 argument"
	case least == most:
		return fmt.Sprintf("%d arguments", most)
	default:
		return fmt.Sprintf("%d to %d arguments", least, most)
	}
}

// functions are those of a template, bound to the conversation that they speak of. They take whatever they are given and
// answer with text or a number: where there is nothing to give, with an empty text.
func functions(s scene, finds map[string]*regexp.Regexp) template.FuncMap {
	return template.FuncMap{
		"output":  s.output,
		"outputs": s.outputs,
		"find":    func(pattern, from any) string { return find(finds[word(pattern)], word(from)) },
		"count":   func(pattern, from any) int { return matches(finds[word(pattern)], word(from)) },
		"first":   func(n, from any) string { return first(number(n), word(from)) },
		"lines":   func(from any) int { return lines(word(from)) },
		"cut":     func(n, from any) string { return cut(number(n), word(from)) },
		"quote":   func(from any) string { return quote(word(from)) },
		"trim":    func(from any) string { return strings.TrimSpace(word(from)) },
		"json":    func(path, from any) string { return lookup(word(path), word(from)) },
		"default": func(other, from any) string {
			if text := word(from); strings.TrimSpace(text) != "" {
				return text
			}
			return word(other)
		},
		"eq": func(a, b any) bool { return word(a) == word(b) },
		"ne": func(a, b any) bool { return word(a) != word(b) },
	}
}

// output is `output N`, the Nth of the newest outputs from 0; `output "tool"`, the newest of a tool since the user's message;
// or `output "tool" N`, the Nth of them.
func (s scene) output(which any, nth ...any) string {
	name, byName := which.(string)
	if !byName {
		return at(s.newest, number(which))
	}
	var of []output
	for _, o := range s.turn {
		if o.tool == name {
			of = append(of, o)
		}
	}
	if len(nth) == 0 {
		return at(of, len(of)-1)
	}
	return at(of, number(nth[0]))
}

// outputs is `outputs`, how many the newest outputs are, or `outputs "tool"`, how many of a tool since the user's message.
func (s scene) outputs(tool ...any) int {
	if len(tool) == 0 {
		return len(s.newest)
	}
	n := 0
	for _, o := range s.turn {
		if o.tool == word(tool[0]) {
			n++
		}
	}
	return n
}

func at(outputs []output, i int) string {
	if i < 0 || i >= len(outputs) {
		return ""
	}
	return outputs[i].text
}

// word is a value as text.
func word(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// number is a value as a number; -1 where it is none.
func number(v any) int {
	i, err := strconv.Atoi(strings.TrimSpace(word(v)))
	if err != nil {
		return -1
	}
	return i
}

// find is the first group of a pattern's first match, or the whole match of a pattern without groups.
func find(re *regexp.Regexp, from string) string {
	if re == nil {
		return ""
	}
	m := re.FindStringSubmatch(from)
	if m == nil {
		return ""
	}
	return m[min(1, len(m)-1)]
}

// matches is how often a pattern matches.
func matches(re *regexp.Regexp, from string) int {
	if re == nil {
		return 0
	}
	return len(re.FindAllStringIndex(from, -1))
}

// first is the first n lines.
func first(n int, from string) string {
	if n <= 0 {
		return ""
	}
	all := strings.SplitAfterN(from, "\n", n+1)
	return strings.TrimRight(strings.Join(all[:min(n, len(all))], ""), "\n")
}

// lines counts the lines that are not blank.
func lines(from string) int {
	n := 0
	for line := range strings.Lines(from) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}

// cut keeps n characters and marks what it drops.
func cut(n int, from string) string {
	if n < 0 || utf8.RuneCountInString(from) <= n {
		return from
	}
	return strings.TrimRight(string([]rune(from)[:n]), " \n") + "…"
}

// quote marks every line as a quotation in Markdown.
func quote(from string) string {
	return "> " + strings.ReplaceAll(strings.Trim(from, "\n"), "\n", "\n> ")
}

// lookup is the value at a path such as items.0.name in a JSON text.
func lookup(path, from string) string {
	decoder := json.NewDecoder(strings.NewReader(from))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return ""
	}
	for step := range strings.SplitSeq(path, ".") {
		switch holder := v.(type) {
		case map[string]any:
			v = holder[step]
		case []any:
			i := number(step)
			if i < 0 || i >= len(holder) {
				return ""
			}
			v = holder[i]
		default:
			return ""
		}
	}
	switch v := v.(type) {
	case nil:
		return ""
	case map[string]any, []any:
		b, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(b)
	default:
		return word(v)
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
