package thread

import (
	"encoding/json"
	"strings"

	"bureau/engine/history"
)

// Kind says how an item is shown.
type Kind uint8

// The kinds of items. A call's output is part of its call's item.
const (
	Input     Kind = iota // what the user, or the agent that started the run, said
	Answer                // what an agent said
	Reasoning             // what a model thought
	Call                  // a tool call with its output, a delegation or a handoff
	Reminder              // what the program told the model
	Failure               // why a run ended without an answer
	Retry                 // a model call that is tried again; gone with the next row of the run
	Notice                // a warning or a limit
)

// State says how far an item or a run has come.
type State uint8

// The states.
const (
	Working State = iota
	Done
	Failed
	Interrupted
)

// Item is one thing in a conversation. What is exported is for reading.
type Item struct {
	// ID is the row's; an item without a row has that of the row before it.
	ID   int64
	Kind Kind
	// Agent and Caller are the row's exact names; Caller is empty for the user.
	Agent, Caller string
	Role          history.Role
	// ByUser marks what the user himself said in a sub-conversation.
	ByUser bool
	Origin history.Origin
	Status history.Status
	RunID  string
	// At and Ended are microseconds since 1970; Ended is 0 where nothing tells.
	At, Ended int64
	// CallID and Name are those of a call; HasOutput, Output and IsError tell of what it returned, OutputID of the row.
	CallID, Name string
	HasOutput    bool
	Output       string
	OutputID     int64
	IsError      bool
	// Run is the run that a call started; nil for any other call.
	Run *Run
	// Citations are the sources of an answer.
	Citations []history.Citation
	// Code and Hint of a failure.
	Code, Hint string
	// Attempt, Of and Until tell of a retry: the attempt that is to come, how many there may be, and when (µs since 1970).
	Attempt, Of int
	Until       int64
	// Tool names the send tool or handoff that a call is, decided by its name.
	Carries Carriage

	text    []byte
	after   int // the place among the items without a row that follow the same row
	gap     bool
	version uint64
}

// Carriage says whether a call carries a message or control.
type Carriage uint8

// What a call may carry.
const (
	Nothing Carriage = iota
	Message          // a send tool: the recipient's run answers
	Control          // a handoff
)

// Stored tells whether a row stands for the item.
func (it *Item) Stored() bool { return it.after == 0 }

// Text is the text of the item as far as it is known: of a message, of reasoning, or a call's arguments.
func (it *Item) Text() string { return string(it.text) }

// Len is the length of Text in bytes.
func (it *Item) Len() int { return len(it.text) }

// Version changes with everything that is shown of the item.
func (it *Item) Version() uint64 { return it.version }

// Speaker is whose words the item holds: empty for the user.
func (it *Item) Speaker() string {
	switch {
	case it.ByUser:
		return ""
	case it.Kind == Input:
		return it.Caller
	}
	return it.Agent
}

// State tells how far the item has come.
func (it *Item) State() State {
	switch {
	case it.Kind == Call && it.HasOutput && it.IsError, it.Status == history.StatusFailed:
		return Failed
	case it.Kind == Call && it.HasOutput:
		return Done
	case it.Status == history.StatusInterrupted:
		return Interrupted
	case it.Kind == Call, it.Status == history.StatusStreaming:
		return Working
	}
	return Done
}

// Recipient is whom a call that carries a message or control names, as its arguments have it so far.
func (it *Item) Recipient() string {
	if it.Run != nil {
		return it.Run.To
	}
	if to := it.argument("recipient_agent"); to != "" {
		return to
	}
	return strings.TrimPrefix(it.Name, handoffPrefix)
}

// Task is the message that a delegation carries.
func (it *Item) Task() string {
	if it.Run != nil && it.Run.Task != "" {
		return it.Run.Task
	}
	return it.argument("message")
}

func (it *Item) argument(name string) string {
	var arguments map[string]any
	if json.Unmarshal(it.text, &arguments) != nil {
		return ""
	}
	value, _ := arguments[name].(string)
	return value
}

func (it *Item) touch() { it.version++ }

// setText replaces the text by one that is known whole, or at least further on.
func (it *Item) setText(s string) {
	it.gap = false
	if string(it.text) != s {
		it.text = []byte(s)
		it.touch()
	}
}

// addText adds a delta at its offset. What is known already is skipped; a delta that leaves a hole is refused.
func (it *Item) addText(delta string, offset int) (ok bool) {
	have := len(it.text)
	switch {
	case offset > have:
		return false
	case offset+len(delta) <= have:
		return true
	}
	it.text = append(it.text, delta[have-offset:]...)
	it.gap = false
	it.touch()
	return true
}

const handoffPrefix = "transfer_to_"
