// Package overlay is the dialogs that stand above the screen: pickers, the command palette, the session browser, the
// agency, help, text and questions. It knows how they are drawn and which keys they take; it must not know what comes of
// a choice: that is a Result for the root, which also asks the backend whatever a dialog asks for. All of its state belongs
// to the goroutine that Update runs on.
package overlay

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"bureau/tui/keymap"
	"bureau/tui/style"
)

// Dialog is one dialog; the New functions of this package make them. A dialog is pushed on one stack, once.
type Dialog interface {
	// ID names the dialog in its results.
	ID() string

	// size is the whole box that the dialog wants on a screen of w by h cells; the stack cuts it to the screen.
	size(w, h int) (int, int)
	// draw fills the inside of the box, w by h cells, both at least 1.
	draw(e env, w, h int) content
	handleKey(e env, msg tea.KeyPressMsg) Result
	handlePaste(e env, pasted string) Result
	// scroll moves by rows, down when n is above 0.
	scroll(n int)
	// click tells of a click on a row of what draw returned last.
	click(e env, row int) Result
}

// The ids of the dialogs of which there is one.
const (
	PaletteID  = "palette"
	SessionsID = "sessions"
	AgencyID   = "agency"
	HelpID     = "help"
)

// env is what a dialog needs from outside to draw itself and to read keys.
type env struct {
	style *style.Styles
	keys  keymap.Map
	now   func() time.Time
}

// content is what a dialog shows in its box.
type content struct {
	// title stands in the upper border, note at its right end.
	title, note string
	// rows are at most as many as the inside is high, each at most as wide.
	rows []string
	// hints stand in the lower border, as many as fit, the most useful first.
	hints []hint
	// cursor is the cell of the caret, in the inside; nil where nothing is typed.
	cursor *tea.Position
}

// hint is a key and, in a word or two, what it does.
type hint struct{ key, does string }

func hintOf(b key.Binding, does string) hint { return hint{b.Help().Key, does} }

// Result is what a key or a paste made of a dialog; nil when nothing but its look changed. It is one of the types below.
type Result interface {
	// done tells whether the dialog has served and is taken off the stack.
	done() bool
}

type (
	// Closed tells that the user left the dialog without a choice.
	Closed struct{ ID string }
	// Picked tells which choice was made in a dialog; for the palette, ID is the command's name, for the agency an agent's.
	Picked struct{ Dialog, ID string }
	// Query asks for the sessions that match a text, which are handed to SetSessions of the dialog that is still open.
	Query struct{ Text string }
	// Open asks to open a session.
	Open struct{ ID string }
	// Rename asks to give a session a title; the dialog stays open.
	Rename struct{ ID, Title string }
	// Delete asks to delete a session, of which the user is sure; the dialog stays open.
	Delete struct{ ID string }
	// Fork asks to go on in a copy of a session.
	Fork struct{ ID string }
	// Confirmed is the answer to a question; ID is the dialog's. Leaving it with esc is a no.
	Confirmed struct {
		ID  string
		Yes bool
	}
	// Entered is the text of an input; ID is the dialog's. The text is one line and may be empty.
	Entered struct{ ID, Text string }
)

func (Closed) done() bool    { return true }
func (Picked) done() bool    { return true }
func (Query) done() bool     { return false }
func (Open) done() bool      { return true }
func (Rename) done() bool    { return false }
func (Delete) done() bool    { return false }
func (Fork) done() bool      { return true }
func (Confirmed) done() bool { return true }
func (Entered) done() bool   { return true }
