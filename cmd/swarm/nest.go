package swarm

import (
	"fmt"

	"bureau/engine/history"
)

// maxNesting bounds how deep runs are nested in a file.
const maxNesting = 1000

// nest puts the rows of nested runs between the sender's call and its output. The framework writes a nested run down before
// the call that started it, because it stores a reply only when the calls in it have been carried out.
func nest(rows []history.Message) ([]history.Message, error) {
	calls, anchors := map[string]int{}, map[string]int{}
	for i, row := range rows {
		switch row.Type {
		case history.TypeCall:
			if _, twice := calls[row.CallID]; !twice {
				calls[row.CallID], anchors[row.CallID] = i, i
			}
		case history.TypeOutput:
			if call, ok := calls[row.CallID]; ok && anchors[row.CallID] == call {
				anchors[row.CallID] = i
			}
		}
	}
	// waiting are the rows that stand before their call, by the row that they go to: their call's output, or the call itself
	// where it has none. Both come later, so no row waits for itself.
	waiting := map[int][]int{}
	waits := make([]bool, len(rows))
	for i, row := range rows {
		if call, ok := calls[row.ParentCallID]; ok && row.ParentCallID != "" && i < call {
			anchor := anchors[row.ParentCallID]
			waiting[anchor] = append(waiting[anchor], i)
			waits[i] = true
		}
	}
	out := make([]history.Message, 0, len(rows))
	var put func(i, depth int) error
	put = func(i, depth int) error {
		if depth > maxNesting {
			return fmt.Errorf("runs are nested deeper than %d", maxNesting)
		}
		before := rows[i].Type == history.TypeOutput
		if !before {
			out = append(out, rows[i])
		}
		for _, j := range waiting[i] {
			if err := put(j, depth+1); err != nil {
				return err
			}
		}
		if before {
			out = append(out, rows[i])
		}
		return nil
	}
	for i := range rows {
		if waits[i] {
			continue
		}
		if err := put(i, 0); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// link gives each nested row the run that its call was made in.
func link(rows []history.Message) {
	runs := map[string]string{}
	for _, row := range rows {
		if _, twice := runs[row.CallID]; row.Type == history.TypeCall && !twice {
			runs[row.CallID] = row.RunID
		}
	}
	for i := range rows {
		if run := runs[rows[i].ParentCallID]; rows[i].ParentCallID != "" && run != rows[i].RunID {
			rows[i].ParentRunID = run
		}
	}
}
