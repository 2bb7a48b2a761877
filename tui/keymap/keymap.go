// Package keymap is the keys of the terminal: which key does what in which area, and the help that is made from it, on
// the screen and in the documents. It knows nothing of what the keys act on. A Map is plain data; whoever changes one
// does so before it is handed out.
package keymap

import "charm.land/bubbles/v2/key"

// Area is a part of the screen that has keys of its own. Its keys come before those of Global; in a dialog there are no
// others.
type Area int

// The areas.
const (
	AreaGlobal Area = iota
	AreaComposer
	AreaThread
	AreaOverlay
)

// Map is every binding of the terminal, by area.
type Map struct {
	Global   Global
	Composer Composer
	Editing  Editing
	Thread   Thread
	Overlay  Overlay
}

// Global holds the keys that act wherever the focus is, unless a dialog is open.
type Global struct {
	// Next and Previous move the focus: composer, thread, panes.
	Next, Previous key.Binding
	Recipient      key.Binding
	Palette        key.Binding
	Sessions       key.Binding
	New            key.Binding
	// ToggleAll collapses or expands all panes.
	ToggleAll         key.Binding
	PageUp, PageDown  key.Binding
	ScrollTop, Follow key.Binding
	Back, Interrupt   key.Binding
	Mouse, Help       key.Binding
}

// Composer holds the keys of the composer. Mention and Slash are characters that mean something at the start of a message.
type Composer struct {
	Send, Newline key.Binding
	// Now sends while a turn is under way, without waiting for its end.
	Now            key.Binding
	Accept         key.Binding
	Mention, Slash key.Binding
	Editor         key.Binding
	// Earlier and Later walk through earlier messages, from an empty composer.
	Earlier, Later key.Binding
	Search         key.Binding
}

// Editing holds the keys of a line editor: in the composer and in every one-line field of a dialog.
type Editing struct {
	LineStart, LineEnd    key.Binding
	Left, Right           key.Binding
	WordLeft, WordRight   key.Binding
	KillBefore, KillAfter key.Binding
	KillWord              key.Binding
	Backspace, Delete     key.Binding
}

// Thread holds the keys of the user thread and of the panes.
type Thread struct {
	Up, Down key.Binding
	Toggle   key.Binding
	Zoom     key.Binding
	Copy     key.Binding
	// Tell writes to the sub-conversation, Cancel stops its run alone.
	Tell, Cancel key.Binding
	Help         key.Binding
}

// Overlay holds the keys of the dialogs.
type Overlay struct {
	Up, Down         key.Binding
	PageUp, PageDown key.Binding
	Top, Bottom      key.Binding
	Accept           key.Binding
	Close            key.Binding
	// Rename, Delete and Fork act in the session browser.
	Rename, Delete, Fork key.Binding
	// Yes and No answer a question; ReadHeld and ForkHeld that about a session which another process holds.
	Yes, No            key.Binding
	ReadHeld, ForkHeld key.Binding
}

func bind(keys []string, shown, does string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, does))
}

// Default returns the keys that Bureau comes with.
func Default() Map {
	return Map{
		Global: Global{
			Next:      bind([]string{"tab"}, "tab", "focus the next: composer, thread, panes"),
			Previous:  bind([]string{"shift+tab"}, "shift+tab", "focus the one before"),
			Recipient: bind([]string{"ctrl+t"}, "ctrl+t", "choose the recipient, who stays"),
			Palette:   bind([]string{"ctrl+p"}, "ctrl+p", "command palette"),
			Sessions:  bind([]string{"ctrl+s"}, "ctrl+s", "sessions"),
			New:       bind([]string{"ctrl+n"}, "ctrl+n", "a new session"),
			ToggleAll: bind([]string{"ctrl+o"}, "ctrl+o", "collapse or expand all panes"),
			PageUp:    bind([]string{"pgup"}, "pgup", "scroll up a page"),
			PageDown:  bind([]string{"pgdown"}, "pgdn", "scroll down a page"),
			ScrollTop: bind([]string{"home", "ctrl+home"}, "home", "scroll to the beginning"),
			Follow:    bind([]string{"end", "ctrl+end"}, "end", "scroll to the end and follow again"),
			Back:      bind([]string{"esc", "alt+esc"}, "esc", "one step back: completion, overlay, zoom, pane; in the composer it stops the run"),
			Interrupt: bind([]string{"ctrl+c"}, "ctrl+c", "clear the draft into the history; in a run: stop it; else twice to leave"),
			Mouse:     bind([]string{"f2"}, "F2", "mouse on, off"),
			Help:      bind([]string{"f1"}, "F1", "this help"),
		},
		Composer: Composer{
			Send:    bind([]string{"enter"}, "enter", "send"),
			Newline: bind([]string{"shift+enter", "alt+enter", "ctrl+j"}, `shift+enter, alt+enter, ctrl+j, \ then enter`, "new line"),
			Now:     bind([]string{"ctrl+enter", "alt+s"}, "ctrl+enter, alt+s", "send at once to an agent at work: what is written, else what waits longest"),
			Accept:  bind([]string{"tab"}, "tab", "accept the open completion"),
			Mention: bind([]string{"@"}, "@Agent", "at the start: address one agent, for this message"),
			Slash:   bind([]string{"/"}, "/", "at the start: slash commands"),
			Editor:  bind([]string{"ctrl+g"}, "ctrl+g", "write in $EDITOR"),
			Earlier: bind([]string{"up"}, "↑", "in an empty composer: earlier messages"),
			Later:   bind([]string{"down"}, "↓", "later messages"),
			Search:  bind([]string{"ctrl+r"}, "ctrl+r", "search earlier messages"),
		},
		Editing: Editing{
			LineStart:  bind([]string{"ctrl+a"}, "ctrl+a", "to the start of the line"),
			LineEnd:    bind([]string{"ctrl+e"}, "ctrl+e", "to the end of the line"),
			Left:       bind([]string{"left"}, "←", "a character to the left"),
			Right:      bind([]string{"right"}, "→", "a character to the right"),
			WordLeft:   bind([]string{"ctrl+left", "alt+left", "alt+b"}, "ctrl+←, alt+b", "a word to the left"),
			WordRight:  bind([]string{"ctrl+right", "alt+right", "alt+f"}, "ctrl+→, alt+f", "a word to the right"),
			KillBefore: bind([]string{"ctrl+u"}, "ctrl+u", "delete to the start of the line"),
			KillAfter:  bind([]string{"ctrl+k"}, "ctrl+k", "delete to the end of the line"),
			KillWord:   bind([]string{"ctrl+w", "alt+backspace"}, "ctrl+w", "delete the word before"),
			Backspace:  bind([]string{"backspace", "ctrl+h"}, "backspace, ctrl+h", "delete the character before"),
			Delete:     bind([]string{"delete"}, "del", "delete the character behind"),
		},
		Thread: Thread{
			Up:     bind([]string{"up"}, "↑", "select the one above"),
			Down:   bind([]string{"down"}, "↓", "select the one below"),
			Toggle: bind([]string{"enter", "space"}, "enter, space", "collapse or expand"),
			Zoom:   bind([]string{"z"}, "z", "zoom to the whole screen"),
			Copy:   bind([]string{"y"}, "y", "copy (OSC 52)"),
			Tell:   bind([]string{"t"}, "t", "write to the sub-conversation; esc ends that"),
			Cancel: bind([]string{"x"}, "x", "stop this delegation alone; its sender goes on"),
			Help:   bind([]string{"?"}, "?", "this help"),
		},
		Overlay: Overlay{
			Up:       bind([]string{"up", "shift+tab"}, "↑", "up"),
			Down:     bind([]string{"down", "tab"}, "↓", "down"),
			PageUp:   bind([]string{"pgup"}, "pgup", "a page up"),
			PageDown: bind([]string{"pgdown"}, "pgdn", "a page down"),
			Top:      bind([]string{"home"}, "home", "to the first"),
			Bottom:   bind([]string{"end"}, "end", "to the last"),
			Accept:   bind([]string{"enter"}, "enter", "choose"),
			Close:    bind([]string{"esc", "alt+esc"}, "esc", "close"),
			Rename:   bind([]string{"ctrl+r"}, "ctrl+r", "rename the session"),
			Delete:   bind([]string{"ctrl+d"}, "ctrl+d", "delete the session, after a question"),
			Fork:     bind([]string{"ctrl+f"}, "ctrl+f", "fork: go on in a copy of the session"),
			Yes:      bind([]string{"y", "Y"}, "y", "answer yes"),
			No:       bind([]string{"n", "N"}, "n", "answer no"),
			ReadHeld: bind([]string{"r", "R"}, "r", "read a session that another process holds"),
			ForkHeld: bind([]string{"f", "F"}, "f", "go on in a copy of it"),
		},
	}
}
