package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// lines are the lines of one letter of the conformance table: each is covered by a test of its name, or left out for a
// reason in words.
type lines struct {
	letter  string
	last    int
	more    []string // names that do not follow the count
	covered map[string]func(*testing.T)
	leftOut map[string]string
}

// Reasons that several lines share.
const (
	noPythonAPI   = "a part of the reference's Python interface that has no counterpart: an agency is a file, a turn one text"
	noAttachments = "attachments are not a part of the program"
	noHostedTools = "hosted tools are not a part of the program"
	noCallbacks   = "rows go to the database as they happen; there are no callbacks that load or save a whole history"
	noToolClasses = "an edge has at most one send tool and one handoff, named in the file; there are no tool classes"
)

func TestConformance(t *testing.T) {
	for _, table := range []lines{flowLines, sendLines, delegationLines, handoffLines, reminderLines, recordLines, turnLines, streamLines,
		guardrailLines, systemReminderLines, toolLines, usageLines} {
		names := slices.Clone(table.more)
		for n := 1; n <= table.last; n++ {
			names = append(names, fmt.Sprintf("%s%02d", table.letter, n))
		}
		for _, name := range slices.Sorted(slices.Values(names)) {
			test, covered := table.covered[name]
			reason, leftOut := table.leftOut[name]
			switch {
			case covered && leftOut:
				t.Errorf("%s is covered and left out", name)
			case leftOut && reason == "":
				t.Errorf("%s is left out for no reason", name)
			case leftOut:
				t.Logf("%s is left out: %s", name, reason)
			case !covered:
				t.Errorf("%s is neither covered nor left out", name)
			default:
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t)
				})
			}
		}
		t.Logf("%s: %d lines covered, %d left out", table.letter, len(table.covered), len(table.leftOut))
		for name := range maps.Keys(table.covered) {
			if !slices.Contains(names, name) {
				t.Errorf("%s is covered, but it is no line of the table", name)
			}
		}
		for name := range maps.Keys(table.leftOut) {
			if !slices.Contains(names, name) {
				t.Errorf("%s is left out, but it is no line of the table", name)
			}
		}
	}
}
