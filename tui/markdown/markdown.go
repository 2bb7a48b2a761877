// Package markdown shows Markdown as styled rows. Goldmark reads it and Chroma colours code; how that looks is decided here, so
// that lists and quotes keep their indentation, code its columns, and every row its width, and so that the program starts in
// the time and the memory that it may take.
//
// The text is hostile: it is made safe before it is read, entities are resolved to safe characters only, links show their
// target and are no links to the terminal, images are named and HTML is shown as it is written. What fails to render
// is shown plain.
//
// A [Renderer] and its [Doc]s belong to one goroutine. Nothing is built before the first use.
package markdown

import (
	"strings"

	"bureau/tui/style"
	"bureau/tui/text"
)

// Above these sizes in bytes text is shown plain: a whole, and a block within it.
const (
	maxText  = 256 << 10
	maxBlock = 32 << 10
)

// Renderer renders Markdown with one look.
type Renderer struct {
	styles *style.Styles
	engine *engine
}

// New returns a renderer.
func New(s *style.Styles) *Renderer {
	return &Renderer{styles: s}
}

// Render lays Markdown out in rows of at most width cells, with no style left open and no blank row at the ends.
func (r *Renderer) Render(src string, width int) []string {
	if width <= 0 {
		return nil
	}
	return r.render(text.Sanitise(src), width, nil).rows
}

// rendered is a stretch of laid out blocks. The gap after its last one depends on what follows.
type rendered struct {
	rows    []string
	heading bool // the last block is a heading, which what follows joins without a blank row
	refs    []reference
}

// render lays out safe text, which may use link definitions from elsewhere.
func (r *Renderer) render(src string, width int, refs []reference) (out rendered) {
	if len(src) > maxText {
		return rendered{rows: plain(src, width)}
	}
	defer func() {
		if recover() != nil {
			r.engine = nil // it may be in any state
			out = rendered{rows: plain(src, width)}
		}
	}()
	if r.engine == nil {
		r.engine = newEngine(r.styles)
	}
	return r.engine.render(src, width, refs)
}

func plain(src string, width int) []string {
	return text.Wrap(strings.Trim(src, "\n"), width)
}
