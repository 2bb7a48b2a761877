package rehearsal_test

import (
	"slices"
	"strings"
	"testing"

	"bureau/agencies"
	"bureau/cmd/rehearsal"
	"bureau/engine/history"
)

const agencyFile = `name: a
agents:
  Guide: {instructions: x, tools: [current_time]}
  Scout: {instructions: x, tools: [list_directory]}
  Reader: {instructions: x, tools: [read_file]}
communication_flows:
  - Guide > Scout > Reader
  - Guide > Reader: handoff
  - Reader > Guide: handoff
`

var known = agencies.Known{Tools: []string{"read_file", "list_directory", "current_time"}}

// turnWith is the one turn of a rehearsal with these expectations, which stand in line 5.
func turnWith(t *testing.T, expect string) agencies.RehearsalTurn {
	t.Helper()
	agency, err := agencies.Parse("a.yaml", []byte(agencyFile), nil, known)
	if err != nil {
		t.Fatal(err)
	}
	agency.Script = []byte("agents: {}")
	file := "rehearsals:\n- name: n\n  turns:\n  - say: x\n    expect: " + expect + "\n"
	got, err := agencies.ParseRehearsals("f", []byte(file), agency, nil, known)
	if err != nil {
		t.Fatal(err)
	}
	return got[0].Turns[0]
}

// events are those of a turn in which Guide asks Scout twice, Scout asks Reader, and Guide hands over to Reader.
var events = []history.Event{
	{Type: history.EventRunStarted, Agent: "Guide"},
	{Type: history.EventCallStart, Agent: "Guide", Name: "send_message"},
	{Type: history.EventCallEnd, Agent: "Guide", Name: "send_message", Status: history.StatusCompleted},
	{Type: history.EventSubagentStarted, CallerAgent: "Guide", Agent: "Scout"},
	{Type: history.EventCallEnd, Agent: "Scout", CallerAgent: "Guide", Name: "list_directory", Status: history.StatusCompleted},
	{Type: history.EventCallEnd, Agent: "Scout", CallerAgent: "Guide", Name: "read_file", Status: history.StatusFailed},
	{Type: history.EventSubagentStarted, CallerAgent: "Scout", Agent: "Reader"},
	{Type: history.EventSubagentFinished, CallerAgent: "Scout", Agent: "Reader", Usage: &history.Usage{Requests: 1}},
	{Type: history.EventSubagentError, CallerAgent: "Guide", Agent: "Scout", Code: history.CodeModel, Message: "not the turn's"},
	{Type: history.EventSubagentStarted, CallerAgent: "Guide", Agent: "Scout"},
	{Type: history.EventCustom, Agent: "Reader", Name: history.CustomRetry, Value: map[string]any{"attempt": 1}},
	{Type: history.EventCustom, Agent: "Reader", Name: history.CustomHandoff, Value: map[string]any{"from": "Guide", "to": "Reader"}},
	{Type: history.EventRunFinished, Agent: "Reader", Result: "notes.txt holds\nmilk", Usage: &history.Usage{InputTokens: 90, OutputTokens: 10, Requests: 7}},
}

func seenOf(events []history.Event) rehearsal.Seen {
	var s rehearsal.Seen
	for _, e := range events {
		s.Take(e)
	}
	s.Rows = []history.Message{
		{ID: 1, Agent: "Guide", Type: history.TypeMessage, Role: history.RoleUser, Content: "What is there?", Status: history.StatusCompleted},
		{ID: 2, Agent: "Guide", Type: history.TypeCall, Name: "send_message", Arguments: `{"recipient_agent":"Scout"}`, Status: history.StatusCompleted},
		{ID: 3, Agent: "Scout", CallerAgent: "Guide", Type: history.TypeMessage, Role: history.RoleUser, Content: "look", Status: history.StatusCompleted},
		{ID: 4, Agent: "Guide", Type: history.TypeOutput, Name: "send_message", Content: "seen", Status: history.StatusCompleted},
		{ID: 5, Agent: "Reader", Type: history.TypeMessage, Role: history.RoleSystem, Origin: history.OriginHandoffReminder, Status: history.StatusCompleted},
	}
	return s
}

func TestChecks(t *testing.T) {
	t.Parallel()
	answered := seenOf(events)
	failed := seenOf([]history.Event{
		{Type: history.EventRunStarted, Agent: "Guide"},
		{Type: history.EventRunError, Agent: "Guide", Code: history.CodeModel, Message: "the server is on fire", Usage: &history.Usage{Requests: 3}},
	})
	for _, test := range []struct {
		name, expect string
		seen         rehearsal.Seen
		want         []string // as line:column key: expected …, got …
	}{
		{"exit met", "{exit: 0}", answered, nil},
		{"exit not met", "{exit: limit}", answered, []string{`5:20 exit: expected limit, got answered`}},
		{"failure met", "{exit: model, error: {contains: on fire}}", failed, nil},
		{"failure of another kind", "{exit: failed}", failed, []string{`5:20 exit: expected failed, got model: "the server is on fire"`}},
		{"failure not expected", "{answered_by: Guide}", failed, []string{`4:5 exit: expected answered, got model: "the server is on fire"`}},
		{"error not met", "{exit: model, error: {excludes: [fire]}}", failed, []string{
			`5:46 error.excludes: expected a text without "fire", got "the server is on fire"`}},

		{"answered by met", "{answered_by: Reader}", answered, nil},
		{"answered by not met", "{answered_by: Guide}", answered, []string{"5:27 answered_by: expected Guide, got Reader"}},

		{"asked met", "{asked: [Scout > Reader, Guide > Scout, Guide > Scout]}", answered, nil},
		{"asked too seldom", "{asked: [Scout > Reader, Scout > Reader]}", answered, []string{
			"5:38 asked: expected Scout > Reader once more, got Guide > Scout, Scout > Reader, Guide > Scout"}},
		{"nobody asked", "{exit: model, asked: [Guide > Scout]}", failed, []string{"5:35 asked: expected Guide > Scout, got none"}},
		{"asked only met", "{asked_only: [Scout > Reader, Guide > Scout, Guide > Scout]}", answered, nil},
		{"asked only not met", "{asked_only: [Guide > Scout > Reader]}", answered, []string{
			"5:26 asked_only: expected Guide > Scout, Scout > Reader, got Guide > Scout, Scout > Reader, Guide > Scout"}},
		{"nobody may be asked", "{asked_only: []}", answered, []string{"5:26 asked_only: expected none, got Guide > Scout, Scout > Reader, Guide > Scout"}},

		{"tools met", "{tools: {Scout: [list_directory], Guide: [send_message]}}", answered, nil},
		{"tools not met", "{tools: {Scout: [list_directory, list_directory], Reader: [read_file]}}", answered, []string{
			"5:46 tools: expected Scout: list_directory once more, got Guide: send_message, Scout: list_directory",
			"5:72 tools: expected Reader: read_file, got Guide: send_message, Scout: list_directory"}},
		{"no tools met", "{no_tools: [read_file, current_time]}", answered, nil},
		{"no tools not met", "{no_tools: [list_directory]}", answered, []string{"5:25 no_tools: expected no call of list_directory, got Scout called it"}},

		{"handoffs met", "{handoffs: [Guide > Reader]}", answered, nil},
		{"handoffs not met", "{handoffs: []}", answered, []string{"5:24 handoffs: expected none, got Guide > Reader"}},
		{"handoffs in their order", "{handoffs: [Reader > Guide, Guide > Reader]}", answered, []string{
			"5:24 handoffs: expected Reader > Guide, Guide > Reader, got Guide > Reader"}},

		{"answer met", `{answer: {contains: [notes.txt, milk], matches: '(?s)^notes.*MILK|milk$', excludes: bread}}`, answered, nil},
		{"answer not met", `{answer: {contains: [notes.txt, bread], matches: '^milk', excludes: milk}}`, answered, []string{
			`5:45 answer.contains: expected a text with "bread", got "notes.txt holds\nmilk"`,
			`5:62 answer.matches: expected a match of "^milk", got "notes.txt holds\nmilk"`,
			`5:81 answer.excludes: expected a text without "milk", got "notes.txt holds\nmilk"`}},

		{"rows met", `{rows: [{agent: Guide, caller: null, role: user}, {type: function_call, name: send_message, contains: Scout},
     {caller: Guide, contains: look}, {origin: handoff_reminder, status: completed}]}`, answered, nil},
		{"rows in another order", `{rows: [{type: function_call_output}, {type: function_call}]}`, answered, []string{
			"5:51 rows: expected a row with type function_call, got no such row after the one for line 5"}},
		{"no such row", `{rows: [{agent: Scout, caller: null, contains: "l"}]}`, answered, []string{
			`5:21 rows: expected a row with agent Scout, caller null, contains "l", got no such row among the 5 of the turn`}},

		{"bounds kept", "{at_most: {calls: 7, tokens: 100, runs: 4}}", answered, nil},
		{"bounds passed", "{at_most: {calls: 6, tokens: 99, runs: 3}}", answered, []string{
			"5:31 at_most.calls: expected at most 6, got 7", "5:42 at_most.tokens: expected at most 99, got 100", "5:52 at_most.runs: expected at most 3, got 4"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, d := range rehearsal.Check(2, turnWith(t, test.expect), test.seen) {
				line := d.String()
				rest, ok := strings.CutPrefix(line, "turn 2, ")
				if !ok {
					t.Errorf("%q does not name the turn", line)
				}
				got = append(got, position(d)+" "+rest)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(test.want, "\n\t"))
			}
		})
	}
}

func TestLongTextsAreCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	seen := seenOf(events)
	seen.Answer = strings.Repeat("ü", 500) + "word" + strings.Repeat("ü", 500)
	for _, d := range rehearsal.Check(1, turnWith(t, "{answer: {contains: x, excludes: word}}"), seen) {
		if strings.ContainsRune(d.Got, '\ufffd') || strings.Contains(d.Got, `\x`) || len([]rune(d.Got)) > 170 {
			t.Errorf("got %d characters: %s", len([]rune(d.Got)), d.Got)
		}
		if d.Key == "answer.excludes" && !strings.Contains(d.Got, "word") {
			t.Errorf("what must not be there is not shown: %s", d.Got)
		}
	}
}
