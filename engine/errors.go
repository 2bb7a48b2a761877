package engine

import (
	"context"
	"errors"
	"fmt"

	"bureau/engine/history"
	"bureau/engine/llm"
)

// Error is why a run ended without an answer.
type Error struct {
	Code    history.Code
	Message string
	// Hint says what to do next; it may be empty.
	Hint string
	Err  error
	// recorded tells that a row says already why the run ended.
	recorded bool
}

// Error says what happened.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func failed(format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: history.CodeFailed, Message: err.Error(), Err: errors.Unwrap(err)}
}

func limited(format string, args ...any) *Error {
	return &Error{
		Code: history.CodeLimit, Message: fmt.Sprintf(format, args...),
		Hint: "Ask again to go on from here, or raise it under limits in the agency file.",
	}
}

var errInterrupted = &Error{Code: history.CodeInterrupted, Message: "stopped by the user", Err: context.Canceled}

// interruption is why a run whose context has ended does not go on: what it was ended with, else that the user stopped it.
func interruption(ctx context.Context) *Error {
	var e *Error
	if errors.As(context.Cause(ctx), &e) {
		return e
	}
	return errInterrupted
}

// asError classifies what ended a run.
func asError(ctx context.Context, err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return interruption(ctx)
	}
	var model *llm.Error
	if errors.As(err, &model) {
		return &Error{Code: history.CodeModel, Message: model.Error(), Hint: model.Hint, Err: err}
	}
	return &Error{Code: history.CodeFailed, Message: err.Error(), Hint: advice(err), Err: err}
}

// advice is what an error from outside the engine says to do about it; empty where it says nothing.
func advice(err error) string {
	var e interface{ Hint() string }
	if errors.As(err, &e) {
		return e.Hint()
	}
	return ""
}
