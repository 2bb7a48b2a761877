package tui

import (
	"cmp"
	"image"
	"slices"
)

// The sizes at which the layout changes, in cells.
const (
	wideColumns   = 100 // from here on the panes stand beside the thread
	narrowColumns = 40  // below this, or with fewer rows than smallRows, the panes have the thread's place while they have the focus
	smallRows     = 10
	ruleRows      = 8 // from this height on a rule stands above the composer
	threadShare   = 58
	paneShare     = 45 // of the height, when the panes stand below the thread; both in percent
	minBody       = 4  // rows of an expanded pane
	leastBody     = 2  // rows of the only expanded pane, where there are hardly any
	maxQueue      = 3  // rows of the queue
)

// focus says which part of the screen the keys go to.
type focus int

const (
	focusComposer focus = iota
	focusThread
	focusPanes
)

// layoutState is what the layout depends on beside the size.
type layoutState struct {
	// composer and queue are the rows that they would like.
	composer, queue int
	panes           []paneState
	// cursor is the pane that must be visible; -1 for none.
	cursor int
	focus  focus
	// zoom says what has the whole screen.
	zoom zoom
}

// zoom says what has the whole screen.
type zoom int

const (
	zoomNothing zoom = iota
	zoomThread
	zoomPane // the one under the cursor
)

// paneState is what the layout knows of a pane.
type paneState struct {
	// open is what the user chose: 0 nothing, 1 expanded, -1 collapsed.
	open int
	// wanted tells that it is worth expanding where there is room; working comes before what is done, recent before old.
	wanted, working bool
	recent          int64
}

// Layout is where everything stands. Rectangles that are empty are not shown.
type Layout struct {
	Width, Height int
	Wide          bool
	Thread        image.Rectangle
	// Panes is the whole area of the panes; in a wide layout its first column is the line that divides it from the thread.
	Panes image.Rectangle
	// Stack has one entry for each pane.
	Stack []PaneLayout

	Queue, Rule, Composer, Status image.Rectangle
}

// PaneLayout is where one pane stands: a header of one row, and below it the transcript when it is expanded, or its last
// words (one row) when it is collapsed and there is room.
type PaneLayout struct {
	Header, Body image.Rectangle
	Expanded     bool
}

// Compute lays out a screen of w × h cells. It is pure.
func Compute(w, h int, s layoutState) Layout {
	l := Layout{Width: w, Height: h, Stack: make([]PaneLayout, len(s.panes))}
	if w <= 0 || h <= 0 {
		return l
	}
	bottom := h
	take := func(rows int) image.Rectangle {
		rows = max(min(rows, bottom), 0)
		bottom -= rows
		return image.Rect(0, bottom, w, bottom+rows)
	}
	if h >= 3 {
		l.Status = take(1)
	}
	l.Composer = take(min(max(s.composer, 1), max(h/3, 1)))
	if h >= ruleRows {
		l.Rule = take(1)
	}
	if s.queue > 0 && bottom >= 2 {
		l.Queue = take(min(s.queue, maxQueue, max(bottom/3, 1)))
	}
	main := image.Rect(0, 0, w, bottom)
	switch {
	case len(s.panes) == 0 || s.zoom == zoomThread:
		l.Thread = main
	case s.zoom == zoomPane && s.cursor >= 0 && s.cursor < len(s.panes):
		l.Panes = main
		l.Stack[s.cursor] = PaneLayout{
			Header: image.Rect(0, 0, w, min(1, bottom)), Body: image.Rect(0, min(1, bottom), w, bottom), Expanded: true,
		}
	case w >= wideColumns && bottom >= minBody+2:
		left := w * threadShare / 100
		l.Wide, l.Thread, l.Panes = true, image.Rect(0, 0, left, bottom), image.Rect(left, 0, w, bottom)
		l.stack(s, 1)
	case w >= narrowColumns && bottom >= smallRows:
		l.Panes = image.Rect(0, bottom-min(wanted(s.panes), bottom*paneShare/100), w, bottom)
		l.Thread = image.Rect(0, 0, w, l.Panes.Min.Y)
		l.stack(s, 0)
	case s.focus == focusPanes:
		l.Panes = main
		l.stack(s, 0)
	default:
		l.Thread = main
	}
	return l
}

// wanted is how many rows the panes would like below the thread: all of their share as soon as one is expanded.
func wanted(panes []paneState) int {
	for _, p := range panes {
		if p.open > 0 || p.open == 0 && p.wanted {
			return 1 << 20
		}
	}
	return len(panes)
}

// stack shares the rows of the area among the panes. preview is the rows that a collapsed pane would like below its header.
func (l *Layout) stack(s layoutState, preview int) {
	area := l.Panes
	if area.Empty() {
		return
	}
	first, last := window(s, area.Dy())
	rows := area.Dy() - (last - first)
	body := make([]int, len(s.panes))
	var open []int
	for _, i := range candidates(s.panes, first, last) {
		if rows >= minBody || len(open) == 0 && rows > 0 && s.panes[i].open >= 0 {
			body[i] = min(minBody, rows)
			rows -= body[i]
			open = append(open, i)
		}
	}
	for i := first; i < last && preview > 0; i++ {
		if body[i] == 0 && rows > 0 && !slices.Contains(open, i) {
			body[i] = 1
			rows--
		}
	}
	slices.Sort(open)
	for k, i := range open {
		share := rows / (len(open) - k)
		body[i] += share
		rows -= share
	}
	y := area.Min.Y
	for i := first; i < last; i++ {
		p := &l.Stack[i]
		p.Header = image.Rect(area.Min.X, y, area.Max.X, y+1)
		p.Body = image.Rect(area.Min.X, y+1, area.Max.X, y+1+body[i])
		p.Expanded = slices.Contains(open, i)
		y = p.Body.Max.Y
	}
}

// window returns the panes that are shown, all where their headers leave room for a body, else those round the cursor or
// the newest that works.
func window(s layoutState, rows int) (first, last int) {
	n := len(s.panes)
	room := max(rows, 1)
	if wanted(s.panes) > n {
		room = max(rows-leastBody, 1)
	}
	if n <= room {
		return 0, n
	}
	anchor := s.cursor
	if anchor < 0 {
		anchor = n - 1
		for i, p := range s.panes {
			if p.working && (!s.panes[anchor].working || p.recent >= s.panes[anchor].recent) {
				anchor = i
			}
		}
	}
	first = min(max(anchor-room/2, 0), n-room)
	return first, first + room
}

// candidates are the panes that are to be expanded, the most important first.
func candidates(panes []paneState, first, last int) []int {
	var list []int
	for i := first; i < last; i++ {
		if panes[i].open > 0 || panes[i].open == 0 && panes[i].wanted {
			list = append(list, i)
		}
	}
	rank := func(p paneState) int {
		switch {
		case p.open > 0:
			return 0
		case p.working:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(rank(panes[a]), rank(panes[b])), cmp.Compare(panes[b].recent, panes[a].recent))
	})
	return list
}
