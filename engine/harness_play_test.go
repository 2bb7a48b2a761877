package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"bureau/engine"
	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/llm/llmtest"
	"bureau/engine/tool"
)

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

// inTurn answers the requests of a model one after the other; the last answer is also for all that follow.
func inTurn(responses ...llmtest.Response) func(*llmtest.Request) llmtest.Response {
	var mu sync.Mutex
	next := 0
	return func(*llmtest.Request) llmtest.Response {
		mu.Lock()
		defer mu.Unlock()
		next = min(next+1, len(responses))
		return responses[next-1]
	}
}

func calls(list ...llmtest.Call) llmtest.Response { return llmtest.Response{Calls: list} }

func text(s string) llmtest.Response { return llmtest.Response{Text: s} }

func fault(status int, message string) llmtest.Response {
	return llmtest.Response{Status: status, Body: fmt.Sprintf(`{"error":{"message":%q}}`, message)}
}

func send(id, to, message string) llmtest.Call { return sendWith(id, to, message, "") }

func sendWith(id, to, message, additional string) llmtest.Call {
	arguments, _ := json.Marshal(map[string]string{"recipient_agent": to, "message": message, "additional_instructions": additional})
	return llmtest.Call{ID: id, Name: "send_message", Arguments: string(arguments)}
}

func handoff(id, to string) llmtest.Call {
	return llmtest.Call{ID: id, Name: "transfer_to_" + to, Arguments: fmt.Sprintf(`{"recipient_agent":%q}`, to)}
}

func call(id, name, arguments string) llmtest.Call {
	return llmtest.Call{ID: id, Name: name, Arguments: arguments}
}

// fake is a tool that takes any object.
type fake struct {
	name string
	run  func(ctx context.Context, arguments string) (string, error)
}

func (f fake) Definition() llm.Tool {
	return llm.Tool{Name: f.name, Description: "For tests.", Parameters: json.RawMessage(`{"type":"object","properties":{"x":{},"y":{}}}`)}
}

func (f fake) Run(ctx context.Context, c tool.Call) (string, error) {
	return f.run(ctx, string(c.Arguments))
}

// gives is a tool that always gives the same.
func gives(name, result string) tool.Tool {
	return fake{name, func(context.Context, string) (string, error) { return result, nil }}
}

// scripted is a model in memory.
type scripted struct {
	name   string
	window int
	// answer is called for each request, the first has n = 1.
	answer func(ctx context.Context, n int, req llm.Request, on func(llm.Delta)) (llm.Reply, error)

	mu       sync.Mutex
	requests []llm.Request
}

func (m *scripted) Ref() llm.Ref               { return llm.Ref{Provider: "memory", Model: m.name} }
func (m *scripted) Protocol() history.Protocol { return history.ProtocolChatCompletions }
func (m *scripted) Window() int                { return m.window }

func (m *scripted) Stream(ctx context.Context, req llm.Request, on func(llm.Delta)) (llm.Reply, error) {
	m.mu.Lock()
	m.requests = append(m.requests, req)
	n := len(m.requests)
	m.mu.Unlock()
	return m.answer(ctx, n, req, on)
}

// only gives all agents the same model.
func only(m *scripted) func(string) llm.Model { return func(string) llm.Model { return m } }

// utter streams a text at once and ends the reply with it.
func utter(on func(llm.Delta), text string) (llm.Reply, error) {
	on(llm.Delta{Text: text})
	return llm.Reply{Text: text, Finish: llm.FinishStop}, nil
}

// invoke streams calls at once and ends the reply with them.
func invoke(on func(llm.Delta), list ...llmtest.Call) (llm.Reply, error) {
	reply := llm.Reply{Finish: llm.FinishToolCalls}
	for i, c := range list {
		on(llm.Delta{Call: &llm.CallDelta{Index: i, ID: c.ID, Name: c.Name}})
		on(llm.Delta{Call: &llm.CallDelta{Index: i, Arguments: c.Arguments}})
		reply.Calls = append(reply.Calls, llm.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	return reply, nil
}

// code is the code of the error that a turn ended with; empty for none.
func code(err error) history.Code {
	var e *engine.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func equal(t testing.TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\n got %q\nwant %q", what, got, want)
	}
}

// holds checks that a text has every part in it.
func holds(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, text)
		}
	}
}

func toolNames(r *llmtest.Request) []string {
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names
}

// agents is an agency's text with agents of these names, each with its name as instructions, and these flows.
func agentsOf(names string, flows ...string) string {
	var b strings.Builder
	b.WriteString("agents:\n")
	for _, name := range strings.Fields(names) {
		fmt.Fprintf(&b, "  %s: {instructions: I am %s}\n", name, name)
	}
	if len(flows) > 0 {
		fmt.Fprintf(&b, "communication_flows: [%s]\n", strings.Join(flows, ", "))
	}
	return b.String()
}

func failing(name, reason string) tool.Tool {
	return fake{name, func(context.Context, string) (string, error) { return "", errors.New(reason) }}
}

func breaking(name string) tool.Tool {
	return fake{name, func(context.Context, string) (string, error) { return []string{}[len(name)], nil }}
}

// alone is the tool as a bench's only one.
func (f fake) alone() []tool.Tool { return []tool.Tool{f} }
