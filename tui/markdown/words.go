package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	gtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"bureau/tui/text"
)

// Words is what Markdown says, as one line without its marks: what stands in paragraphs, headings, lists, tables and code.
func (r *Renderer) Words(src string) (words string) {
	src = text.Sanitise(src)
	if len(src) > maxBlock {
		return text.Line(src)
	}
	defer func() {
		if recover() != nil {
			r.engine = nil // it may be in any state
			words = text.Line(src)
		}
	}()
	if r.engine == nil {
		r.engine = newEngine(r.styles)
	}
	return r.engine.words(src)
}

func (e *engine) words(src string) string {
	if said, ok := e.said.get(src); ok {
		return said
	}
	source := []byte(src)
	var b strings.Builder
	_ = ast.Walk(e.parser.Parse(gtext.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Type() == ast.TypeBlock {
			b.WriteByte(' ')
		}
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
			b.Write(lines(n, source))
		case *ast.Text:
			s := n.Segment.Value(source)
			if n.Parent().Kind() != ast.KindCodeSpan {
				s = util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(s)))
			}
			b.Write(s)
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.AutoLink:
			b.Write(n.Label(source))
		case *ast.RawHTML:
			b.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	said := strings.Join(strings.Fields(text.Line(b.String())), " ")
	e.said.put(src, said)
	return said
}
