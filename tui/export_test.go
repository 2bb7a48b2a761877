package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// RunSized runs the terminal at a size of its own, as where no device can be asked.
func RunSized(ctx context.Context, o Options, w, h int) (Exit, error) {
	o.programOptions = append(o.programOptions, tea.WithWindowSize(w, h))
	return Run(ctx, o)
}
