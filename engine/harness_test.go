package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"bureau/agencies"
	"bureau/engine"
	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/llm/llmtest"
	"bureau/engine/llm/openai"
	"bureau/engine/tool"
	"bureau/store"
)

// play says what an agent's model answers to a request. The model of an agent is called by the agent's name.
type play map[string]func(*llmtest.Request) llmtest.Response

// bench is an engine on a real database, whose agents' models are played by a strict server over HTTP.
type bench struct {
	t       *testing.T
	agency  *agencies.Agency
	store   *store.Store
	server  *llmtest.Server
	engine  *engine.Engine
	session string

	mu     sync.Mutex
	events []history.Event
}

// newBench begins a session with the agency of a YAML text that holds all but its name.
func newBench(t *testing.T, yaml string, p play, tools ...tool.Tool) *bench {
	t.Helper()
	b := &bench{t: t, session: "s"}
	b.server = llmtest.NewServer(t, func(r *llmtest.Request) llmtest.Response {
		answer := p[r.Model]
		if answer == nil {
			return llmtest.Response{Text: r.Model + " answers " + r.Last}
		}
		return answer(r)
	})
	registry := &tool.Registry{}
	if err := registry.Register(tools...); err != nil {
		t.Fatal(err)
	}
	var err error
	b.agency, err = agencies.Parse("test.yaml", []byte("name: test\n"+yaml), nil, agencies.Known{Tools: registry.Names()})
	if err != nil {
		t.Fatal(err)
	}
	b.store, err = store.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.store.Close() })
	b.begin(b.session)
	b.engine = b.newEngine(registry)
	t.Cleanup(func() {
		if refused := b.server.Refused(); len(refused) > 0 {
			t.Errorf("the strict server refused: %s", strings.Join(refused, "\n"))
		}
	})
	return b
}

func (b *bench) newEngine(registry *tool.Registry) *engine.Engine {
	b.t.Helper()
	e, err := engine.New(engine.Options{
		Agency: b.agency, Log: b.store, Tools: registry.Pick,
		Model: func(_ context.Context, a agencies.Agent) (llm.Model, error) {
			return openai.New(openai.Config{
				Ref: llm.Ref{Provider: "strict", Model: a.Name}, Provider: openai.Provider{Name: "strict", BaseURL: b.server.URL}, Window: 100_000,
			})
		},
		Publish: func(e history.Event) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.events = append(b.events, e)
		},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return e
}

// begin stores a session.
func (b *bench) begin(id string) {
	b.t.Helper()
	if err := b.store.CreateSession(b.t.Context(), history.Session{ID: id, Agency: "test", Recipient: b.agency.EntryPoints[0]}); err != nil {
		b.t.Fatal(err)
	}
}

// say carries a message to its answer.
func (b *bench) say(to, text string) (engine.Result, error) {
	return b.engine.Turn(b.t.Context(), engine.Input{SessionID: b.session, Recipient: to, Text: text})
}

// ok carries a message to its answer, which must come.
func (b *bench) ok(to, text string) engine.Result {
	b.t.Helper()
	result, err := b.say(to, text)
	if err != nil {
		b.t.Fatalf("turn %q to %s: %v", text, to, err)
	}
	return result
}

// rows are all rows of the session, in order.
func (b *bench) rows() []history.Message {
	b.t.Helper()
	rows, err := b.store.All(b.t.Context(), b.session, 0, 10_000)
	if err != nil {
		b.t.Fatal(err)
	}
	return rows
}

// lines are all rows in short: agent<caller kind: content.
func (b *bench) lines() []string {
	b.t.Helper()
	var lines []string
	for _, m := range b.rows() {
		lines = append(lines, line(m))
	}
	return lines
}

func line(m history.Message) string {
	kind, content := string(m.Role), m.Content
	switch m.Type {
	case history.TypeCall:
		kind, content = "call "+m.Name, ""
	case history.TypeOutput:
		kind = "output"
	case history.TypeReason:
		kind = "reasoning"
	}
	if m.Origin != "" {
		kind, content = string(m.Origin), ""
	}
	out := fmt.Sprintf("%s<%s %s", m.Agent, m.CallerAgent, kind)
	if content != "" {
		out += ": " + content
	}
	if m.Status != history.StatusCompleted {
		out += " (" + string(m.Status) + ")"
	}
	return out
}

// asked are the requests that an agent's model got, in order.
func (b *bench) asked(agent string) []*llmtest.Request {
	var list []*llmtest.Request
	for _, r := range b.server.Requests() {
		if r.Model == agent {
			list = append(list, r)
		}
	}
	return list
}

// heard is what a request holds beside the system prompt, in short: role: content.
func heard(r *llmtest.Request) []string {
	var lines []string
	for i, m := range r.Messages {
		if i == 0 && m.Role == "system" {
			continue
		}
		text := m.Role + ": " + m.Content
		for _, c := range m.Calls {
			text += " +" + c.Name
		}
		lines = append(lines, text)
	}
	return lines
}

// Shorthand for what a model answers.

func says(text string) func(*llmtest.Request) llmtest.Response {
	return func(*llmtest.Request) llmtest.Response { return llmtest.Response{Text: text} }
}

// first answers the user's or sender's message with calls, and their results with text.
func first(text string, calls ...llmtest.Call) func(*llmtest.Request) llmtest.Response {
	return func(r *llmtest.Request) llmtest.Response {
		if r.Messages[len(r.Messages)-1].Role == "user" {
			return llmtest.Response{Calls: calls}
		}
		return llmtest.Response{Text: text}
	}
}

func send(id, to, message string) llmtest.Call {
	arguments, _ := json.Marshal(map[string]string{"recipient_agent": to, "message": message, "additional_instructions": ""})
	return llmtest.Call{ID: id, Name: "send_message", Arguments: string(arguments)}
}

func handoff(id, to string) llmtest.Call {
	return llmtest.Call{ID: id, Name: "transfer_to_" + to, Arguments: fmt.Sprintf(`{"recipient_agent":%q}`, to)}
}
