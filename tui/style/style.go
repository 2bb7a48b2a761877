// Package style is how the terminal looks: a theme is a handful of colours, and the styles that the views use are made from
// it and named by what they mean. It knows nothing of what is drawn. Styles are values and safe to read from several
// goroutines; [Styles.SetAgents] is not, and belongs to the goroutine that draws.
//
// Colours are given in full and brought down by the terminal library to what the terminal has. Nothing rests on colour
// alone: what must be told apart also differs in weight or symbol. Running text has no background and mostly the terminal's
// own colour.
package style

import (
	"hash/fnv"

	"charm.land/lipgloss/v2"
)

// Symbols take one cell in every font and locale that draws them at all.
const (
	SymbolBar      = "▌" // beside what is selected or speaks
	SymbolLine     = "│"
	SymbolRule     = "─"
	SymbolOpen     = "▾"
	SymbolClosed   = "▸"
	SymbolDone     = "✓"
	SymbolFailed   = "✗"
	SymbolStopped  = "■"
	SymbolWaiting  = "◌"
	SymbolArrow    = "→"
	SymbolHandoff  = "⇒"
	SymbolBullet   = "•"
	SymbolDown     = "↓"
	SymbolUp       = "↑"
	SymbolPrompt   = "›"
	SymbolEllipsis = "…"
)

// Spinner returns the sign that something runs at step i of its animation.
func Spinner(i int) string {
	frames := [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	return frames[uint(i)%uint(len(frames))]
}

// Theme is the colours of a look, each as #rrggbb. Text that stands for itself has none: it takes the terminal's.
type Theme struct {
	Dark bool

	Dim, Faint               string // secondary text, and lines that only divide
	Accent, User             string // what acts or has the focus; the user's own words
	Tool, Code               string
	Error, Warning, Success  string
	Keyword, String, Literal string // in code
	Surface                  string // the only background: of the status bar

	Agents []string
}

// Dark is the theme for a dark background.
func Dark() Theme {
	return Theme{
		Dark: true, Dim: "#9a9a9a", Faint: "#6c6c6c", Accent: "#87afff", User: "#d7af87", Tool: "#87afaf", Code: "#afd7af",
		Error: "#ff8787", Warning: "#ffd787", Success: "#87d787", Keyword: "#87afff", String: "#afd787", Literal: "#d7afaf",
		Surface: "#303030",
		Agents:  []string{"#5fafff", "#5fd7af", "#d7afff", "#ffaf5f", "#87d75f", "#ff87af", "#5fd7d7", "#d7d75f"},
	}
}

// Light is the theme for a light background.
func Light() Theme {
	return Theme{
		Dark: false, Dim: "#5f5f5f", Faint: "#767676", Accent: "#005faf", User: "#875f00", Tool: "#005f5f", Code: "#005f00",
		Error: "#af0000", Warning: "#875f00", Success: "#006700", Keyword: "#005faf", String: "#4e6a00", Literal: "#87005f",
		Surface: "#e4e4e4",
		Agents:  []string{"#005faf", "#006f5f", "#8700af", "#af4f00", "#3f6f00", "#af005f", "#006f87", "#6f5f00"},
	}
}

// Styles are what the views draw with, by meaning.
type Styles struct {
	Theme Theme

	Text, Dim, Faint, Strong lipgloss.Style
	Accent                   lipgloss.Style
	Title                    lipgloss.Style // of a pane or an overlay
	User                     lipgloss.Style // the user's name
	Tool                     lipgloss.Style // a tool's name
	Reasoning                lipgloss.Style
	Error, Warning, Success  lipgloss.Style
	Running                  lipgloss.Style // the sign that something works
	Border, BorderFocus      lipgloss.Style // lines and corners
	Selected                 lipgloss.Style // the row that the keys act on
	Match                    lipgloss.Style // what a search found, within a row
	StatusBar, StatusStrong  lipgloss.Style
	Key, KeyHelp             lipgloss.Style // a key, and what it does
	Prompt, Placeholder      lipgloss.Style // of an input
	Chip                     lipgloss.Style // stands in an input for a long paste

	agents map[string]int
}

// New returns the styles of the dark or the light theme.
func New(dark bool) *Styles {
	if dark {
		return Dark().Styles()
	}
	return Light().Styles()
}

// Styles makes the styles of a theme.
func (t Theme) Styles() *Styles {
	plain := lipgloss.NewStyle()
	in := func(colour string) lipgloss.Style { return plain.Foreground(lipgloss.Color(colour)) }
	bar := plain.Background(lipgloss.Color(t.Surface))
	return &Styles{
		Theme:        t,
		Text:         plain,
		Dim:          in(t.Dim),
		Faint:        in(t.Faint),
		Strong:       plain.Bold(true),
		Accent:       in(t.Accent),
		Title:        plain.Bold(true),
		User:         in(t.User).Bold(true),
		Tool:         in(t.Tool),
		Reasoning:    in(t.Dim).Italic(true),
		Error:        in(t.Error),
		Warning:      in(t.Warning),
		Success:      in(t.Success),
		Running:      in(t.Accent),
		Border:       in(t.Faint),
		BorderFocus:  in(t.Accent),
		Selected:     in(t.Accent).Bold(true),
		Match:        plain.Underline(true).Bold(true),
		StatusBar:    bar,
		StatusStrong: bar.Bold(true),
		Key:          in(t.Accent),
		KeyHelp:      in(t.Dim),
		Prompt:       in(t.Accent).Bold(true),
		Placeholder:  in(t.Faint),
		Chip:         in(t.Tool).Italic(true),
	}
}

// SetAgents gives the agents of an agency colours in their order, so that as many as there are colours differ.
func (s *Styles) SetAgents(names ...string) {
	s.agents = make(map[string]int, len(names))
	for i, n := range names {
		s.agents[n] = i
	}
}

// Agent is the style of an agent's name. A name always has the same colour; one that [Styles.SetAgents] does not know takes
// it from its letters.
func (s *Styles) Agent(name string) lipgloss.Style {
	palette := s.Theme.Agents
	if len(palette) == 0 {
		return s.Strong
	}
	i, ok := s.agents[name]
	if !ok {
		h := fnv.New32a()
		_, _ = h.Write([]byte(name))
		i = int(h.Sum32() % uint32(len(palette)))
	}
	return lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Color(palette[i%len(palette)]))
}
