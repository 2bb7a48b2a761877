package thread

import "bureau/engine/history"

// Run is one agent working to its answer. From is empty for the top run of a turn.
type Run struct {
	ID, ParentID, CallID string
	From, To             string
	// Now is the agent that has control of it: To, until it hands over.
	Now string
	// Task is the message that started it.
	Task  string
	State State
	// Code, Message and Hint tell why it ended in an error.
	Code          history.Code
	Message, Hint string
	// Started and Ended are microseconds since 1970.
	Started, Ended int64
	// Tools counts the calls of the run itself.
	Tools int
	// Usage is the run's with all that ended below it; of a run that works, as of its last model request.
	Usage history.Usage
	// Doing is what happens at this moment, Tool the tool that runs and Since when that began.
	Doing Activity
	Tool  string
	Since int64

	live    bool // told by events; its stored delegation adds nothing
	calls   int  // calls without an output
	version uint64
}

// Activity is what a run that works is doing.
type Activity uint8

// The activities.
const (
	Waiting Activity = iota // for the first word of a model
	Thinking
	Writing
	Calling // writing the arguments of a call
	Using   // a tool runs
	Resting // a model call is about to be tried again
)

// Working tells whether the run is under way.
func (r *Run) Working() bool { return r.State == Working }

// Thread is the conversation that the run belongs to.
func (r *Run) Thread() history.Thread {
	if r.From == "" {
		return history.UserThread
	}
	return history.Pair(r.From, r.To)
}

func (r *Run) do(what Activity, tool string, at int64) {
	if r.Doing != what || r.Tool != tool {
		r.Doing, r.Tool, r.Since = what, tool, at
	}
}
