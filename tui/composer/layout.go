package composer

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"bureau/tui/style"
	"bureau/tui/text"
)

// row is a stretch of cells on one row of the screen.
type row struct{ from, to int }

// layout breaks cells into rows of at most width cells of the screen: after newlines, after spaces, else anywhere. Spaces
// that do not fit hang over the end.
func layout(cells []cell, width int) []row {
	rows := make([]row, 0, 4)
	from, used := 0, 0
	word, wordUsed := 0, 0 // where the last word begins, and what is used before it
	for i, c := range cells {
		if c.newline() {
			rows = append(rows, row{from, i + 1})
			from, used, word, wordUsed = i+1, 0, i+1, 0
			continue
		}
		w := min(c.width, width)
		if used+w > width && !c.space() {
			at, left := i, 0
			if word > from {
				at, left = word, used-wordUsed
			}
			rows = append(rows, row{from, at})
			from, used, word, wordUsed = at, left, at, 0
			if used+w > width { // the word alone fills the row
				rows = append(rows, row{from, i})
				from, used, word = i, 0, i
			}
		}
		used += w
		if c.space() || c.chip {
			word, wordUsed = i+1, used
		}
	}
	return append(rows, row{from, len(cells)})
}

// lines lays the text out, once for every change.
func (c *Composer) lines() []row {
	if c.rows == nil {
		c.rows = layout(c.shown().cells, c.room())
	}
	return c.rows
}

// shown is the buffer that the keys go to: the text, or the words of a search.
func (c *Composer) shown() *buffer {
	if c.search != nil {
		return &c.search.query
	}
	return &c.buffer
}

// room is the width of the text: beside the prompt, less a column for the cursor behind it.
func (c *Composer) room() int { return max(1, c.width-text.Width(c.drawnPrompt())-1) }

// drawnPrompt is the recipient and a sign; only the sign where there is little room.
func (c *Composer) drawnPrompt() string {
	sign := c.styles.Prompt.Render(style.SymbolPrompt) + " "
	if !c.focused {
		sign = c.styles.Dim.Render(style.SymbolPrompt) + " "
	}
	if c.width < 3 {
		return ""
	}
	name := c.styles.Agent(c.prompt).Render(text.Cut(text.Line(c.prompt), c.width/3))
	if c.search != nil {
		name = c.styles.Strong.Render(text.Cut("search", c.width/3))
	}
	if c.width < 16 || text.Width(name) == 0 {
		return sign
	}
	return name + " " + sign
}

// Rows is the height that the text wants: its rows, at most those of SetMaxRows.
func (c *Composer) Rows() int { return min(len(c.lines()), c.maxRows) }

// place is the row and the column of the screen where the cursor is in the text.
func (c *Composer) place() (y, x int) {
	b, rows := c.shown(), c.lines()
	for y = len(rows) - 1; y > 0 && rows[y].from > b.at; y-- {
	}
	return y, columns(b.cells[rows[y].from:b.at])
}

func columns(cells []cell) int {
	n := 0
	for _, c := range cells {
		n += c.width
	}
	return n
}

// first is the row of the text that is at the top, so that the cursor is in view.
func (c *Composer) first() int {
	y, _ := c.place()
	h := c.Rows()
	c.top = max(y-h+1, min(c.top, y, len(c.lines())-h))
	return c.top
}

// View draws the text: [Composer.Rows] rows, the first with the prompt.
func (c *Composer) View() []string {
	prompt := c.drawnPrompt()
	indent := strings.Repeat(" ", text.Width(prompt))
	b, rows := c.shown(), c.lines()
	first := c.first()
	marked := c.marked()
	out := make([]string, 0, c.Rows())
	for y := first; y < first+c.Rows(); y++ {
		var line strings.Builder
		for i := rows[y].from; i < rows[y].to; i++ {
			switch cell := b.cells[i]; {
			case cell.chip:
				line.WriteString(c.styles.Chip.Render(cell.shown))
			case i < marked:
				line.WriteString(c.styles.Accent.Render(cell.shown))
			default:
				line.WriteString(cell.shown)
			}
		}
		s := text.Cut(strings.TrimRight(line.String(), " "), c.room())
		if y == 0 {
			if len(b.cells) == 0 {
				s = c.styles.Placeholder.Render(text.Cut(c.placeholder(), c.room()))
			}
			s = prompt + s
		} else {
			s = indent + s
		}
		out = append(out, text.Cut(s, c.width))
	}
	return out
}

func (c *Composer) placeholder() string {
	if c.search != nil {
		return "words of an earlier message"
	}
	return "write a message; @ names an agent, / a command"
}

// marked is how many cells at the start are a mention or a command that counts.
func (c *Composer) marked() int {
	if c.search != nil || len(c.buffer.cells) == 0 {
		return 0
	}
	first := c.buffer.cells[0].value
	if first != "@" && first != "/" {
		return 0
	}
	line := c.buffer.cells[:min(len(c.buffer.cells), 256)]
	s := join(line)
	_, length := c.mention(s)
	if name, _, ok := command(s); ok && first == "/" {
		length = 1 + len(name)
	}
	n := 0
	for length > 0 && n < len(line) {
		length -= len(line[n].value)
		n++
	}
	return n
}

// Cursor is where the cursor is in [Composer.View]; nil without the focus.
func (c *Composer) Cursor() *tea.Cursor {
	if !c.focused {
		return nil
	}
	y, x := c.place()
	cursor := tea.NewCursor(text.Width(c.drawnPrompt())+min(x, c.room()), y-c.first())
	cursor.X = min(cursor.X, max(c.width-1, 0))
	cursor.Shape, cursor.Blink = tea.CursorBar, false
	return cursor
}

// moveRow moves the cursor up or down a row of the screen, near its column. It tells whether there was one.
func (c *Composer) moveRow(n int) bool {
	y, x := c.place()
	rows := c.lines()
	if y+n < 0 || y+n >= len(rows) {
		return false
	}
	to := rows[y+n]
	i, at := to.from, 0
	for i < to.to && at+c.buffer.cells[i].width <= x && !c.buffer.cells[i].newline() {
		at += c.buffer.cells[i].width
		i++
	}
	// The end of a row that goes on is the start of the next.
	if i == to.to && y+n < len(rows)-1 && i > to.from {
		i--
	}
	c.buffer.at = i
	return true
}
