package overlay

import (
	"image"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"bureau/tui/style"
	"bureau/tui/text"
)

// A box has a border and a blank column inside it; below these sizes its content takes all of it.
const (
	minBorderWidth  = 12
	minBorderHeight = 3
)

// boxOf returns where the content of a box of w by h cells is.
func boxOf(w, h int) image.Rectangle {
	if w < minBorderWidth || h < minBorderHeight {
		return image.Rect(0, 0, w, h)
	}
	return image.Rect(2, 1, w-2, h-1)
}

// spread is the size of a box that would be want cells wide and high: on a small screen it has the whole width, on a large
// one some of the screen stays visible around it.
func spread(w, h, wantWidth, wantHeight int) (int, int) {
	bw, bh := w, min(h, wantHeight)
	if w >= 72 {
		bw = min(w-8, wantWidth)
	}
	if h >= 18 {
		bh = min(h-4, wantHeight)
	}
	return bw, bh
}

// frame draws a box of exactly w by h cells round a dialog's content.
func frame(s *style.Styles, c content, w, h int) []string {
	box := boxOf(w, h)
	rows := make([]string, 0, h)
	if box.Min.Y == 0 {
		for i := range h {
			rows = append(rows, fit(rowAt(c.rows, i), w))
		}
		return rows
	}
	line := lipgloss.RoundedBorder()
	side := s.BorderFocus.Render(line.Left)
	rows = append(rows, upperBorder(s, c, line, w))
	for i := range box.Dy() {
		rows = append(rows, side+" "+fit(rowAt(c.rows, i), box.Dx())+" "+side)
	}
	return append(rows, lowerBorder(s, c.hints, line, w))
}

// fit brings a row to exactly w cells. Rows of this package leave no style open, so that spaces can follow.
func fit(row string, w int) string {
	width := text.Width(row)
	if width > w {
		row = text.Cut(row, w)
		width = text.Width(row)
	}
	return row + strings.Repeat(" ", w-width)
}

func rowAt(rows []string, i int) string {
	if i < len(rows) {
		return rows[i]
	}
	return ""
}

// upperBorder is ╭─ title ───── note ─╮; the note goes first when there is no room.
func upperBorder(s *style.Styles, c content, line lipgloss.Border, w int) string {
	room := w - 2 - 4 // corners, and a dash and a space on each side of the title
	note := c.note
	if note != "" {
		note = " " + note + " "
		if text.Width(c.title)+text.Width(note)+1 > room {
			note = ""
		}
	}
	title := text.Cut(c.title, room)
	fill := max(room-text.Width(title)-text.Width(note), 0)
	border := s.BorderFocus.Render
	b := border(line.TopLeft+line.Top) + " " + s.Title.Render(title) + " " + border(strings.Repeat(line.Top, fill))
	if note != "" {
		b += s.Dim.Render(note)
	}
	return b + border(line.Top+line.TopRight)
}

// lowerBorder is ╰─ key does · key does ────╯ with as many hints as fit.
func lowerBorder(s *style.Styles, hints []hint, line lipgloss.Border, w int) string {
	room := w - 2 - 4
	var b strings.Builder
	used := 0
	for _, h := range hints {
		need := text.Width(h.key) + 1 + text.Width(h.does)
		if used > 0 {
			need += 3
		}
		if used+need > room {
			continue
		}
		if used > 0 {
			b.WriteString(s.Faint.Render(" · "))
		}
		b.WriteString(s.Key.Render(h.key) + " " + s.Dim.Render(h.does))
		used += need
	}
	border := s.BorderFocus.Render
	if used == 0 {
		return border(line.BottomLeft + strings.Repeat(line.Bottom, w-2) + line.BottomRight)
	}
	return border(line.BottomLeft+line.Bottom) + " " + b.String() + " " +
		border(strings.Repeat(line.Bottom, room-used+1)+line.BottomRight)
}

// airy is the height from which a dialog has blank rows between head, list and foot.
const airy = 10

// stacked is the rows of a dialog with a list: a head, the list, which is told its first row and its height, and at the
// bottom a foot, which gives way to the list.
func stacked(h int, head, foot []string, list func(first, h int) []string) []string {
	rows := append(make([]string, 0, h), head...)
	if h >= airy && len(head) > 0 {
		rows = append(rows, "")
	}
	if most := (h - len(rows)) / 2; len(foot) > most {
		foot = foot[:most]
	}
	gap := 0
	if h >= airy && len(foot) > 0 {
		gap = 1
	}
	bottom := h - len(foot)
	if room := bottom - gap - len(rows); room > 0 {
		rows = append(rows, list(len(rows), room)...)
	}
	for len(rows) < bottom {
		rows = append(rows, "")
	}
	return append(rows[:bottom], foot...)
}

// field draws an editor behind a label; the caret's cell is in the row.
func field(s *style.Styles, label, placeholder string, l *Line, w int) (row string, cursor *tea.Position) {
	label = text.Cut(label, max(w-4, 0))
	shown, col := l.View(w - text.Width(label))
	value := s.Text
	if l.Value() == "" {
		value, shown = s.Placeholder, placeholder
	}
	return newRow(w).add(s.Prompt, label).add(value, shown).String(), &tea.Position{X: text.Width(label) + col}
}

// foot is rows for the bottom of a dialog.
func foot(s string, st lipgloss.Style, w, n int) []string {
	rows := wrapped(s, w, n)
	for i := range rows {
		rows[i] = st.Render(rows[i])
	}
	return rows
}

// wrapped is a text in at most n rows of w cells; the last one ends in an ellipsis when there is more. Only as much of the
// text is looked at as can be shown.
func wrapped(s string, w, n int) []string {
	if n <= 0 || w <= 0 || s == "" {
		return nil
	}
	const generous = 16 // bytes a cell
	rows := text.Wrap(head(s, generous*w*(n+1)), w)
	if len(rows) > n {
		rows[n-1] = text.Cut(rows[n-1]+" "+rows[n], w)
		if text.Width(rows[n-1]) < w && !strings.HasSuffix(rows[n-1], "…") {
			rows[n-1] += "…"
		}
		rows = rows[:n]
	}
	return rows
}
