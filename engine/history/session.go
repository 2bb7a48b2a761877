package history

// Session is one user's work with one agency: the owner of rows.
type Session struct {
	ID string `json:"id"`
	// Agency is the agency's name; AgencyPath the file it was loaded from, empty for one that ships.
	Agency     string `json:"agency"`
	AgencyPath string `json:"agency_path,omitempty"`
	// Folder is the working folder that the session was started in.
	Folder string `json:"folder"`
	// Title is the first words of the user's first message, or what the user called it.
	Title string `json:"title"`
	// Recipient is the agent that has control: the one that the next message goes to.
	Recipient string `json:"recipient"`
	// Model is the --model flag that the session was begun with; empty when it had none.
	Model string `json:"model,omitempty"`
	// CreatedAt and UpdatedAt are microseconds since 1970; UpdatedAt moves with every row.
	CreatedAt int64 `json:"created_at"`
	UpdatedAt int64 `json:"updated_at"`
	// Messages counts the rows.
	Messages int64 `json:"messages"`
	// Held tells that a live process, this one or another, holds the session.
	Held bool `json:"held"`
}

// Conversation is a sub-conversation that exists in a session: a pair of agents and the ids of its first and last row.
type Conversation struct {
	Thread  Thread
	FirstID int64
	LastID  int64
	Rows    int64
}

// Delegation is one message between agents that started a nested run, told from its stored rows: what a pane's header and
// a delegation's line show of a session that is read again.
type Delegation struct {
	RunID        string
	ParentRunID  string
	ParentCallID string
	// From sent the message to To; the call named Tool carried it.
	From, To, Tool string
	// Task is the message that was sent.
	Task string
	// Status is streaming while the run is under way, completed with an answer, failed with an error, interrupted when it was cut off.
	Status Status
	// StartedAt and EndedAt are microseconds since 1970.
	StartedAt, EndedAt int64
	// Tools counts the tool calls of the run itself; Usage is the run's with all below it.
	Tools int
	Usage Usage
	// FirstID is the id of the run's first row.
	FirstID int64
}
