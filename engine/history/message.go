// Package history holds the words that every part of Bureau shares: the row of the message table, the threads that are
// filters over it, sessions, usage, and the events that tell of all of them. It knows nothing of models, storage or
// screens, and uses the standard library alone. Its values are plain data: safe to copy, never locked.
package history

import "encoding/json"

// Type says what a row is.
type Type string

// The item types, named as the Responses API names them.
const (
	TypeMessage Type = "message"
	TypeCall    Type = "function_call"
	TypeOutput  Type = "function_call_output"
	TypeReason  Type = "reasoning"
)

// Role says who speaks in a row of type message; other types have none.
type Role string

// The roles of a message.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
)

// Status says how far a row has come.
type Status string

// The states of a row. A streaming row of a session that no live process holds reads as interrupted.
const (
	StatusStreaming   Status = "streaming"
	StatusCompleted   Status = "completed"
	StatusInterrupted Status = "interrupted"
	StatusFailed      Status = "failed"
)

// Protocol says what an item came as.
type Protocol string

// The protocols of a model server.
const (
	ProtocolResponses       Protocol = "responses"
	ProtocolChatCompletions Protocol = "chat_completions"
)

// Origin says why the program itself wrote a row; it is empty for what people and models wrote.
type Origin string

// The origins.
const (
	OriginRecipientReminder Origin = "recipient_reminder"
	OriginHandoffReminder   Origin = "handoff_reminder"
	// OriginInputGuardrailMessage marks the answer of a guardrail to a message that it refused, OriginInputGuardrailError what the agent
	// is told where that ended the run.
	OriginInputGuardrailMessage Origin = "input_guardrail_message"
	OriginInputGuardrailError   Origin = "input_guardrail_error"
	// OriginOutputGuardrailError marks what an agent is told of an answer that was refused.
	OriginOutputGuardrailError Origin = "output_guardrail_error"
	// OriginError marks the failed row that tells why a run ended without an answer.
	OriginError Origin = "error"
	// OriginImported marks a note on an item of another program that has no counterpart here.
	OriginImported Origin = "imported"
)

// Message is one row of the flat table. ID orders the history and is 0 until the row is stored.
type Message struct {
	ID        int64
	SessionID string
	// Agent is whom an input addresses, or who produced an output.
	Agent string
	// CallerAgent started the run that the row belongs to; empty is the user (NULL in the table).
	CallerAgent string
	Type        Type
	Role        Role
	// Content is text of a message or of reasoning, or the output of a call, as it came: never made safe for a screen.
	Content string
	// CallID is unique in the session, and the same on a call and its output.
	CallID string
	// Name is the called tool's; it stands on the call and on its output.
	Name string
	// Arguments of a call is always a JSON object; what the model really wrote is in Extra.RawArguments where it differs.
	Arguments    string
	RunID        string
	ParentRunID  string
	ParentCallID string
	TraceID      string
	Origin       Origin
	Protocol     Protocol
	Status       Status
	Extra        Extra
	// CreatedAt is in microseconds since 1970; diagnostic only, never an order.
	CreatedAt int64
}

// Extra is what a row carries beside the columns, stored as JSON.
type Extra struct {
	// RawArguments is what the model wrote as arguments, where it was not a JSON object.
	RawArguments string `json:"raw_arguments,omitempty"`
	// ArgumentsError says what was wrong with it.
	ArgumentsError string `json:"arguments_error,omitempty"`
	// RawName is the tool name that the model wrote, where it was not a legal one.
	RawName string `json:"raw_name,omitempty"`
	// WireID is the call id that the server used, where it was missing or repeated and Bureau gave its own.
	WireID string `json:"wire_id,omitempty"`
	// Wire is what a server wants back unchanged with a call or a message (extra_content, reasoning fields), by field name.
	Wire map[string]json.RawMessage `json:"wire,omitempty"`
	// Model is the reference of the model that produced the row, provider/model.
	Model string `json:"model,omitempty"`
	// IsError marks the output of a call that failed.
	IsError bool `json:"is_error,omitempty"`
	// Code classifies a failed row: failed, model, denied, limit or interrupted.
	Code string `json:"code,omitempty"`
	// Hint says what can be done about a failed row.
	Hint string `json:"hint,omitempty"`
	// ByUser marks what the user himself said to an agent in a sub-conversation, where the caller is another agent.
	ByUser bool `json:"by_user,omitempty"`
	// Steering marks what the user said to a run that was at work already.
	Steering bool `json:"steering,omitempty"`
	// Imported names the program that a row was imported from.
	Imported string `json:"imported,omitempty"`
	// Item is the imported item itself, without its labels, where the row cannot say all of it.
	Item json.RawMessage `json:"item,omitempty"`
	// Citations of a message: a list of what it refers to, as its server or another program gave them.
	Citations json.RawMessage `json:"citations,omitempty"`
}

// IsZero tells whether nothing is set, so that the column stays NULL.
func (e Extra) IsZero() bool {
	return e.RawArguments == "" && e.ArgumentsError == "" && e.RawName == "" && e.WireID == "" && len(e.Wire) == 0 &&
		e.Model == "" && !e.IsError && e.Code == "" && e.Hint == "" && !e.ByUser && !e.Steering && e.Imported == "" &&
		len(e.Item) == 0 && len(e.Citations) == 0
}

// Thread returns the conversation that the row belongs to.
func (m Message) Thread() Thread {
	if m.CallerAgent == "" {
		return Thread{}
	}
	return Pair(m.Agent, m.CallerAgent)
}
