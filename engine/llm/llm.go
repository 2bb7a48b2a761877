// Package llm is what the engine asks of a model: a neutral request, the deltas of a streamed reply, typed errors and the
// classes of what is worth another try. It knows no vendor; the packages below it do. A Model is safe for concurrent use.
package llm

import (
	"context"
	"encoding/json"

	"bureau/engine/history"
)

// Model answers requests.
type Model interface {
	// Stream sends one request, exactly once, and calls on for every delta in order, from the calling goroutine. The Reply
	// is the whole of it; with an error it is what had come until then, never nil-able parts of a call. Errors are *Error,
	// or the context's own. It returns within a second of the context's end.
	Stream(ctx context.Context, req Request, on func(Delta)) (Reply, error)
	// Ref is the model's reference, provider/model.
	Ref() Ref
	// Protocol is what its items come as.
	Protocol() history.Protocol
	// Window is the size of the context window in tokens; 0 where it is not known.
	Window() int
}

// Ref names a model: a provider and the model's name on the wire, which is what follows the first slash and may hold others.
type Ref struct{ Provider, Model string }

// String is the reference as it is written in an agency file; of a server as a whole, the provider alone.
func (r Ref) String() string {
	if r.Model == "" {
		return r.Provider
	}
	return r.Provider + "/" + r.Model
}

// Request is one request of a model. Messages are always a history that the strictest server accepts: each call of an
// assistant message is answered by exactly one tool message, right after it, in call order.
type Request struct {
	Messages []Message
	Tools    []Tool
	Settings Settings
}

// Role of a message in a request.
type Role string

// The roles, as Chat Completions has them.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one message of a request.
type Message struct {
	Role    Role
	Content string
	// Calls of an assistant message.
	Calls []Call
	// CallID and Name of a tool message: which call it answers.
	CallID string
	Name   string
	// Reasoning that came with an assistant message, for servers that want it back.
	Reasoning string
	// Wire is what the server wants back unchanged, by field name; only ever what the same provider sent over the same
	// protocol. Over the Responses API it is there without calls too.
	Wire map[string]json.RawMessage
}

// Call is one complete tool call.
type Call struct {
	ID   string
	Name string
	// Arguments as the model wrote them: in a Request always a JSON object, in a Reply whatever came.
	Arguments string
	// Wire is what the server wants back unchanged with the call.
	Wire map[string]json.RawMessage
}

// Tool describes a tool to a model. Parameters is a JSON Schema of type object.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage
}

// Settings of a request; nil and zero mean the server's own default.
type Settings struct {
	Temperature       *float64
	TopP              *float64
	MaxOutputTokens   int
	ReasoningEffort   string
	ParallelToolCalls *bool
	Seed              *int
	Stop              []string
	// Format is what the answer must be; nil for text.
	Format *Format
}

// Format is an answer that is a JSON object which fits a schema.
type Format struct {
	// Name matches ^[a-zA-Z0-9_-]{1,64}$.
	Name string
	// Schema is a JSON Schema of type object.
	Schema json.RawMessage
}

// InWords asks for the format where there is no setting for it.
func (f Format) InWords() string {
	return "Your final answer must be one JSON object and nothing else: no words before or after it, no code fence. " +
		"It must fit this JSON Schema:\n" + string(f.Schema)
}

// Delta is one piece of a streamed reply; exactly one of its fields is set.
type Delta struct {
	Text      string
	Reasoning string
	Call      *CallDelta
}

// CallDelta is a piece of a tool call. Index counts the reply's calls from 0, decided by the accumulator and never by the
// server; the first delta of an index carries ID (which may be empty: the server gave none) and Name.
type CallDelta struct {
	Index     int
	ID        string
	Name      string
	Arguments string
}

// Finish says why a reply ended.
type Finish string

// The reasons. Servers' other words are mapped to these.
const (
	FinishStop      Finish = "stop"
	FinishToolCalls Finish = "tool_calls"
	FinishLength    Finish = "length"
	FinishFilter    Finish = "content_filter"
)

// Reply is a whole answer of a model.
type Reply struct {
	Text      string
	Reasoning string
	Calls     []Call
	Finish    Finish
	// Usage as the server reported it; HasUsage is false where it reported none. Usage.Requests is not set here.
	Usage    history.Usage
	HasUsage bool
	// Citations are the sources that the server names for the text.
	Citations []history.Citation
	// Wire is what the server wants back unchanged with the assistant message (reasoning_details, the name that its
	// reasoning field had; over the Responses API the items of its words), by field name.
	Wire map[string]json.RawMessage
	// Warnings say in sentences what was done otherwise than asked: a setting that the server refuses and that was left out.
	Warnings []string
}

// IsEmpty tells whether the reply has neither text nor calls.
func (r Reply) IsEmpty() bool { return r.Text == "" && len(r.Calls) == 0 }
