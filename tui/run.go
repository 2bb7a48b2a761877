package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"bureau/engine/history"
	"bureau/tui/composer"
	"bureau/tui/keymap"
	"bureau/tui/overlay"
	"bureau/tui/style"
	"bureau/tui/text"
)

// Options is what the terminal is started with.
type Options struct {
	Backend Backend
	// Feed is where the engine publishes its events.
	Feed *Feed
	// SessionID is the session to open; empty for a new one. Recipient is the agent to begin with; empty for the session's own.
	SessionID, Recipient string
	// Input and Output are the terminal; nil for standard input and output.
	Input  io.Reader
	Output io.Writer
	// Env is the environment, as os.Environ gives it.
	Env []string
	// Theme is dark, light or auto; empty for auto.
	Theme string
	// Mouse begins with the mouse on.
	Mouse bool
	// Plain asks for lines without cursor movement. It is chosen by itself where there is no terminal, or a dumb one.
	Plain bool
	// Resume is the command that opens a session again, to which its id is added; empty for "bureau --session".
	Resume string
	// Log takes what goes wrong inside; nil for nowhere. Nothing of it is ever on the screen.
	Log *slog.Logger
	// Signals delivers what asks the program to end; nil for those of the process.
	Signals <-chan os.Signal

	// What tests add to the program.
	programOptions []tea.ProgramOption
	onProgram      func(*tea.Program)
}

// Exit tells how the terminal was left.
type Exit struct {
	// Signal ended it; nil when the user did.
	Signal os.Signal
	// SessionID is the session that was open; empty for a new one without a message.
	SessionID string
}

// How long ending may take: for a terminal that does not read, for the draft, and for the session's last row.
const (
	stuckTime = 3 * time.Second
	draftTime = 2 * time.Second
)

// Run opens the terminal and returns when the user leaves, the context ends or a signal comes. The session that was open is
// closed then: what ran is stopped and its last row written. A line on the output says how to open it again. The error is of
// opening the session, of the terminal, or of closing.
func Run(ctx context.Context, o Options) (Exit, error) {
	o = o.filled()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals, stop := o.signals()
	defer stop()
	opened, err := open(ctx, o.Backend, o.SessionID)
	if err != nil {
		return Exit{}, err
	}
	if o.Plain {
		return runPlain(ctx, o, opened, signals)
	}
	return runScreen(ctx, o, opened, signals)
}

func (o Options) filled() Options {
	if o.Input == nil {
		o.Input = os.Stdin
	}
	if o.Output == nil {
		o.Output = os.Stdout
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Theme == "" {
		o.Theme = themeAuto
	}
	if o.Resume == "" {
		o.Resume = "bureau --session"
	}
	if o.Feed == nil {
		o.Feed = NewFeed()
	}
	o.Plain = o.Plain || environment(o.Env).get("TERM") == "dumb" || !isTerminal(o.Input) || !isTerminal(o.Output)
	return o
}

// isTerminal tells whether a stream is a terminal; of one that is no file nothing else can be known, and it is taken for one.
func isTerminal(stream any) bool {
	file, ok := stream.(interface{ Fd() uintptr })
	return !ok || term.IsTerminal(file.Fd())
}

func (o Options) signals() (<-chan os.Signal, func()) {
	if o.Signals != nil {
		return o.Signals, func() {}
	}
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	return c, func() { signal.Stop(c) }
}

// newModel makes the root with everything below it.
func newModel(ctx context.Context, o Options, g *guard) *model {
	m := &model{
		ctx: ctx, backend: o.Backend, agency: o.Backend.Agency(), env: o.Env, guard: g, keys: keymap.Default(), held: &held{},
		theme: o.Theme, mouse: o.Mouse, focus: focusComposer, onHead: true,
	}
	m.look = newLook(m.styles(o.Theme != themeLight))
	m.look.now = time.Now()
	m.commands = m.registry()
	m.composer = composer.New(m.look.Styles)
	m.overlays = overlay.NewStack(m.look.Styles, m.keys, time.Now)
	return m
}

// styles are those of a theme, with a colour for each agent.
func (m *model) styles(dark bool) *style.Styles {
	s := style.New(dark)
	names := make([]string, len(m.agency.Agents))
	for i, a := range m.agency.Agents {
		names[i] = a.Name
	}
	s.SetAgents(names...)
	return s
}

func runScreen(ctx context.Context, o Options, first opened, signals <-chan os.Signal) (Exit, error) {
	g := &guard{log: o.Log}
	m := newModel(ctx, o, g)
	m.first = m.show(first)
	if o.Recipient != "" {
		m.setRecipient(o.Recipient)
	}
	p := tea.NewProgram(m, append([]tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(o.Input), tea.WithOutput(o.Output), tea.WithEnvironment(o.Env),
		tea.WithFPS(60), tea.WithoutSignalHandler(),
	}, o.programOptions...)...)
	g.kill = p.Kill
	if o.onProgram != nil {
		o.onProgram(p)
	}
	feeding, unfeed := context.WithCancel(ctx)
	defer unfeed()
	g.run(func() { o.Feed.pump(feeding, func(events []history.Event) { p.Send(batchMsg(events)) }) })

	state := terminalState(o.Input)
	ended := make(chan error, 1)
	go func() {
		_, err := p.Run()
		ended <- err
	}()
	var exit Exit
	var err error
	select {
	case err = <-ended:
	case exit.Signal = <-signals:
		go p.Quit()
		select {
		case err = <-ended:
		case <-signals:
			err = abandon(o.Input, state)
		case <-time.After(stuckTime):
			err = abandon(o.Input, state)
		}
	}
	if exit.Signal == nil { // one that came while the user was leaving is the reason all the same
		select {
		case exit.Signal = <-signals:
		default:
		}
	}
	unfeed()
	switch {
	case g.err() != nil:
		err = g.err()
	case errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil:
		err = context.Cause(ctx)
	}
	if errors.Is(err, ErrStuck) { // the goroutine of the terminal still has the model
		return exit, errors.Join(err, m.held.get().Close())
	}
	exit.SessionID = m.session.Info().ID
	return exit, errors.Join(err, leave(o, m.session, m.currentDraft(), exit))
}

// ErrStuck tells that the terminal was given up because it took no output any more. Whoever gets it writes nothing to the
// terminal either: that would wait as well.
var ErrStuck = errors.New("the terminal does not take output any more")

// terminalState is the mode that the terminal is in; nil where the input is none.
func terminalState(input io.Reader) *term.State {
	if file, ok := input.(interface{ Fd() uintptr }); ok {
		if state, err := term.GetState(file.Fd()); err == nil {
			return state
		}
	}
	return nil
}

// abandon gives up a terminal that does not read, with its mode as it was.
func abandon(input io.Reader, state *term.State) error {
	if file, ok := input.(interface{ Fd() uintptr }); ok && state != nil {
		_ = term.Restore(file.Fd(), state)
	}
	return ErrStuck
}

// leave saves the draft, closes the session, and says how to open it again.
func leave(o Options, s Session, d Draft, exit Exit) error {
	ctx, cancel := context.WithTimeout(context.Background(), draftTime)
	defer cancel()
	var err error
	if s.ReadOnly() == "" {
		if err = s.SaveDraft(ctx, d); err != nil {
			err = fmt.Errorf("save the draft: %w", err)
		}
	}
	if closeErr := s.Close(); closeErr != nil {
		err = errors.Join(err, fmt.Errorf("close the session: %w", closeErr))
	}
	if exit.SessionID != "" {
		_, _ = fmt.Fprintf(o.Output, "To go on with this session: %s %s\n", o.Resume, text.Line(exit.SessionID))
	}
	return err
}
