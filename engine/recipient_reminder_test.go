package engine_test

import (
	"strings"
	"testing"

	"bureau/engine/history"
)

// entries are two agents that the user may address, A with a description.
const entries = `
agents:
  A: {instructions: x, description: A desc}
  B: {instructions: x}
entry_points: [A, B]
communication_flows: [A > B: handoff, B > A: handoff]
`

// talk sends messages written as "A one" to the agents named, and returns which agents were reminded that the user turned to them.
func talk(b *bench, messages ...string) []string {
	b.t.Helper()
	for _, m := range messages {
		to, text, _ := strings.Cut(m, " ")
		b.ok(to, text)
	}
	return b.reminders(history.OriginRecipientReminder)
}

// record makes rows of a history: "user A one" and so on, "handoff" and "recipient" for reminders; all of one run.
func record(run, caller string, rows ...string) []history.Message {
	var list []history.Message
	for _, r := range rows {
		kind, rest, _ := strings.Cut(r, " ")
		agent, content, _ := strings.Cut(rest, " ")
		m := history.Message{
			Agent: agent, CallerAgent: caller, Content: content, RunID: run, TraceID: "trace_x", Type: history.TypeMessage,
			Protocol: history.ProtocolChatCompletions, Status: history.StatusCompleted, Role: history.Role(kind),
		}
		switch kind {
		case "handoff":
			m.Role, m.Origin = history.RoleSystem, history.OriginHandoffReminder
		case "recipient":
			m.Role, m.Origin = history.RoleSystem, history.OriginRecipientReminder
		}
		list = append(list, m)
	}
	return list
}

func recall(t *testing.T, rows []history.Message, to string, want ...string) {
	t.Helper()
	b := setup{rows: rows}.bench(t, entries, nil)
	equal(t, "reminded", talk(b, to+" hello"), want)
}

func handedOver(t *testing.T) *bench {
	return newBench(t, entries, play{"A": inTurn(calls(handoff("h", "B")), text("A again"), text("A once more"))})
}

var reminderLines = lines{
	letter: "R", last: 15,
	covered: map[string]func(*testing.T){
		"R01": func(t *testing.T) {
			b := handedOver(t)
			equal(t, "reminded", talk(b, "A one", "A two"), []string{"A"})
			got := heard(b.asked("A")[1])
			last := got[len(got)-2:]
			holds(t, "the reminder", last[0], "system: ", `You are "A" now`, "Role: A desc.", "Go on")
			if last[1] != "user: two" {
				t.Errorf("A's input ends with %q", last)
			}
		},
		"R02": func(t *testing.T) {
			equal(t, "reminded", talk(newBench(t, entries, nil), "A one", "B two", "A three"), nil)
		},
		"R03": func(t *testing.T) { equal(t, "reminded", talk(handedOver(t), "A one", "B two"), nil) },
		"R04": func(t *testing.T) {
			equal(t, "reminded", talk(handedOver(t), "A one", "A two", "B three"), []string{"A", "B"})
		},
		"R05": func(t *testing.T) {
			rows := record("r1", "", "recipient A x", "user A one", "user A two", "assistant A answer")
			recall(t, rows, "B", "A", "B") // the first is the one on record
		},
		"R06": func(t *testing.T) {
			rows := append(record("r1", "", "user A one", "handoff B x"), record("r2", "", "assistant B answer")...)
			recall(t, rows, "A", "A")
		},
		"R07": func(t *testing.T) { recall(t, record("r1", "", "user A one", "handoff B x"), "B", "B") },
		"R08": func(t *testing.T) { recall(t, record("r1", "", "user A one", "handoff B x"), "A", "A") },
		"R09": func(t *testing.T) {
			rows := append(record("r1", "", "user A one"), record("", "", "handoff B x")...)
			recall(t, append(rows, record("r1", "", "assistant B answer")...), "A", "A")
		},
		"R10": func(t *testing.T) { // it is told like any row
			b := handedOver(t)
			talk(b, "A one", "A two")
			for _, e := range b.told() {
				if e.Type == history.EventTextStart && e.Origin == history.OriginRecipientReminder {
					if e.Role != history.RoleSystem || e.Agent != "A" || e.MessageID == 0 {
						t.Errorf("told as %+v", e)
					}
					return
				}
			}
			t.Error("not told")
		},
		"R11": func(t *testing.T) {
			b := handedOver(t)
			b.ok("A", "one")
			before := len(b.rows())
			if _, err := b.say("A", " \n\t"); err == nil || !strings.Contains(err.Error(), "empty") {
				t.Errorf("a blank message: %v", err)
			}
			if after := len(b.rows()); after != before {
				t.Errorf("%d rows more", after-before)
			}
		},
		"R12": func(t *testing.T) {
			rows := append(record("r1", "", "user A one"), record("r2", "A", "user C task", "handoff B x", "assistant B done")...)
			recall(t, append(rows, record("r1", "", "assistant A answer")...), "B")
		},
		"R13": func(t *testing.T) {
			rows := append(record("", "", "user A one"), record("", "A", "user C task", "handoff B x")...)
			recall(t, append(rows, record("", "", "assistant A answer")...), "B")
		},
		"R14": func(t *testing.T) {
			for description, want := range map[string]string{"No punct": "Role: No punct. Go", "Q?": "Role: Q? Go", "Done!": "Role: Done! Go", "  ": ""} {
				yaml := strings.Replace(entries, "description: A desc", `description: "`+description+`"`, 1)
				b := setup{rows: record("r1", "", "user A one", "handoff B x", "assistant B answer")}.bench(t, yaml, nil)
				b.ok("A", "two")
				got := b.asked("A")[0].System
				if want == "" && strings.Contains(got, "Role:") || !strings.Contains(got, want) {
					t.Errorf("description %q: reminder %q", description, got)
				}
			}
		},
		"R15": func(t *testing.T) {
			equal(t, "reminded", talk(handedOver(t), "A one", "A two", "A three", "B four"), []string{"A"})
		},
	},
}
