//go:build unix

package engine_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"bureau/engine/history"
)

// A stop ends a command with all that it started: whoever has the end of the pipe that is written to is gone.
func TestCommandIsStoppedWithAllThatItStarted(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	program, pipe := filepath.Join(folder, "check.sh"), filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\nsleep 600 > "+pipe+" &\nwait\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	b := setup{folder: folder}.bench(t, guarded(", input_guardrails: [{command: ["+program+"], timeout: 5m}]", ""), nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := b.engine.Turn(ctx, turnOf(b.session, "A", "hi"))
		ended <- err
	}()
	reader, err := os.Open(pipe) // waits until what the command started has opened it
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	cancel()
	if _, err := io.ReadAll(reader); err != nil {
		t.Error(err)
	}
	if err := <-ended; code(err) != history.CodeInterrupted {
		t.Errorf("error %v", err)
	}
}
