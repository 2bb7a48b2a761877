package overlay_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"bureau/tui/keymap"
	"bureau/tui/overlay"
	"bureau/tui/style"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// clock is a clock that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time          { return c.at }
func (c *clock) advance(d time.Duration) { c.at = c.at.Add(d) }

func newStack() (*overlay.Stack, *clock) {
	c := &clock{at: start}
	return overlay.NewStack(style.New(true), keymap.Default(), c.now), c
}

// press is the message of a key: a name (enter, ctrl+r), or characters as typed.
func press(name string) tea.KeyPressMsg {
	codes := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft,
		"right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"tab": tea.KeyTab, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "f1": tea.KeyF1,
	}
	var k tea.Key
	rest := name
	for {
		switch {
		case strings.HasPrefix(rest, "ctrl+"):
			k.Mod |= tea.ModCtrl
		case strings.HasPrefix(rest, "alt+"):
			k.Mod |= tea.ModAlt
		case strings.HasPrefix(rest, "shift+"):
			k.Mod |= tea.ModShift
		default:
			if code, ok := codes[rest]; ok {
				k.Code = code
				return tea.KeyPressMsg(k)
			}
			runes := []rune(rest)
			k.Code = runes[0]
			if len(runes) > 1 {
				k.Code = tea.KeyExtended
			}
			if k.Mod == 0 {
				k.Text = rest
			}
			return tea.KeyPressMsg(k)
		}
		_, rest, _ = strings.Cut(rest, "+")
	}
}

// play gives a stack keys, separated by spaces, and returns the results that are not nil. "paste:x" pastes x.
func play(s *overlay.Stack, keys string) []overlay.Result {
	var results []overlay.Result
	for _, k := range strings.Fields(keys) {
		var r overlay.Result
		if pasted, ok := strings.CutPrefix(k, "paste:"); ok {
			r = s.HandlePaste(strings.ReplaceAll(pasted, "_", " "))
		} else {
			r = s.HandleKey(press(k))
		}
		if r != nil {
			results = append(results, r)
		}
	}
	return results
}

func equal(t *testing.T, got []overlay.Result, want ...overlay.Result) {
	t.Helper()
	if fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
		t.Errorf("results %#v, want %#v", got, want)
	}
}

// screen draws a stack and holds what it draws against the area it was given.
func screen(t *testing.T, s *overlay.Stack, w, h int) string {
	t.Helper()
	rows, x, y, cursor := s.View(w, h)
	width := -1
	for i, row := range rows {
		got := ansi.StringWidth(row)
		if width < 0 {
			width = got
		}
		if got != width {
			t.Errorf("%dx%d: row %d has %d cells, the first has %d: %q", w, h, i, got, width, ansi.Strip(row))
		}
		if strings.ContainsAny(ansi.Strip(row), "\x1b\a\b\r\n\t\u009b\u202e") {
			t.Errorf("%dx%d: row %d holds a control character: %q", w, h, i, row)
		}
	}
	if x < 0 || y < 0 || x+width > w || y+len(rows) > h {
		t.Errorf("%dx%d: a box of %dx%d at %d,%d does not fit", w, h, width, len(rows), x, y)
	}
	if cursor != nil && (cursor.X < x || cursor.X >= x+width || cursor.Y < y || cursor.Y >= y+len(rows)) {
		t.Errorf("%dx%d: the caret at %d,%d is outside of the box", w, h, cursor.X, cursor.Y)
	}
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(ansi.Strip(row) + "\n")
	}
	if cursor != nil {
		fmt.Fprintf(&b, "caret %d,%d in the box\n", cursor.X-x, cursor.Y-y)
	}
	return b.String()
}

var sizes = [][2]int{{20, 5}, {40, 12}, {80, 24}, {120, 40}}

func dialogs() map[string]func() overlay.Dialog {
	return map[string]func() overlay.Dialog{
		"picker":   func() overlay.Dialog { return overlay.NewPicker("recipient", "Recipient", recipients(), "Desk") },
		"palette":  func() overlay.Dialog { return overlay.NewPalette(commands()) },
		"sessions": func() overlay.Dialog { return filledSessions() },
		"agency":   func() overlay.Dialog { return newsroom() },
		"help":     func() overlay.Dialog { return overlay.NewHelp(keymap.Default(), commands()) },
		"text": func() overlay.Dialog {
			return overlay.NewText("Error", []string{"The server refused the key.", "", strings.Repeat("It says why at length. ", 40)})
		},
		"confirm": func() overlay.Dialog {
			return overlay.NewConfirm("leave", "Leave?", "Two agents are still working. Leaving stops them; what they have written is kept.", true)
		},
		"input": func() overlay.Dialog { return overlay.NewInput("title", "Title", "漢字 of the day") },
	}
}

func TestDialogsAtEverySize(t *testing.T) {
	t.Parallel()
	for name, dialog := range dialogs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all strings.Builder
			for _, size := range sizes {
				s, _ := newStack()
				s.Push(dialog())
				fmt.Fprintf(&all, "%d x %d\n%s\n", size[0], size[1], screen(t, s, size[0], size[1]))
			}
			golden.RequireEqual(t, []byte(all.String()))
		})
	}
}

// TestDialogsFitAnything draws every dialog at every small size and some large ones, also after its keys have moved it.
func TestDialogsFitAnything(t *testing.T) {
	t.Parallel()
	for name, dialog := range dialogs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, keys := range []string{"", "end down", "x", "ctrl+r x", "end ctrl+d", "paste:" + strings.Repeat("漢字e\u0301", 60)} {
				s, _ := newStack()
				s.Push(dialog())
				play(s, keys)
				for w := 1; w <= 44; w += 6 {
					for h := 1; h <= 20; h += 3 {
						screen(t, s, w, h)
					}
				}
				screen(t, s, 300, 3)
				screen(t, s, 3, 300)
				screen(t, s, 300, 100)
			}
		})
	}
}

const hostile = "a\x1b]52;c;ZXZpbA==\x07b\x1b[2J\u009b2Jc\rd\te\u202ef\x1bPq\x1b\\g\xff\x00 🏳️‍🌈漢字\x1b["

func TestHostileTextReachesNoDialog(t *testing.T) {
	t.Parallel()
	sessions := overlay.NewSessions("", hostile)
	sessions.SetSessions(hostileSessions(), nil)
	failed := overlay.NewSessions("", "")
	failed.SetSessions(nil, fmt.Errorf("open: %s", hostile))
	agency := overlay.NewAgency(hostile, hostile, []overlay.Agent{
		{Name: hostile, Description: hostile, EntryPoint: true, Tools: []string{hostile}, Model: hostile}, {Name: "B"},
	}, []overlay.Flow{{From: hostile, To: "B", Tool: hostile}}, hostile)
	agency.SetWorking(map[string]string{hostile: hostile, "B": hostile})
	input := overlay.NewInput("x", hostile, hostile)
	for name, d := range map[string]overlay.Dialog{
		"picker":   overlay.NewPicker("x", hostile, []overlay.Choice{{ID: "1", Label: hostile, Detail: hostile, Mark: hostile}, {Label: hostile, Disabled: hostile}}, "1"),
		"palette":  overlay.NewPalette([]overlay.Command{{Name: hostile, Title: hostile, Key: hostile, Args: hostile}}),
		"sessions": sessions, "failed": failed, "agency": agency, "input": input,
		"help":    overlay.NewHelp(keymap.Default(), []overlay.Command{{Name: hostile, Title: hostile, Args: hostile}}),
		"text":    overlay.NewText(hostile, []string{hostile, hostile}),
		"confirm": overlay.NewConfirm("x", hostile, hostile, false),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, keys := range []string{"", "down", "enter", "ctrl+r", "ctrl+d"} {
				s, _ := newStack()
				s.Push(d)
				play(s, keys)
				s.HandlePaste(hostile)
				for _, size := range sizes {
					rows, _, _, _ := s.View(size[0], size[1])
					screen(t, s, size[0], size[1])
					for _, row := range rows {
						for _, bad := range []string{"\x1b]", "\x1bP", "\x1b[2J", "\u009b", "\u202e", "\xff"} {
							if strings.Contains(row, bad) {
								t.Errorf("%q reached the screen in %q", bad, row)
							}
						}
					}
				}
			}
		})
	}
}

func TestStack(t *testing.T) {
	t.Parallel()
	s, _ := newStack()
	if rows, _, _, cursor := s.View(80, 24); rows != nil || cursor != nil || !s.Empty() || s.Top() != nil {
		t.Fatal("an empty stack draws something")
	}
	s.Pop()
	equal(t, play(s, "enter paste:x"))
	s.Push(overlay.NewConfirm("below", "Below", "?", true))
	s.Push(overlay.NewInput("above", "Above", ""))
	equal(t, play(s, "h i enter"), overlay.Entered{ID: "above", Text: "hi"})
	if s.Top().ID() != "below" {
		t.Fatalf("on top is %q", s.Top().ID())
	}
	equal(t, play(s, "esc"), overlay.Confirmed{ID: "below"})
	if !s.Empty() {
		t.Fatal("a dialog that has served is still there")
	}
}

func TestEscTwiceAtOnceCloses(t *testing.T) {
	t.Parallel()
	s, _ := newStack()
	s.Push(overlay.NewPalette(commands()))
	equal(t, play(s, "alt+esc"), overlay.Closed{ID: overlay.PaletteID})
}

func TestGrace(t *testing.T) {
	t.Parallel()
	s, c := newStack()
	s.Push(overlay.NewConfirm("approve", "Approve?", "Run it", true), overlay.Grace)
	for range 20 {
		equal(t, play(s, "y enter paste:y esc"))
		c.advance(400 * time.Millisecond)
	}
	c.advance(100 * time.Millisecond)
	equal(t, play(s, "y"), overlay.Confirmed{ID: "approve", Yes: true})

	s.Push(overlay.NewConfirm("asked", "Asked", "?", true))
	equal(t, play(s, "y"), overlay.Confirmed{ID: "asked", Yes: true})
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys      string
		defaultNo bool
		want      bool
	}{
		{"enter", true, false},
		{"enter", false, true},
		{"y", true, true},
		{"n", false, false},
		{"N", false, false},
		{"esc", false, false},
		{"left enter", true, true},
		{"tab tab enter", true, false},
		{"x z paste:y enter", true, false},
	} {
		s, _ := newStack()
		s.Push(overlay.NewConfirm("q", "Q", "?", c.defaultNo))
		if got := play(s, c.keys); len(got) != 1 || got[0] != (overlay.Confirmed{ID: "q", Yes: c.want}) {
			t.Errorf("%s with no as default %t: %#v", c.keys, c.defaultNo, got)
		}
	}
}

func TestConfirmShowsWhatItAsksAbout(t *testing.T) {
	t.Parallel()
	s, _ := newStack()
	s.Push(overlay.NewConfirm("q", "Run?", "rm\u202e -rf", true))
	if got := screen(t, s, 60, 12); !strings.Contains(got, `rm\u202e -rf`) {
		t.Errorf("what reorders the text is left out without a word:\n%s", got)
	}
}

func TestInput(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"enter":                    "old",
		"x enter":                  "oldx",
		"home x enter":             "xold",
		"ctrl+u enter":             "",
		"home end x enter":         "oldx",
		"paste:a_b enter":          "olda b",
		"left left delete k enter": "okd",
	} {
		s, _ := newStack()
		s.Push(overlay.NewInput("i", "I", "old"))
		equal(t, play(s, keys), overlay.Entered{ID: "i", Text: want})
	}
}

func TestTextScrolls(t *testing.T) {
	t.Parallel()
	rows := make([]string, 100)
	for i := range rows {
		rows[i] = fmt.Sprintf("row %d", i+1)
	}
	s, _ := newStack()
	s.Push(overlay.NewText("Usage", rows))
	for _, step := range []struct{ keys, want string }{
		{"", "1–8 of 100"},
		{"up", "1–8 of 100"},
		{"down", "2–9 of 100"},
		{"pgdown", "10–17 of 100"},
		{"end", "93–100 of 100"},
		{"down", "93–100 of 100"},
		{"pgup", "85–92 of 100"},
		{"home", "1–8 of 100"},
	} {
		play(s, step.keys)
		if got := screen(t, s, 40, 10); !strings.Contains(got, step.want) {
			t.Errorf("after %q:\n%s", step.keys, got)
		}
	}
	s.HandleWheel(3)
	if got := screen(t, s, 40, 10); !strings.Contains(got, "4–11 of 100") {
		t.Errorf("after the wheel:\n%s", got)
	}
	equal(t, play(s, "esc"), overlay.Closed{ID: "Usage"})
}

func TestHelpShowsEveryKey(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{20, 5}, {80, 24}, {200, 50}} {
		s, _ := newStack()
		s.Push(overlay.NewHelp(keymap.Default(), commands()))
		var all strings.Builder
		for last := ""; ; play(s, "pgdown") {
			now := screen(t, s, size[0], size[1])
			if now == last {
				break
			}
			last = now
			all.WriteString(now)
		}
		shown := strings.Join(strings.Fields(strings.ReplaceAll(all.String(), "│", " ")), " ")
		for _, g := range keymap.Default().Groups() {
			for _, b := range g.Bindings {
				first, _, _ := strings.Cut(b.Help().Desc, " ")
				if !strings.Contains(shown, strings.Fields(b.Help().Key)[0]) || !strings.Contains(shown, first) {
					t.Errorf("%dx%d: the help lacks %s: %s", size[0], size[1], b.Help().Key, b.Help().Desc)
				}
			}
		}
		if !strings.Contains(shown, "/export") {
			t.Errorf("%dx%d: the help lacks a command", size[0], size[1])
		}
		equal(t, play(s, "f1"), overlay.Closed{ID: overlay.HelpID})
	}
}

func commands() []overlay.Command {
	return []overlay.Command{
		{Name: "sessions", Title: "Browse sessions", Key: "ctrl+s"},
		{Name: "new", Title: "Begin a new session", Key: "ctrl+n"},
		{Name: "to", Title: "Choose the recipient", Key: "ctrl+t", Args: "[AGENT]"},
		{Name: "agency", Title: "Show the agency"},
		{Name: "export", Title: "Write the session to a file", Args: "[markdown|json]"},
		{Name: "theme", Title: "Light or dark", Args: "[auto|light|dark]"},
		{Name: "quit", Title: "Leave", Key: "ctrl+c twice"},
	}
}
