package overlay

import (
	"cmp"
	"fmt"
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"bureau/tui/style"
	"bureau/tui/text"
)

// Choice is one row of a picker. What is shown comes from anywhere and is made safe.
type Choice struct {
	// ID is what Picked tells.
	ID string
	// Label is what the user looks for, Detail says more about it, Mark stands at the right.
	Label, Detail, Mark string
	// Disabled says why the choice cannot be made; empty when it can.
	Disabled string
}

// Command is a command of the palette and of the help.
type Command struct {
	// Name is what Picked tells, and what is typed behind a slash.
	Name, Title string
	// Key is the key that does the same; Args hints at what the command takes. Both may be empty.
	Key, Args string
}

// picker is a list that typing filters.
type picker struct {
	id, title string
	current   string
	choices   []Choice
	folded    []foldedChoice
	// shown are the places in choices of those that the filter leaves, the best first.
	shown  []int
	filter Line
	query  query
	chooser
	notice                  string
	labelWidth, detailWidth int
	markWidth               int
	hasDisabled             bool
}

type foldedChoice struct{ label, rest string }

// footRows is how many rows a picker has for what its rows have no room for.
const footRows = 3

// NewPicker returns a list of choices that typing filters: case and width of letters do not matter, the terms of the filter
// may stand anywhere, and the best fit comes first. current is the ID of the choice in force, which is marked and selected
// first; it may be empty. The result is Picked with the dialog's id.
func NewPicker(id, title string, choices []Choice, current string) Dialog {
	p := &picker{id: id, title: text.Line(title), current: current, choices: make([]Choice, len(choices))}
	p.folded = make([]foldedChoice, len(choices))
	selected := 0
	for i, c := range choices {
		c.Label, c.Detail, c.Mark, c.Disabled = text.Line(c.Label), text.Line(c.Detail), text.Line(c.Mark), text.Line(c.Disabled)
		p.choices[i] = c
		p.folded[i] = foldedChoice{fold(c.Label), fold(c.Detail + " " + c.Mark)}
		p.labelWidth = max(p.labelWidth, text.Width(c.Label))
		p.detailWidth = max(p.detailWidth, text.Width(c.Detail), text.Width(c.Disabled))
		p.markWidth = max(p.markWidth, text.Width(c.Mark))
		p.hasDisabled = p.hasDisabled || c.Disabled != ""
		if c.ID == current {
			selected = i
		}
	}
	p.find()
	p.selected = selected
	return p
}

// NewPalette returns the command palette: the commands by title, with their slash names and keys. Its id is PaletteID.
func NewPalette(commands []Command) Dialog {
	choices := make([]Choice, len(commands))
	for i, c := range commands {
		detail := "/" + c.Name
		if c.Args != "" {
			detail += " " + c.Args
		}
		choices[i] = Choice{ID: c.Name, Label: c.Title, Detail: detail, Mark: c.Key}
	}
	return NewPicker(PaletteID, "Commands", choices, "")
}

func (p *picker) ID() string { return p.id }

func (p *picker) size(w, h int) (int, int) {
	const wide, border, filter = 84, 2, 2
	bw, _ := spread(w, h, wide, h)
	want := len(p.choices) + border + filter
	if p.needsFoot(boxOf(bw, h).Dx()) || p.hasDisabled {
		want += 1 + footRows
	}
	return spread(w, h, wide, want)
}

// find brings shown up to date with the filter.
func (p *picker) find() {
	p.query = parseQuery(p.filter.Value())
	p.shown = p.shown[:0]
	scores := make([]int, len(p.choices))
	for i, f := range p.folded {
		score, ok := p.query.score(f.label, f.rest)
		if ok {
			scores[i] = score
			p.shown = append(p.shown, i)
		}
	}
	if len(p.query) > 0 {
		slices.SortStableFunc(p.shown, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	}
	p.reset(len(p.shown), 0)
	p.top = 0
}

func (p *picker) handleKey(e env, msg tea.KeyPressMsg) Result {
	p.notice = ""
	switch {
	case key.Matches(msg, e.keys.Overlay.Close):
		return Closed{p.id}
	case key.Matches(msg, e.keys.Overlay.Accept):
		return p.accept()
	case p.chooser.handleKey(e.keys.Overlay, msg):
		return nil
	}
	before := p.filter.Value()
	if p.filter.HandleKey(e.keys.Editing, msg) && p.filter.Value() != before {
		p.find()
	}
	return nil
}

func (p *picker) handlePaste(_ env, pasted string) Result {
	p.filter.Insert(pasted)
	p.find()
	return nil
}

func (p *picker) scroll(n int) { p.move(n) }

func (p *picker) click(_ env, row int) Result {
	if p.chooser.click(row) {
		return p.accept()
	}
	return nil
}

func (p *picker) accept() Result {
	if len(p.shown) == 0 {
		return nil
	}
	c := p.choices[p.shown[p.selected]]
	if c.Disabled != "" {
		p.notice = c.Label + ": " + c.Disabled
		return nil
	}
	return Picked{p.id, c.ID}
}

func (p *picker) draw(e env, w, h int) content {
	filter, cursor := field(e.style, style.SymbolPrompt+" ", "type to filter", &p.filter, w)
	rows := stacked(h, []string{filter}, p.foot(e, w, h), func(first, h int) []string {
		if len(p.shown) == 0 {
			return []string{newRow(w).bar(e.style, false).add(e.style.Dim, p.none()).String()}
		}
		from, to := p.window(first, h)
		rows := make([]string, 0, h)
		for i := from; i < to; i++ {
			rows = append(rows, p.row(e, p.choices[p.shown[i]], i == p.selected, w))
		}
		return rows
	})
	note := fmt.Sprint(len(p.choices))
	if len(p.query) > 0 {
		note = fmt.Sprintf("%d of %d", len(p.shown), len(p.choices))
	}
	o := e.keys.Overlay
	return content{
		title: p.title, note: note, rows: rows, cursor: cursor,
		hints: []hint{hintOf(o.Accept, "choose"), hintOf(o.Close, "close"), {o.Up.Help().Key + o.Down.Help().Key, "select"}},
	}
}

func (p *picker) none() string {
	if len(p.choices) == 0 {
		return "nothing to choose from"
	}
	return "nothing matches"
}

// A row gives up its mark, then its detail, before its label has fewer cells than these.
const (
	labelBesideMark   = 16
	labelBesideDetail = 30
	leastDetail       = 10
)

// columns divides a row of w cells: the label, the detail behind it, the mark at the right. What has no room is 0.
func (p *picker) columns(w int) (label, detail, mark int) {
	room := max(w-2, 0) // the bar
	if p.current != "" {
		room = max(room-2, 0)
	}
	if p.markWidth > 0 && room-p.markWidth-2 >= min(p.labelWidth, labelBesideMark) {
		mark = p.markWidth
		room -= mark + 2
	}
	label = min(p.labelWidth, room)
	if p.detailWidth == 0 {
		return label, 0, mark
	}
	beside := min(label, max(labelBesideDetail, room-2-p.detailWidth))
	if room-beside-2 < leastDetail {
		return label, 0, mark
	}
	return beside, room - beside - 2, mark
}

func (p *picker) row(e env, c Choice, selected bool, w int) string {
	st := e.style
	plain := st.Text
	switch {
	case c.Disabled != "":
		plain = st.Faint
	case selected:
		plain = st.Selected
	}
	labelWidth, detailWidth, markWidth := p.columns(w)
	row := newRow(w).bar(st, selected)
	switch {
	case p.current == "":
	case c.ID == p.current:
		row.add(st.Success, style.SymbolBullet).space(1)
	default:
		row.space(2)
	}
	label := text.Cut(c.Label, labelWidth)
	p.query.write(row, label, true, plain, st.Match)
	row.space(labelWidth - text.Width(label))
	if detailWidth > 0 {
		detail, dim := c.Detail, st.Dim
		if c.Disabled != "" {
			detail, dim = c.Disabled, st.Faint
		}
		detail = text.Cut(detail, detailWidth)
		p.query.write(row.space(2), detail, false, dim, st.Match)
		row.space(detailWidth - text.Width(detail))
	}
	if markWidth > 0 {
		row.columnRight(st.Key, c.Mark, row.left)
	}
	return row.String()
}

// needsFoot tells whether some detail has no room in a row of w cells.
func (p *picker) needsFoot(w int) bool {
	_, room, _ := p.columns(w)
	return p.detailWidth > room
}

// foot says what the row of the selected choice has no room for. Its height does not change with the selection.
func (p *picker) foot(e env, w, h int) []string {
	most := min(footRows, h/4)
	if p.notice != "" {
		return foot(p.notice, e.style.Warning, w, max(most, 1))
	}
	if most == 0 || !p.needsFoot(w) {
		return nil
	}
	var rows []string
	if len(p.shown) > 0 {
		c := p.choices[p.shown[p.selected]]
		rows = foot(cmp.Or(c.Disabled, c.Detail), e.style.Dim, w, most)
	}
	for len(rows) < most {
		rows = append(rows, "")
	}
	return rows
}
