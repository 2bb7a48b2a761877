package tui

import (
	"slices"
	"strings"

	"bureau/tui/list"
	"bureau/tui/style"
	"bureau/tui/text"
	"bureau/tui/thread"
)

// transcript shows a conversation: the items of a thread as a list with a position and a selection of its own.
type transcript struct {
	data *thread.Thread
	look *look
	list *list.List

	entries map[*thread.Item]*entry
	edits   uint64 // data.Edits as of the last sync
	unseen  int    // items that came while the end was out of view
	loading bool   // an older page is on its way
	toTop   bool   // older pages are wanted until there are none
}

func newTranscript(data *thread.Thread, l *look) *transcript {
	t := &transcript{data: data, look: l, list: list.New(), entries: map[*thread.Item]*entry{}}
	t.sync()
	return t
}

// sync brings the list up to date with the thread's items.
func (t *transcript) sync() {
	have, items := t.list.Len(), t.data.Items
	if t.edits == t.data.Edits {
		if have == len(items) {
			return
		}
		t.list.Append(t.wrap(items[have:])...)
		t.leads(have, len(items))
		if !t.list.Follow {
			t.unseen += len(items) - have
		}
		return
	}
	t.edits = t.data.Edits
	t.drop(items)
	for i := 0; i < len(items); {
		if i < t.list.Len() && t.list.At(i) == list.Item(t.entries[items[i]]) {
			i++
			continue
		}
		end := i + 1
		for end < len(items) && t.entries[items[end]] == nil {
			end++
		}
		t.list.InsertBefore(i, t.wrap(items[i:end])...)
		i = end
	}
	t.leads(0, len(items))
}

// drop takes out the entries of items that are gone.
func (t *transcript) drop(items []*thread.Item) {
	kept := make(map[*thread.Item]bool, len(t.entries))
	for _, it := range items {
		if t.entries[it] != nil {
			kept[it] = true
		}
	}
	for i := t.list.Len() - 1; i >= 0 && len(kept) < len(t.entries); i-- {
		if e := t.list.At(i).(*entry); !kept[e.Item] {
			t.list.Remove(i)
			delete(t.entries, e.Item)
		}
	}
}

func (t *transcript) wrap(items []*thread.Item) []list.Item {
	wrapped := make([]list.Item, len(items))
	for i, it := range items {
		e := t.entries[it]
		if e == nil {
			e = &entry{Item: it, look: t.look}
			t.entries[it] = e
		}
		wrapped[i] = e
	}
	return wrapped
}

// leads decides which entries from i to before end, and the one behind them, name their speaker and stand apart.
func (t *transcript) leads(i, end int) {
	for ; i < min(end+1, t.list.Len()); i++ {
		e := t.list.At(i).(*entry)
		var before *entry
		if i > 0 {
			before = t.list.At(i - 1).(*entry)
		}
		lead, air := e.stands(before)
		e.set(&e.lead, lead)
		e.set(&e.air, air && before != nil)
	}
}

// stands tells whether an entry names its speaker, and whether it stands apart from the one before it.
func (e *entry) stands(before *entry) (lead, air bool) {
	same := before != nil && before.Kind != thread.Input && before.Kind != thread.Reminder && before.Kind != thread.Failure &&
		before.Agent == e.Agent && before.Caller == e.Caller
	switch e.Kind {
	case thread.Input, thread.Failure:
		return false, true
	case thread.Answer: // it names its speaker unless only thoughts stand between it and the name
		return !(same && before.Kind == thread.Reasoning && before.lead), true
	case thread.Reminder, thread.Notice:
		return false, false
	}
	return !same, !same || before.Kind == thread.Answer
}

// selected is the entry that the keys act on; nil for none.
func (t *transcript) selected() *entry {
	if i := t.list.Selected(); i >= 0 {
		return t.list.At(i).(*entry)
	}
	return nil
}

// rows draws h rows of at most w cells. focused tells whether the keys act on the selection.
func (t *transcript) rows(w, h int, focused bool) []string {
	t.sync()
	rows := slices.Clone(t.list.View(w, h))
	selected := t.list.Selected()
	for y, row := range rows {
		if item, _ := t.list.ItemAt(y); focused && item >= 0 && item == selected && row != "" {
			rows[y] = t.look.Selected.Render(style.SymbolBar) + strings.TrimPrefix(row, " ")
		}
	}
	if t.list.Follow {
		t.unseen = 0
		return rows
	}
	if h > 0 {
		words := style.SymbolDown + " more"
		if t.unseen > 0 {
			words = style.SymbolDown + " " + text.Tokens(int64(t.unseen)) + " new"
		}
		if w > text.Width(words)+2 {
			rows[h-1] = text.Pad(rows[h-1], w-text.Width(words)-2) + " " + t.look.Key.Render(words)
		}
	}
	return rows
}

// scroll moves the view by rows.
func (t *transcript) scroll(n int) {
	t.toTop = false
	t.list.ScrollBy(n)
}

// wantsOlder tells whether an older page is to be read now, and how many rows of it.
func (t *transcript) wantsOlder() (limit int, ok bool) {
	if !t.data.More || t.loading {
		return 0, false
	}
	if t.toTop {
		return topPage, true
	}
	return page, t.list.Above() < nearTop
}

// The sizes of pages in rows, and how near to the oldest row that is loaded the view may come before more are read.
const (
	page    = 200
	topPage = 2000
	nearTop = 100
)
