package overlay

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"bureau/tui/text"
)

// reading is text that is only read.
type reading struct {
	id, title, text string
	longest         int
	scroller
	wrapped []string
	width   int
}

// NewText returns rows of text that scroll; long ones are wrapped. Its id is its title.
func NewText(title string, rows []string) Dialog {
	r := &reading{id: title, title: text.Line(title), text: text.Sanitise(strings.Join(rows, "\n"))}
	for line := range strings.SplitSeq(r.text, "\n") {
		r.longest = max(r.longest, text.Width(line))
	}
	return r
}

func (r *reading) ID() string { return r.id }

func (r *reading) size(w, h int) (int, int) {
	width := max(r.longest+4, text.Width(r.title)+12, 48)
	bw, _ := spread(w, h, min(width, 104), h)
	r.wrap(boxOf(bw, h).Dx())
	return spread(w, h, min(width, 104), len(r.wrapped)+2)
}

func (r *reading) wrap(w int) {
	if r.wrapped == nil || r.width != w {
		r.wrapped, r.width = text.Wrap(r.text, max(w, 1)), w
	}
}

func (r *reading) handleKey(e env, msg tea.KeyPressMsg) Result {
	if key.Matches(msg, e.keys.Overlay.Close, e.keys.Overlay.Accept) {
		return Closed{r.id}
	}
	r.scroller.handleKey(e.keys.Overlay, msg)
	return nil
}

func (r *reading) handlePaste(env, string) Result { return nil }
func (r *reading) scroll(n int)                   { r.move(n) }
func (r *reading) click(env, int) Result          { return nil }

func (r *reading) draw(e env, w, h int) content {
	r.wrap(w)
	from, to := r.window(len(r.wrapped), h)
	return content{
		title: r.title, note: position(from, to, len(r.wrapped)), rows: r.wrapped[from:to],
		hints: readingHints(e),
	}
}

func readingHints(e env) []hint {
	o := e.keys.Overlay
	return []hint{
		hintOf(o.Close, "close"),
		{o.Up.Help().Key + o.Down.Help().Key, "scroll"},
		{o.PageUp.Help().Key + "/" + o.PageDown.Help().Key, "page"},
	}
}

// position says which rows of a longer text are shown.
func position(from, to, n int) string {
	if to-from >= n {
		return ""
	}
	return fmt.Sprintf("%d–%d of %d", from+1, to, n)
}
