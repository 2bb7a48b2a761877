package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"bureau/tui/style"
	"bureau/tui/text"
)

// Deeper nesting, or less room than this, gets no more indentation.
const (
	maxDepth = 12
	minWidth = 12
)

// blocks lays out the blocks below n, a blank row between them, and returns the last one that has rows.
func (e *engine) blocks(n ast.Node, width, depth int) (rows []string, last ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		more := e.block(c, width, depth)
		if len(more) == 0 {
			continue
		}
		if last != nil && apart(last) {
			rows = append(rows, "")
		}
		rows, last = append(rows, more...), c
	}
	return rows, last
}

// apart tells whether a blank row stands between a block and the next: not after a heading, nor between the text of a tight
// item and the list that continues it.
func apart(n ast.Node) bool {
	return n.Kind() != ast.KindHeading && n.Kind() != ast.KindTextBlock
}

func (e *engine) block(n ast.Node, width, depth int) []string {
	switch n := n.(type) {
	case *ast.Paragraph, *ast.TextBlock, *ast.Heading:
		s := e.leaf(n)
		if s == "" { // its lines were link definitions
			return nil
		}
		return trimRows(text.Wrap(s, width))
	case *ast.FencedCodeBlock:
		return e.codeBlock(n, string(n.Language(e.source)), width)
	case *ast.CodeBlock:
		return e.codeBlock(n, "", width)
	case *ast.Blockquote:
		bar := e.styles.Faint.Render(style.SymbolLine) + " "
		return e.nested(n, bar, bar, width, depth)
	case *ast.List:
		return e.list(n, width, depth)
	case *ast.ThematicBreak:
		return []string{e.styles.Faint.Render(strings.Repeat(style.SymbolRule, width))}
	case *ast.HTMLBlock:
		src := lines(n, e.source)
		if n.HasClosure() {
			src = append(src, n.ClosureLine.Value(e.source)...)
		}
		rows := trimRows(text.Wrap(strings.Trim(string(src), "\n"), width))
		for i, r := range rows {
			rows[i] = e.styles.Dim.Render(r)
		}
		return rows
	case *east.Table:
		return e.table(n, width)
	}
	rows, _ := e.blocks(n, width, depth)
	return rows
}

// nested lays out the blocks below n behind a mark on the first row and an indent on the others, both equally wide.
func (e *engine) nested(n ast.Node, mark, indent string, width, depth int) []string {
	inner := width - text.Width(mark)
	if depth >= maxDepth || inner < minWidth {
		inner, mark, indent = width, "", ""
	}
	rows, _ := e.blocks(n, inner, depth+1)
	if len(rows) == 0 {
		rows = []string{""}
	}
	for i, row := range rows {
		if i == 0 {
			rows[i] = mark + row
		} else {
			rows[i] = indent + row
		}
	}
	return trimRows(rows)
}

// list lays out a list. Its items stand close together unless one of them has several blocks.
func (e *engine) list(l *ast.List, width, depth int) []string {
	var rows []string
	loose := false
	for c := l.FirstChild(); c != nil && !loose; c = c.NextSibling() {
		for b := c.FirstChild(); b != nil; b = b.NextSibling() {
			loose = loose || b != c.FirstChild() && b.Kind() != ast.KindList
		}
	}
	number, last := l.Start, l.Start+l.ChildCount()-1
	digits := len(strconv.Itoa(last))
	for c := l.FirstChild(); c != nil; c = c.NextSibling() {
		mark := style.SymbolBullet + " "
		if l.IsOrdered() {
			mark = text.PadLeft(strconv.Itoa(number), digits) + ". "
			number++
		} else if done, ok := task(c); ok {
			mark = map[bool]string{false: "[ ] ", true: "[x] "}[done]
		}
		indent := strings.Repeat(" ", len(mark))
		if mark[0] == style.SymbolBullet[0] {
			indent = "  "
		}
		if loose && len(rows) > 0 {
			rows = append(rows, "")
		}
		rows = append(rows, e.nested(c, e.styles.Dim.Render(strings.TrimSuffix(mark, " "))+" ", indent, width, depth)...)
	}
	return rows
}

// task tells whether an item begins with a checkbox, and whether that is ticked.
func task(item ast.Node) (done, ok bool) {
	b := item.FirstChild()
	if b == nil || b.FirstChild() == nil {
		return false, false
	}
	box, ok := b.FirstChild().(*east.TaskCheckBox)
	return ok && box.IsChecked, ok
}

// trimRows takes the spaces off the ends of rows.
func trimRows(rows []string) []string {
	for i, r := range rows {
		rows[i] = strings.TrimRight(r, " ")
	}
	return rows
}
