package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"bureau/tui/style"
	"bureau/tui/text"
	"bureau/tui/thread"
)

// The rows of an output that are shown when a call is open: the first ones, and the last ones of a long output.
const (
	headRows = 30
	tailRows = 10
)

// call draws a call as one line, and below it what was asked and returned when it is open.
func (e *entry) call(w int) []string {
	rows := []string{e.callLine(w)}
	if e.HasOutput && e.IsError && !e.open {
		rows = append(rows, e.wrapped(indent, e.look.Error, firstLine(text.Sanitise(e.Output), 300), w)...)
	}
	if !e.open {
		return rows
	}
	inner := max(w-4, 1)
	var body []string
	for _, line := range pretty(e.Text()) {
		body = append(body, text.Wrap(line, inner)...)
	}
	rows = append(rows, indented(e.block(body, e.look.Dim))...)
	if !e.HasOutput {
		return rows
	}
	out := text.Sanitise(e.Output)
	lines := strings.Count(strings.TrimRight(out, "\n"), "\n") + 1
	title := fmt.Sprintf("output · %s · %s", text.Bytes(int64(len(e.Output))), count(lines, "line"))
	if out == "" {
		title = "no output"
	}
	rows = append(rows, text.Cut(indent+e.look.Border.Render("├ ")+e.look.Faint.Render(title), w))
	s := e.look.Text
	if e.IsError {
		s = e.look.Error
	}
	return append(rows, indented(e.block(folded(out, inner), s))...)
}

// callLine draws a call in one line.
func (e *entry) callLine(w int) string {
	l := e.look
	var what string
	var facts []string
	switch {
	case e.Carries == thread.Control:
		sign := l.mark(e.State())
		what = sign + " " + l.names(e.Agent, style.SymbolHandoff, e.Recipient(), w-2)
		if e.State() == thread.Done {
			what += l.Faint.Render("  goes on with the conversation")
		}
	case e.Carries == thread.Message:
		if e.Run != nil {
			facts = l.facts(e.Run)
		} else if e.State() == thread.Interrupted {
			facts = []string{"stopped"}
		}
	default:
		what = l.mark(e.State()) + " " + l.Tool.Render(text.Line(e.Name)) + "  " + l.Dim.Render(shortArguments(e.Text()))
		switch {
		case e.State() == thread.Interrupted:
			facts = []string{"stopped"}
		case e.State() == thread.Working || e.Ended != 0:
			facts = []string{text.Elapsed(l.since(e.At, e.Ended))}
		}
	}
	right := ""
	if len(facts) > 0 {
		right = l.Faint.Render(join(facts, max(w/2, 6)))
	}
	if e.Carries == thread.Message {
		what = l.mark(e.delegationState()) + " "
		what += l.names(e.Agent, style.SymbolArrow, e.Recipient(), w-3-text.Width(right))
		if room := w - text.Width(what) - text.Width(right) - 3; room > 0 {
			what += "  " + l.Dim.Render(text.Cut(l.markdown.Words(front(e.Task(), 500)), room))
		}
	}
	return ends(what, right, w)
}

// delegationState is that of the run which a call started, or of the call where it started none.
func (e *entry) delegationState() thread.State {
	if e.Run != nil {
		return e.Run.State
	}
	return e.State()
}

// folded wraps an output, and leaves out the middle of a long one.
func folded(out string, w int) []string {
	if out == "" {
		return nil
	}
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	var head, last []string
	for len(lines) > 0 && len(head) < headRows {
		head = append(head, text.Wrap(lines[0][:min(len(lines[0]), 64<<10)], w)...)
		lines = lines[1:]
	}
	for len(lines) > 0 && len(last) < tailRows {
		end := lines[len(lines)-1]
		last = append(text.Wrap(end[:min(len(end), 64<<10)], w), last...)
		lines = lines[:len(lines)-1]
	}
	if over := len(head) - headRows - tailRows; over > 0 { // few but very long lines
		last = append(head[len(head)-tailRows:], last...)
		head = append(head[:headRows:headRows], text.Cut(fmt.Sprintf("%s %s more", style.SymbolEllipsis, count(over, "row")), w))
	}
	if len(lines) > 0 {
		head = append(head, text.Cut(fmt.Sprintf("%s %s more; y copies all", style.SymbolEllipsis, count(len(lines), "line")), w))
	}
	return append(head, last...)
}

func indented(rows []string) []string {
	for i := range rows {
		rows[i] = indent + rows[i]
	}
	return rows
}

// firstLine is the first line of s that is not blank, of at most n bytes.
func firstLine(s string, n int) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "") + style.SymbolEllipsis
	}
	return s
}

// pretty sets arguments out in lines: JSON indented, with texts of several lines as they are.
func pretty(raw string) []string {
	fields, ok := fieldsOf(raw)
	if !ok {
		return strings.Split(text.Sanitise(raw), "\n")
	}
	var lines []string
	for _, f := range fields {
		value := text.Sanitise(f.value)
		name := text.Line(f.name) + ": "
		if !strings.Contains(value, "\n") {
			lines = append(lines, name+value)
			continue
		}
		lines = append(lines, name)
		for line := range strings.SplitSeq(value, "\n") {
			lines = append(lines, indent+line)
		}
	}
	return lines
}

// shortArguments sets arguments out in one line: values alone, as their names seldom say more.
func shortArguments(raw string) string {
	fields, ok := fieldsOf(raw)
	if !ok {
		return text.Line(firstLine(raw, 200))
	}
	var parts []string
	for _, f := range fields {
		value := firstLine(f.value, 200)
		if len(fields) > 1 && len(value) < 6 {
			value = f.name + "=" + value
		}
		parts = append(parts, text.Line(value))
	}
	return strings.Join(parts, " · ")
}

type field struct{ name, value string }

// fieldsOf takes an object of JSON apart, in its own order; texts lose their quotes. It reports false for anything else.
func fieldsOf(raw string) ([]field, bool) {
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var fields []field
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, false
		}
		f := field{name: fmt.Sprint(key)}
		if json.Unmarshal(value, &f.value) != nil || bytes.Equal(value, []byte("null")) {
			var indented bytes.Buffer
			if json.Indent(&indented, value, "", "  ") != nil {
				return nil, false
			}
			f.value = indented.String()
		}
		fields = append(fields, f)
	}
	_, err := d.Token()
	return fields, err == nil
}
