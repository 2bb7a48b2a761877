package rehearsal_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"bureau/agencies"
	"bureau/cmd/rehearsal"
)

func position(d rehearsal.Difference) string { return fmt.Sprintf("%d:%d", d.Line, d.Column) }

// hostile is what would take over a terminal, close an element or end a document that XML cannot hold.
const hostile = "a\x1b]0;owned\x07b\x1b[2Jc\u009b31md</failure>]]>&\"'\x00e\ufffff\ufffeg\xffh\u202ei"

func results() []rehearsal.Result {
	return []rehearsal.Result{
		{
			Agency: "tour", Path: "x/tour.test.yaml", Rehearsal: agencies.Rehearsal{Name: "goes well", Position: agencies.Position{Line: 2, Column: 5}},
			Turns: []rehearsal.Seen{seenOf(events)}, Took: 1500 * time.Millisecond, Conversation: "You to Guide:\nhello\n",
		},
		{
			Agency: "tour", Path: "x/tour.test.yaml", Rehearsal: agencies.Rehearsal{Name: hostile, Position: agencies.Position{Line: 20, Column: 5}},
			Differences: []rehearsal.Difference{
				{Turn: 1, Line: 22, Column: 9, Key: "answered_by", Expected: "Guide", Got: "Scout"},
				{Turn: 2, Line: 30, Column: 9, Key: "answer.contains", Expected: hostile, Got: "x"},
			},
			Conversation: hostile, Took: 20 * time.Millisecond,
		},
		{
			Agency: "desk", Path: "desk.test.yaml", Rehearsal: agencies.Rehearsal{Name: "takes long", Position: agencies.Position{Line: 2, Column: 5}},
			Fault: "it took longer than 1s",
		},
	}
}

func TestReportInLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	for _, r := range results() {
		if err := r.Print(&out, true); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintln(&out, rehearsal.Summary(results()))
	for _, line := range []string{
		"ok    tour: goes well\n      | You to Guide:\n      | hello\n",
		"      x/tour.test.yaml:22:9: turn 1, answered_by: expected Guide, got Scout\n",
		"FAIL  desk: takes long\n      desk.test.yaml:2:5: it took longer than 1s\n",
		"\n3 rehearsals, 2 failed\n",
	} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("missing %q in\n%s", line, out.String())
		}
	}
	for _, r := range out.String() {
		if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x202e {
			t.Fatalf("%U in %q", r, out.String())
		}
	}
	if got := rehearsal.Summary(results()[:1]); got != "1 rehearsal, all ok" {
		t.Errorf("the summary is %q", got)
	}
}

// cases is what a reader of JUnit XML takes out of a report.
type cases struct {
	XMLName  xml.Name `xml:"testsuites"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Time     string   `xml:"time,attr"`
	Suites   []struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Cases    []struct {
			Name    string `xml:"name,attr"`
			Class   string `xml:"classname,attr"`
			File    string `xml:"file,attr"`
			Line    int    `xml:"line,attr"`
			Time    string `xml:"time,attr"`
			Failure *struct {
				Message string `xml:"message,attr"`
				Type    string `xml:"type,attr"`
				Text    string `xml:",chardata"`
			} `xml:"failure"`
			Out string `xml:"system-out"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func TestReportAsJUnit(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := rehearsal.WriteJUnit(&out, results()); err != nil {
		t.Fatal(err)
	}
	var got cases
	if err := xml.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if got.Tests != 3 || got.Failures != 2 || got.Time != "1.520" || len(got.Suites) != 2 || got.Suites[0].Tests != 2 || got.Suites[0].Failures != 1 {
		t.Fatalf("%+v", got)
	}
	well, bad := got.Suites[0].Cases[0], got.Suites[0].Cases[1]
	if well.Name != "goes well" || well.Class != "tour" || well.File != "x/tour.test.yaml" || well.Line != 2 || well.Failure != nil || well.Out != "You to Guide:\nhello\n" {
		t.Errorf("%+v", well)
	}
	const safe = `d</failure>]]>&"'`
	if bad.Failure == nil || bad.Failure.Type != "difference" || !strings.HasSuffix(bad.Failure.Message, "expected Guide, got Scout (and 1 more)") ||
		!strings.Contains(bad.Failure.Text, safe) || !strings.Contains(bad.Name, safe) || !strings.Contains(bad.Out, safe) {
		t.Errorf("%+v, %+v", bad, bad.Failure)
	}
	if fault := got.Suites[1].Cases[0].Failure; fault == nil || fault.Type != "fault" || !strings.Contains(fault.Text, "it took longer than 1s") {
		t.Errorf("%+v", fault)
	}
	for _, r := range bad.Name + bad.Out + bad.Failure.Text + bad.Failure.Message {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0xfffe || r == 0xffff {
			t.Errorf("the control character %U", r)
		}
	}
}

func FuzzJUnit(f *testing.F) {
	f.Add(hostile)
	f.Add("]]>\r\n\t<![CDATA[&#0;")
	f.Fuzz(func(t *testing.T, text string) {
		r := results()[1]
		r.Agency, r.Path, r.Rehearsal.Name, r.Conversation, r.Fault = text, text, text, text, text
		var out bytes.Buffer
		if err := rehearsal.WriteJUnit(&out, []rehearsal.Result{r}); err != nil {
			t.Fatal(err)
		}
		reader := xml.NewDecoder(&out)
		elements := 0
		for {
			token, err := reader.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := token.(xml.StartElement); ok {
				elements++
			}
		}
		if elements < 4 || elements > 5 {
			t.Fatalf("%d elements", elements)
		}
	})
}

func TestReportAsJSON(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := rehearsal.WriteJSON(&out, results()); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Total, Failed int
		Rehearsals    []struct {
			Name, File, Fault string
			OK                bool
			DurationMS        int `json:"duration_ms"`
			Differences       []rehearsal.Difference
			Turns             []struct {
				AnsweredBy  string `json:"answered_by"`
				Exit        string
				Asked       []string
				Tools       map[string][]string
				Runs, Calls int
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Total != 3 || got.Failed != 2 || len(got.Rehearsals[1].Differences) != 2 || got.Rehearsals[2].Fault == "" || !got.Rehearsals[0].OK {
		t.Errorf("%+v", got)
	}
	turn := got.Rehearsals[0].Turns[0]
	if turn.AnsweredBy != "Reader" || turn.Exit != "answered" || len(turn.Asked) != 3 || turn.Tools["Scout"][0] != "list_directory" || turn.Runs != 4 || turn.Calls != 7 {
		t.Errorf("%+v", turn)
	}
}
