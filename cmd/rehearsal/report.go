package rehearsal

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"bureau/agencies"
	"bureau/tui/text"
)

// Result is how one rehearsal went.
type Result struct {
	// Agency is the agency's name, Path the file that the rehearsal stands in.
	Agency, Path string
	Rehearsal    agencies.Rehearsal
	// Turns are those that were played.
	Turns       []Seen
	Differences []Difference
	// Fault is why it could not be played to its end; empty where it was.
	Fault string
	Took  time.Duration
	// Conversation is what was said, for a person.
	Conversation string
}

// OK tells that all went as expected.
func (r Result) OK() bool { return r.Fault == "" && len(r.Differences) == 0 }

// failures are the lines that say what was wrong, each with its place in the file.
func (r Result) failures() []string {
	var lines []string
	for _, d := range r.Differences {
		lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", r.Path, d.Line, d.Column, d))
	}
	if r.Fault != "" {
		lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", r.Path, r.Rehearsal.Line, r.Rehearsal.Column, r.Fault))
	}
	return lines
}

// Print writes one rehearsal as lines: ok or FAIL, what differed, and with talk the conversation. It is safe for a terminal.
func (r Result) Print(w io.Writer, talk bool) error {
	var b strings.Builder
	word := "ok  "
	if !r.OK() {
		word = "FAIL"
	}
	fmt.Fprintf(&b, "%s  %s: %s\n", word, text.Line(r.Agency), text.Line(r.Rehearsal.Name))
	for _, line := range r.failures() {
		fmt.Fprintf(&b, "      %s\n", text.Line(line))
	}
	if talk && r.Conversation != "" {
		for line := range strings.SplitSeq(strings.TrimRight(text.Sanitise(r.Conversation), "\n"), "\n") {
			b.WriteString(strings.TrimRight("      | "+line, " ") + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Summary is the last line of a report.
func Summary(results []Result) string {
	failed := countFailed(results)
	noun := "rehearsals"
	if len(results) == 1 {
		noun = "rehearsal"
	}
	if failed == 0 {
		return fmt.Sprintf("%d %s, all ok", len(results), noun)
	}
	return fmt.Sprintf("%d %s, %d failed", len(results), noun, failed)
}

func countFailed(results []Result) int {
	failed := 0
	for _, r := range results {
		if !r.OK() {
			failed++
		}
	}
	return failed
}

// resultJSON is a result as it is printed for programs.
type resultJSON struct {
	Agency      string       `json:"agency"`
	Name        string       `json:"name"`
	File        string       `json:"file"`
	Line        int          `json:"line"`
	OK          bool         `json:"ok"`
	Fault       string       `json:"fault,omitempty"`
	Differences []Difference `json:"differences"`
	Turns       []turnJSON   `json:"turns"`
	DurationMS  int64        `json:"duration_ms"`
}

type turnJSON struct {
	Say        string              `json:"say"`
	To         string              `json:"to"`
	AnsweredBy string              `json:"answered_by"`
	Exit       string              `json:"exit"`
	Answer     string              `json:"answer"`
	Error      string              `json:"error,omitempty"`
	Asked      []string            `json:"asked"`
	Tools      map[string][]string `json:"tools"`
	Handoffs   []string            `json:"handoffs"`
	Runs       int                 `json:"runs"`
	Calls      int64               `json:"calls"`
	Tokens     int64               `json:"tokens"`
}

// WriteJSON writes all results as one JSON object.
func WriteJSON(w io.Writer, results []Result) error {
	out := struct {
		Rehearsals []resultJSON `json:"rehearsals"`
		Total      int          `json:"total"`
		Failed     int          `json:"failed"`
	}{[]resultJSON{}, len(results), countFailed(results)}
	for _, r := range results {
		one := resultJSON{
			Agency: r.Agency, Name: r.Rehearsal.Name, File: r.Path, Line: r.Rehearsal.Line, OK: r.OK(), Fault: r.Fault,
			Differences: append([]Difference{}, r.Differences...), Turns: []turnJSON{}, DurationMS: r.Took.Milliseconds(),
		}
		for _, s := range r.Turns {
			one.Turns = append(one.Turns, turnForm(s))
		}
		out.Rehearsals = append(out.Rehearsals, one)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}

func turnForm(s Seen) turnJSON {
	t := turnJSON{
		Say: s.Say, To: s.To, AnsweredBy: s.AnsweredBy, Exit: outcomeName(s.Code), Answer: s.Answer, Error: s.Error,
		Asked: []string{}, Tools: map[string][]string{}, Handoffs: []string{},
		Runs: s.Runs, Calls: s.Usage.Requests, Tokens: s.Usage.Tokens(),
	}
	for _, p := range s.Asked {
		t.Asked = append(t.Asked, p.String())
	}
	for _, p := range s.Handoffs {
		t.Handoffs = append(t.Handoffs, p.String())
	}
	for _, tool := range s.Tools {
		t.Tools[tool.Agent] = append(t.Tools[tool.Agent], tool.Tool)
	}
	return t
}
