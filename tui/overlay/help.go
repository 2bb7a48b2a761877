package overlay

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"bureau/tui/keymap"
	"bureau/tui/style"
	"bureau/tui/text"
)

// help is the keys and the commands, in as many columns as fit.
type help struct {
	groups []helpGroup
	scroller
	// drawn is the rows for a width and styles, made anew when either changes.
	drawn []string
	width int
	style *style.Styles
}

type helpGroup struct {
	title   string
	entries []hint
}

const (
	helpKeyWidth    = 18 // of a key that shares a row with what it does; a longer one has a row of its own
	helpColumnWidth = 46
	helpGap         = 3
)

// NewHelp returns the help: every binding of the map and every command. Its id is HelpID.
func NewHelp(keys keymap.Map, commands []Command) Dialog {
	h := &help{}
	for _, g := range keys.Groups() {
		group := helpGroup{title: g.Title}
		for _, b := range g.Bindings {
			group.entries = append(group.entries, hint{b.Help().Key, b.Help().Desc})
		}
		h.groups = append(h.groups, group)
	}
	if len(commands) > 0 {
		group := helpGroup{title: "Commands"}
		for _, c := range commands {
			name := "/" + c.Name
			if c.Args != "" {
				name += " " + c.Args
			}
			group.entries = append(group.entries, hint{text.Line(name), text.Line(c.Title)})
		}
		h.groups = append(h.groups, group)
	}
	return h
}

func (h *help) ID() string { return HelpID }

func (h *help) size(w, height int) (int, int) {
	return spread(w, height, 3*helpColumnWidth+2*helpGap+4, 60)
}

func (h *help) handleKey(e env, msg tea.KeyPressMsg) Result {
	if key.Matches(msg, e.keys.Overlay.Close, e.keys.Global.Help, e.keys.Thread.Help) {
		return Closed{HelpID}
	}
	h.scroller.handleKey(e.keys.Overlay, msg)
	return nil
}

func (h *help) handlePaste(env, string) Result { return nil }
func (h *help) scroll(n int)                   { h.move(n) }
func (h *help) click(env, int) Result          { return nil }

func (h *help) draw(e env, w, height int) content {
	if h.drawn == nil || h.width != w || h.style != e.style {
		h.drawn, h.width, h.style = h.rows(e.style, w), w, e.style
	}
	from, to := h.window(len(h.drawn), height)
	return content{
		title: "Help", note: position(from, to, len(h.drawn)), rows: h.drawn[from:to],
		hints: readingHints(e),
	}
}

// rows lays the groups out in columns of about the same height, in their order, none torn apart.
func (h *help) rows(s *style.Styles, w int) []string {
	columns := max(min((w+helpGap)/(helpColumnWidth+helpGap), 3), 1)
	width := (w - helpGap*(columns-1)) / columns
	blocks := make([][]string, len(h.groups))
	total := 0
	for i, g := range h.groups {
		blocks[i] = g.rows(s, width)
		total += len(blocks[i]) + 1
	}
	filled := make([][]string, columns)
	at := 0
	for _, b := range blocks {
		if len(filled[at]) > 0 {
			// The next column is better when most of the block would stand below the mean.
			if at < columns-1 && len(filled[at])+len(b)/2 > total/columns {
				at++
			} else {
				filled[at] = append(filled[at], "")
			}
		}
		filled[at] = append(filled[at], b...)
	}
	var rows []string
	for i := 0; ; i++ {
		row, any := "", false
		for c, column := range filled {
			any = any || i < len(column)
			if row += rowAt(column, i); c < columns-1 {
				row = fit(row, (c+1)*(width+helpGap))
			}
		}
		if !any {
			return rows
		}
		rows = append(rows, row)
	}
}

func (g helpGroup) rows(s *style.Styles, w int) []string {
	rows := []string{styled(s.Title, g.title, w)}
	keyWidth := min(helpKeyWidth, w/3)
	for _, e := range g.entries {
		does := text.Wrap(e.does, max(w-keyWidth-1, 1))
		if text.Width(e.key) <= keyWidth {
			rows = append(rows, newRow(w).column(s.Key, e.key, keyWidth+1).add(s.KeyHelp, does[0]).String())
			does = does[1:]
		} else {
			for _, k := range text.Wrap(e.key, w) {
				rows = append(rows, styled(s.Key, k, w))
			}
		}
		for _, d := range does {
			rows = append(rows, newRow(w).space(keyWidth+1).add(s.KeyHelp, d).String())
		}
	}
	return rows
}
