// Package agencies is what an agency is: its file format, the flows between its agents, the checks that a file must pass,
// and the agencies that ship with the program. A loaded Agency is never changed; it is safe to share.
package agencies

import "encoding/json"

// Agency is a checked agency: agents, who may message or hand over to whom, shared instructions and entry points.
type Agency struct {
	Name        string
	Description string
	// SharedInstructions stand before those of every agent; empty for none.
	SharedInstructions string
	// Model is the agents' default, provider/model; empty for none.
	Model string
	// Variables are texts that tools and instructions of a session share, with what they are in a new one.
	Variables []Variable
	// SendName and SendDescription replace those of send_message; empty for the usual ones.
	SendName, SendDescription string
	// Agents in the order of the file.
	Agents []Agent
	// EntryPoints are the agents that the user may address; the first is the default recipient. Never empty.
	EntryPoints []string
	// Flows in the order of the file, chains taken apart into their edges.
	Flows  []Flow
	Limits Limits
	// SessionLimits hold for all turns of a session together.
	SessionLimits SessionLimits
	// Path is the file that it was loaded from; empty for an agency that ships.
	Path string
	// Script is the offline script that stands beside the file as NAME.script.yaml; nil for none. ScriptPath names it in errors.
	Script     []byte
	ScriptPath string
}

// Agent is one role.
type Agent struct {
	Name         string
	Description  string
	Instructions string
	// Model overrides the agency's; empty for none.
	Model    string
	Settings ModelSettings
	// Tools are names of registered tools, in the order of the file.
	Tools []string
	// HandoffReminder replaces the default text when control comes to this agent; nil for the default, empty for none.
	HandoffReminder *string
	// MaxSilence overrides that of Limits for runs that the agent starts with; 0 is the agency's.
	MaxSilence int

	// InputGuardrails hold for what the agent is sent, OutputGuardrails for its answers.
	InputGuardrails, OutputGuardrails []Guardrail
	// ValidationAttempts is how often an answer that is refused is tried again.
	ValidationAttempts int
	// OutputType is the JSON Schema of type object that its answers fit; nil for text.
	OutputType json.RawMessage
	// Input is the JSON Schema of type object of what other agents send it; nil for text.
	Input     json.RawMessage
	Reminders []Reminder
	ToolUse   ToolUse
	// OneCallAtATime are tools that run alone.
	OneCallAtATime []string
	// Starters and QuickReplies are offered to the user in an empty session.
	Starters, QuickReplies []string
	// ReceiveOnly agents send and hand over nothing.
	ReceiveOnly bool
	// Capabilities and CannotDo are shown to those who may message the agent.
	Capabilities, CannotDo []string
}

// ModelSettings of an agent; nil and zero leave a setting to the server.
type ModelSettings struct {
	Temperature       *float64
	TopP              *float64
	MaxOutputTokens   int
	ReasoningEffort   string
	ParallelToolCalls *bool
	Seed              *int
	Stop              []string
}

// Flow is one edge: From may send messages to To, or hand over to it.
type Flow struct {
	From, To string
	// Handoff tells that control moves; otherwise it is a message that returns an answer.
	Handoff bool
	// Tool is the name of the edge's own send tool; empty for send_message.
	Tool string
	// Description of the edge's own tool.
	Description string
	// Parameters of the edge's own tool beside those of send_message: names in the order of the file, each with its JSON Schema.
	Parameters []Parameter
	// Required names those of Parameters that must be given.
	Required []string
}

// Parameter is one named parameter of an edge's own tool.
type Parameter struct {
	Name   string
	Schema json.RawMessage
}

// Limits of a turn. In a loaded agency the defaults are filled in; MaxTokens, MaxCost and MaxSeconds have none: 0 is no limit.
type Limits struct {
	// MaxDepth of nested runs below the top run.
	MaxDepth int
	// MaxRuns and MaxTurnCalls of a turn: runs and model calls, nested ones included.
	MaxRuns      int
	MaxTurnCalls int
	// MaxCalls is the number of model calls in one run.
	MaxCalls int
	// MaxHandoffs is the number of handoffs in a run without a word to the user.
	MaxHandoffs int
	// MaxTokens (input and output) and MaxCost (US dollars) of a turn, nested runs included; MaxSeconds is its time.
	MaxTokens  int
	MaxCost    float64
	MaxSeconds int
	// MaxSilence is how many seconds a nested run may be without any sign of life.
	MaxSilence int
}

// SessionLimits are what all turns of a session may take together; 0 is no limit.
type SessionLimits struct {
	MaxTokens int
	MaxCost   float64
}

// DefaultLimits are those of an agency that sets none.
var DefaultLimits = Limits{MaxDepth: 8, MaxRuns: 64, MaxTurnCalls: 400, MaxCalls: 60, MaxHandoffs: 6, MaxSilence: 600}

// Agent finds an agent by its exact name.
func (a *Agency) Agent(name string) (Agent, bool) {
	for _, agent := range a.Agents {
		if agent.Name == name {
			return agent, true
		}
	}
	return Agent{}, false
}
