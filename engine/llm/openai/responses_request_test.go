package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bureau/engine/llm"
	"bureau/engine/llm/llmtest"
	"bureau/engine/llm/openai"
)

// itemLines are the items of a request in short: type id text, or call_id name arguments.
func itemLines(r *llmtest.Request) []string {
	var lines []string
	for _, item := range r.Items {
		text := func(field string) string {
			var s string
			_ = json.Unmarshal(item.Fields[field], &s)
			return s
		}
		line := item.Type + " " + item.ID
		switch item.Type {
		case "message":
			line += " " + text("role") + ":" + text("content")
		case "function_call":
			line += " " + text("call_id") + " " + text("name") + " " + text("arguments")
		case "function_call_output":
			line += " " + text("call_id") + " " + text("output")
		}
		lines = append(lines, line)
	}
	return lines
}

func TestConversationOverResponses(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"openai", "acme", "ollama"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			var options []llmtest.Option
			if provider == "ollama" {
				options = append(options, llmtest.StrictTemplate())
			}
			s := llmtest.NewServer(t, answerHello, options...)
			m := against(t, s, provider, overResponses)
			req := conversation()
			before := fmt.Sprintf("%v", req)
			for range 2 {
				if reply := ask(t, m, req); reply.Text != "hello" || reply.Usage.InputTokens != 120 || reply.Usage.CachedTokens != 20 || reply.Usage.OutputTokens != 30 {
					t.Errorf("reply %+v", reply)
				}
			}
			if after := fmt.Sprintf("%v", req); after != before {
				t.Errorf("the request was changed:\n%s\n%s", before, after)
			}
			noneRefused(t, s)
			if r := s.Requests(); string(r[0].Body) != string(r[1].Body) {
				t.Error("the same conversation must always be sent alike")
			}
			if provider != "acme" {
				return
			}
			want := []string{
				"message  user:first", "message  user:and more", `function_call  call_0fypS1hVX-a echo {"p":1}`, "function_call  call_0fypS1hVX-b bare {}",
				"function_call_output  call_0fypS1hVX-a one", "function_call_output  call_0fypS1hVX-b (no output)", "message  user:go on", "message  assistant:I did.",
				"message  system:You are the desk now.", "message  user:last", "message  system:Remember.",
			}
			if got := itemLines(s.Requests()[0]); !slices.Equal(got, want) {
				t.Errorf("input\n%q, want\n%q", got, want)
			}
			if got := string(s.Requests()[0].Fields["instructions"]); got != `"You are Note Taker.\n\nShared."` {
				t.Errorf("instructions %s", got)
			}
		})
	}
}

func TestSettingsOverResponses(t *testing.T) {
	t.Parallel()
	zero, exact, no, seed := 0.0, 0.123456789012, false, 1
	for _, c := range []struct {
		name     string
		settings llm.Settings
		tools    []llm.Tool
		want     map[string]string
		absent   []string
	}{
		{name: "none", want: map[string]string{"model": `"gpt-5/x"`, "stream": "true", "store": "false", "include": `["reasoning.encrypted_content"]`, "reasoning": `{"summary":"auto"}`},
			absent: []string{"temperature", "top_p", "max_output_tokens", "parallel_tool_calls", "tools", "instructions", "stream_options"}},
		{name: "all", tools: []llm.Tool{echoTool},
			settings: llm.Settings{Temperature: &zero, TopP: &exact, MaxOutputTokens: 100, ReasoningEffort: "low", ParallelToolCalls: &no},
			want: map[string]string{"temperature": "0", "top_p": "0.123456789012", "max_output_tokens": "100", "reasoning": `{"effort":"low","summary":"auto"}`,
				"parallel_tool_calls": "false"}},
		{name: "no tools", settings: llm.Settings{ParallelToolCalls: &no}, absent: []string{"parallel_tool_calls"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.NewServer(t, answerHello)
			m := against(t, s, "acme", overResponses, func(config *openai.Config) { config.Ref.Model = "gpt-5/x" })
			ask(t, m, llm.Request{Messages: hello.Messages, Settings: c.settings, Tools: c.tools})
			noneRefused(t, s)
			fields := s.Requests()[0].Fields
			for name, want := range c.want {
				if got := string(fields[name]); got != want {
					t.Errorf("%s is %s, want %s", name, got, want)
				}
			}
			for _, name := range c.absent {
				if raw, ok := fields[name]; ok {
					t.Errorf("%s is sent: %s", name, raw)
				}
			}
		})
	}
	for name, settings := range map[string]llm.Settings{"seed": {Seed: &seed}, "stop": {Stop: []string{"END"}}} {
		s := llmtest.NewServer(t, answerHello)
		_, err := against(t, s, "acme", overResponses).Stream(context.Background(), llm.Request{Messages: hello.Messages, Settings: settings}, func(llm.Delta) {})
		checkError(t, err, rawCase{kind: llm.KindRequest, message: []string{name}, hint: "chat_completions"})
		if len(s.Requests()) != 0 {
			t.Errorf("%s: it was sent all the same", name)
		}
	}
}

func TestToolsOverResponsesAreNotStrict(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, answerHello)
	ask(t, against(t, s, "acme", overResponses), llm.Request{Messages: hello.Messages, Tools: []llm.Tool{{Name: "echo", Description: "Repeats.", Parameters: json.RawMessage(`{"type":"object","properties":{"p":{"type":"string"}}}`)}, bareTool}})
	noneRefused(t, s)
	var got, want any
	raw := s.Requests()[0].Fields["tools"]
	wanted := `[{"type":"function","name":"echo","description":"Repeats.","strict":false,"parameters":{"type":"object","properties":{"p":{"type":"string"}}}},
		{"type":"function","name":"bare","strict":false,"parameters":{"type":"object","properties":{}}}]`
	if json.Unmarshal(raw, &got) != nil || json.Unmarshal([]byte(wanted), &want) != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("tools %s, want %s", raw, wanted)
	}
}

// next is a request that goes on after a reply, each call of which is answered.
func next(req llm.Request, reply llm.Reply) llm.Request {
	req.Messages = append(slices.Clone(req.Messages), llm.Message{
		Role: llm.RoleAssistant, Content: reply.Text, Calls: reply.Calls, Reasoning: reply.Reasoning, Wire: reply.Wire,
	})
	for _, call := range reply.Calls {
		req.Messages = append(req.Messages, llm.Message{Role: llm.RoleTool, CallID: call.ID, Content: "done"})
	}
	if len(reply.Calls) == 0 {
		req.Messages = append(req.Messages, llm.Message{Role: llm.RoleUser, Content: "go on"})
	}
	return req
}

// TestItemsGoBackAsTheyCame goes through a server that refuses reasoning that is not to the byte what it sent, that comes
// without the item that followed it, and an item without its reasoning.
func TestItemsGoBackAsTheyCame(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, llmtest.Sequence(t,
		llmtest.Response{Reasoning: "hm <b>&</b> é\u2028", Calls: []llmtest.Call{{ID: "a", Name: "echo", Arguments: `{"p": 1}`}, {ID: "b", Name: "bare", Arguments: ""}}},
		llmtest.Response{Encrypted: "gAAAA+/==", Text: "First I look.", Calls: []llmtest.Call{{ID: "c", Name: "echo", Arguments: `{"p":2}`}}},
		llmtest.Response{Reasoning: "and so", Text: "Here it is."},
		llmtest.Response{Text: "done"},
	))
	m := against(t, s, "acme", overResponses)
	req := llm.Request{Messages: hello.Messages, Tools: []llm.Tool{echoTool, bareTool}}
	for range 3 {
		req = next(req, ask(t, m, req))
	}
	ask(t, m, req)
	noneRefused(t, s)
	want := []string{
		"message  user:hello", "reasoning rs_1", `function_call fc_1_1 a echo {"p": 1}`, "function_call fc_1_2 b bare {}", "function_call_output  a done",
		"function_call_output  b done", "reasoning rs_2", "message msg_2 assistant:", `function_call fc_2_1 c echo {"p":2}`, "function_call_output  c done",
		"reasoning rs_3", "message msg_3 assistant:", "message  user:go on",
	}
	if got := itemLines(s.Requests()[3]); !slices.Equal(got, want) {
		t.Errorf("input\n%q, want\n%q", got, want)
	}
	for _, item := range s.Requests()[3].Items {
		if item.ID == "msg_3" && !strings.Contains(string(item.Raw), `"phase":"final_answer"`) {
			t.Errorf("the message lost its phase: %s", item.Raw)
		}
	}
}

// TestWhatGoesBackOfReasoning: T28, T29 and T31 to T34 of the conformance table, as far as they are about requests.
func TestWhatGoesBackOfReasoning(t *testing.T) {
	t.Parallel()
	reasoning := func(id, rest string) string { return `{"id":"` + id + `","type":"reasoning","summary":[]` + rest + `}` }
	const encrypted = `,"encrypted_content":"gAAA=="`
	call := func(id, callID, name string) string {
		return fmt.Sprintf(`{"id":%q,"type":"function_call","call_id":%q,"name":%q,"arguments":"{}"}`, id, callID, name)
	}
	for _, c := range []struct {
		name   string
		output []string
		change func(*llm.Message)
		want   []string
	}{
		{"T28: two of reasoning go with the call that is left out", []string{reasoning("rs_1", encrypted), reasoning("rs_2", encrypted), call("fc_1", "c1", "f"), call("fc_2", "c2", "f")},
			func(m *llm.Message) { m.Calls = m.Calls[1:] }, []string{"function_call fc_2 c2 f {}"}},
		{"T29: two of reasoning before a message", []string{reasoning("rs_1", encrypted), reasoning("rs_2", encrypted), msgItem}, nil,
			[]string{"reasoning rs_1", "reasoning rs_2", "message msg_1 assistant:"}},
		{"reasoning with nothing after it", []string{msgItem, reasoning("rs_1", encrypted)}, nil, []string{"message msg_1 assistant:"}},
		{"T21, T31: an id that is the call's", []string{call("c1", "c1", "f")}, nil, []string{"function_call  c1 f {}"}},
		{"T32: reasoning that the server does not keep takes all ids with it", []string{reasoning("rs_1", ""), call("fc_1", "c1", "f"), call("fc_2", "c2", "f")}, nil,
			[]string{"function_call  c1 f {}", "function_call  c2 f {}"}},
		{"T33: encrypted reasoning stays", []string{reasoning("rs_1", encrypted), call("fc_1", "c1", "f")}, nil, []string{"reasoning rs_1", "function_call fc_1 c1 f {}"}},
		{"T34: reasoning in plain words stays", []string{reasoning("rs_1", `,"content":[{"type":"reasoning_text","text":"hm"}]`), call("fc_1", "c1", "f")}, nil,
			[]string{"reasoning rs_1", "function_call fc_1 c1 f {}"}},
		{"words that are on record otherwise", []string{reasoning("rs_1", encrypted), msgItem}, func(m *llm.Message) { m.Content = "Hi the" }, []string{"message  assistant:Hi the"}},
		{"a call id that is on record otherwise", []string{reasoning("rs_1", encrypted), call("fc_1", "c1", "f")}, func(m *llm.Message) { m.Calls[0].ID = "c1_2" },
			[]string{"reasoning rs_1", "function_call fc_1 c1_2 f {}"}},
		{"arguments as an object", []string{`{"id":"fc_1","type":"function_call","call_id":"c1","name":"f","arguments":{"a":1}}`}, nil, []string{`function_call fc_1 c1 f {"a":1}`}},
		{"arguments that were none", []string{`{"id":"fc_1","type":"function_call","call_id":"c1","name":"f","arguments":"{a"}`}, func(m *llm.Message) { m.Calls[0].Arguments = "{}" },
			[]string{"function_call fc_1 c1 f {}"}},
		{"an item of another kind", []string{reasoning("rs_1", encrypted), `{"id":"ws_1","type":"web_search_call","status":"completed"}`, msgItem}, nil, []string{"message  assistant:"}},
		{"a call id that is too long", []string{call("fc_1", strings.Repeat("x", 70), "f")}, nil, []string{"function_call fc_1 call_" + "d9d7a9b3" + " f {}"}},
		{"T30: an id that comes twice", []string{reasoning("rs_1", encrypted), call("fc_1", "c1", "f"), reasoning("rs_1", encrypted), call("fc_1", "c2", "f")}, nil,
			[]string{"reasoning rs_1", "function_call fc_1 c1 f {}", "function_call  c2 f {}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var requests []*llmtest.Request
			s := llmtest.NewServer(t, func(r *llmtest.Request) llmtest.Response {
				requests = append(requests, r)
				return llmtest.Response{Raw: []byte(completed(c.output...))}
			})
			m := against(t, s, "acme", overResponses)
			reply := ask(t, m, hello)
			req := next(hello, reply)
			if c.change != nil {
				said := &req.Messages[1]
				said.Calls = slices.Clone(said.Calls)
				c.change(said)
				var answers []llm.Message
				for _, call := range said.Calls {
					answers = append(answers, llm.Message{Role: llm.RoleTool, CallID: call.ID, Content: "done"})
				}
				if len(reply.Calls) > 0 {
					req.Messages = append(req.Messages[:2:2], answers...)
				}
			}
			// What is refused of these made-up items is not the point here: what is sent is.
			_, _ = m.Stream(context.Background(), req, func(llm.Delta) {})
			var got []string
			for _, line := range itemLines(s.Requests()[1]) {
				if !strings.HasPrefix(line, "message  user") && !strings.HasPrefix(line, "function_call_output") {
					if strings.Contains(line, " call_") {
						line = "function_call fc_1 call_d9d7a9b3 f {}"
					}
					got = append(got, line)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("sent\n%q, want\n%q", got, c.want)
			}
		})
	}
}

// TestHabitsOverResponses: what a server refuses by name is left out of the next try, and from then on at once.
func TestHabitsOverResponses(t *testing.T) {
	t.Parallel()
	zero, half := 0.0, 0.5
	holds := func(text string) func(*llmtest.Request) bool {
		return func(r *llmtest.Request) bool { return strings.Contains(string(r.Body), text) }
	}
	for _, c := range []struct {
		name     string
		unwanted func(*llmtest.Request) bool
		status   int
		message  string
	}{
		{"temperature", has("temperature"), 400, "Unsupported parameter: 'temperature' is not supported with this model."},
		{"top_p", has("top_p"), 400, "Unsupported parameter: 'top_p' is not supported with this model."},
		{"include", has("include"), 400, "Encrypted content is not supported with this model."},
		{"include by name", has("include"), 422, "body.include: Extra inputs are not permitted"},
		{"summary", holds(`"summary":"auto"`), 400, "Unsupported parameter: 'reasoning.summary' is not supported with this model."},
		{"summary of an unknown organisation", holds(`"summary":"auto"`), 400, "Your organization must be verified to generate reasoning summaries."},
		{"store", has("store"), 400, "Unknown parameter: 'store'."},
		{"strict", holds(`"strict"`), 400, "Unknown parameter: 'tools[0].strict'."},
		{"reasoning of another model", holds("gAAA"), 400, "The encrypted content gAAA... could not be verified."},
		{"reasoning for a model without", holds("gAAA"), 400, "Reasoning input items can only be provided to a reasoning or computer use model."},
		{"items that are not stored", holds("rs_9"), 404, "Item with id 'rs_9' not found. Items are not persisted when `store` is set to false."},
		{"order", func(r *llmtest.Request) bool { return r.Messages[len(r.Messages)-1].Role == "system" }, 500, "Error rendering prompt: System message must be at the beginning."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.NewServer(t, refuseWhen(c.unwanted, c.status, c.message))
			var refuse []string
			m := against(t, s, "acme", overResponses)
			req := conversation()
			req.Tools = []llm.Tool{echoTool} // whose schema is good as a strict one too
			req.Settings = llm.Settings{Temperature: &zero, TopP: &half, MaxOutputTokens: 10}
			if strings.Contains(c.name, "reasoning") || strings.Contains(c.name, "items") {
				kept := `[{"id":"rs_9","type":"reasoning","summary":[],"encrypted_content":"gAAA"},{"id":"msg_9","type":"message","role":"assistant","content":[{"type":"output_text","text":"I did."}]}]`
				req.Messages[9].Wire = map[string]json.RawMessage{"items": json.RawMessage(kept)}
				s = llmtest.NewServer(t, answerHello) // refuses by itself: it never sent these
				m = against(t, s, "acme", overResponses)
				refuse = []string{"could not be verified"}
			}
			for i := range 2 {
				if reply := ask(t, m, req); reply.Text != "hello" {
					t.Errorf("reply %+v", reply)
				}
				if got := len(s.Requests()); got != 2+i {
					t.Errorf("%d requests after %d answers", got, i+1)
				}
			}
			for _, reason := range s.Refused() {
				if refuse == nil || !strings.Contains(reason, refuse[0]) {
					t.Errorf("refused: %s", reason)
				}
			}
			if refuse != nil && holds("msg_9")(s.Requests()[1]) {
				t.Error("the message went without its reasoning, but with its id")
			}
		})
	}
}

func TestRefusedWithoutAHabitOverResponses(t *testing.T) {
	t.Parallel()
	for _, message := range []string{"max_output_tokens is too large", "Invalid value: 'turbo' for reasoning.effort", "something else"} {
		s := llmtest.NewServer(t, refuseWhen(func(*llmtest.Request) bool { return true }, 400, message))
		_, err := against(t, s, "acme", overResponses).Stream(context.Background(), conversation(), func(llm.Delta) {})
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.KindRequest || len(s.Requests()) != 1 {
			t.Errorf("%s: %v after %d requests", message, err, len(s.Requests()))
		}
	}
}

func TestProbeOverResponses(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, func(*llmtest.Request) llmtest.Response {
		return llmtest.Response{Calls: []llmtest.Call{{Name: "ping", Arguments: `{"word":"hello"}`}}}
	})
	result := openai.Probe(context.Background(), openai.Config{
		Ref: llm.Ref{Provider: "acme", Model: "m"}, Provider: openai.Custom("acme", s.URL, ""), API: "responses",
	})
	if !result.Reachable || !result.Streams || !result.Tools || result.Err != nil {
		t.Errorf("probe %+v", result)
	}
	if len(s.Requests()) != 1 || !s.Requests()[0].Responses {
		t.Error("it was not asked over the Responses API")
	}
}
