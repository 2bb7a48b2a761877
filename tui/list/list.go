// Package list shows the part of a long list of items that fits the screen. Items have any height, and only those that are
// seen are asked for their rows, so a frame costs what it shows however many items there are.
//
// The position is an item and a row in it: items that come before it, grow before it, or are laid out for another width do
// not move what is read. A list knows nothing of what its items are, and belongs to the goroutine that draws.
package list

// Item is what a list holds. Items are pointers or other comparable values, each in a list only once.
type Item interface {
	// Rows lays the item out for a width in cells; it may have none. The rows are kept until the version or the width
	// changes, and must not be changed by the item.
	Rows(width int) []string
	// Version changes whenever Rows would give something else for the same width.
	Version() uint64
}

// List is a list with a position and a selection. The zero value is empty and does not follow.
type List struct {
	// Follow keeps the end in view as the list grows. Scrolling away from the end clears it, reaching the end sets it.
	Follow bool

	items    []Item
	top      int // the first item in view
	skip     int // rows of it that are above the view
	selected int // index + 1; 0 for none
	w, h     int // of the last View
	frame    []position
	cache    map[Item]*laidOut
	tick     uint64
	rowsSeen int // in all that the cache holds, for estimates
}

type position struct{ item, row int }

// New returns a list that follows its end.
func New(items ...Item) *List {
	return &List{Follow: true, items: items}
}

// Len is the number of items, At one of them.
func (l *List) Len() int      { return len(l.items) }
func (l *List) At(i int) Item { return l.items[i] }

// Index returns where an item is, looking from the end; -1 if it is not there.
func (l *List) Index(it Item) int {
	for i := len(l.items) - 1; i >= 0; i-- {
		if l.items[i] == it {
			return i
		}
	}
	return -1
}

// Append adds items at the end.
func (l *List) Append(items ...Item) { l.items = append(l.items, items...) }

// Prepend adds items at the beginning; what is in view stays.
func (l *List) Prepend(items ...Item) { l.InsertBefore(0, items...) }

// InsertBefore adds items before the item at index i (Len for the end); what is in view stays.
func (l *List) InsertBefore(i int, items ...Item) {
	n := len(items)
	grown := make([]Item, 0, len(l.items)+n)
	grown = append(append(append(grown, l.items[:i]...), items...), l.items[i:]...)
	l.items = grown
	if i <= l.top && len(l.items) > n {
		l.top += n
	}
	if l.selected > i {
		l.selected += n
	}
	l.frame = l.frame[:0]
}

// Remove takes out the item at index i. A selection on it goes to the item after it, else before.
func (l *List) Remove(i int) {
	l.forget(l.items[i])
	l.items = append(l.items[:i:i], l.items[i+1:]...)
	switch {
	case i < l.top:
		l.top--
	case i == l.top:
		l.skip = 0
	}
	if l.selected > i+1 || l.selected > len(l.items) {
		l.selected--
	}
	l.top = max(0, min(l.top, len(l.items)-1))
	l.frame = l.frame[:0]
}

// Reset replaces all items, goes to the end and follows it. Nothing is selected.
func (l *List) Reset(items ...Item) {
	*l = List{Follow: true, items: items, w: l.w, h: l.h}
}

// Selected is the index of the selected item, -1 for none.
func (l *List) Selected() int { return l.selected - 1 }

// Select selects an item, and scrolls as little as brings it into view, its first row if it is taller than the view. An
// index out of range selects nothing.
func (l *List) Select(i int) {
	if i < 0 || i >= len(l.items) {
		l.selected = 0
		return
	}
	l.selected = i + 1
	l.Reveal(i)
}

// SelectNext selects the next item that has rows, the last in view if none was selected. It tells whether there was one.
func (l *List) SelectNext() bool { return l.step(1) }

// SelectPrev selects the item before, likewise.
func (l *List) SelectPrev() bool { return l.step(-1) }

func (l *List) step(dir int) bool {
	i := l.Selected() + dir
	if l.selected == 0 {
		i = len(l.items) - 1
		if n := len(l.frame); n > 0 {
			i = l.frame[n-1].item
		}
		dir = -1
	}
	for ; i >= 0 && i < len(l.items); i += dir {
		if len(l.rows(i)) > 0 {
			l.Select(i)
			return true
		}
	}
	return false
}

// ItemAt tells which item, and which of its rows, the last View drew in row y; item is -1 for none.
func (l *List) ItemAt(y int) (item, row int) {
	if y < 0 || y >= len(l.frame) {
		return -1, 0
	}
	return l.frame[y].item, l.frame[y].row
}
