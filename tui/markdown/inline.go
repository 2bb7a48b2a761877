package markdown

import (
	"net/url"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"bureau/tui/style"
	"bureau/tui/text"
)

// look is how a run of text within a block looks: the sum of all that it stands in.
type look struct {
	bold, italic, strike, code, link, address bool
	heading                                   int // the level; 0 for none
}

// pens draw text in a look. Each look's sequences are made once.
type pens struct {
	theme style.Theme
	made  map[look]pen
}

func (p *pens) draw(b *strings.Builder, s string, l look) {
	if s == "" {
		return
	}
	drawn, ok := p.made[l]
	if !ok {
		drawn = newPen(p.style(l))
		p.made[l] = drawn
	}
	b.WriteString(drawn.on + s + drawn.off)
}

func (p *pens) style(l look) lipgloss.Style {
	s := lipgloss.NewStyle().Bold(l.bold || l.heading > 0).Strikethrough(l.strike).
		Italic(l.italic || l.heading >= 4).Underline(l.link || l.heading == 1)
	colour := ""
	switch {
	case l.address, l.heading >= 5:
		colour = p.theme.Dim
	case l.code:
		colour = p.theme.Code
	case l.link, l.heading == 1, l.heading == 2:
		colour = p.theme.Accent
	}
	if colour != "" {
		s = s.Foreground(lipgloss.Color(colour))
	}
	return s
}

// inline draws what stands below n. Nothing hostile comes of it: entities are resolved before the text is made safe, links
// show their target and are none to the terminal, images are named, HTML is shown as it is written.
func (e *engine) inline(b *strings.Builder, n ast.Node, l look) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		in := l
		switch c := c.(type) {
		case *ast.Text:
			s := c.Segment.Value(e.source)
			s = util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(s)))
			e.pens.draw(b, text.Sanitise(string(s)), l)
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte('\n')
			}
		case *ast.CodeSpan:
			in.code = true
			e.pens.draw(b, strings.ReplaceAll(e.plainText(c), "\n", " "), in)
		case *ast.Emphasis:
			in.bold, in.italic = l.bold || c.Level == 2, l.italic || c.Level == 1
			e.inline(b, c, in)
		case *east.Strikethrough:
			in.strike = true
			e.inline(b, c, in)
		case *ast.Link:
			e.link(b, string(c.Destination), text.Line(e.plainText(c)), l, func(in look) { e.inline(b, c, in) })
		case *ast.AutoLink:
			label := string(c.Label(e.source))
			in.link = c.AutoLinkType == ast.AutoLinkEmail || shown(string(c.URL(e.source)))
			e.pens.draw(b, text.Sanitise(label), in)
		case *ast.Image:
			alt := text.Line(e.plainText(c))
			if alt == "" {
				alt = "untitled"
			}
			e.link(b, string(c.Destination), alt, l, func(in look) { in.link = true; e.pens.draw(b, "[image: "+alt+"]", in) })
		case *ast.RawHTML:
			e.html(b, c, l)
		case *east.TaskCheckBox: // the list draws it
		default:
			e.pens.draw(b, text.Sanitise(e.plainText(c)), l)
		}
	}
}

// link draws a label and, behind it, an address that may be shown and says something new; of others the label alone.
func (e *engine) link(b *strings.Builder, address, label string, l look, draw func(look)) {
	address = text.Line(address)
	in := l
	in.link = shown(address)
	draw(in)
	if in.link && strings.TrimPrefix(address, "mailto:") != label {
		e.pens.draw(b, " ", l)
		e.pens.draw(b, "("+address+")", look{address: true})
	}
}

// html draws a tag as it is written; a line break is one.
func (e *engine) html(b *strings.Builder, c *ast.RawHTML, l look) {
	var tag strings.Builder
	for i := range c.Segments.Len() {
		s := c.Segments.At(i)
		tag.Write(s.Value(e.source))
	}
	switch strings.ToLower(strings.ReplaceAll(tag.String(), " ", "")) {
	case "<br>", "<br/>":
		b.WriteByte('\n')
	default:
		e.pens.draw(b, text.Sanitise(tag.String()), l)
	}
}

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
