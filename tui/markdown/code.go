package markdown

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/yuin/goldmark/ast"

	"bureau/tui/style"
	"bureau/tui/text"
)

const codeIndent = "  "

// codeBlock lays out code: indented, never rewrapped, cut at the edge.
func (e *engine) codeBlock(n ast.Node, language string, width int) []string {
	src := strings.TrimRight(string(lines(n, e.source)), "\n")
	indent := codeIndent
	if width < minWidth {
		indent = ""
	}
	key := "code " + language + "\n" + src
	coloured, ok := e.memo.get(key)
	if !ok {
		coloured = e.code.highlight(src, language)
		e.memo.put(key, coloured)
	}
	rows := text.Chop(coloured, width-len(indent))
	for i, r := range rows {
		if r = strings.TrimRight(r, " "); r != "" {
			r = indent + r
		}
		rows[i] = r
	}
	return rows
}

// pen is the sequences before and after styled text.
type pen struct{ on, off string }

func newPen(s lipgloss.Style) pen {
	on, off, _ := strings.Cut(s.Render("x"), "x")
	return pen{on, off}
}

// highlighter colours code. It keeps lexers by language: finding one is slow.
type highlighter struct {
	keyword, str, literal, comment, name, added, removed pen
	lexers                                               map[string]chroma.Lexer
}

func newHighlighter(s *style.Styles) highlighter {
	plain := lipgloss.NewStyle()
	in := func(c string) pen { return newPen(plain.Foreground(lipgloss.Color(c))) }
	return highlighter{
		keyword: in(s.Theme.Keyword), str: in(s.Theme.String), literal: in(s.Theme.Literal), name: in(s.Theme.Tool),
		comment: newPen(s.Dim.Italic(true)), added: newPen(s.Success), removed: newPen(s.Error),
		lexers: map[string]chroma.Lexer{},
	}
}

// highlight colours code in a language; in one that it does not know, and when there is much of it, it leaves it as it is.
func (h *highlighter) highlight(src, language string) string {
	if len(src) > maxBlock {
		return src
	}
	lexer, known := h.lexers[language]
	if !known {
		if lexer = lexers.Get(language); lexer != nil {
			lexer = chroma.Coalesce(lexer)
		}
		if len(h.lexers) < 64 {
			h.lexers[language] = lexer
		}
	}
	if language == "" || lexer == nil {
		return src
	}
	tokens, err := lexer.Tokenise(nil, src)
	if err != nil {
		return src
	}
	var b strings.Builder
	b.Grow(len(src) * 2)
	for t := tokens(); t != chroma.EOF; t = tokens() {
		p := h.pen(t.Type)
		for i, line := range strings.Split(t.Value, "\n") {
			if i > 0 {
				b.WriteByte('\n')
			}
			if strings.TrimSpace(line) == "" || p.on == "" {
				b.WriteString(line)
				continue
			}
			b.WriteString(p.on)
			b.WriteString(line)
			b.WriteString(p.off)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

func (h *highlighter) pen(t chroma.TokenType) pen {
	switch {
	case t.InCategory(chroma.Comment):
		return h.comment
	case t.InCategory(chroma.Keyword), t == chroma.NameTag:
		return h.keyword
	case t.InSubCategory(chroma.LiteralString):
		return h.str
	case t.InCategory(chroma.Literal):
		return h.literal
	case t == chroma.NameFunction, t == chroma.NameClass, t == chroma.NameAttribute, t == chroma.NameBuiltin:
		return h.name
	case t == chroma.GenericInserted:
		return h.added
	case t == chroma.GenericDeleted:
		return h.removed
	}
	return pen{}
}
