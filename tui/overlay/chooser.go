package overlay

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"bureau/tui/keymap"
)

// chooser is the selection in a list of rows of one height, of which only those in the window are ever drawn.
type chooser struct {
	count    int
	selected int
	top      int // the first row in the window
	page     int // the height of the window, as drawn last
	row      int // where in the dialog's content the window begins, as drawn last
}

// reset makes it a list of n rows with one of them selected.
func (c *chooser) reset(n, selected int) {
	c.count = n
	c.selected = max(min(selected, n-1), 0)
}

// move selects a row further down, or up when n is below 0, and stops at the ends.
func (c *chooser) move(n int) { c.selected = max(min(c.selected+n, c.count-1), 0) }

// window returns the range of rows that a window of h rows shows, the selected one among them. first is the row of the
// dialog's content that the window begins at.
func (c *chooser) window(first, h int) (from, to int) {
	c.row, c.page = first, max(h, 1)
	c.top = max(min(c.top, c.count-c.page), 0)
	if c.selected < c.top {
		c.top = c.selected
	} else if c.selected >= c.top+c.page {
		c.top = c.selected - c.page + 1
	}
	return c.top, min(c.top+max(h, 0), c.count)
}

// handleKey moves the selection, and tells whether the key was for that.
func (c *chooser) handleKey(keys keymap.Overlay, msg tea.KeyPressMsg) bool {
	switch {
	case key.Matches(msg, keys.Up):
		c.move(-1)
	case key.Matches(msg, keys.Down):
		c.move(1)
	case key.Matches(msg, keys.PageUp):
		c.move(-c.page)
	case key.Matches(msg, keys.PageDown):
		c.move(c.page)
	case key.Matches(msg, keys.Top):
		c.move(-c.count)
	case key.Matches(msg, keys.Bottom):
		c.move(c.count)
	default:
		return false
	}
	return true
}

// click selects what is on a row of the dialog's content. again tells that it was selected before.
func (c *chooser) click(row int) (again bool) {
	i := c.top + row - c.row
	if row < c.row || row >= c.row+c.page || i >= c.count {
		return false
	}
	again = i == c.selected
	c.selected = i
	return again
}

// scroller is the place in rows that are only read.
type scroller struct{ count, top, page int }

// window returns the range of n rows that a window of h rows shows.
func (s *scroller) window(n, h int) (from, to int) {
	s.count, s.page = n, max(h, 1)
	s.move(0)
	return s.top, min(s.top+h, n)
}

func (s *scroller) move(n int) { s.top = max(min(s.top+n, s.count-s.page), 0) }

func (s *scroller) handleKey(keys keymap.Overlay, msg tea.KeyPressMsg) bool {
	switch {
	case key.Matches(msg, keys.Up):
		s.move(-1)
	case key.Matches(msg, keys.Down):
		s.move(1)
	case key.Matches(msg, keys.PageUp):
		s.move(-s.page)
	case key.Matches(msg, keys.PageDown):
		s.move(s.page)
	case key.Matches(msg, keys.Top):
		s.move(-s.count)
	case key.Matches(msg, keys.Bottom):
		s.move(s.count)
	default:
		return false
	}
	return true
}
