package overlay

import (
	"image"
	"time"

	tea "charm.land/bubbletea/v2"

	"bureau/tui/keymap"
	"bureau/tui/style"
)

// quiet is how long no key may have come before a dialog that opened by itself takes one.
const quiet = 500 * time.Millisecond

// Stack is the open dialogs, of which the topmost is shown and has all keys.
type Stack struct {
	env  env
	open []opened
	// inside is where the topmost dialog's content was drawn last, for the mouse.
	inside image.Rectangle
}

// opened is a dialog on the stack. While it is guarded, keys that come soon after another were not meant for it.
type opened struct {
	dialog  Dialog
	guarded bool
	last    time.Time
}

// Option changes how a dialog is pushed.
type Option func(*opened)

// Grace is for a dialog that opens by itself: it swallows keys and pastes until none has come for half a second, so that
// what the user is typing just then answers nothing.
func Grace(o *opened) { o.guarded = true }

// NewStack returns an empty stack. now is the clock of ages and of Grace.
func NewStack(s *style.Styles, keys keymap.Map, now func() time.Time) *Stack {
	return &Stack{env: env{style: s, keys: keys, now: now}}
}

// SetStyles changes the styles, also of the dialogs that are open.
func (s *Stack) SetStyles(st *style.Styles) { s.env.style = st }

// Push opens a dialog above all others.
func (s *Stack) Push(d Dialog, options ...Option) {
	o := opened{dialog: d, last: s.env.now()}
	for _, option := range options {
		option(&o)
	}
	s.open = append(s.open, o)
}

// Pop closes the topmost dialog; without one it does nothing.
func (s *Stack) Pop() {
	if n := len(s.open); n > 0 {
		s.open[n-1] = opened{}
		s.open = s.open[:n-1]
	}
}

// Top returns the topmost dialog, nil when there is none.
func (s *Stack) Top() Dialog {
	if s.Empty() {
		return nil
	}
	return s.open[len(s.open)-1].dialog
}

// Empty tells whether no dialog is open.
func (s *Stack) Empty() bool { return len(s.open) == 0 }

// HandleKey gives a key to the topmost dialog. A dialog that has served is closed before its result is returned. While a
// dialog is open, every key is its own; the root takes those that it wants for itself (ctrl+c) first.
func (s *Stack) HandleKey(msg tea.KeyPressMsg) Result {
	if s.Empty() || s.swallows() {
		return nil
	}
	d := s.Top()
	return s.settle(d, d.handleKey(s.env, msg))
}

// HandlePaste gives pasted text to the topmost dialog. It never accepts anything, but may ask, as a filter does.
func (s *Stack) HandlePaste(pasted string) Result {
	if s.Empty() || s.swallows() {
		return nil
	}
	d := s.Top()
	return s.settle(d, d.handlePaste(s.env, pasted))
}

// HandleWheel scrolls the topmost dialog by rows, down when n is above 0.
func (s *Stack) HandleWheel(n int) {
	if !s.Empty() {
		s.Top().scroll(n)
	}
}

// HandleClick tells of a click on a cell of the area that View was given. The first click on a row selects it, the next
// one chooses it.
func (s *Stack) HandleClick(x, y int) Result {
	if s.Empty() || s.swallows() || !image.Pt(x, y).In(s.inside) {
		return nil
	}
	d := s.Top()
	return s.settle(d, d.click(s.env, y-s.inside.Min.Y))
}

// View draws the topmost dialog for an area of w by h cells: its rows, all of one width, the place of the first in the area,
// and the caret's cell in the area, nil when nothing is typed. Without a dialog there are no rows. It remembers where it
// drew, so the mouse is measured against the last View.
func (s *Stack) View(w, h int) (rows []string, x, y int, cursor *tea.Cursor) {
	s.inside = image.Rectangle{}
	if s.Empty() || w < 1 || h < 1 {
		return nil, 0, 0, nil
	}
	d := s.Top()
	bw, bh := d.size(w, h)
	bw, bh = max(min(bw, w), 1), max(min(bh, h), 1)
	x, y = (w-bw)/2, (h-bh)/2
	box := boxOf(bw, bh)
	c := d.draw(s.env, box.Dx(), box.Dy())
	s.inside = box.Add(image.Pt(x, y))
	if c.cursor != nil {
		cursor = tea.NewCursor(s.inside.Min.X+min(c.cursor.X, box.Dx()-1), s.inside.Min.Y+min(c.cursor.Y, box.Dy()-1))
		cursor.Shape = tea.CursorBar
	}
	return frame(s.env.style, c, bw, bh), x, y, cursor
}

func (s *Stack) settle(d Dialog, r Result) Result {
	if r != nil && r.done() && s.Top() == d {
		s.Pop()
	}
	return r
}

// swallows tells whether the topmost dialog opened by itself and the user has not come to rest since.
func (s *Stack) swallows() bool {
	o := &s.open[len(s.open)-1]
	if !o.guarded {
		return false
	}
	now := s.env.now()
	o.guarded = now.Sub(o.last) < quiet
	o.last = now
	return o.guarded
}
