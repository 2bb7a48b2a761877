package markdown

import (
	"strings"

	"github.com/yuin/goldmark/util"

	"bureau/tui/text"
)

// Doc is Markdown that grows, such as an answer that streams in. What is before the last safe place to cut is laid out
// once; only what follows is laid out again as it grows. The rows are those that [Renderer.Render] gives for the same text,
// but for colours in a fence that is still open.
type Doc struct {
	r     *Renderer
	raw   string
	width int

	src    string // the safe text that rows was made from
	cutter cutter
	stable rendered // what is before the cut
	rows   []string
	fence  fenceRows
	fresh  bool // rows are those of raw
}

// NewDoc returns an empty document.
func (r *Renderer) NewDoc() *Doc { return &Doc{r: r} }

// Use goes on with another renderer, for another look.
func (d *Doc) Use(r *Renderer) {
	*d = Doc{r: r, raw: d.raw}
}

// Text is the whole text as it came.
func (d *Doc) Text() string { return d.raw }

// Set replaces the text. One that begins with the former costs what is new.
func (d *Doc) Set(s string) {
	if s != d.raw {
		d.raw, d.fresh = s, false
	}
}

// Append adds to the text.
func (d *Doc) Append(s string) { d.Set(d.raw + s) }

// Rows lays the text out as [Renderer.Render] does. The result is the document's own and good until the next call.
func (d *Doc) Rows(width int) []string {
	if d.fresh && width == d.width {
		return d.rows
	}
	d.fresh = true
	if width <= 0 {
		d.width, d.rows = width, nil
		return nil
	}
	src := text.Sanitise(d.raw)
	if width != d.width || !strings.HasPrefix(src, d.src[:d.cutter.seen]) {
		d.width = width
		d.restart()
	}
	d.src = src
	from := d.cutter.cut
	if to := d.cutter.advance(src); to > from {
		more := d.layout(src[from:to], d.stable.refs)
		if d.redefines(from, more.refs) {
			return d.whole()
		}
		heading := more.heading || len(more.rows) == 0 && d.stable.heading
		d.stable = rendered{rows: d.joined(more), heading: heading, refs: more.refs}
	}
	tail := d.tail(src[d.cutter.cut:])
	if d.redefines(d.cutter.cut, tail.refs) {
		return d.whole()
	}
	d.rows = d.joined(tail)
	return d.rows
}

// whole lays all of the text out, from now on: what is stable refers to a definition that came since and may still grow.
func (d *Doc) whole() []string {
	d.restart()
	d.cutter.done = true
	d.rows = d.layout(d.src, nil).rows
	return d.rows
}

func (d *Doc) restart() {
	d.cutter, d.stable, d.fence = cutter{}, rendered{}, fenceRows{}
}

func (d *Doc) layout(src string, refs []reference) rendered {
	if len(d.src) > maxText {
		return rendered{rows: plain(src, d.width), refs: refs}
	}
	return d.r.render(src, d.width, refs)
}

// joined returns the stable rows and, after them, others.
func (d *Doc) joined(more rendered) []string {
	rows := d.stable.rows[:len(d.stable.rows):len(d.stable.rows)]
	if len(more.rows) == 0 {
		return rows
	}
	if len(rows) > 0 && !d.stable.heading {
		rows = append(rows, "")
	}
	return append(rows, more.rows...)
}

// redefines tells whether those of refs that are not known yet change what stands before an offset.
func (d *Doc) redefines(before int, refs []reference) bool {
	if before == 0 || len(refs) == len(d.stable.refs) {
		return false
	}
	known := map[string]bool{}
	for _, ref := range d.stable.refs {
		known[util.ToLinkReference(ref.Label())] = true
	}
	stable := util.ToLinkReference([]byte(d.src[:before]))
	for _, ref := range refs {
		label := util.ToLinkReference(ref.Label())
		if !known[label] && strings.Contains(stable, "["+label+"]") {
			return true
		}
	}
	return false
}
