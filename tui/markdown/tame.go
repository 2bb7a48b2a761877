package markdown

import (
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"bureau/tui/text"
)

// tame rewrites the inline nodes below n so that Glamour shows them as intended and nothing hostile comes of them: Glamour
// resolves entities after the text was made safe, makes terminal links of any address, and drops HTML.
func (e *engine) tame(n ast.Node) {
	for c := n.FirstChild(); c != nil; {
		next := c.NextSibling()
		switch c := c.(type) {
		case *ast.Text:
			s := c.Segment.Value(e.source)
			s = util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(s)))
			c.Segment = e.put(verbatim(text.Sanitise(string(s))))
		case *ast.CodeSpan:
			s := strings.ReplaceAll(e.plainText(c), "\n", " ")
			c.RemoveChildren(c)
			// Code spans lose nothing but entities on their way through Glamour.
			c.AppendChild(c, ast.NewTextSegment(e.put(strings.ReplaceAll(s, "&", "&amp;"))))
		case *ast.Emphasis:
			e.tame(c)
		case *east.Strikethrough:
			s := e.plainText(c)
			c.RemoveChildren(c)
			c.AppendChild(c, e.text(s))
		case *ast.Link:
			e.tameLink(n, c)
		case *ast.AutoLink:
			label := string(c.Label(e.source))
			if c.AutoLinkType == ast.AutoLinkURL && !shown(string(c.URL(e.source))) {
				n.ReplaceChild(n, c, e.text(label))
				break
			}
			n.ReplaceChild(n, c, e.link(label, ""))
		case *ast.Image:
			alt := text.Line(e.plainText(c))
			if alt == "" {
				alt = "untitled"
			}
			n.ReplaceChild(n, c, e.link("[image: "+alt+"]", string(c.Destination)))
		case *ast.RawHTML:
			var b strings.Builder
			for i := range c.Segments.Len() {
				s := c.Segments.At(i)
				b.Write(s.Value(e.source))
			}
			t := e.text(b.String())
			switch strings.ToLower(strings.ReplaceAll(b.String(), " ", "")) {
			case "<br>", "<br/>":
				t = e.text("")
				t.SetHardLineBreak(true)
			}
			n.ReplaceChild(n, c, t)
		case *east.TaskCheckBox:
			n.RemoveChild(n, c) // the list draws it
		default:
			n.ReplaceChild(n, c, e.text(e.plainText(c)))
		}
		c = next
	}
}

// tameLink leaves a link's text and, behind it, an address that may be shown and says something new; of others the text.
func (e *engine) tameLink(parent ast.Node, l *ast.Link) {
	address := text.Line(string(l.Destination))
	label := text.Line(e.plainText(l))
	e.tame(l)
	switch {
	case !shown(address):
		for c := l.FirstChild(); c != nil; c = l.FirstChild() {
			parent.InsertBefore(parent, l, c)
		}
		parent.RemoveChild(parent, l)
	case strings.TrimPrefix(address, "mailto:") == label:
		l.Destination = noAddress
	default:
		l.Destination = []byte(address)
	}
}

// noAddress is one that Glamour does not show.
var noAddress = []byte("#")

// shown tells whether an address is one that people can use and recognise.
func shown(address string) bool {
	u, err := url.Parse(address)
	if err != nil || strings.ContainsAny(address, " \n") {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.Host != ""
	case "mailto":
		return true
	}
	return false
}

// link makes a link of plain text and an address, which is left out when it may not be shown.
func (e *engine) link(label, address string) ast.Node {
	l := ast.NewLink()
	l.Destination = noAddress
	if address = text.Line(address); shown(address) {
		l.Destination = []byte(address)
	}
	l.AppendChild(l, e.text(label))
	return l
}

// text makes a node that shows s as it is.
func (e *engine) text(s string) *ast.Text {
	return ast.NewTextSegment(e.put(verbatim(text.Sanitise(s))))
}

// verbatim writes a text so that Glamour, which resolves entities and backslashes, shows it as it is.
func verbatim(s string) string {
	if !strings.ContainsAny(s, `&\`) {
		return s
	}
	return strings.NewReplacer(`\`, `\\`, "&", "&amp;").Replace(s)
}

// plainText is the text below a node, without its markup.
func (e *engine) plainText(n ast.Node) string {
	var b strings.Builder
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Segment.Value(e.source))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte('\n')
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.AutoLink:
			b.Write(c.Label(e.source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
