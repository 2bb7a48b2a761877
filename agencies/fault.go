package agencies

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

const (
	// maxFaults bounds what one file can report; a file with more mistakes than this is not what it was taken for.
	maxFaults = 500
	// maxSuggestions bounds how many of them are compared with every name that there is.
	maxSuggestions = 50
)

// Fault is one mistake in an agency file. Line and Column count from 1, columns in characters.
type Fault struct {
	Line, Column int
	// Message says what is wrong, and what to do about it.
	Message string
	// Suggestion is what was probably meant; empty for no idea.
	Suggestion string
}

// FileError is everything that is wrong with one agency file, sorted by position. Faults is never empty.
type FileError struct {
	Path   string
	Faults []Fault
}

// Error has a line for every fault: path:line:column: what is wrong; did you mean …? It is safe to print to a terminal.
func (e *FileError) Error() string {
	var b strings.Builder
	for i, fault := range e.Faults {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s:%d:%d: %s", printable(e.Path), fault.Line, fault.Column, fault.Message)
		if fault.Suggestion != "" {
			fmt.Fprintf(&b, "; did you mean %s?", quote(fault.Suggestion))
		}
	}
	return b.String()
}

// quote shows a value of the file in a message: short, on one line, with everything unprintable escaped.
func quote(s string) string { return strconv.Quote(shorten(s)) }

// shorten cuts what is too long for a message.
func shorten(s string) string {
	const longest = 80
	count := 0
	for i := range s {
		if count == longest {
			return s[:i] + "…"
		}
		count++
	}
	return s
}

// printable is s itself when all of it can be shown, else its quoted form.
func printable(s string) string {
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return strconv.Quote(s)
		}
	}
	return s
}

// closest is the candidate that word is most probably a misspelling of; empty when none is near. The first of equals wins.
func closest(word string, candidates []string) string {
	const longest = 128 // no name is that long, and the distance costs the product of both lengths
	word = strings.ToLower(strings.TrimSpace(word))
	length := utf8.RuneCountInString(word)
	if length == 0 || length > longest {
		return ""
	}
	best, bestDistance := "", min((length+2)/3, length-1)+1
	for _, candidate := range candidates {
		if difference := utf8.RuneCountInString(candidate) - length; difference >= bestDistance || -difference >= bestDistance {
			continue
		}
		distance := levenshtein.ComputeDistance(word, strings.ToLower(candidate))
		if distance < bestDistance {
			best, bestDistance = candidate, distance
		}
	}
	return best
}

// listing shows what there is to choose from, after "the tools are" and the like.
func listing(names []string) string {
	const most = 12
	if len(names) == 0 {
		return "none"
	}
	shown := names
	if len(shown) > most {
		shown = shown[:most]
	}
	text := make([]string, len(shown))
	for i, name := range shown {
		text[i] = printable(shorten(name))
	}
	list := strings.Join(text, ", ")
	if more := len(names) - len(shown); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}
