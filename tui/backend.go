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
	// Tell starts a turn in a sub-conversation, as Send does: what the user says is on record there, and the agent answers to it;
	// caller is the other one. Immediate.
	Tell(caller, agent, text string) error
	// Steer says something to a run that is under way, which hears it between two of its model calls; an empty id is the turn's
	// own run. An error means that nothing was said. Immediate.
	Steer(runID, text string) error
	// CancelRun stops one run with all below it; whoever waits for it goes on. Immediate.
	CancelRun(runID string) error
	// Answer answers the question that a "question" event has told last. Immediate.
	Answer(a Answer)
	// Budget is what the session and a turn may take, as the agency file has it. Immediate.
	Budget() Budget
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

// Answer is what the user decided at a limit.
type Answer struct {
	Verdict Verdict
	// By is what Raise adds to the limit, in the limit's own unit.
	By float64
}

// Verdict says how a turn goes on after a question.
type Verdict int

// The verdicts.
const (
	Stop Verdict = iota
	Once
	Raise
)

// Budget is tokens and US dollars of a session, and of one turn; 0 is no limit.
type Budget struct {
	Tokens, TurnTokens int64
	Cost, TurnCost     float64
}

// Queued is a message that waits for the turn to end. Recipient is empty for the one that has control by then. Caller is set for
// what is said into the sub-conversation of Caller and Recipient.
type Queued struct {
	Caller    string `json:"caller,omitempty"`
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
