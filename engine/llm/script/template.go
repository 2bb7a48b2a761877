package script

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxText is the longest text that a template produces, in bytes; what goes past it is cut.
const maxText = 256 << 10

// text is a template of a script. Only a part of text/template is let in: fields and functions, piped, and if with else.
// So a text costs no more than its own length times what it quotes, and none can fail in the midst of a conversation.
type text struct {
	tree  *template.Template
	finds map[string]*regexp.Regexp
}

// fields are what a template can name.
var fields = []string{"Message", "Agent", "Step", "Turn"}

// scene is what fields and functions speak of: the conversation at the moment of an answer.
type scene struct {
	Message string
	Agent   string
	Step    int
	Turn    int
	// newest are the outputs that the model has not answered yet, turn those since the user's last message.
	newest, turn []output
}

type output struct{ tool, text string }

// text compiles a template at its place in the file.
func (p *parser) text(n *yaml.Node, what string) *text {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		p.fault(n, "%s must be text, not %s", what, kindOf(n))
		return nil
	}
	t := &text{finds: map[string]*regexp.Regexp{}}
	tree := parse.New("text")
	tree.Mode = parse.SkipFuncCheck // unknown functions are told below, with their place
	all := map[string]*parse.Tree{}
	if _, err := tree.Parse(n.Value, "", "", all); err != nil {
		line, message := templateError(err)
		line, column := p.place(n, line, 0)
		p.faultAt(line, column, "%s is not a template: %s", what, message)
		return nil
	}
	if len(all) > 1 || len(all) == 1 && all["text"] == nil {
		p.fault(n, "%s defines a template of its own; a script has no use for one", what)
		return nil
	}
	faults := len(p.faults)
	c := &checker{text: t, fault: func(at parse.Pos, format string, args ...any) {
		head := n.Value[:min(int(at), len(n.Value))]
		line, column := p.place(n, 1+strings.Count(head, "\n"), len(head)-1-strings.LastIndexByte(head, '\n'))
		p.faultAt(line, column, "%s: %s", what, fmt.Sprintf(format, args...))
	}}
	c.node(tree.Root)
	if len(p.faults) > faults {
		return nil
	}
	compiled, err := template.New("text").Funcs(functions(scene{}, t.finds)).AddParseTree("text", tree)
	if err != nil {
		p.fault(n, "%s is not a template: %s", what, err)
		return nil
	}
	t.tree = compiled
	return t
}

// place maps a line (from 1) and a byte of it (from 0) of a text to the file. Only a literal block has its own lines there; of the
// other styles the place of the whole value is told.
func (p *parser) place(n *yaml.Node, line, column int) (int, int) {
	if n.Style != yaml.LiteralStyle {
		return n.Line, n.Column
	}
	at, texts := n.Line+line, strings.Split(n.Value, "\n")
	if at > len(p.lines) || line > len(texts) {
		return n.Line, n.Column
	}
	indent, whole := strings.CutSuffix(strings.TrimSuffix(p.lines[at-1], "\r"), texts[line-1])
	if !whole {
		return n.Line, n.Column
	}
	return at, utf8.RuneCountInString(indent) + utf8.RuneCountInString(texts[line-1][:min(column, len(texts[line-1]))]) + 1
}

var templateLine = regexp.MustCompile(`^template: text:(\d+)(?::\d+)?: (?s:(.*))$`)

func templateError(err error) (int, string) {
	if m := templateLine.FindStringSubmatch(err.Error()); m != nil {
		line, _ := strconv.Atoi(m[1])
		return line, m[2]
	}
	return 1, err.Error()
}

// checker refuses what a script's templates have no use for.
type checker struct {
	text  *text
	fault func(at parse.Pos, format string, args ...any)
}

func (c *checker) node(n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, child := range n.Nodes {
			c.node(child)
		}
	case *parse.ActionNode:
		c.node(n.Pipe)
	case *parse.IfNode:
		c.node(n.Pipe)
		c.node(n.List)
		c.node(n.ElseList)
	case *parse.PipeNode:
		if len(n.Decl) > 0 {
			c.fault(n.Pos, "variables are not available here")
		}
		for i, command := range n.Cmds {
			c.command(command, min(i, 1))
		}
	case *parse.FieldNode:
		if len(n.Ident) != 1 || !slices.Contains(fields, n.Ident[0]) {
			c.fault(n.Pos, "unknown field %s; known are .%s", clip(n.String()), strings.Join(fields, ", ."))
		}
	case *parse.IdentifierNode:
		if least, most := arity(n.Ident); most < 0 {
			c.unknown(n)
		} else if least > 0 {
			c.fault(n.Pos, "the function %s with its arguments must stand in parentheses", n.Ident)
		}
	case *parse.NumberNode:
		if !n.IsInt {
			c.fault(n.Pos, "%s is not a whole number", clip(n.Text))
		}
	case *parse.TextNode, *parse.StringNode, *parse.BoolNode, *parse.CommentNode:
	default:
		c.fault(n.Position(), "%s is not available here; a text may hold fields, functions and if", clip(firstLine(n.String())))
	}
}

// command checks a command, to which a pipe may bring one argument more, and compiles the pattern of a find or count.
func (c *checker) command(n *parse.CommandNode, piped int) {
	given := len(n.Args) - 1 + piped
	name, ok := n.Args[0].(*parse.IdentifierNode)
	if !ok {
		c.node(n.Args[0])
		if given > 0 {
			c.fault(n.Pos, "%s is no function, and takes no arguments", clip(n.Args[0].String()))
		}
		return
	}
	least, most := arity(name.Ident)
	if most < 0 {
		c.unknown(name)
		return
	}
	if given < least || given > most {
		c.fault(n.Pos, "%s takes %s, not %d", name.Ident, arguments(least, most), given)
		return
	}
	for _, arg := range n.Args[1:] {
		c.node(arg)
	}
	if name.Ident != "find" && name.Ident != "count" {
		return
	}
	if len(n.Args) < 2 {
		c.fault(n.Pos, unwritten, name.Ident)
		return
	}
	pattern, ok := n.Args[1].(*parse.StringNode)
	if !ok {
		c.fault(n.Pos, unwritten, name.Ident)
		return
	}
	re, err := regexp.Compile(pattern.Text)
	if err != nil {
		c.fault(pattern.Pos, "the pattern of %s is not a regular expression: %s", name.Ident, reason(err))
		return
	}
	c.text.finds[pattern.Text] = re
}

const unwritten = "the pattern of %s must be written out as text"

func (c *checker) unknown(n *parse.IdentifierNode) {
	c.fault(n.Pos, "the function %q is not available here; %s", n.Ident, suggest(n.Ident, names()))
}

var errFull = errors.New("the text is full")

// limited is a buffer that ends at maxText bytes.
type limited struct{ bytes.Buffer }

func (l *limited) Write(b []byte) (int, error) {
	room := maxText - l.Len()
	if len(b) > room {
		l.Buffer.Write(b[:room])
		return room, errFull
	}
	return l.Buffer.Write(b)
}

// render fills the text in. It never fails: should a template stumble all the same, what it had written is the text.
func (t *text) render(s scene) string {
	if t == nil || t.tree == nil {
		return ""
	}
	tree, err := t.tree.Clone()
	if err != nil {
		return ""
	}
	var out limited
	_ = tree.Funcs(functions(s, t.finds)).Execute(&out, s)
	return strings.ToValidUTF8(out.String(), "\uFFFD")
}
