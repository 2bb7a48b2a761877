package openai_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"bureau/engine/llm"
	"bureau/engine/llm/llmtest"
)

// refuseWhen answers 400 with the message as long as the request is as the server does not want it.
func refuseWhen(unwanted func(*llmtest.Request) bool, status int, message string) func(*llmtest.Request) llmtest.Response {
	return func(r *llmtest.Request) llmtest.Response {
		if unwanted(r) {
			return llmtest.Response{Status: status, Body: fmt.Sprintf(`{"error":{"message":%s,"type":"invalid_request_error"}}`, quoted(message))}
		}
		return llmtest.Response{Text: "hello"}
	}
}

func has(field string) func(*llmtest.Request) bool {
	return func(r *llmtest.Request) bool { _, ok := r.Fields[field]; return ok }
}

// TestHabits: what a server refuses by name is sent once more in the other form, and from then on at once.
func TestHabits(t *testing.T) {
	t.Parallel()
	zero, half := 0.0, 0.5
	all := llm.Settings{Temperature: &zero, TopP: &half, MaxOutputTokens: 10}
	// content is unwanted in any other form, in a message of calls alone.
	content := func(want string) func(*llmtest.Request) bool {
		return func(r *llmtest.Request) bool {
			for _, m := range r.Messages {
				if len(m.Calls) > 0 && string(m.Fields["content"]) != want {
					return true
				}
			}
			return false
		}
	}
	for _, c := range []struct {
		name, provider string
		unwanted       func(*llmtest.Request) bool
		status         int
		message        string
		requests       int
	}{
		{"max_tokens", "acme", has("max_tokens"), 400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", 2},
		{"max_completion_tokens", "azure", has("max_completion_tokens"), 400, "Unrecognized request argument supplied: max_completion_tokens", 2},
		{"max_completion_tokens, extra field", "groq", has("max_completion_tokens"), 422, "body.max_completion_tokens: Extra inputs are not permitted", 2},
		{"temperature", "acme", has("temperature"), 400, "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.", 2},
		{"temperature of Kimi", "acme", has("temperature"), 400, "invalid temperature: only 1 is allowed for this model", 2},
		{"top_p", "acme", has("top_p"), 400, "top_p is deprecated for this model", 2},
		{"stream_options", "acme", has("stream_options"), 422, "Extra inputs are not permitted: stream_options", 2},
		{"content null", "acme", content("null"), 400, "messages.3.content: Field required", 3},
		{"content empty", "acme", content(`""`), 400, "missing field `content`", 2},
		{"roles must alternate", "acme", func(r *llmtest.Request) bool { return r.Messages[1].Role == "system" }, 500,
			"Error rendering prompt: System message must be at the beginning.", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.NewServer(t, refuseWhen(c.unwanted, c.status, c.message))
			m := against(t, s, c.provider)
			req := conversation()
			req.Settings = all
			for i := range 2 {
				if reply := ask(t, m, req); reply.Text != "hello" {
					t.Errorf("reply %+v", reply)
				}
				if got := len(s.Requests()); got != c.requests+i {
					t.Errorf("%d requests after %d answers, want %d", got, i+1, c.requests+i)
				}
			}
			noneRefused(t, s)
		})
	}
}

func TestSeveralHabitsAtOnce(t *testing.T) {
	t.Parallel()
	zero := 0.0
	s := llmtest.NewServer(t, func(r *llmtest.Request) llmtest.Response {
		for _, field := range []string{"max_tokens", "temperature", "stream_options"} {
			if has(field)(r) {
				return refuseWhen(has(field), 400, "Unsupported parameter: '"+field+"'")(r)
			}
		}
		return llmtest.Response{Text: "hello"}
	})
	m := against(t, s, "acme")
	req := llm.Request{Messages: hello.Messages, Settings: llm.Settings{Temperature: &zero, MaxOutputTokens: 10}}
	ask(t, m, req)
	if got := len(s.Requests()); got != 4 {
		t.Errorf("%d requests, want 4", got)
	}
	ask(t, m, req)
	if got := len(s.Requests()); got != 5 {
		t.Errorf("%d requests, want 5", got)
	}
}

// TestRefusalsThatAreNoHabits are told at once: the same request is not sent twice.
func TestRefusalsThatAreNoHabits(t *testing.T) {
	t.Parallel()
	zero := 0.0
	for _, c := range []struct {
		name, message string
		status        int
		kind          llm.Kind
		requests      int
	}{
		{"something else", "messages is too long", 400, llm.KindRequest, 1},
		{"limit too large", "max_tokens is too large: 10. This model supports at most 5 completion tokens", 400, llm.KindRequest, 1},
		{"temperature out of range", "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.", 400, llm.KindRequest, 1},
		{"overflow that names it", "This model's maximum context length is 10 tokens; reduce max_tokens. max_tokens invalid", 400, llm.KindOverflow, 1},
		{"refused in both forms", "max_tokens and max_completion_tokens are not supported", 400, llm.KindRequest, 2},
		{"a server's failure", "temperature is not supported", 500, llm.KindServer, 1},
		{"a wrong key", "temperature is not supported", 401, llm.KindAuth, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.NewServer(t, refuseWhen(func(*llmtest.Request) bool { return true }, c.status, c.message))
			m := against(t, s, "acme")
			_, err := m.Stream(context.Background(), llm.Request{Messages: hello.Messages, Settings: llm.Settings{Temperature: &zero, MaxOutputTokens: 10}}, func(llm.Delta) {})
			checkError(t, err, rawCase{kind: c.kind})
			if got := len(s.Requests()); got != c.requests {
				t.Errorf("%d requests, want %d", got, c.requests)
			}
		})
	}
}

// TestReasoningHabits: a server that wants its reasoning back gets it, and one that refuses the field is spared it.
func TestReasoningHabits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, provider, message string
		wants                   bool
	}{
		{"wants it", "together", "The `reasoning_content` in the thinking mode must be passed back to the API.", true},
		{"refuses it", "acme", "'messages.1' : property 'reasoning_content' is unsupported", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.NewServer(t, refuseWhen(func(r *llmtest.Request) bool {
				_, sent := r.Messages[1].Fields["reasoning_content"]
				return sent != c.wants
			}, 400, c.message))
			m := against(t, s, c.provider)
			ask(t, m, llm.Request{Tools: []llm.Tool{echoTool}, Messages: []llm.Message{
				{Role: llm.RoleUser, Content: "u"},
				{Role: llm.RoleAssistant, Reasoning: "hm", Calls: []llm.Call{{ID: "a", Name: "echo", Arguments: "{}"}}},
				{Role: llm.RoleTool, CallID: "a", Content: "x"},
			}})
			if got := len(s.Requests()); got != 2 {
				t.Errorf("%d requests, want 2", got)
			}
		})
	}
}

func TestManyRequestsAtOnce(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, refuseWhen(has("max_tokens"), http.StatusBadRequest, "Unsupported parameter: 'max_tokens'"))
	m := against(t, s, "acme")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 5 {
				reply, err := m.Stream(context.Background(), llm.Request{Messages: hello.Messages, Settings: llm.Settings{MaxOutputTokens: 5}}, func(llm.Delta) {})
				if err != nil || reply.Text != "hello" {
					t.Errorf("%+v, %v", reply, err)
				}
			}
		})
	}
	group.Wait()
	for limit := time.Now().Add(10 * time.Second); s.Open() != 0 && time.Now().Before(limit); {
		runtime.Gosched() // a server ends its side a moment after the client has the answer
	}
	if s.Open() != 0 {
		t.Errorf("%d answers are still open", s.Open())
	}
}
