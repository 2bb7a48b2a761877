package overlay

import (
	"strings"

	"charm.land/lipgloss/v2"

	"bureau/tui/style"
	"bureau/tui/text"
)

// rowBuilder makes one row of at most a number of cells out of pieces in several styles; what has no room is cut.
type rowBuilder struct {
	out  strings.Builder
	left int // cells
}

func newRow(w int) *rowBuilder { return &rowBuilder{left: w} }

// add appends a piece.
func (r *rowBuilder) add(st lipgloss.Style, s string) *rowBuilder {
	if s = text.Cut(s, r.left); s != "" {
		r.left -= text.Width(s)
		r.out.WriteString(st.Render(s))
	}
	return r
}

// column appends a piece in exactly w cells.
func (r *rowBuilder) column(st lipgloss.Style, s string, w int) *rowBuilder {
	before := r.left
	r.add(st, text.Cut(s, w))
	return r.space(w - (before - r.left))
}

// columnRight appends a piece at the right end of w cells.
func (r *rowBuilder) columnRight(st lipgloss.Style, s string, w int) *rowBuilder {
	s = text.Cut(s, w)
	return r.space(w-text.Width(s)).add(st, s)
}

// space appends n blank cells.
func (r *rowBuilder) space(n int) *rowBuilder {
	if n = min(n, r.left); n > 0 {
		r.left -= n
		r.out.WriteString(strings.Repeat(" ", n))
	}
	return r
}

// bar appends the two cells that begin a row of a list and show without any colour whether it is the selected one.
func (r *rowBuilder) bar(s *style.Styles, selected bool) *rowBuilder {
	if selected {
		return r.add(s.Selected, style.SymbolBar).space(1)
	}
	return r.space(2)
}

func (r *rowBuilder) String() string { return r.out.String() }

// styled is a text alone in a row of at most w cells.
func styled(st lipgloss.Style, s string, w int) string { return newRow(w).add(st, s).String() }
