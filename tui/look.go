package tui

import (
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"bureau/tui/markdown"
	"bureau/tui/style"
	"bureau/tui/text"
	"bureau/tui/thread"
)

// look is what everything that is drawn shares: styles, the time, and the frame of what moves. It belongs to the
// goroutine that Update runs on.
type look struct {
	*style.Styles
	markdown *markdown.Renderer
	now      time.Time
	// tick counts the frames of what moves; theme the changes of style. Both are part of the version of what shows them.
	tick, theme uint64
}

func newLook(s *style.Styles) *look {
	l := &look{tick: 1}
	l.restyle(s)
	return l
}

// restyle changes the styles of everything that is drawn from here on.
func (l *look) restyle(s *style.Styles) {
	l.Styles = s
	l.markdown = markdown.New(s)
	l.theme++
}

// bar is the style of the status line. It brings its own foreground, as its background is not the terminal's.
func (l *look) bar() lipgloss.Style { return l.StatusBar.Foreground(l.Dim.GetForeground()) }

// name draws an agent's name in its colour; the empty one is the user.
func (l *look) name(agent string) string {
	if agent == "" {
		return l.User.Render("You")
	}
	return l.Agent(agent).Render(text.Line(agent))
}

// names draws two agents with a sign between them; where they do not fit into w cells, the longer name is cut first.
func (l *look) names(from, sign, to string, w int) string {
	room := max(w-text.Width(sign)-2, 2)
	a, b := text.Width(text.Line(from)), text.Width(text.Line(to))
	switch {
	case a+b <= room:
	case a <= room/2:
		b = room - a
	case b <= room/2:
		a = room - b
	default:
		a, b = room/2, room-room/2
	}
	return l.Agent(from).Render(text.Cut(text.Line(from), a)) + l.Dim.Render(" "+sign+" ") + l.Agent(to).Render(text.Cut(text.Line(to), b))
}

// spinner is the sign that something runs.
func (l *look) spinner() string {
	return l.Running.Render(style.Spinner(int(l.tick)))
}

// mark is the sign of a state, one cell wide.
func (l *look) mark(s thread.State) string {
	switch s {
	case thread.Working:
		return l.spinner()
	case thread.Failed:
		return l.Error.Render(style.SymbolFailed)
	case thread.Interrupted:
		return l.Warning.Render(style.SymbolStopped)
	}
	return l.Success.Render(style.SymbolDone)
}

// since is the time from a moment in microseconds until another, or until now where that is 0.
func (l *look) since(start, end int64) time.Duration {
	if start == 0 {
		return 0
	}
	if end == 0 {
		return max(l.now.Sub(time.UnixMicro(start)), 0)
	}
	return time.Duration(max(end-start, 0)) * time.Microsecond
}

// facts are what is known of a run beside its task: elapsed, tools and tokens.
func (l *look) facts(run *thread.Run) []string {
	var facts []string
	switch run.State {
	case thread.Failed:
		facts = append(facts, "failed")
	case thread.Interrupted:
		facts = append(facts, "stopped")
	}
	if run.Started != 0 && (run.Ended != 0 || run.Working()) {
		facts = append(facts, text.Elapsed(l.since(run.Started, run.Ended)))
	}
	if run.Tools > 0 {
		facts = append(facts, count(run.Tools, "tool"))
	}
	if n := run.Usage.Tokens(); n > 0 {
		facts = append(facts, text.Tokens(n)+" tok")
	}
	return facts
}

// join joins facts, leaving out the last ones where they do not fit into w cells; at least the first stays.
func join(facts []string, w int) string {
	for n := len(facts); n > 0; n-- {
		if s := strings.Join(facts[:n], " · "); text.Width(s) <= w || n == 1 {
			return text.Cut(s, w)
		}
	}
	return ""
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return text.Tokens(int64(n)) + " " + noun
}

// ends puts one string at the left of w cells and one at the right; the left one is cut where both do not fit.
func ends(left, right string, w int) string {
	r := text.Width(right)
	if r == 0 {
		return text.Cut(left, w)
	}
	if r >= w {
		return text.Cut(right, w)
	}
	return text.Pad(left, w-r-1) + " " + right
}
