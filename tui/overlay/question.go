package overlay

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"bureau/tui/style"
	"bureau/tui/text"
)

// confirm is a question that is answered by yes or no.
type confirm struct {
	id, title, text string
	yes             bool // the answer that enter gives
	scroller
	wrapped []string
	width   int
}

// NewConfirm returns a question: y and n answer it, enter gives the answer that is selected, esc is a no. defaultNo selects
// no at first. The text may be long; it scrolls. It shows what would be dropped for safety, since a user decides on it.
func NewConfirm(id, title, question string, defaultNo bool) Dialog {
	return &confirm{id: id, title: text.Line(title), text: text.Visible(question), yes: !defaultNo}
}

func (c *confirm) ID() string { return c.id }

func (c *confirm) size(w, h int) (int, int) {
	const wide, border, answers = 64, 2, 2
	bw, _ := spread(w, h, wide, h)
	c.wrap(boxOf(bw, h).Dx())
	return spread(w, h, wide, len(c.wrapped)+border+answers)
}

func (c *confirm) wrap(w int) {
	if c.wrapped == nil || c.width != w {
		c.wrapped, c.width = text.Wrap(c.text, max(w, 1)), w
	}
}

func (c *confirm) handleKey(e env, msg tea.KeyPressMsg) Result {
	o := e.keys.Overlay
	switch {
	case key.Matches(msg, o.Yes):
		return Confirmed{c.id, true}
	case key.Matches(msg, o.No, o.Close):
		return Confirmed{c.id, false}
	case key.Matches(msg, o.Accept):
		return Confirmed{c.id, c.yes}
	case key.Matches(msg, e.keys.Editing.Left, e.keys.Editing.Right, e.keys.Global.Next, e.keys.Global.Previous):
		c.yes = !c.yes
	default:
		c.scroller.handleKey(o, msg)
	}
	return nil
}

func (c *confirm) handlePaste(env, string) Result { return nil }
func (c *confirm) scroll(n int)                   { c.move(n) }
func (c *confirm) click(env, int) Result          { return nil }

func (c *confirm) draw(e env, w, h int) content {
	c.wrap(w)
	answers := newRow(w)
	c.answer(answers, e.style, "Yes", c.yes)
	c.answer(answers.space(3), e.style, "No", !c.yes)
	rows := stacked(h, nil, []string{answers.String()}, func(_, h int) []string {
		if len(c.wrapped) < h { // a blank row before the answers
			h--
		}
		from, to := c.window(len(c.wrapped), h)
		return c.wrapped[from:to]
	})
	note := ""
	if c.count > c.page {
		note = position(c.top, min(c.top+c.page, c.count), c.count)
	}
	o := e.keys.Overlay
	return content{
		title: c.title, note: note, rows: rows,
		hints: []hint{hintOf(o.Yes, "yes"), hintOf(o.No, "no"), hintOf(o.Accept, strings.ToLower(c.selected()))},
	}
}

func (c *confirm) selected() string {
	if c.yes {
		return "Yes"
	}
	return "No"
}

func (c *confirm) answer(r *rowBuilder, s *style.Styles, answer string, selected bool) {
	st := s.Dim
	if selected {
		st = s.Selected
	}
	r.bar(s, selected).add(st, answer)
}

// input is a one-line editor.
type input struct {
	id, title string
	line      Line
}

// NewInput returns a one-line editor with a text to begin with. The result of enter is Entered with the text as it then is.
func NewInput(id, title, value string) Dialog {
	i := &input{id: id, title: text.Line(title)}
	i.line.Set(value)
	return i
}

func (i *input) ID() string { return i.id }

func (i *input) size(w, h int) (int, int) { return spread(w, h, 64, 3) }

func (i *input) handleKey(e env, msg tea.KeyPressMsg) Result {
	switch o := e.keys.Overlay; {
	case key.Matches(msg, o.Close):
		return Closed{i.id}
	case key.Matches(msg, o.Accept):
		return Entered{i.id, i.line.Value()}
	case key.Matches(msg, o.Top):
		i.line.Home()
	case key.Matches(msg, o.Bottom):
		i.line.End()
	default:
		i.line.HandleKey(e.keys.Editing, msg)
	}
	return nil
}

func (i *input) handlePaste(_ env, pasted string) Result {
	i.line.Insert(pasted)
	return nil
}

func (i *input) scroll(int)            {}
func (i *input) click(env, int) Result { return nil }

func (i *input) draw(e env, w, _ int) content {
	row, cursor := field(e.style, style.SymbolPrompt+" ", "", &i.line, w)
	o := e.keys.Overlay
	return content{
		title: i.title, rows: []string{row}, cursor: cursor,
		hints: []hint{hintOf(o.Accept, "done"), hintOf(o.Close, "cancel")},
	}
}
