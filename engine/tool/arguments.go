package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	jsonSpace    = " \t\r\n"
	maxArguments = 4 << 20
	maxDepth     = 100
	// The exact value of a longer number, or of one with a larger exponent, takes more memory than any use of it is worth.
	maxNumber   = 400
	maxExponent = 400
)

// ArgumentsError says what is wrong with the text that a model wrote as arguments.
type ArgumentsError struct {
	// Offset is the byte of the text at which it went wrong, from 0; of the inner text where an object was written inside a string.
	Offset int
	// Text says what was wrong there, in words for the model.
	Text string
}

// Error tells the model where and what.
func (e *ArgumentsError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Text)
}

// Arguments makes of what a model wrote one compact JSON object. Nothing and null are the empty object; a JSON string that
// holds one JSON object is that object. Everything else that is not exactly one complete object is an *ArgumentsError: so are
// duplicate keys, invalid UTF-8 or lone surrogates, nesting deeper than 100, numbers that a double cannot hold or of more than
// 400 characters, and more than 4 MiB.
func Arguments(raw string) (object []byte, err error) {
	if len(raw) > maxArguments {
		return nil, &ArgumentsError{maxArguments, fmt.Sprintf("the arguments are %d bytes long, at most %d are accepted", len(raw), maxArguments)}
	}
	text := strings.TrimLeft(raw, jsonSpace)
	start := len(raw) - len(text)
	text = strings.TrimRight(text, jsonSpace)
	if text == "" || text == "null" {
		return []byte("{}"), nil
	}
	if at := invalidUTF8(raw); at >= 0 {
		return nil, &ArgumentsError{at, fmt.Sprintf("the byte 0x%02x is not valid UTF-8", raw[at])}
	}
	if text[0] == '"' {
		var inner string
		// Decoding would put another character in place of half a pair.
		if loneSurrogate(text) < 0 && json.Unmarshal([]byte(text), &inner) == nil && strings.HasPrefix(strings.TrimLeft(inner, jsonSpace), "{") {
			return parseObject(inner, 0)
		}
	}
	return parseObject(text, start)
}

// parseObject checks text, which begins at byte start of what the model wrote.
func parseObject(text string, start int) ([]byte, error) {
	fail := func(offset int, format string, args ...any) ([]byte, error) {
		return nil, &ArgumentsError{start + offset, fmt.Sprintf(format, args...)}
	}
	var value json.RawMessage
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		offset, problem := describeSyntax(text, err)
		return fail(offset, "%s", problem)
	}
	if first := text[len(text)-len(strings.TrimLeft(text, jsonSpace))]; first != '{' {
		return fail(0, "expected one JSON object, found %s", kindOf(first))
	}
	if at := loneSurrogate(text); at >= 0 {
		return fail(at, "%s is half of a surrogate pair", text[at:at+6])
	}
	if offset, problem := checkTokens(text); problem != "" {
		return fail(offset, "%s", problem)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, value); err != nil {
		return fail(0, "%v", err)
	}
	return compact.Bytes(), nil
}

// describeSyntax says where the text is no JSON, and why.
func describeSyntax(text string, err error) (offset int, problem string) {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return 0, err.Error()
	}
	problem = syntax.Error()
	// Offset counts the bytes that were read, the offending one with them.
	offset = max(0, int(syntax.Offset)-1)
	switch {
	case strings.Contains(problem, "unexpected end"):
		return len(text), "the text ends before the value does; write one whole JSON object"
	case strings.Contains(problem, "after top-level value"):
		return offset, "more text follows a complete value; write exactly one JSON object"
	}
	return offset, problem
}

// checkTokens finds what the grammar of JSON allows and a JSON object as arguments must not have.
func checkTokens(text string) (offset int, problem string) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	// For each open array or object: the keys seen in an object, nil for an array.
	var open []map[string]bool
	isKey := false
	for {
		before := int(dec.InputOffset())
		before += len(text[before:]) - len(strings.TrimLeft(text[before:], jsonSpace+",:"))
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return 0, ""
		}
		if err != nil {
			return before, err.Error()
		}
		switch v := token.(type) {
		case json.Delim:
			switch v {
			case '{', '[':
				if len(open) == maxDepth {
					return int(dec.InputOffset()) - 1, fmt.Sprintf("nested deeper than %d levels", maxDepth)
				}
				keys := map[string]bool{}
				if v == '[' {
					keys = nil
				}
				open = append(open, keys)
			default:
				open = open[:len(open)-1]
			}
			isKey = len(open) > 0 && open[len(open)-1] != nil
			continue
		case string:
			if isKey {
				keys := open[len(open)-1]
				if keys[v] {
					return before, fmt.Sprintf("the key %q is written twice in one object", clip(v, 80))
				}
				keys[v] = true
				isKey = false
				continue
			}
		case json.Number:
			if problem := checkNumber(v.String()); problem != "" {
				return before, problem
			}
		}
		isKey = len(open) > 0 && open[len(open)-1] != nil
	}
}

// checkNumber says what is wrong with a number; nothing when it is one that a double can hold.
func checkNumber(number string) string {
	if len(number) > maxNumber {
		return fmt.Sprintf("a number of %d characters, at most %d are accepted", len(number), maxNumber)
	}
	outOfRange := false
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		exponent, err := strconv.Atoi(number[i+1:])
		outOfRange = err != nil || exponent > maxExponent || exponent < -maxExponent
	}
	if _, err := strconv.ParseFloat(number, 64); err != nil || outOfRange {
		return fmt.Sprintf("the number %s is out of range", number)
	}
	return ""
}

func kindOf(first byte) string {
	switch first {
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

func invalidUTF8(text string) int {
	if utf8.ValidString(text) {
		return -1
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// loneSurrogate finds a \ud800–\udfff escape of valid JSON that is not one of a pair; -1 for none.
func loneSurrogate(text string) int {
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if text[i+1] == 'u' {
			switch unit := hexUnit(text[i+2:]); {
			case unit >= 0xD800 && unit < 0xDC00:
				if low := text[i+6:]; !strings.HasPrefix(low, `\u`) || hexUnit(low[2:]) < 0xDC00 || hexUnit(low[2:]) > 0xDFFF {
					return i
				}
				i += 6
			case unit >= 0xDC00 && unit <= 0xDFFF:
				return i
			}
		}
		i++
	}
	return -1
}

func hexUnit(digits string) int {
	if len(digits) < 4 {
		return 0
	}
	n, err := strconv.ParseUint(digits[:4], 16, 16)
	if err != nil {
		return 0
	}
	return int(n)
}
