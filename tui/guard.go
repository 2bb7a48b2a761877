package tui

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// guard runs what is beside Update, so that a panic there ends the program with the terminal as it was: Bubble Tea does
// that for its own goroutines only, and not where several commands run at once.
type guard struct {
	log  *slog.Logger
	kill func()

	mu    sync.Mutex
	panic error
}

// cmd wraps one command. Each command of a batch is wrapped by itself.
func (g *guard) cmd(c tea.Cmd) tea.Cmd {
	if c == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer g.recover()
		return c()
	}
}

// run runs f in a goroutine of its own.
func (g *guard) run(f func()) {
	go func() {
		defer g.recover()
		f()
	}()
}

func (g *guard) recover() {
	cause := recover()
	if cause == nil {
		return
	}
	g.log.Error("Panic in the terminal", "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
	g.mu.Lock()
	if g.panic == nil {
		g.panic = fmt.Errorf("internal error: %v", cause)
	}
	g.mu.Unlock()
	go g.kill()
}

// err is the first panic that was caught.
func (g *guard) err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.panic
}
