package style_test

import (
	"math"
	"reflect"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"bureau/tui/style"
	"bureau/tui/text"
)

// colours returns every foreground of a theme by its name.
func colours(t style.Theme) map[string]string {
	m := map[string]string{}
	v := reflect.ValueOf(t)
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.String && v.Type().Field(i).Name != "Surface" {
			m[v.Type().Field(i).Name] = f.String()
		}
	}
	for i, c := range t.Agents {
		m["agent "+string(rune('0'+i))] = c
	}
	return m
}

func luminance(hex string) float64 {
	r, g, b, _ := lipgloss.Color(hex).RGBA()
	lin := func(v uint32) float64 {
		f := float64(v) / 0xffff
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(r) + 0.7152*lin(g) + 0.0722*lin(b)
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestColoursAreReadable(t *testing.T) {
	t.Parallel()
	for _, theme := range []style.Theme{style.Dark(), style.Light()} {
		backgrounds := []string{"#ffffff", "#fdf6e3"}
		if theme.Dark {
			backgrounds = []string{"#000000", "#1e1e1e", "#282828"}
		}
		for name, c := range colours(theme) {
			want := 4.5
			if name == "Faint" { // divides, and is never the only place where something stands
				want = 2.7
			}
			for _, bg := range backgrounds {
				if got := contrast(c, bg); got < want {
					t.Errorf("dark %v: %s %s on %s has contrast %.1f, want %.1f", theme.Dark, name, c, bg, got, want)
				}
			}
		}
	}
}

func TestSixteenColoursDoNotVanishInTheBackground(t *testing.T) {
	t.Parallel()
	for _, theme := range []style.Theme{style.Dark(), style.Light()} {
		bad := map[ansi.BasicColor]bool{ansi.Black: true, ansi.Blue: true}
		if !theme.Dark {
			bad = map[ansi.BasicColor]bool{ansi.White: true, ansi.BrightWhite: true, ansi.BrightYellow: true, ansi.BrightCyan: true, ansi.BrightGreen: true}
		}
		for name, c := range colours(theme) {
			if got := ansi.Convert16(lipgloss.Color(c)); bad[got] {
				t.Errorf("dark %v: %s %s becomes colour %d of 16", theme.Dark, name, c, got)
			}
		}
	}
}

func TestAgentsKeepTheirColours(t *testing.T) {
	t.Parallel()
	names := []string{"Editor", "Reporter", "Checker", "Desk", "記者", "a", "b", "c"}
	s := style.New(true)
	if s.Agent("Editor").Render("x") != style.New(true).Agent("Editor").Render("x") {
		t.Error("a name has not the same colour in two programs")
	}
	s.SetAgents(names...)
	seen := map[string]string{}
	for _, n := range names {
		r := s.Agent(n).Render("x")
		if other, ok := seen[r]; ok {
			t.Errorf("%s looks like %s", n, other)
		}
		seen[r] = n
	}
	if (&style.Styles{}).Agent("x").Render("x") == "" {
		t.Error("no theme, no name")
	}
}

func TestNoBackgroundsOnRunningText(t *testing.T) {
	t.Parallel()
	for _, dark := range []bool{true, false} {
		v := reflect.ValueOf(*style.New(dark))
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if !v.Type().Field(i).IsExported() {
				continue
			}
			s, ok := v.Field(i).Interface().(lipgloss.Style)
			if !ok || name == "StatusBar" || name == "StatusStrong" {
				continue
			}
			if _, none := s.GetBackground().(lipgloss.NoColor); !none {
				t.Errorf("%s has a background", name)
			}
		}
	}
}

func TestSymbolsTakeOneCell(t *testing.T) {
	t.Parallel()
	symbols := []string{
		style.SymbolBar, style.SymbolLine, style.SymbolRule, style.SymbolOpen, style.SymbolClosed, style.SymbolDone,
		style.SymbolFailed, style.SymbolStopped, style.SymbolWaiting, style.SymbolArrow, style.SymbolHandoff, style.SymbolBullet,
		style.SymbolDown, style.SymbolUp, style.SymbolPrompt, style.SymbolEllipsis,
	}
	for i := range 10 {
		symbols = append(symbols, style.Spinner(i))
	}
	for _, s := range symbols {
		if text.Width(s) != 1 || ansi.StringWidthWc(s) != 1 {
			t.Errorf("%q does not take one cell", s)
		}
	}
}
