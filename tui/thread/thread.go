// Package thread keeps what a session's events and rows say, in the shape in which the terminal shows it: conversations
// with their items in row order, the runs behind them, and which call started which run. The same rows give the same
// state, whether they were told by events or read from the store. It knows nothing of screens and holds text as it came,
// never made safe. A Session belongs to one goroutine.
package thread

import (
	"cmp"
	"slices"

	"bureau/engine/history"
)

// Thread is one conversation: the user thread, or that of two agents.
type Thread struct {
	Key history.Thread
	// Items in the order of the table, as far as they are loaded.
	Items []*Item
	// More tells that older rows exist which are not loaded.
	More bool
	// Loaded tells that the newest page has been read, or that the conversation began under our eyes.
	Loaded bool
	// Runs of the conversation in the order in which they began; the user thread has none.
	Runs []*Run
	// Edits counts the changes to the set of items that were not an append; a view that sees it moved builds its list anew.
	Edits uint64
	// Changed counts all changes, those of the items' content too.
	Changed uint64
	// lastID and firstID are the greatest and the least row id that was seen here; a row may have no item of its own.
	firstID, lastID int64
}

// Current is the run that a header tells of: the newest that works, else the newest. It is nil where none is known.
func (t *Thread) Current() *Run {
	for _, run := range slices.Backward(t.Runs) {
		if run.Working() {
			return run
		}
	}
	if len(t.Runs) > 0 {
		return t.Runs[len(t.Runs)-1]
	}
	return nil
}

// FirstID is the id of the oldest row that is loaded; 0 when none is.
func (t *Thread) FirstID() int64 { return t.firstID }

// LastID is the greatest row id that is known, loaded or not.
func (t *Thread) LastID() int64 { return t.lastID }

// saw notes a row that is loaded.
func (t *Thread) saw(id int64) {
	if t.firstID == 0 || id < t.firstID {
		t.firstID = id
	}
	t.lastID = max(t.lastID, id)
}

// LastText is the newest words of an agent in the conversation, and whose they are.
func (t *Thread) LastText() (agent, text string) {
	for _, it := range slices.Backward(t.Items) {
		if (it.Kind == Answer || it.Kind == Input || it.Kind == Failure) && len(it.text) > 0 {
			return it.Speaker(), it.Text()
		}
	}
	return "", ""
}

// find returns the place of a row, and whether it is there.
func (t *Thread) find(id int64) (int, bool) {
	return slices.BinarySearchFunc(t.Items, id, func(it *Item, id int64) int {
		if it.ID == id && it.after > 0 {
			return 1
		}
		return cmp.Compare(it.ID, id)
	})
}

// insert puts an item in its place.
func (t *Thread) insert(it *Item) {
	t.Changed++
	i, _ := slices.BinarySearchFunc(t.Items, it, func(a, b *Item) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.after, b.after))
	})
	if i == len(t.Items) {
		t.Items = append(t.Items, it)
		return
	}
	t.Items = slices.Insert(t.Items, i, it)
	t.Edits++
}

// note adds an item that no row stands for, after the newest one.
func (t *Thread) note(it *Item) {
	if n := len(t.Items); n > 0 {
		it.ID, it.after = t.Items[n-1].ID, t.Items[n-1].after+1
	} else {
		it.after = 1
	}
	t.Changed++
	t.Items = append(t.Items, it)
}

// remove takes an item out.
func (t *Thread) remove(it *Item) {
	if i := slices.Index(t.Items, it); i >= 0 {
		t.Items = slices.Delete(t.Items, i, i+1)
		t.Changed++
		t.Edits++
	}
}

// addRun keeps Runs in order; a run that is there already stays.
func (t *Thread) addRun(run *Run) {
	if slices.Contains(t.Runs, run) {
		return
	}
	i, _ := slices.BinarySearchFunc(t.Runs, run, func(a, b *Run) int {
		return cmp.Or(cmp.Compare(a.Started, b.Started), -1)
	})
	t.Runs = slices.Insert(t.Runs, i, run)
	t.Changed++
}
