package composer_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"bureau/tui/composer"
	"bureau/tui/style"
	"bureau/tui/text"
)

// typist types into a composer, slowly unless told otherwise.
type typist struct {
	*composer.Composer
	t   *testing.T
	now time.Time
	gap time.Duration
}

func newTypist(t *testing.T) *typist {
	t.Helper()
	k := &typist{Composer: composer.New(style.New(true)), t: t, now: time.Unix(0, 0), gap: time.Second}
	k.SetClock(func() time.Time { return k.now })
	k.SetWidth(40)
	k.SetPrompt("Editor")
	k.SetCompleter(func(trigger rune) []composer.Candidate {
		if trigger == '/' {
			return []composer.Candidate{{"sessions", "all sessions"}, {"new", "a new session"}, {"help", "the keys"}}
		}
		return []composer.Candidate{{"Editor", "plans"}, {"Editor in Chief", "decides"}, {"記者", "writes"}, {"Checker", ""}}
	})
	return k
}

var named = map[string]tea.Key{
	"enter": {Code: tea.KeyEnter}, "shift+enter": {Code: tea.KeyEnter, Mod: tea.ModShift}, "alt+enter": {Code: tea.KeyEnter, Mod: tea.ModAlt},
	"tab": {Code: tea.KeyTab}, "esc": {Code: tea.KeyEscape}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft},
	"right": {Code: tea.KeyRight}, "backspace": {Code: tea.KeyBackspace}, "delete": {Code: tea.KeyDelete},
	"alt+b": {Code: 'b', Mod: tea.ModAlt}, "alt+f": {Code: 'f', Mod: tea.ModAlt}, "alt+backspace": {Code: tea.KeyBackspace, Mod: tea.ModAlt},
}

// keys presses keys: <name> for those that have one, <ctrl+x>, and text, a message a character as terminals send it.
func (k *typist) keys(s string) composer.Action {
	k.t.Helper()
	var last composer.Action
	for s != "" {
		var key tea.Key
		if name, rest, ok := strings.Cut(strings.TrimPrefix(s, "<"), ">"); s[0] == '<' && ok {
			s = rest
			if c, ok := strings.CutPrefix(name, "ctrl+"); ok {
				key = tea.Key{Code: rune(c[0]), Mod: tea.ModCtrl}
			} else if key, ok = named[name]; !ok {
				k.t.Fatalf("no key %q", name)
			}
		} else {
			c, _ := text.Grapheme(s)
			s = s[len(c):]
			key = tea.Key{Text: c, Code: []rune(c)[0]}
		}
		k.now = k.now.Add(k.gap)
		last, _ = k.HandleKey(tea.KeyPressMsg(key))
		k.check()
	}
	return last
}

// check holds what is always true.
func (k *typist) check() {
	k.t.Helper()
	rows := k.View()
	if len(rows) != k.Rows() {
		k.t.Fatalf("View has %d rows, Rows says %d", len(rows), k.Rows())
	}
	for _, r := range rows {
		if text.Width(r) > 40 || text.StylesOnly(r) != r {
			k.t.Fatalf("bad row %q", r)
		}
	}
	if c := k.Cursor(); c == nil || c.X < 0 || c.X >= 40 || c.Y < 0 || c.Y >= len(rows) {
		k.t.Fatalf("the cursor is outside: %v", c)
	}
	offered, _ := k.Completion()
	for _, r := range offered {
		if text.Width(r) > 40 || text.StylesOnly(r) != r {
			k.t.Fatalf("bad offer %q", r)
		}
	}
}

func (k *typist) value(want string) {
	k.t.Helper()
	if got := k.Value(); got != want {
		k.t.Fatalf("the text is %q, want %q", got, want)
	}
}

func (k *typist) shows(want ...string) {
	k.t.Helper()
	if got := ansi.Strip(strings.Join(k.View(), "\n")); got != strings.Join(want, "\n") {
		k.t.Fatalf("shows\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func (k *typist) offers(want string) {
	k.t.Helper()
	rows, open := k.Completion()
	var names []string
	for _, r := range rows {
		f := strings.Fields(ansi.Strip(r))
		if f[0] == style.SymbolPrompt {
			f[1] = "*" + f[1]
			f = f[1:]
		}
		names = append(names, f[0])
	}
	if got := strings.Join(names, " "); got != want || open != (want != "") {
		k.t.Fatalf("offers %q (open %v), want %q", got, open, want)
	}
}

func TestEditing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ keys, want string }{
		{"hello", "hello"},
		{"ab<left>c", "acb"},
		{"ab<left><left><left>c", "cab"},
		{"ab<ctrl+a>c<ctrl+e>d", "cabd"},
		{"one two<ctrl+w>x", "one x"},
		{"one two  <ctrl+w>", "one "},
		{"one two<alt+backspace>", "one "},
		{"one two<alt+b>x", "one xtwo"},
		{"one two<ctrl+a><alt+f>x", "onex two"},
		{"one<ctrl+j>two<ctrl+u>x", "one\nx"},
		{"one<ctrl+j><ctrl+u>x", "onex"},
		{"one two<alt+b><ctrl+k>x", "one x"},
		{"a<ctrl+j>b<up><ctrl+e><ctrl+k>", "ab"},
		{"abc<backspace><ctrl+h>", "a"},
		{"abc<left><left><delete>", "ac"},
		{"<backspace><delete><ctrl+u><ctrl+k><ctrl+w><alt+b><alt+f>", ""},
		{"a<shift+enter>b<alt+enter>c<ctrl+j>d", "a\nb\nc\nd"},
		{`a\<enter>b`, "a\nb"},
		{"👨‍👩‍👧x<backspace><backspace>", ""},
		{"a⚠️<backspace>", "a"},
		{"e\u0301<backspace>", ""},
		{"漢字<left>、", "漢、字"},
		{"ab<ctrl+j>cd<up>x", "abx\ncd"},
		{"abc<ctrl+j>d<up><up>x<down><ctrl+e>y", "axbc\ndy"},
	} {
		t.Run(c.keys, func(t *testing.T) {
			t.Parallel()
			k := newTypist(t)
			k.keys(c.keys)
			k.value(c.want)
		})
	}
}

func TestCharactersThatArriveInParts(t *testing.T) {
	t.Parallel()
	k := newTypist(t)
	for _, r := range "e\u0301👨\u200d👩" {
		k.HandleKey(tea.KeyPressMsg{Text: string(r), Code: r})
	}
	k.keys("<left>x")
	k.value("e\u0301x👨\u200d👩")
	k.keys("<backspace><backspace>")
	k.value("👨\u200d👩")
}

func TestCursorStandsInTheRightCell(t *testing.T) {
	t.Parallel()
	const prompt = 9 // "Editor › "
	k := newTypist(t)
	for _, c := range []struct {
		keys string
		x, y int
	}{
		{"", 0, 0}, {"ab", 2, 0}, {"漢字", 6, 0}, {"<left>", 4, 0}, {"<ctrl+e>é", 7, 0}, {"<ctrl+j>", 0, 1}, {"👨‍👩‍👧", 2, 1}, {"<up>", 2, 0},
	} {
		k.keys(c.keys)
		if got := k.Cursor(); got.X != prompt+c.x || got.Y != c.y {
			t.Errorf("after %q the cursor is at %d, %d, want %d, %d", c.keys, got.X-prompt, got.Y, c.x, c.y)
		}
	}
	k.Blur()
	if k.Cursor() != nil {
		t.Error("a cursor without the focus")
	}
	k.Focus()
	if k.Cursor() == nil {
		t.Error("no cursor with the focus")
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	k := newTypist(t)
	k.SetMaxRows(3)
	k.shows("Editor › write a message; @ names an a…")
	k.keys("the quick brown fox jumps over the lazy dog")
	k.shows("Editor › the quick brown fox jumps over", "         the lazy dog")
	k.keys("<ctrl+j>third<ctrl+j>fourth")
	k.shows("         the lazy dog", "         third", "         fourth")
	k.keys("<up><up><up>")
	k.shows("Editor › the quick brown fox jumps over", "         the lazy dog", "         third")
	k.SetValue(strings.Repeat("漢", 20))
	k.shows("Editor › "+strings.Repeat("漢", 15), "         "+strings.Repeat("漢", 5))
	k.SetValue(strings.Repeat("x", 70))
	k.shows("Editor › "+strings.Repeat("x", 30), "         "+strings.Repeat("x", 30), "         "+strings.Repeat("x", 10))
	k.SetWidth(8)
	k.SetValue("abc")
	k.shows("› abc")
	for w := range 20 {
		k.SetWidth(w)
		k.SetValue("漢字 abc\tdef")
		for _, r := range k.View() {
			if text.Width(r) > max(w, 1) {
				t.Fatalf("width %d: %q", w, r)
			}
		}
	}
}

func TestSending(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want composer.Action
	}{
		{"hello", composer.Send{Text: "hello"}},
		{"\n  hello\n world \n\n", composer.Send{Text: "  hello\n world"}},
		{"", nil},
		{" \n ", nil},
		{"@Checker is it so?", composer.Send{Recipient: "Checker", Text: "is it so?"}},
		{"@checker: is it so?", composer.Send{Recipient: "Checker", Text: "is it so?"}},
		{"@EDITOR IN CHIEF decide", composer.Send{Recipient: "Editor in Chief", Text: "decide"}},
		{"@editor in time", composer.Send{Recipient: "Editor", Text: "in time"}},
		{"@記者 書いて", composer.Send{Recipient: "記者", Text: "書いて"}},
		{"@Editor\nplan", composer.Send{Recipient: "Editor", Text: "plan"}},
		{"@Editor", composer.Switch{Recipient: "Editor"}},
		{"@editor in chief  ", composer.Switch{Recipient: "Editor in Chief"}},
		{"@Editors go", composer.Send{Text: "@Editors go"}},
		{"@nobody go", composer.Send{Text: "@nobody go"}},
		{"mail a@Editor b", composer.Send{Text: "mail a@Editor b"}},
		{"/new", composer.Command{Name: "new"}},
		{"/export  markdown now ", composer.Command{Name: "export", Args: "markdown now"}},
		{"/etc/passwd is what?", composer.Send{Text: "/etc/passwd is what?"}},
		{"/", composer.Send{Text: "/"}},
		{"a /new", composer.Send{Text: "a /new"}},
	} {
		k := newTypist(t)
		k.SetValue(c.in)
		got := k.keys("<enter>")
		if got != c.want {
			t.Errorf("%q gives %#v, want %#v", c.in, got, c.want)
		}
		if c.want != nil {
			k.value("")
		}
	}
	if got := newTypist(t).keys("<ctrl+g>"); got != (composer.OpenEditor{}) {
		t.Errorf("ctrl+g gives %#v", got)
	}
}

func TestPaste(t *testing.T) {
	t.Parallel()
	k := newTypist(t)
	k.keys("see ")
	k.HandlePaste("a\r\nb\rc\x1b[31m\x00\u0085\td")
	k.check()
	k.value("see a\nb\nc[31m\td")
	k.shows("Editor › see a", "         b", "         c[31m    d")

	k.SetValue("")
	log := strings.Repeat("a line of a log\n", 120)
	k.HandlePaste(log)
	k.check()
	k.shows("Editor › [pasted 120 lines]")
	k.keys(" what is this?")
	k.value(log + " what is this?")
	k.keys("<ctrl+a><right><backspace>")
	k.value(" what is this?")
	k.keys("<ctrl+e>")
	k.HandlePaste(strings.Repeat("x", 5000))
	k.shows("Editor ›  what is this?[pasted 4.9 KB]")
	if got := k.keys("<enter>"); got != (composer.Send{Text: " what is this?" + strings.Repeat("x", 5000)}) {
		t.Errorf("sent %.60v", got)
	}
	k.HandlePaste(strings.Repeat("y\n", 10))
	if k.value(strings.Repeat("y\n", 10)); strings.Contains(ansi.Strip(k.View()[0]), "pasted") {
		t.Error("ten lines are a chip")
	}
	k.SetValue(strings.Repeat("z", 1<<20))
	k.check()
	k.shows("Editor › [text of 1.0 MB]")
}

func TestHostileTextIsDrawnSafeAndSentAsItIs(t *testing.T) {
	t.Parallel()
	k := newTypist(t)
	const evil = "a\u202eb\u200bc\U000e0041d"
	k.HandlePaste(evil)
	k.check()
	k.value(evil)
	k.shows("Editor › abcd")
	k.SetPrompt("x\x1b[2J\u202e")
	k.SetCompleter(func(rune) []composer.Candidate {
		return []composer.Candidate{{"n\x1b[2J\nm", "d\x1b]0;t\a\n"}}
	})
	k.SetValue("")
	k.SetHistory([]string{"h\x1b[2J\x07\nx", "\xff\xfe"})
	k.keys("@")
	k.keys("<esc><ctrl+r>")
	k.keys("<esc><backspace><up>")
	k.value("h[2J\nx")
}

func TestBurstDoesNotSend(t *testing.T) {
	t.Parallel()
	k := newTypist(t)
	k.gap = time.Millisecond
	if got := k.keys("a line that was pasted as keys<enter>and<enter>"); got != nil {
		t.Errorf("sent %v", got)
	}
	k.value("a line that was pasted as keys\nand\n")
	k.gap = 50 * time.Millisecond
	if got := k.keys("x<enter>"); got == nil {
		t.Error("a slow enter does not send")
	}
	k.gap = time.Millisecond
	if got := k.keys("short<enter>"); got != (composer.Send{Text: "short"}) {
		t.Errorf("a short fast word is not sent: %v", got)
	}
}

// TestBurstThatEndsWithEnterSends types as programs do that drive a terminal: a line and its enter at once.
func TestBurstThatEndsWithEnterSends(t *testing.T) {
	t.Parallel()
	enter := tea.KeyPressMsg{Code: tea.KeyEnter}
	rest := func(k *typist, line string) (cmd tea.Cmd) {
		k.gap = time.Millisecond
		k.keys(line)
		k.now = k.now.Add(k.gap)
		_, cmd = k.HandleKey(enter)
		return cmd
	}
	const line = "a line that was typed by a program"
	k := newTypist(t)
	rested := rest(k, line)().(composer.Rested)
	if got := k.Rested(rested); got != (composer.Send{Text: line}) {
		t.Errorf("the rest after a burst sends %v", got)
	}
	k.value("")
	if got := k.Rested(rested); got != nil {
		t.Errorf("the same rest sends %v again", got)
	}
	k = newTypist(t)
	rested = rest(k, line)().(composer.Rested)
	k.keys("more")
	if got := k.Rested(rested); got != nil {
		t.Errorf("a rest within the burst sends %v", got)
	}
	if cmd := rest(k, ""); cmd != nil {
		t.Error("the second enter of a burst may send")
	}
	k.value(line + "\nmore\n")
	k = newTypist(t)
	rested = rest(k, line)().(composer.Rested)
	k.HandlePaste("pasted")
	if got := k.Rested(rested); got != nil {
		t.Errorf("a paste after a burst sends %v", got)
	}
	rested = rest(k, "")().(composer.Rested)
	if got := k.Rested(rested); got != (composer.Send{Text: line + "\npasted"}) {
		t.Errorf("an enter right after a paste sends %v", got)
	}
	k.HandlePaste("a paste that holds the mark of its end")
	k.HandlePasteEnd()
	rested = rest(k, "")().(composer.Rested)
	k.HandlePasteEnd()
	if got := k.Rested(rested); got != nil {
		t.Errorf("an enter within a paste sends %v", got)
	}
}

func FuzzKeys(f *testing.F) {
	f.Add("hello <left>漢<ctrl+w>", "a\r\nb", 30)
	f.Add("@e<tab>x<ctrl+j><up><up><ctrl+r>a<enter>", "\x1b[2J\u202e👨‍👩‍👧", 3)
	f.Fuzz(func(t *testing.T, keys, pasted string, at int) {
		k := newTypist(t)
		k.SetHistory([]string{pasted, keys})
		runes := []rune(strings.ToValidUTF8(keys, "?"))
		if len(runes) > 200 || len(pasted) > 2000 {
			return
		}
		pressable := []string{"<enter>", "<up>", "<down>", "<left>", "<right>", "<tab>", "<esc>", "<backspace>", "<delete>", "<ctrl+w>", "<ctrl+k>",
			"<ctrl+u>", "<ctrl+r>", "<ctrl+a>", "<alt+b>", "<alt+f>", "<ctrl+j>"}
		for i, r := range runes {
			if r < 32 || r == '<' {
				k.keys(pressable[int(r)%len(pressable)])
			} else {
				k.keys(string(r))
			}
			if i == at {
				k.HandlePaste(pasted)
				k.check()
			}
		}
		k.SetValue(k.Clear())
		k.check()
	})
}

func BenchmarkKey(b *testing.B) {
	for _, lines := range []int{1, 500} {
		b.Run(fmt.Sprint(lines, " lines"), func(b *testing.B) {
			c := composer.New(style.New(true))
			c.SetWidth(100)
			c.SetValue(strings.Repeat("a line of some words, 漢字 too\n", lines))
			x, back := tea.KeyPressMsg{Text: "x", Code: 'x'}, tea.KeyPressMsg{Code: tea.KeyBackspace}
			for b.Loop() {
				c.HandleKey(x)
				c.View()
				c.HandleKey(back)
				c.View()
			}
		})
	}
}

func BenchmarkPaste1MB(b *testing.B) {
	s := strings.Repeat("a line of a log\r\n", 1<<20/17)
	for b.Loop() {
		c := composer.New(style.New(true))
		c.HandlePaste(s)
		c.View()
	}
}
