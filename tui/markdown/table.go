package markdown

import (
	"strings"

	east "github.com/yuin/goldmark/extension/ast"

	"bureau/tui/style"
	"bureau/tui/text"
)

const (
	minColumn = 5
	gutter    = 3 // between columns: space, line, space
)

// table lays out a table in columns, whose cells wrap; where there is no room for columns, each row as a list of its cells.
func (e *engine) table(t *east.Table, width int) []string {
	var cells [][]string
	for r := t.FirstChild(); r != nil; r = r.NextSibling() {
		var row []string
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			row = append(row, strings.ReplaceAll(e.leaf(c), "\n", " "))
		}
		cells = append(cells, row)
	}
	if len(cells) == 0 || len(cells[0]) == 0 {
		return nil
	}
	widths := fit(natural(cells), width-gutter*(len(cells[0])-1))
	if widths == nil {
		return e.stacked(cells, width)
	}
	line := e.styles.Faint.Render(style.SymbolLine)
	var rows []string
	for i, row := range cells {
		rows = append(rows, e.tableRow(row, widths, t.Alignments, i == 0, line)...)
		if i == 0 {
			rules := make([]string, len(widths))
			for j, w := range widths {
				rules[j] = strings.Repeat(style.SymbolRule, w)
			}
			rows = append(rows, e.styles.Faint.Render(strings.Join(rules, "─┼─")))
		}
	}
	return rows
}

func (e *engine) tableRow(row []string, widths []int, align []east.Alignment, head bool, line string) []string {
	columns := make([][]string, len(widths))
	height := 1
	for j, w := range widths {
		if j < len(row) {
			cell := row[j]
			if head {
				cell = e.styles.Strong.Render(cell)
			}
			columns[j] = text.Wrap(cell, w)
		}
		height = max(height, len(columns[j]))
	}
	rows := make([]string, height)
	for y := range rows {
		parts := make([]string, len(widths))
		for j, w := range widths {
			cell := ""
			if y < len(columns[j]) {
				cell = columns[j][y]
			}
			switch align[j] {
			case east.AlignRight:
				cell = text.PadLeft(cell, w)
			case east.AlignCenter:
				cell = text.Pad(strings.Repeat(" ", (w-text.Width(cell))/2)+cell, w)
			default:
				cell = text.Pad(cell, w)
			}
			parts[j] = cell
		}
		rows[y] = strings.TrimRight(strings.Join(parts, " "+line+" "), " ")
	}
	return rows
}

// stacked shows a table whose columns have no room: a line for each cell, after the name of its column.
func (e *engine) stacked(cells [][]string, width int) []string {
	var rows []string
	for i, row := range cells[1:] {
		if i > 0 {
			rows = append(rows, e.styles.Faint.Render(strings.Repeat(style.SymbolRule, min(width, minWidth))))
		}
		for j, cell := range row {
			name := cells[0][j]
			if name != "" {
				name = e.styles.Strong.Render(name) + ": "
			}
			rows = append(rows, trimRows(text.Wrap(name+cell, width))...)
		}
	}
	if len(rows) == 0 {
		return text.Wrap(e.styles.Strong.Render(strings.Join(cells[0], ", ")), width)
	}
	return rows
}

// natural returns the widths of the columns if nothing wraps.
func natural(cells [][]string) []int {
	widths := make([]int, len(cells[0]))
	for _, row := range cells {
		for j, c := range row[:min(len(row), len(widths))] {
			widths[j] = max(widths[j], text.Width(c), 1)
		}
	}
	return widths
}

// fit brings columns to a total width by narrowing the widest; nil if they do not fit.
func fit(widths []int, total int) []int {
	sum := 0
	for _, w := range widths {
		sum += w
	}
	if sum <= total {
		return widths
	}
	// The limit that all columns keep to is raised while there is room: the narrow ones stay as they are.
	limit, used := 0, 0
	for {
		next := 0
		for _, w := range widths {
			next += min(w, limit+1)
		}
		if next > total || next == used {
			break
		}
		limit, used = limit+1, next
	}
	if limit < minColumn {
		return nil
	}
	for j, w := range widths {
		widths[j] = min(w, limit)
	}
	for j := range widths { // what is left goes to the first that were narrowed
		if used < total && widths[j] == limit {
			widths[j]++
			used++
		}
	}
	return widths
}
