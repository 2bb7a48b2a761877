package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"bureau/agencies"
	"bureau/engine"
	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/tui/text"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitModel       = 3
	exitDenied      = 4
	exitLimit       = 5
	exitInterrupted = 130
)

// usageError is a wrong use of a command: what is wrong, and what to do.
type usageError struct{ message, hint string }

func (e *usageError) Error() string { return e.message }

// Hint says what to do; it may be empty.
func (e *usageError) Hint() string { return e.hint }

func usagef(hint, format string, args ...any) error {
	return &usageError{message: fmt.Sprintf(format, args...), hint: hint}
}

// signalError ends the program for a signal.
type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return "stopped by a signal: " + e.signal.String() }

// exitCode is the one place where errors become exit codes.
func exitCode(err error) int {
	var (
		signal *signalError
		usage  *usageError
		file   *agencies.FileError
		run    *engine.Error
		model  *llm.Error
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &signal):
		if s, ok := signal.signal.(syscall.Signal); ok {
			return 128 + int(s)
		}
		return exitInterrupted
	case errors.As(err, &usage), errors.As(err, &file):
		return exitUsage
	case errors.As(err, &run):
		return codeOf(run.Code)
	case errors.As(err, &model):
		return exitModel
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	default:
		return exitFailed
	}
}

func codeOf(code history.Code) int {
	switch code {
	case history.CodeModel:
		return exitModel
	case history.CodeDenied:
		return exitDenied
	case history.CodeLimit:
		return exitLimit
	case history.CodeInterrupted:
		return exitInterrupted
	default:
		return exitFailed
	}
}

// report tells an error to a person: what happened, to what, and what to do next. Text from outside is made safe.
func report(w io.Writer, err error) {
	if err == nil {
		return
	}
	var file *agencies.FileError
	message := "bureau: " + err.Error()
	if errors.As(err, &file) {
		message = err.Error()
	}
	fmt.Fprintln(w, strings.TrimRight(text.Sanitise(message), "\n"))
	if hint := hintOf(err); hint != "" {
		fmt.Fprintln(w, text.Sanitise(hint))
	}
}

func hintOf(err error) string {
	var (
		run   *engine.Error
		model *llm.Error
		hint  interface{ Hint() string }
	)
	switch {
	case errors.As(err, &run):
		return run.Hint
	case errors.As(err, &model):
		return model.Hint
	case errors.As(err, &hint):
		return hint.Hint()
	default:
		return ""
	}
}
