// Package engine runs an agency: turns, delegation, handoff, limits and usage. It writes every row when the thing happens
// and tells it by an event; it knows neither SQL nor a screen. An Engine is safe for concurrent use by several sessions;
// nothing that one turn computes is kept on what the turns share.
package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"bureau/agencies"
	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/tool"
)

// Log is where the engine writes to and reads from: the message table. Its methods are safe for concurrent use.
type Log interface {
	// Append stores rows in order, in one transaction, and sets their ids.
	AppendAll(ctx context.Context, rows []*history.Message) error
	// Update brings a streaming row up to date; its status may become any other.
	Update(ctx context.Context, row history.Message) error
	// Rows returns the newest rows of a thread with an id below before (0: no bound), newest first.
	Rows(ctx context.Context, session string, t history.Thread, before int64, limit int) ([]history.Message, error)
	// CallTaken tells whether a call with that id is on record.
	CallTaken(ctx context.Context, session, callID string) (bool, error)
	// RecordRequest stores what a model request took.
	RecordRequest(ctx context.Context, r *history.Request) error
	// SetRecipient stores which agent has control of a session.
	SetRecipient(ctx context.Context, session, agent string) error
	// Spent is what all requests of a session took: input and output tokens, and US dollars as far as prices were known.
	Spent(ctx context.Context, session string) (tokens int64, dollars float64, err error)
	// Variables returns the variables that have been set in a session; SetVariable sets one.
	Variables(ctx context.Context, session string) (map[string]string, error)
	SetVariable(ctx context.Context, session, name, value string) error
}

// Options of an engine.
type Options struct {
	Agency *agencies.Agency
	Log    Log
	// Model returns the model that an agent runs on; it is asked before every call.
	Model func(ctx context.Context, agent agencies.Agent) (llm.Model, error)
	// Tools returns the tools that an agent file names.
	Tools func(names []string) (*tool.Set, error)
	// Publish is told every event, in one order, from one goroutine at a time. It must not block. nil tells nobody.
	Publish func(history.Event)
	// Price returns what a request cost in US dollars; nil, or a nil result, is an unknown price.
	Price func(ref llm.Ref, usage history.Usage) *float64
	// Decide asks the user whether a turn goes on, and returns his answer; it may block, until the context ends. A question is
	// told by an event before. At most one is open in a session. nil stops.
	Decide func(ctx context.Context, q Question) Answer
	// MayRunCommands says that the agency is trusted to start the programs that its guardrails name, in Folder; an empty one is that
	// of the process.
	MayRunCommands bool
	Folder         string
}

// Engine runs turns of one agency.
type Engine struct {
	options  Options
	roles    map[string]*role
	pending  pending
	alone    sequence
	notices  notices
	live     liveRuns
	sessions sessionBudgets
}

// New prepares an agency to run. It fails when a tool that the agency names is not there, and when its guardrails start programs that
// it is not trusted with.
func New(options Options) (*Engine, error) {
	if options.Publish == nil {
		options.Publish = func(history.Event) {}
	}
	if options.Price == nil {
		options.Price = func(llm.Ref, history.Usage) *float64 { return nil }
	}
	if options.Agency.HasCommands() && !options.MayRunCommands {
		return nil, fmt.Errorf("the guardrails of %s start programs, and it is not trusted to", options.Agency.Name)
	}
	e := &Engine{
		options: options, roles: map[string]*role{}, pending: pending{busy: map[pendingKey]bool{}},
		alone:    sequence{working: map[sequenceKey]*working{}},
		live:     liveRuns{runs: map[string]*run{}, tops: map[string]*run{}},
		sessions: sessionBudgets{raised: map[string]*agencies.SessionLimits{}},
	}
	for _, agent := range options.Agency.Agents {
		r, err := newRole(options.Agency, agent, e.own)
		if err != nil {
			return nil, fmt.Errorf("agent %q: %w", agent.Name, err)
		}
		e.roles[agent.Name] = r
	}
	return e, nil
}

// pending knows which recipients work on a message of which sender at this moment: at most one message for each pair of a
// session.
type pending struct {
	mu   sync.Mutex
	busy map[pendingKey]bool
}

type pendingKey struct{ session, sender, recipient string }

// begin claims the pair; it is false while a message is under way.
func (p *pending) begin(k pendingKey) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy[k] {
		return false
	}
	p.busy[k] = true
	return true
}

func (p *pending) end(k pendingKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.busy, k)
}

func micros() int64 { return time.Now().UnixMicro() }
