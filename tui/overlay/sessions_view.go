package overlay

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"bureau/tui/style"
	"bureau/tui/text"
)

// From these widths of a row on, a session shows more of itself in it.
const (
	widthForAge       = 34
	widthForAgency    = 56
	widthForRecipient = 74
	widthForFolder    = 92
)

const (
	gap         = 2 // between columns
	ageWidth    = 8
	countWidth  = 6
	nameWidth   = 14 // at most, of an agency or a recipient
	folderWidth = 22
)

func (s *Sessions) draw(e env, w, h int) content {
	head, cursor := s.head(e, w)
	rows := stacked(h, []string{head}, s.foot(e, w, h), func(first, h int) []string {
		if len(s.list) == 0 {
			return []string{newRow(w).bar(e.style, false).add(e.style.Dim, s.none()).String()}
		}
		now := e.now()
		from, to := s.window(first, h)
		rows := make([]string, 0, h)
		for i := from; i < to; i++ {
			rows = append(rows, s.row(e, s.list[i], i == s.selected, w, now))
		}
		return rows
	})
	note := fmt.Sprint(len(s.list))
	if s.waiting {
		note = "searching…"
	}
	return content{title: "Sessions", note: note, rows: rows, hints: s.hints(e), cursor: cursor}
}

func (s *Sessions) head(e env, w int) (row string, cursor *tea.Position) {
	switch s.mode {
	case renaming:
		return field(e.style, "Title "+style.SymbolPrompt+" ", "", &s.edit, w)
	case deleting:
		return styled(e.style.Warning, "Delete “"+s.target.title+"”?", w), nil
	case choosing:
		return styled(e.style.Warning, "Another process holds “"+s.target.title+"”.", w), nil
	}
	return field(e.style, style.SymbolPrompt+" ", "type to search", &s.filter, w)
}

func (s *Sessions) hints(e env) []hint {
	o := e.keys.Overlay
	switch s.mode {
	case renaming:
		return []hint{hintOf(o.Accept, "rename"), hintOf(o.Close, "back")}
	case deleting:
		return []hint{hintOf(o.Yes, "delete"), hintOf(o.No, "keep (default)")}
	case choosing:
		return []hint{hintOf(o.ReadHeld, "read"), hintOf(o.ForkHeld, "fork"), hintOf(o.Close, "back")}
	}
	return []hint{
		hintOf(o.Accept, "open"), hintOf(o.Close, "close"),
		hintOf(o.Rename, "rename"), hintOf(o.Delete, "delete"), hintOf(o.Fork, "fork"),
	}
}

func (s *Sessions) none() string {
	switch {
	case s.waiting:
		return "searching…"
	case s.asked != "":
		return "no session matches"
	}
	return "no sessions yet"
}

func (s *Sessions) row(e env, v session, selected bool, w int, now time.Time) string {
	st := e.style
	title := st.Text
	if selected {
		title = st.Selected
	}
	row := newRow(w).bar(st, selected)
	switch {
	case v.id == s.current:
		row.add(st.Success, style.SymbolBullet).space(1)
	case v.held:
		row.add(st.Warning, style.SymbolWaiting).space(1)
	default:
		row.space(2)
	}
	agency, recipient, folder, count, when := s.columns(w)
	room := max(row.left-agency-recipient-folder-count-when, 0)
	shown := text.Cut(v.title, room)
	s.query.write(row, shown, false, title, st.Match)
	row.space(room - text.Width(shown))
	if agency > 0 {
		row.space(gap).column(st.Dim, v.agency, agency-gap)
	}
	if recipient > 0 {
		row.space(gap).column(st.Agent(v.recipient).UnsetBold(), v.recipient, recipient-gap)
	}
	if folder > 0 {
		row.space(gap).column(st.Dim, text.CutLeft(v.folder, folder-gap), folder-gap)
	}
	row.columnRight(st.Dim, text.Tokens(v.messages), count)
	row.columnRight(st.Dim, age(v, now), when)
	return row.String()
}

// columns divides a row of w cells: what each column takes with the gap before it, 0 for one that is not shown.
func (s *Sessions) columns(w int) (agency, recipient, folder, count, when int) {
	if w >= widthForAge {
		when = ageWidth + gap
	}
	if w >= widthForAgency {
		agency = min(s.agencyWidth, nameWidth) + gap
		count = countWidth + gap
	}
	if w >= widthForRecipient {
		recipient = min(s.receiverWidth, nameWidth) + gap
	}
	if w >= widthForFolder {
		folder = folderWidth + gap
	}
	return agency, recipient, folder, count, when
}

func age(v session, now time.Time) string { return text.Ago(now.Sub(time.UnixMicro(v.updated))) }

// foot tells of the selected session what its row may have no room for, or what went wrong.
func (s *Sessions) foot(e env, w, h int) []string {
	most := min(3, h/4)
	switch {
	case s.notice != "":
		st := e.style.Warning
		if s.failed {
			st = e.style.Error
		}
		return foot(s.notice, st, w, max(most, 1))
	case most == 0:
		return nil
	}
	if s.mode == choosing && most > 1 {
		return foot("It can be read here, without sending anything; or go on in a copy of it.", e.style.Dim, w, most)
	}
	most = min(most, 2)
	var rows []string
	if len(s.list) > 0 {
		v := s.list[s.selected]
		messages := "messages"
		if v.messages == 1 {
			messages = "message"
		}
		facts := []string{v.agency + " " + style.SymbolArrow + " " + v.recipient, fmt.Sprintf("%d %s", v.messages, messages)}
		if w < widthForAge {
			facts = append(facts, age(v, e.now()))
		}
		switch {
		case v.id == s.current:
			facts = append(facts, "open here")
		case v.held:
			facts = append(facts, "held by another process")
		}
		rows = foot(strings.Join(append(facts, v.folder), " · "), e.style.Dim, w, most)
	}
	for len(rows) < most {
		rows = append(rows, "")
	}
	return rows
}
