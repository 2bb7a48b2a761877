package keymap

import (
	"strings"

	"charm.land/bubbles/v2/key"
)

// Group is the bindings of one area under their title, in the order in which help shows them.
type Group struct {
	Title    string
	Bindings []key.Binding
}

// Groups returns every enabled binding of the map.
func (m Map) Groups() []Group {
	g, c, e, t, o := m.Global, m.Composer, m.Editing, m.Thread, m.Overlay
	groups := []Group{
		{"Composer", []key.Binding{c.Send, c.Newline, c.Now, c.Mention, c.Slash, c.Accept, c.Earlier, c.Later, c.Search, c.Editor}},
		{"Everywhere", []key.Binding{
			g.Next, g.Previous, g.Recipient, g.Palette, g.Sessions, g.New, g.ToggleAll,
			g.PageUp, g.PageDown, g.ScrollTop, g.Follow, g.Back, g.Interrupt, g.Mouse, g.Help,
		}},
		{"Thread and panes", []key.Binding{t.Up, t.Down, t.Toggle, t.Zoom, t.Copy, t.Tell, t.Cancel, t.Help}},
		{"Dialogs", []key.Binding{
			o.Up, o.Down, o.PageUp, o.PageDown, o.Top, o.Bottom, o.Accept, o.Close,
			o.Rename, o.Delete, o.Fork, o.Yes, o.No, o.ReadHeld, o.ForkHeld,
		}},
		{"Editing a line", []key.Binding{
			e.LineStart, e.LineEnd, e.Left, e.Right, e.WordLeft, e.WordRight,
			e.KillBefore, e.KillAfter, e.KillWord, e.Backspace, e.Delete,
		}},
	}
	kept := groups[:0]
	for _, group := range groups {
		if group.Bindings = enabled(group.Bindings); len(group.Bindings) > 0 {
			kept = append(kept, group)
		}
	}
	return kept
}

// ShortHelp returns the few bindings that are worth a hint while an area has the focus, the most useful first.
func (m Map) ShortHelp(a Area) []key.Binding {
	g := m.Global
	switch a {
	case AreaComposer:
		return enabled([]key.Binding{m.Composer.Send, m.Composer.Newline, g.Recipient, g.Palette, g.Help})
	case AreaThread:
		return enabled([]key.Binding{m.Thread.Toggle, m.Thread.Zoom, m.Thread.Copy, g.Next, g.Back, m.Thread.Help})
	case AreaOverlay:
		return enabled([]key.Binding{m.Overlay.Accept, m.Overlay.Close})
	default:
		return enabled([]key.Binding{g.Palette, g.Sessions, g.Next, g.Help})
	}
}

// Markdown returns the map as a table for the documents: where, key, what it does. It ends in a newline.
func (m Map) Markdown() string {
	var b strings.Builder
	b.WriteString("| where | key | does |\n| --- | --- | --- |\n")
	for _, group := range m.Groups() {
		where := group.Title
		for _, binding := range group.Bindings {
			h := binding.Help()
			b.WriteString("| " + where + " | " + codeSpans(h.Key) + " | " + strings.ReplaceAll(h.Desc, "|", `\|`) + " |\n")
			where = ""
		}
	}
	return b.String()
}

// codeSpans sets each of several keys as code; "then" stays between two that are pressed one after the other.
func codeSpans(keys string) string {
	parts := strings.Split(keys, ", ")
	for i, part := range parts {
		steps := strings.Split(part, " then ")
		for j, step := range steps {
			steps[j] = "`" + strings.ReplaceAll(step, "|", `\|`) + "`"
		}
		parts[i] = strings.Join(steps, " then ")
	}
	return strings.Join(parts, ", ")
}

func enabled(bindings []key.Binding) []key.Binding {
	kept := make([]key.Binding, 0, len(bindings))
	for _, b := range bindings {
		if b.Enabled() {
			kept = append(kept, b)
		}
	}
	return kept
}
