package keymap_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"charm.land/bubbles/v2/key"

	"bureau/tui/keymap"
)

// fields returns the bindings of a struct of bindings by the names of its fields.
func fields(t *testing.T, area any) map[string]key.Binding {
	t.Helper()
	found := map[string]key.Binding{}
	v := reflect.ValueOf(area)
	for i := range v.NumField() {
		binding, ok := v.Field(i).Interface().(key.Binding)
		if !ok {
			t.Fatalf("field %s of %T is no binding", v.Type().Field(i).Name, area)
		}
		found[v.Type().Field(i).Name] = binding
	}
	return found
}

func areas(m keymap.Map) map[string]any {
	return map[string]any{
		"Global": m.Global, "Composer": m.Composer, "Editing": m.Editing, "Thread": m.Thread, "Overlay": m.Overlay,
	}
}

func TestMapHasNoOtherAreas(t *testing.T) {
	t.Parallel()
	m := keymap.Default()
	if n := reflect.ValueOf(m).NumField(); n != len(areas(m)) {
		t.Fatalf("the map has %d areas, the tests know %d", n, len(areas(m)))
	}
}

func TestEveryBindingIsInTheHelp(t *testing.T) {
	t.Parallel()
	m := keymap.Default()
	shown := 0
	inHelp := func(b key.Binding) bool {
		return slices.ContainsFunc(m.Groups(), func(g keymap.Group) bool {
			return slices.ContainsFunc(g.Bindings, func(o key.Binding) bool { return reflect.DeepEqual(o, b) })
		})
	}
	for area, s := range areas(m) {
		for name, b := range fields(t, s) {
			shown++
			switch {
			case !b.Enabled():
				t.Errorf("%s.%s has no keys", area, name)
			case b.Help().Key == "" || b.Help().Desc == "":
				t.Errorf("%s.%s does not say what it does", area, name)
			case !inHelp(b):
				t.Errorf("%s.%s is not in the help", area, name)
			}
		}
	}
	listed := 0
	for _, g := range m.Groups() {
		listed += len(g.Bindings)
	}
	if listed != shown {
		t.Errorf("the help lists %d bindings, the map has %d", listed, shown)
	}
}

func TestDisabledBindingIsNotInTheHelp(t *testing.T) {
	t.Parallel()
	m := keymap.Default()
	m.Global.Mouse.SetEnabled(false)
	m.Thread.Zoom.Unbind()
	if strings.Contains(m.Markdown(), "F2") {
		t.Error("the table shows a key that is switched off")
	}
	for _, b := range m.ShortHelp(keymap.AreaThread) {
		if !b.Enabled() {
			t.Errorf("a hint for %q, which is switched off", b.Help().Desc)
		}
	}
}

// TestNoClash holds the bindings that can act at the same time against one another. Tab is the one key that two share:
// an open completion takes it before the focus does.
func TestNoClash(t *testing.T) {
	t.Parallel()
	m := keymap.Default()
	together := map[string][]any{
		"composer": {m.Global, m.Composer, m.Editing},
		"thread":   {m.Global, m.Thread},
		"overlay":  {m.Overlay, m.Editing},
	}
	for where, structs := range together {
		owner := map[string]string{}
		for _, s := range structs {
			for name, b := range fields(t, s) {
				name = reflect.TypeOf(s).Name() + "." + name
				for _, k := range b.Keys() {
					other, taken := owner[k]
					both := []string{name, other}
					slices.Sort(both)
					if taken && !slices.Equal(both, []string{"Composer.Accept", "Global.Next"}) {
						t.Errorf("%s: %q is both %s and %s", where, k, other, name)
					}
					owner[k] = name
				}
			}
		}
	}
}

func TestKeysThatTerminalsCannotTell(t *testing.T) {
	t.Parallel()
	for area, s := range areas(keymap.Default()) {
		for name, b := range fields(t, s) {
			for _, k := range b.Keys() {
				if k == "ctrl+i" || k == "ctrl+m" || k == "ctrl+[" {
					t.Errorf("%s.%s is bound to %s, which is another key in most terminals", area, name, k)
				}
			}
			if slices.Contains(b.Keys(), "esc") != slices.Contains(b.Keys(), "alt+esc") {
				t.Errorf("%s.%s: esc twice at once arrives as alt+esc; both must be bound", area, name)
			}
		}
	}
}

// TestPromisedKeys is the table of keys that the documents promise.
func TestPromisedKeys(t *testing.T) {
	t.Parallel()
	m := keymap.Default()
	for does, want := range map[string]struct {
		binding key.Binding
		keys    []string
	}{
		"send":                {m.Composer.Send, []string{"enter"}},
		"new line":            {m.Composer.Newline, []string{"shift+enter", "alt+enter", "ctrl+j"}},
		"choose recipient":    {m.Global.Recipient, []string{"ctrl+t"}},
		"address one agent":   {m.Composer.Mention, []string{"@"}},
		"accept completion":   {m.Composer.Accept, []string{"tab"}},
		"focus the next":      {m.Global.Next, []string{"tab"}},
		"focus the one back":  {m.Global.Previous, []string{"shift+tab"}},
		"select above":        {m.Thread.Up, []string{"up"}},
		"select below":        {m.Thread.Down, []string{"down"}},
		"collapse or expand":  {m.Thread.Toggle, []string{"enter", "space"}},
		"zoom":                {m.Thread.Zoom, []string{"z"}},
		"copy":                {m.Thread.Copy, []string{"y"}},
		"all panes":           {m.Global.ToggleAll, []string{"ctrl+o"}},
		"page up":             {m.Global.PageUp, []string{"pgup"}},
		"page down":           {m.Global.PageDown, []string{"pgdown"}},
		"beginning":           {m.Global.ScrollTop, []string{"home"}},
		"end":                 {m.Global.Follow, []string{"end"}},
		"palette":             {m.Global.Palette, []string{"ctrl+p"}},
		"slash commands":      {m.Composer.Slash, []string{"/"}},
		"sessions":            {m.Global.Sessions, []string{"ctrl+s"}},
		"a new one":           {m.Global.New, []string{"ctrl+n"}},
		"editor":              {m.Composer.Editor, []string{"ctrl+g"}},
		"earlier messages":    {m.Composer.Earlier, []string{"up"}},
		"search among them":   {m.Composer.Search, []string{"ctrl+r"}},
		"one step back":       {m.Global.Back, []string{"esc", "alt+esc"}},
		"close a dialog":      {m.Overlay.Close, []string{"esc", "alt+esc"}},
		"clear, stop, leave":  {m.Global.Interrupt, []string{"ctrl+c"}},
		"mouse":               {m.Global.Mouse, []string{"f2"}},
		"help":                {m.Global.Help, []string{"f1"}},
		"help, outside":       {m.Thread.Help, []string{"?"}},
		"start of the line":   {m.Editing.LineStart, []string{"ctrl+a"}},
		"end of the line":     {m.Editing.LineEnd, []string{"ctrl+e"}},
		"delete behind":       {m.Editing.KillAfter, []string{"ctrl+k"}},
		"delete before":       {m.Editing.KillBefore, []string{"ctrl+u"}},
		"delete a word":       {m.Editing.KillWord, []string{"ctrl+w"}},
		"ctrl+h is backspace": {m.Editing.Backspace, []string{"backspace", "ctrl+h"}},
	} {
		for _, k := range want.keys {
			if !slices.Contains(want.binding.Keys(), k) {
				t.Errorf("%s: %s is not bound, only %q", does, k, want.binding.Keys())
			}
		}
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	table := keymap.Default().Markdown()
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	for _, line := range lines {
		if strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 4 {
			t.Errorf("not three cells: %s", line)
		}
	}
	for _, want := range []string{
		"| Composer | `enter` | send |",
		"| `shift+enter`, `alt+enter`, `ctrl+j`, `\\` then `enter` | new line |",
		"| Everywhere | `tab` |",
		"| `z` | zoom to the whole screen |",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %s:\n%s", want, table)
		}
	}
}

func TestShortHelp(t *testing.T) {
	t.Parallel()
	m := keymap.Default()
	for area, first := range map[keymap.Area]string{
		keymap.AreaGlobal: "ctrl+p", keymap.AreaComposer: "enter", keymap.AreaThread: "enter, space", keymap.AreaOverlay: "enter",
	} {
		hints := m.ShortHelp(area)
		if len(hints) < 2 || len(hints) > 6 || hints[0].Help().Key != first {
			t.Errorf("area %d: %d hints, the first is %q", area, len(hints), hints[0].Help().Key)
		}
	}
}
