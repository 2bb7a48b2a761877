package rehearsal

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"bureau/tui/text"
)

// The elements of JUnit XML that its readers agree on.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		ClassName string        `xml:"classname,attr"`
		File      string        `xml:"file,attr"`
		Line      int           `xml:"line,attr"`
		Time      string        `xml:"time,attr"`
		Failure   *junitFailure `xml:"failure"`
		Out       string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes all results as JUnit XML: a suite for each agency, a case for each rehearsal.
func WriteJUnit(w io.Writer, results []Result) error {
	all := junitSuites{Name: "bureau", Tests: len(results), Failures: countFailed(results)}
	index := map[string]int{}
	var total time.Duration
	took := map[string]time.Duration{}
	for _, r := range results {
		at, ok := index[r.Path]
		if !ok {
			at = len(all.Suites)
			index[r.Path] = at
			all.Suites = append(all.Suites, junitSuite{Name: xmlText(r.Agency)})
		}
		suite := &all.Suites[at]
		c := junitCase{
			Name: xmlText(r.Rehearsal.Name), ClassName: xmlText(r.Agency), File: xmlText(r.Path), Line: r.Rehearsal.Line,
			Time: seconds(r.Took), Out: xmlText(r.Conversation),
		}
		if !r.OK() {
			lines := r.failures()
			message := lines[0]
			if more := len(lines) - 1; more > 0 {
				message += fmt.Sprintf(" (and %d more)", more)
			}
			c.Failure = &junitFailure{Message: xmlText(message), Type: "difference", Text: xmlText(strings.Join(lines, "\n"))}
			if r.Fault != "" {
				c.Failure.Type = "fault"
			}
			suite.Failures++
		}
		suite.Tests++
		suite.Cases = append(suite.Cases, c)
		total += r.Took
		took[r.Path] += r.Took
		suite.Time = seconds(took[r.Path])
	}
	all.Time = seconds(total)
	data, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("write JUnit XML: %w", err)
	}
	_, err = io.WriteString(w, xml.Header+string(data)+"\n")
	return err
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// xmlText makes a text safe for a reader's screen, and drops what is left that XML cannot hold.
func xmlText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, text.Sanitise(s))
}
