package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// RunSized runs the terminal at a size of its own, as where no device can be asked; more sizes may follow.
func RunSized(ctx context.Context, o Options, w, h int, sizes <-chan [2]int) (Exit, error) {
	o.programOptions = append(o.programOptions, tea.WithWindowSize(w, h))
	o.onProgram = func(p *tea.Program) {
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case size := <-sizes:
					p.Send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				}
			}
		}()
	}
	return Run(ctx, o)
}
