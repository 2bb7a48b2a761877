// Package builtin is the tools that every agency may name and that need nothing but the folder that the program was started
// in: read_file, list_directory, search_files and current_time. They read and never write. They know an os.Root and a clock;
// nothing outside the root is read or told of, whatever the path, a link in it, or a change while they run. Text comes back as it stands
// in the file: views make it safe. The tools hold no state and are safe for concurrent use.
package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"bureau/engine/llm"
	"bureau/engine/tool"
)

const (
	defaultMaxOutput = 48 << 10
	minMaxOutput     = 2 << 10
)

// Options of the tools; the zero value is ready to use.
type Options struct {
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// MaxOutput is the most bytes of one output; 0 is 48 KiB, and less than 2 KiB is 2 KiB.
	MaxOutput int
}

// Names are what an agency file calls the tools, in the order in which New returns them.
func Names() []string { return []string{"read_file", "list_directory", "search_files", "current_time"} }

// New returns the four tools, reading below root. The root stays the caller's to close, after the last call.
func New(root *os.Root, opts Options) []tool.Tool {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.MaxOutput == 0 {
		opts.MaxOutput = defaultMaxOutput
	}
	opts.MaxOutput = max(opts.MaxOutput, minMaxOutput)
	dir := newFolder(root)
	return []tool.Tool{
		readFileTool(dir, opts.MaxOutput),
		listDirectoryTool(dir, opts.MaxOutput),
		searchFilesTool(dir, opts.MaxOutput, opts.Now),
		currentTimeTool(opts.Now),
	}
}

// function is a tool whose arguments are decoded into an A.
type function[A any] struct {
	definition llm.Tool
	run        func(context.Context, A) (string, error)
}

func (f function[A]) Definition() llm.Tool { return f.definition }

func (f function[A]) Run(ctx context.Context, call tool.Call) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	var args A
	if len(call.Arguments) > 0 {
		if err := json.Unmarshal(call.Arguments, &args); err != nil {
			return "", fmt.Errorf("the arguments of %s do not fit: %w", f.definition.Name, err)
		}
	}
	return f.run(ctx, args)
}
