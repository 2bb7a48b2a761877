package markdown

import (
	"bytes"
	"strconv"
	"strings"

	glamour "charm.land/glamour/v2/ansi"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	gtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"bureau/tui/style"
	"bureau/tui/text"
)

// reference is a link definition.
type reference = parser.Reference

// engine holds the parser, Glamour's renderer and the text at hand.
type engine struct {
	styles *style.Styles
	parser parser.Parser
	inline renderer.Renderer
	code   highlighter

	memo memo

	// source is the text at hand and, after it, what nodes were given in place of their part of it.
	source []byte
}

func newEngine(s *style.Styles) *engine {
	// Without a width Glamour neither wraps nor pads: both are done here.
	g := glamour.NewRenderer(glamour.Options{PreserveNewLines: true, Styles: glamourStyle(s.Theme)})
	return &engine{
		styles: s,
		parser: goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser(),
		inline: renderer.NewRenderer(renderer.WithNodeRenderers(util.Prioritized(g, 1))),
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

// put adds text to the source and returns where it is.
func (e *engine) put(s string) gtext.Segment {
	start := len(e.source)
	e.source = append(e.source, s...)
	return gtext.NewSegment(start, len(e.source))
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
	e.tame(n)
	var block ast.Node = ast.NewParagraph()
	if h, ok := n.(*ast.Heading); ok {
		block = ast.NewHeading(h.Level)
	}
	for c := n.FirstChild(); c != nil; c = n.FirstChild() {
		block.AppendChild(block, c)
	}
	doc := ast.NewDocument()
	doc.AppendChild(doc, block)
	var b bytes.Buffer
	if err := e.inline.Render(&b, e.source, doc); err != nil {
		panic(err) // a buffer does not fail: Glamour did, and the whole is shown plain
	}
	return strings.Trim(text.StylesOnly(b.String()), "\n")
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

func ptr[T any](v T) *T { return &v }

// glamourStyle is the part of a theme that Glamour applies: what stands within blocks.
func glamourStyle(t style.Theme) glamour.StyleConfig {
	var c glamour.StyleConfig
	c.Emph = glamour.StylePrimitive{Italic: ptr(true)}
	c.Strong = glamour.StylePrimitive{Bold: ptr(true)}
	c.Strikethrough = glamour.StylePrimitive{CrossedOut: ptr(true)}
	c.Code.StylePrimitive = glamour.StylePrimitive{Color: ptr(t.Code)}
	c.LinkText = glamour.StylePrimitive{Color: ptr(t.Accent), Underline: ptr(true)}
	c.Link = glamour.StylePrimitive{Color: ptr(t.Dim), BlockPrefix: "(", BlockSuffix: ")"}
	c.Heading.Bold = ptr(true)
	c.H1.StylePrimitive = glamour.StylePrimitive{Color: ptr(t.Accent), Underline: ptr(true)}
	c.H2.StylePrimitive = glamour.StylePrimitive{Color: ptr(t.Accent)}
	c.H4.StylePrimitive = glamour.StylePrimitive{Italic: ptr(true)}
	c.H5.StylePrimitive = glamour.StylePrimitive{Italic: ptr(true), Color: ptr(t.Dim)}
	c.H6.StylePrimitive = glamour.StylePrimitive{Italic: ptr(true), Color: ptr(t.Dim)}
	return c
}
