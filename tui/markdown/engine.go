package markdown

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"

	"bureau/tui/style"
)

// reference is a link definition.
type reference = parser.Reference

// engine holds the parser, what it draws with, and the text at hand.
type engine struct {
	styles *style.Styles
	parser parser.Parser
	pens   pens
	code   highlighter

	memo memo // of what blocks are styled as
	said memo // of texts as plain words

	source []byte
}

func newEngine(s *style.Styles) *engine {
	return &engine{
		styles: s,
		parser: goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser(),
		pens:   pens{theme: s.Theme, made: map[look]pen{}},
		code:   newHighlighter(s),
	}
}

func (e *engine) render(src string, width int, refs []reference) rendered {
	e.source = append(e.source[:0], src...)
	ctx := parser.NewContext()
	for _, ref := range refs {
		ctx.AddReference(ref)
	}
	doc := e.parser.Parse(gtext.NewReader(e.source), parser.WithContext(ctx))
	rows, last := e.blocks(doc, width, 0)
	return rendered{
		rows:    rows,
		heading: last != nil && last.Kind() == ast.KindHeading,
		refs:    cloned(ctx.References()),
	}
}

// cloned makes references independent of the source that they were read from, which is overwritten.
func cloned(refs []reference) []reference {
	for i, ref := range refs {
		refs[i] = parser.NewReference(bytes.Clone(ref.Label()), bytes.Clone(ref.Destination()), bytes.Clone(ref.Title()))
	}
	return refs
}

// leaf styles what stands within a block, whose inline children it takes. The result has newlines only where the text has
// hard ones.
func (e *engine) leaf(n ast.Node) string {
	src := string(lines(n, e.source))
	if len(src) > maxBlock {
		return strings.TrimRight(src, "\n")
	}
	key := ""
	if !strings.Contains(src, "[") { // where a link may stand, the same text may mean something else
		key = n.Kind().String() + "\n" + src
		if h, ok := n.(*ast.Heading); ok {
			key = strconv.Itoa(h.Level) + key
		}
		if s, ok := e.memo.get(key); ok {
			return s
		}
	}
	s := e.styled(n)
	e.memo.put(key, s)
	return s
}

func (e *engine) styled(n ast.Node) string {
	var in look
	if h, ok := n.(*ast.Heading); ok {
		in.heading = h.Level
	}
	var b strings.Builder
	e.inline(&b, n, in)
	return strings.Trim(b.String(), "\n")
}

// lines returns a block's text.
func lines(n ast.Node, source []byte) []byte {
	var b []byte
	l := n.Lines()
	for i := range l.Len() {
		s := l.At(i)
		b = append(b, s.Value(source)...)
	}
	return b
}
