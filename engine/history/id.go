package history

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// NewSessionID returns a fresh id of 12 letters and digits, short enough to type.
func NewSessionID() string { return strings.ToLower(rand.Text())[:12] }

// NewRunID returns a fresh id of a run: run_ and 32 hex digits.
func NewRunID() string { return "run_" + randomHex() }

// NewTraceID returns a fresh id of a turn: trace_ and 32 hex digits.
func NewTraceID() string { return "trace_" + randomHex() }

// NewCallID returns a fresh id for a call whose server gave none, or one that is in use: call_ and 24 hex digits.
func NewCallID() string { return "call_" + randomHex()[:24] }

func randomHex() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	return hex.EncodeToString(b[:])
}
