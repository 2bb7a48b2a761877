package rehearsal

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"bureau/agencies"
	"bureau/engine/history"
)

// Difference is one expectation that was not met.
type Difference struct {
	// Turn counts from 1.
	Turn int `json:"turn"`
	// Line and Column are where the expectation stands in its file.
	Line   int `json:"line"`
	Column int `json:"column"`
	// Key is the expectation's key in the file, as answer.contains.
	Key      string `json:"key"`
	Expected string `json:"expected"`
	Got      string `json:"got"`
}

// String is the difference in words.
func (d Difference) String() string {
	return fmt.Sprintf("turn %d, %s: expected %s, got %s", d.Turn, d.Key, d.Expected, d.Got)
}

// Check holds a turn against what must happen in it. Turns count from 1.
func Check(turn int, t agencies.RehearsalTurn, seen Seen) []Difference {
	c := &check{turn: turn, seen: seen}
	want := t.Expect
	c.outcome(t.Position, want.Outcome)
	if want.AnsweredBy != nil && want.AnsweredBy.Value != seen.AnsweredBy {
		c.differ(want.AnsweredBy.Position, "answered_by", want.AnsweredBy.Value, seen.AnsweredBy)
	}
	missing(c, "asked", want.Asked, seen.Asked)
	if want.AskedOnly != nil && !slices.Equal(sorted(want.AskedOnly.Value), sorted(seen.Asked)) {
		c.differ(want.AskedOnly.Position, "asked_only", list(want.AskedOnly.Value), list(seen.Asked))
	}
	missing(c, "tools", want.Tools, seen.Tools)
	for _, tool := range want.NoTools {
		for _, called := range seen.Tools {
			if called.Tool == tool.Value {
				c.differ(tool.Position, "no_tools", "no call of "+tool.Value, called.Agent+" called it")
				break
			}
		}
	}
	if want.Handoffs != nil && !slices.Equal(want.Handoffs.Value, seen.Handoffs) {
		c.differ(want.Handoffs.Position, "handoffs", list(want.Handoffs.Value), list(seen.Handoffs))
	}
	c.text("answer", want.Answer, seen.Answer)
	c.text("error", want.Error, seen.Error)
	c.rows(want.Rows)
	for _, bound := range want.AtMost {
		took := map[string]int64{"calls": seen.Usage.Requests, "tokens": seen.Usage.Tokens(), "runs": int64(seen.Runs)}[bound.Value.Of]
		if took > int64(bound.Value.Most) {
			c.differ(bound.Position, "at_most."+bound.Value.Of, fmt.Sprintf("at most %d", bound.Value.Most), fmt.Sprint(took))
		}
	}
	return c.found
}

// check collects the differences of one turn.
type check struct {
	turn  int
	seen  Seen
	found []Difference
}

func (c *check) differ(at agencies.Position, key, expected, got string) {
	c.found = append(c.found, Difference{Turn: c.turn, Line: at.Line, Column: at.Column, Key: key, Expected: expected, Got: got})
}

// outcome is checked always: a turn that nothing is said of must be answered.
func (c *check) outcome(turn agencies.Position, want agencies.Wanted[history.Code]) {
	if c.seen.Code == want.Value {
		return
	}
	at := want.Position
	if at.Line == 0 {
		at = turn
	}
	got := outcomeName(c.seen.Code)
	if c.seen.Error != "" {
		got += ": " + excerpt(c.seen.Error)
	}
	c.differ(at, "exit", outcomeName(want.Value), got)
}

// outcomeName is how a turn ended, as a file of rehearsals has it.
func outcomeName(code history.Code) string {
	if code == "" {
		return "answered"
	}
	return string(code)
}

// missing tells of what must be there, as often as it is named, and is not.
func missing[T interface {
	comparable
	String() string
}](c *check, key string, want []agencies.Wanted[T], got []T) {
	left := slices.Clone(got)
	for _, w := range want {
		if i := slices.Index(left, w.Value); i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		expected := w.Value.String()
		if slices.Contains(got, w.Value) {
			expected += " once more"
		}
		c.differ(w.Position, key, expected, list(got))
	}
}

func (c *check) text(key string, rule agencies.TextRule, text string) {
	for _, part := range rule.Contains {
		if !strings.Contains(text, part.Value) {
			c.differ(part.Position, key+".contains", "a text with "+quoted(part.Value), excerpt(text))
		}
	}
	for _, part := range rule.Matches {
		if !part.Value.MatchString(text) {
			c.differ(part.Position, key+".matches", "a match of "+quoted(part.Value.String()), excerpt(text))
		}
	}
	for _, part := range rule.Excludes {
		if at := strings.Index(text, part.Value); at >= 0 {
			start := max(0, at-excerptLength/2)
			for !utf8.RuneStart(text[start]) {
				start--
			}
			c.differ(part.Position, key+".excludes", "a text without "+quoted(part.Value), excerpt(text[start:]))
		}
	}
}

// rows looks for rows in their order, each after the one before it.
func (c *check) rows(want []agencies.Wanted[agencies.RowRule]) {
	next := 0
	for i, w := range want {
		at := slices.IndexFunc(c.seen.Rows[next:], func(m history.Message) bool { return isLike(m, w.Value) })
		if at < 0 {
			got := fmt.Sprintf("no such row among the %d of the turn", len(c.seen.Rows))
			if i > 0 {
				got = fmt.Sprintf("no such row after the one for line %d", want[i-1].Line)
			}
			c.differ(w.Position, "rows", "a row with "+w.Value.String(), got)
			return
		}
		next += at + 1
	}
}

func isLike(m history.Message, rule agencies.RowRule) bool {
	text := m.Content
	if m.Type == history.TypeCall {
		text = m.Arguments
	}
	return (rule.Agent == "" || rule.Agent == m.Agent) &&
		(rule.Caller == nil || *rule.Caller == m.CallerAgent) &&
		(rule.Type == "" || rule.Type == m.Type) &&
		(rule.Role == "" || rule.Role == m.Role) &&
		(rule.Name == "" || rule.Name == m.Name) &&
		(rule.Origin == "" || rule.Origin == m.Origin) &&
		(rule.Status == "" || rule.Status == m.Status) &&
		strings.Contains(text, rule.Contains)
}

func sorted(pairs []agencies.Pair) []agencies.Pair {
	return slices.SortedFunc(slices.Values(pairs), func(a, b agencies.Pair) int { return strings.Compare(a.String(), b.String()) })
}

// list is things in words.
func list[T interface{ String() string }](things []T) string {
	if len(things) == 0 {
		return "none"
	}
	words := make([]string, len(things))
	for i, thing := range things {
		words[i] = thing.String()
	}
	return strings.Join(words, ", ")
}

// excerptLength bounds a quoted text, in characters.
const excerptLength = 160

// excerpt quotes the beginning of a text.
func excerpt(text string) string {
	if text == "" {
		return "an empty text"
	}
	return quoted(text)
}

func quoted(text string) string {
	count := 0
	for i := range text {
		if count == excerptLength {
			return fmt.Sprintf("%q…", text[:i])
		}
		count++
	}
	return fmt.Sprintf("%q", text)
}
