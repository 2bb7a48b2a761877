package cmd

import (
	"fmt"

	"bureau/engine/history"
)

// uniqueCalls gives every call in rows that were not written here an id that no other has, and the same to its output and to what it
// started. A second output of one call gets an id of its own: it stays on record, and answers nothing.
func uniqueCalls(rows []history.Message) {
	type place struct{ run, id string }
	known := map[string]bool{}
	for _, row := range rows {
		known[row.CallID] = true
	}
	fresh := func(id string) string {
		for n := 2; ; n++ {
			if other := fmt.Sprintf("%s_%d", id, n); !known[other] {
				known[other] = true
				return other
			}
		}
	}
	called := map[string]bool{}
	open := map[place][]string{} // what the calls of a run that have no output yet are called here
	for i := range rows {
		row := &rows[i]
		if ids := open[place{row.ParentRunID, row.ParentCallID}]; len(ids) > 0 {
			row.ParentCallID = ids[0]
		}
		at := place{row.RunID, row.CallID}
		switch row.Type {
		case history.TypeCall:
			if called[row.CallID] {
				row.CallID = fresh(row.CallID)
			}
			called[row.CallID] = true
			open[at] = append(open[at], row.CallID)
		case history.TypeOutput:
			if ids := open[at]; len(ids) > 0 {
				row.CallID, open[at] = ids[0], ids[1:]
			} else if called[row.CallID] {
				row.CallID = fresh(row.CallID)
			}
		}
	}
}
