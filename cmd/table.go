package cmd

import (
	"fmt"
	"io"
	"strings"

	"bureau/tui/text"
)

// table prints rows in columns. What it is given is made safe for a terminal.
type table struct{ rows [][]string }

func newTable(heads ...string) *table { return &table{rows: [][]string{heads}} }

func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = text.Line(cells[i])
	}
	t.rows = append(t.rows, cells)
}

// widestCell bounds a column but the last, in cells of the screen.
const widestCell = 48

func (t *table) print(w io.Writer) error {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row[:len(row)-1] {
			widths[i] = max(widths[i], min(text.Width(cell), widestCell))
		}
	}
	var b strings.Builder
	for _, row := range t.rows {
		for i, cell := range row[:len(row)-1] {
			b.WriteString(text.Pad(cell, widths[i]) + "  ")
		}
		b.WriteString(row[len(row)-1] + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// plural is a number of things, such as "1 agent" or "3 agents".
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
