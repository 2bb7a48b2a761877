// Package tui is the terminal: the user thread, the panes of the sub-conversations, the composer and the overlays. It
// drives a Backend and is fed by one ordered stream of events; it knows neither engine nor store, holds no lock that they
// need, and is the only package that knows Bubble Tea. All of its state belongs to the goroutine that Update runs on.
package tui

import (
	"context"

	"bureau/engine/history"
)

// Backend is what the terminal drives. Its methods are called from commands, never from Update, unless they are marked
// as immediate. They are safe for concurrent use.
type Backend interface {
	// Agency describes the agency. Immediate.
	Agency() Agency
	// Open opens a session: id empty begins a new one, of which nothing is stored before its first message. One that another
	// process holds opens read-only.
	Open(ctx context.Context, id string) (Session, error)
	// Fork copies a session to a new one that this process holds, and opens it.
	Fork(ctx context.Context, id string) (Session, error)
	// Sessions lists sessions of any agency by last activity, newest first; query is matched against title, agency and folder.
	Sessions(ctx context.Context, query string, limit int) ([]history.Session, error)
	// Rename and Delete change a session; Delete fails on one that is held elsewhere.
	Rename(ctx context.Context, id, title string) error
	Delete(ctx context.Context, id string) error
	// Inputs are the user's earlier messages and cleared drafts, newest first; AddInput adds one.
	Inputs(ctx context.Context, limit int) ([]string, error)
	AddInput(ctx context.Context, text string) error
}

// Session is an open session.
type Session interface {
	// Info is the session as it is now; its ID is empty until the first message of a new one. Immediate.
	Info() history.Session
	// ReadOnly says why nothing can be sent (another process holds it, its agency is not there); empty when it can. Immediate.
	ReadOnly() string
	// Model says what runs for an agent. Immediate.
	Model(agent string) ModelInfo
	// Rows returns up to limit rows of a conversation before a row id (0: the newest), oldest first.
	Rows(ctx context.Context, t history.Thread, before int64, limit int) ([]history.Message, error)
	// Conversations lists the pairs that have talked, in the order of their first message.
	Conversations(ctx context.Context) ([]history.Conversation, error)
	// Delegations tells of the nested runs that these calls started.
	Delegations(ctx context.Context, callIDs []string) ([]history.Delegation, error)
	// LastDelegation is the newest nested run in a conversation.
	LastDelegation(ctx context.Context, t history.Thread) (history.Delegation, error)
	// Usage is what the whole session took, and what the last request of the agent's user thread held in its window.
	Usage(ctx context.Context) (total history.Usage, window int64, err error)
	// Draft and SaveDraft keep what is in the composer and what is queued, so that a crash loses neither.
	Draft(ctx context.Context) (Draft, error)
	SaveDraft(ctx context.Context, d Draft) error
	// Send starts a turn and returns at once; what happens is told by events, the last of which is RUN_FINISHED or RUN_ERROR
	// without a SubagentRunID. once is for a message that addresses an agent without giving it the conversation: the one after
	// it goes to whoever had control before. An error means that nothing was started and nothing stored. Immediate.
	Send(recipient, text string, once bool) error
	// Stop cancels the turn under way; without one it does nothing. Immediate.
	Stop()
	// Export writes the session to a file in the working folder and returns its path; format is markdown or json.
	Export(ctx context.Context, format string) (string, error)
	// Close stops what runs, waits for its last row, and lets go of the session.
	Close() error
}

// Draft is what the user has typed and not sent.
type Draft struct {
	Text  string   `json:"text"`
	Queue []Queued `json:"queue,omitempty"`
}

// Queued is a message that waits for the turn to end. Recipient is empty for the one that has control by then.
type Queued struct {
	Recipient string `json:"recipient,omitempty"`
	Text      string `json:"text"`
}

// ModelInfo says which model runs for an agent.
type ModelInfo struct {
	// Ref is provider/model as it is shown.
	Ref string
	// Offline tells that no model is connected: an offline script answers.
	Offline bool
	// Window is the context window in tokens; 0 for unknown.
	Window int
}

// Agency is the agency as the terminal shows it.
type Agency struct {
	Name, Description, Path string
	Agents                  []Agent
	Flows                   []Flow
}

// Agent is one of its agents.
type Agent struct {
	Name, Description string
	EntryPoint        bool
	Tools             []string
	// Starters are messages that an empty session offers while this agent is the recipient.
	Starters []string
}

// Flow is who may message, or hand over to, whom. Tool is the name of the send tool.
type Flow struct {
	From, To string
	Handoff  bool
	Tool     string
}
