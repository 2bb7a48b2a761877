package history

import (
	"encoding/json"
	"strconv"
)

// EventType names an event, as the AG-UI protocol names it.
type EventType string

// The events. Each row of the table is told by a start, deltas and an end; a result by one event.
const (
	EventRunStarted       EventType = "RUN_STARTED"
	EventRunFinished      EventType = "RUN_FINISHED"
	EventRunError         EventType = "RUN_ERROR"
	EventSubagentStarted  EventType = "SUBAGENT_STARTED"
	EventSubagentFinished EventType = "SUBAGENT_FINISHED"
	EventSubagentError    EventType = "SUBAGENT_ERROR"
	EventTextStart        EventType = "TEXT_MESSAGE_START"
	EventTextContent      EventType = "TEXT_MESSAGE_CONTENT"
	EventTextEnd          EventType = "TEXT_MESSAGE_END"
	EventReasoningStart   EventType = "REASONING_MESSAGE_START"
	EventReasoningContent EventType = "REASONING_MESSAGE_CONTENT"
	EventReasoningEnd     EventType = "REASONING_MESSAGE_END"
	EventCallStart        EventType = "TOOL_CALL_START"
	EventCallArgs         EventType = "TOOL_CALL_ARGS"
	EventCallEnd          EventType = "TOOL_CALL_END"
	EventCallResult       EventType = "TOOL_CALL_RESULT"
	EventCustom           EventType = "CUSTOM"
)

// The names of custom events.
const (
	CustomHandoff   = "handoff"
	CustomRecipient = "recipient"
	CustomRetry     = "retry"
	CustomApproval  = "approval"
	CustomWarning   = "warning"
	CustomLimit     = "limit"
	CustomQuestion  = "question"
	CustomUsage     = "usage" // the usage of a run that goes on, after each of its model requests
)

// Code says why a run ended in an error; each has an exit code.
type Code string

// The codes, with the exit codes 1, 3, 4, 5 and 130.
const (
	CodeFailed      Code = "failed"
	CodeModel       Code = "model"
	CodeDenied      Code = "denied"
	CodeLimit       Code = "limit"
	CodeInterrupted Code = "interrupted"
)

// Event is one thing that happened, in the one ordered stream that feeds the terminal, the JSON lines of `bureau ask` and
// the tests. Which fields are set depends on the type; MarshalJSON writes those that belong to it.
type Event struct {
	Type EventType
	// SessionID is threadId on the wire, RunID the top run.
	SessionID string
	RunID     string
	// SubagentRunID is set when it happens in a nested run, with the run above it (empty right below the top) and the call that started it.
	SubagentRunID       string
	ParentSubagentRunID string
	ParentCallID        string
	Agent               string
	// CallerAgent is empty for the user: null on the wire.
	CallerAgent string
	// MessageID is the id of the row that the event tells of; 0 where it tells of none.
	MessageID int64
	Role      Role
	Origin    Origin
	// ByUser is set at the start of a message that the user wrote into a sub-conversation of agents.
	ByUser bool
	// Status is the row's at an end event: completed, interrupted or failed.
	Status Status
	// Delta is the text that was added; Offset is the number of bytes of the row's text before it, so that a view can see a gap.
	Delta  string
	Offset int
	CallID string
	Name   string
	// Content of a result is the output as stored; of an end event of a message, the row's whole text (not on the wire).
	Content string
	IsError bool
	// Citations of a message that ended.
	Citations []Citation
	// Result is the answer of a run that finished; Usage that of the run with all that ended below it, of a run that goes on too.
	Result string
	Usage  *Usage
	// Message and Code tell of an error, Hint what can be done about it.
	Message string
	Code    Code
	Hint    string
	// Value is the value of a custom event; it must marshal to JSON.
	Value any
	// At is microseconds since 1970.
	At int64
}

// Thread returns the conversation that the event belongs to.
func (e Event) Thread() Thread { return Message{Agent: e.Agent, CallerAgent: e.CallerAgent}.Thread() }

// MarshalJSON writes the event as the AG-UI protocol has it: times in milliseconds, ids as strings, callerAgent null for the user.
func (e Event) MarshalJSON() ([]byte, error) {
	w := wireEvent{
		Type: e.Type, Timestamp: e.At / 1000, ThreadID: e.SessionID, RunID: e.RunID, SubagentRunID: e.SubagentRunID,
		ParentSubagentRunID: e.ParentSubagentRunID, ParentToolCallID: e.ParentCallID, Agent: e.Agent,
		ToolCallID: e.CallID, ToolCallName: e.Name,
	}
	if e.CallerAgent != "" {
		w.CallerAgent = &e.CallerAgent
	}
	if e.MessageID != 0 {
		w.MessageID = strconv.FormatInt(e.MessageID, 10)
	}
	switch e.Type {
	case EventTextStart, EventCallStart:
		w.Role, w.Origin, w.ByUser = string(e.Role), e.Origin, e.ByUser
	case EventReasoningStart:
		w.Role = "reasoning"
	case EventSubagentStarted:
		w.Name = e.Agent
	case EventTextEnd, EventReasoningEnd, EventCallEnd:
		w.Status, w.Citations = e.Status, e.Citations
	case EventTextContent, EventReasoningContent, EventCallArgs:
		w.Delta = &e.Delta
	case EventCallResult:
		w.Role, w.Content, w.IsError = "tool", &e.Content, &e.IsError
	case EventRunFinished, EventSubagentFinished:
		w.Result, w.Usage = &e.Result, e.Usage
	case EventRunError, EventSubagentError:
		w.Message, w.Code, w.Hint, w.Usage = &e.Message, e.Code, e.Hint, e.Usage
	case EventCustom:
		w.Name, w.Value, w.ToolCallName = e.Name, &e.Value, ""
	}
	return json.Marshal(w)
}

// wireEvent is the form on the wire; a pointer is a field that its type always has, even when empty.
type wireEvent struct {
	Type                EventType  `json:"type"`
	Timestamp           int64      `json:"timestamp"`
	ThreadID            string     `json:"threadId"`
	RunID               string     `json:"runId"`
	SubagentRunID       string     `json:"subagentRunId,omitempty"`
	ParentSubagentRunID string     `json:"parentSubagentRunId,omitempty"`
	ParentToolCallID    string     `json:"parentToolCallId,omitempty"`
	Agent               string     `json:"agent"`
	CallerAgent         *string    `json:"callerAgent"`
	MessageID           string     `json:"messageId,omitempty"`
	Role                string     `json:"role,omitempty"`
	Origin              Origin     `json:"origin,omitempty"`
	ByUser              bool       `json:"byUser,omitempty"`
	Status              Status     `json:"status,omitempty"`
	Delta               *string    `json:"delta,omitempty"`
	ToolCallID          string     `json:"toolCallId,omitempty"`
	ToolCallName        string     `json:"toolCallName,omitempty"`
	Content             *string    `json:"content,omitempty"`
	IsError             *bool      `json:"isError,omitempty"`
	Citations           []Citation `json:"citations,omitempty"`
	Result              *string    `json:"result,omitempty"`
	Usage               *Usage     `json:"usage,omitempty"`
	Message             *string    `json:"message,omitempty"`
	Code                Code       `json:"code,omitempty"`
	Hint                string     `json:"hint,omitempty"`
	Name                string     `json:"name,omitempty"`
	Value               *any       `json:"value,omitempty"`
}
