package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bureau/engine/llm"
	"bureau/engine/llm/llmtest"
	"bureau/engine/llm/openai"
)

var (
	echoTool = llm.Tool{Name: "echo", Description: "Repeats.", Parameters: json.RawMessage(`{"type":"object","properties":{"p":{"type":["integer","null"]}},"additionalProperties":false}`)}
	bareTool = llm.Tool{Name: "bare"}
)

// conversation is one with everything in it: notes in the middle, calls at once, empty outputs, queued messages.
func conversation() llm.Request {
	return llm.Request{
		Messages: []llm.Message{
			{Role: llm.RoleSystem, Content: "You are Note Taker."},
			{Role: llm.RoleSystem, Content: "Shared."},
			{Role: llm.RoleUser, Content: "first"},
			{Role: llm.RoleUser, Content: "and more"},
			{Role: llm.RoleAssistant, Content: ""},
			{Role: llm.RoleAssistant, Calls: []llm.Call{
				{ID: "call_0fypS1hVX-a", Name: "echo", Arguments: `{"p":1}`},
				{ID: "call_0fypS1hVX-b", Name: "bare", Arguments: ""},
			}},
			{Role: llm.RoleTool, CallID: "call_0fypS1hVX-a", Name: "Note Taker", Content: "one"},
			{Role: llm.RoleTool, CallID: "call_0fypS1hVX-b", Name: "🙂/x", Content: ""},
			{Role: llm.RoleUser, Content: "go on"},
			{Role: llm.RoleAssistant, Content: "I did."},
			{Role: llm.RoleSystem, Content: "You are the desk now."},
			{Role: llm.RoleUser, Content: "last"},
			{Role: llm.RoleSystem, Content: "Remember."},
		},
		Tools: []llm.Tool{echoTool, bareTool},
	}
}

func answerHello(*llmtest.Request) llmtest.Response { return llmtest.Response{Text: "hello"} }

// against returns a model of the server in a provider's dialect.
func against(t testing.TB, s *llmtest.Server, provider string, change ...func(*openai.Config)) *openai.Model {
	t.Helper()
	p, ok := openai.Lookup(provider)
	if !ok {
		p = openai.Custom(provider, s.URL, "")
		p.Dialect.OneSystemFirst = false // as a custom server that is not on this machine
	}
	p.BaseURL = s.URL
	return modelOf(t, s.URL, append([]func(*openai.Config){func(c *openai.Config) {
		c.Provider = p
		c.Key = func() string { return "secret-key-12345" }
	}}, change...)...)
}

func ask(t testing.TB, m *openai.Model, req llm.Request) llm.Reply {
	t.Helper()
	reply, err := m.Stream(context.Background(), req, func(llm.Delta) {})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return reply
}

func noneRefused(t testing.TB, s *llmtest.Server) {
	t.Helper()
	for _, reason := range s.Refused() {
		t.Errorf("refused: %s", reason)
	}
}

func TestEveryDialectIsAcceptedByItsServers(t *testing.T) {
	t.Parallel()
	strict := map[string][]llmtest.Option{
		"ollama":    {llmtest.StrictTemplate(), llmtest.RefuseNullContent()},
		"lmstudio":  {llmtest.StrictTemplate()},
		"llamacpp":  {llmtest.StrictTemplate()},
		"vllm":      {llmtest.StrictTemplate()},
		"mistral":   {llmtest.ShortCallIDs()},
		"anthropic": {llmtest.RefuseEmptyContent(), llmtest.StrictTemplate()},
		"acme":      nil,
	}
	names := []string{"acme"}
	for _, p := range openai.Providers() {
		names = append(names, p.Name)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.NewServer(t, answerHello, strict[name]...)
			m := against(t, s, name)
			req := conversation()
			before := fmt.Sprintf("%v", req)
			for range 2 {
				if reply := ask(t, m, req); reply.Text != "hello" {
					t.Errorf("reply %+v", reply)
				}
			}
			if after := fmt.Sprintf("%v", req); after != before {
				t.Errorf("the request was changed:\n%s\n%s", before, after)
			}
			noneRefused(t, s)
			requests := s.Requests()
			if len(requests) != 2 || string(requests[0].Body) != string(requests[1].Body) {
				t.Errorf("%d requests; the same conversation must always be sent alike", len(requests))
			}
			all := string(requests[0].Body)
			for _, text := range []string{"You are Note Taker.", "Shared.", "first", "and more", "one", "(no output)", "go on", "I did.", "You are the desk now.", "last", "Remember."} {
				if !strings.Contains(all, text) {
					t.Errorf("%q is not in the request", text)
				}
			}
			for _, message := range requests[0].Messages {
				if _, ok := message.Fields["name"]; ok {
					t.Errorf("a message has a name: %v", message)
				}
			}
		})
	}
}

func TestAlreadyValidHistoryIsSentAsItIs(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, answerHello)
	ask(t, against(t, s, "acme"), llm.Request{
		Messages: []llm.Message{
			{Role: llm.RoleSystem, Content: "s"}, {Role: llm.RoleUser, Content: "<b> & \u2028 é"},
			{Role: llm.RoleAssistant, Content: "looking", Calls: []llm.Call{{ID: "a", Name: "echo", Arguments: `{"p": 1}`}}},
			{Role: llm.RoleTool, CallID: "a", Content: "x\xffy"}, {Role: llm.RoleSystem, Content: "note"},
		},
		Tools: []llm.Tool{echoTool},
	})
	noneRefused(t, s)
	var got []string
	for _, m := range s.Requests()[0].Messages {
		got = append(got, m.Role+":"+m.Content)
	}
	want := []string{"system:s", "user:<b> & \u2028 é", "assistant:looking", "tool:x\ufffdy", "system:note"}
	if !slices.Equal(got, want) {
		t.Errorf("messages %q, want %q", got, want)
	}
	if call := s.Requests()[0].Messages[2].Calls[0]; call.ID != "a" || call.Arguments != `{"p": 1}` {
		t.Errorf("call %+v", call)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	zero, half, no, seed := 0.0, 0.5, false, 0
	full := llm.Settings{
		Temperature: &zero, TopP: &half, MaxOutputTokens: 100, ReasoningEffort: "low", ParallelToolCalls: &no, Seed: &seed, Stop: []string{"END"},
	}
	for _, c := range []struct {
		name, provider string
		settings       llm.Settings
		tools          []llm.Tool
		want, absent   map[string]string
	}{
		{name: "none", provider: "acme", want: map[string]string{"model": `"gpt-5/x"`, "stream": "true", "stream_options": `{"include_usage":true}`},
			absent: map[string]string{"temperature": "", "top_p": "", "max_tokens": "", "max_completion_tokens": "", "seed": "", "stop": "",
				"parallel_tool_calls": "", "reasoning_effort": "", "tools": ""}},
		{name: "all", provider: "acme", settings: full, tools: []llm.Tool{echoTool}, want: map[string]string{
			"temperature": "0", "top_p": "0.5", "max_tokens": "100", "reasoning_effort": `"low"`, "parallel_tool_calls": "false", "seed": "0", "stop": `["END"]`}},
		{name: "OpenAI's name of the limit", provider: "openai", settings: full, want: map[string]string{"max_completion_tokens": "100"},
			absent: map[string]string{"max_tokens": "", "parallel_tool_calls": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.NewServer(t, answerHello)
			m := against(t, s, c.provider, func(config *openai.Config) { config.Ref.Model = "gpt-5/x" })
			ask(t, m, llm.Request{Messages: hello.Messages, Settings: c.settings, Tools: c.tools})
			noneRefused(t, s)
			fields := s.Requests()[0].Fields
			for name, want := range c.want {
				if got := string(fields[name]); got != want {
					t.Errorf("%s is %s, want %s", name, got, want)
				}
			}
			for name := range c.absent {
				if raw, ok := fields[name]; ok {
					t.Errorf("%s is sent: %s", name, raw)
				}
			}
		})
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, answerHello)
	req := llm.Request{Messages: hello.Messages, Tools: []llm.Tool{echoTool, bareTool, {Name: "null", Parameters: json.RawMessage("null")}, {Name: "half", Parameters: json.RawMessage(`{"type":"object"}`)}}}
	ask(t, against(t, s, "acme"), req)
	ask(t, against(t, s, "gemini"), req)
	noneRefused(t, s)
	want := [][]string{
		{string(echoTool.Parameters), `{"type":"object","properties":{}}`, `{"type":"object","properties":{}}`, `{"properties":{},"type":"object"}`},
		{`{"properties":{"p":{"nullable":true,"type":"integer"}},"type":"object"}`, `{"type":"object","properties":{}}`, `{"type":"object","properties":{}}`, `{"properties":{},"type":"object"}`},
	}
	for i, r := range s.Requests() {
		for j, tool := range r.Tools {
			var got, expected any
			if json.Unmarshal(tool.Parameters, &got) != nil || json.Unmarshal([]byte(want[i][j]), &expected) != nil || !reflect.DeepEqual(got, expected) {
				t.Errorf("request %d, tool %s: %s, want %s", i, tool.Name, tool.Parameters, want[i][j])
			}
		}
	}
}

func TestNoteIsMarkedAndStandsInItsPlace(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, answerHello, llmtest.StrictTemplate())
	ask(t, against(t, s, "ollama"), conversation())
	var got []string
	for _, m := range s.Requests()[0].Messages {
		got = append(got, m.Role+":"+m.Content)
	}
	want := []string{
		"system:You are Note Taker.\n\nShared.", "user:first\n\nand more", "assistant:", "tool:one", "tool:(no output)", "user:go on",
		"assistant:I did.", "user:[Note] You are the desk now.\n\nlast\n\n[Note] Remember.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("messages\n%q, want\n%q", got, want)
	}
}

func TestStrictTemplateOfCutHistories(t *testing.T) {
	t.Parallel()
	call := llm.Message{Role: llm.RoleAssistant, Calls: []llm.Call{{ID: "a", Name: "echo", Arguments: "{}"}}}
	result := llm.Message{Role: llm.RoleTool, CallID: "a", Content: "x"}
	for name, messages := range map[string][]llm.Message{
		"begins with the assistant": {{Role: llm.RoleSystem, Content: "s"}, {Role: llm.RoleAssistant, Content: "a"}, {Role: llm.RoleUser, Content: "u"}},
		"begins with a call":        {{Role: llm.RoleSystem, Content: "s"}, call, result},
		"ends with the assistant":   {{Role: llm.RoleUser, Content: "u"}, {Role: llm.RoleAssistant, Content: "a"}},
		"a system message alone":    {{Role: llm.RoleSystem, Content: "s"}},
		"assistant twice":           {{Role: llm.RoleUser, Content: "u"}, {Role: llm.RoleAssistant, Content: "a"}, call, result},
		"note behind a result":      {{Role: llm.RoleUser, Content: "u"}, call, result, {Role: llm.RoleSystem, Content: "n"}},
		"empty user message":        {{Role: llm.RoleUser, Content: ""}},
	} {
		for _, provider := range []string{"ollama", "mistral"} {
			t.Run(provider+" "+name, func(t *testing.T) {
				t.Parallel()
				option := llmtest.StrictTemplate()
				if provider == "mistral" {
					option = llmtest.ShortCallIDs()
				}
				s := llmtest.NewServer(t, answerHello, option, llmtest.RefuseEmptyContent())
				ask(t, against(t, s, provider), llm.Request{Messages: messages, Tools: []llm.Tool{echoTool}})
				noneRefused(t, s)
			})
		}
	}
}

// TestForeignCallIDs: what another server called a call is called otherwise where that would be refused, and nowhere else.
func TestForeignCallIDs(t *testing.T) {
	t.Parallel()
	long, odd := "call_"+strings.Repeat("0123456789", 4), "functions.echo:0"
	for provider, kept := range map[string][2]bool{"openai": {false, true}, "azure": {false, true}, "anthropic": {true, false}, "groq": {true, true}} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			s := llmtest.NewServer(t, answerHello)
			ask(t, against(t, s, provider), llm.Request{Tools: []llm.Tool{echoTool}, Messages: []llm.Message{
				{Role: llm.RoleUser, Content: "u"},
				{Role: llm.RoleAssistant, Calls: []llm.Call{{ID: long, Name: "echo", Arguments: "{}"}, {ID: odd, Name: "echo", Arguments: "{}"}}},
				{Role: llm.RoleTool, CallID: long, Content: "1"}, {Role: llm.RoleTool, CallID: odd, Content: "2"},
			}})
			noneRefused(t, s)
			sent := string(s.Requests()[0].Body)
			for i, id := range []string{long, odd} {
				if strings.Contains(sent, id) != kept[i] {
					t.Errorf("%q was sent: %v, in %s", id, !kept[i], sent)
				}
			}
		})
	}
}

func TestCallsGoBackAsTheyCame(t *testing.T) {
	t.Parallel()
	signature := map[string]json.RawMessage{"extra_content": json.RawMessage(`{"google":{"thought_signature":"SIG=="}}`)}
	s := llmtest.NewServer(t, llmtest.Sequence(t,
		llmtest.Response{Calls: []llmtest.Call{{ID: "x1", Name: "echo", Arguments: `{"p":1}`, Extra: signature}, {ID: "x2", Name: "echo", Arguments: `{"p":2}`}}},
		llmtest.Response{Text: "done"},
	))
	m := against(t, s, "gemini")
	req := llm.Request{Messages: hello.Messages, Tools: []llm.Tool{echoTool}}
	first := ask(t, m, req)
	req.Messages = append(slices.Clone(req.Messages), llm.Message{Role: llm.RoleAssistant, Calls: first.Calls, Wire: first.Wire},
		llm.Message{Role: llm.RoleTool, CallID: "x1", Content: "1"}, llm.Message{Role: llm.RoleTool, CallID: "x2", Content: "2"})
	ask(t, m, req)
	noneRefused(t, s)
	calls := s.Requests()[1].Messages[1].Calls
	if got := string(calls[0].Extra["extra_content"]); got != string(signature["extra_content"]) {
		t.Errorf("the signature came back as %s", got)
	}
	if calls[1].Extra != nil {
		t.Errorf("the second call has one too: %v", calls[1].Extra)
	}
}

func TestReasoningGoesBackWhereItIsWanted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		provider string
		want     bool
	}{{"deepseek", true}, {"acme", true}, {"llamacpp", true}, {"openai", false}, {"groq", false}, {"ollama", false}} {
		t.Run(c.provider, func(t *testing.T) {
			t.Parallel()
			var options []llmtest.Option
			if c.want {
				options = append(options, llmtest.RequireReasoning())
			}
			s := llmtest.NewServer(t, llmtest.Sequence(t,
				llmtest.Response{Reasoning: "hm, echo", Calls: []llmtest.Call{{ID: "x1", Name: "echo", Arguments: `{}`}}},
				llmtest.Response{Text: "done"},
			), options...)
			m := against(t, s, c.provider)
			req := llm.Request{Messages: hello.Messages, Tools: []llm.Tool{echoTool}}
			first := ask(t, m, req)
			req.Messages = append(slices.Clone(req.Messages),
				llm.Message{Role: llm.RoleAssistant, Calls: first.Calls, Reasoning: first.Reasoning, Wire: first.Wire},
				llm.Message{Role: llm.RoleTool, CallID: "x1", Content: "1"})
			ask(t, m, req)
			noneRefused(t, s)
			_, sent := s.Requests()[1].Messages[1].Fields["reasoning_content"]
			if sent != c.want {
				t.Errorf("reasoning_content sent: %v", sent)
			}
		})
	}
}

func TestReasoningDetailsGoBackWhole(t *testing.T) {
	t.Parallel()
	raw := piece(`{"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","index":0,"signature":null}]}`) +
		piece(`{"reasoning":", ok","reasoning_details":[{"type":"reasoning.text","text":", ok","index":0,"signature":"S"}]}`) +
		piece(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"abc","id":"e1","index":1}]}`) +
		calls(`{"index":0,"id":"x1","function":{"name":"echo","arguments":"{}"}}`) + finish("tool_calls") + done
	s := llmtest.NewServer(t, llmtest.Sequence(t, llmtest.Response{Raw: []byte(raw)}, llmtest.Response{Text: "done"}))
	m := against(t, s, "openrouter")
	first := ask(t, m, hello)
	if first.Reasoning != "hm, ok" {
		t.Errorf("reasoning %q", first.Reasoning)
	}
	messages := append(slices.Clone(hello.Messages),
		llm.Message{Role: llm.RoleAssistant, Calls: first.Calls, Reasoning: first.Reasoning, Wire: first.Wire},
		llm.Message{Role: llm.RoleTool, CallID: "x1", Content: "1"})
	ask(t, m, llm.Request{Messages: messages, Tools: []llm.Tool{echoTool}})
	noneRefused(t, s)
	got := string(s.Requests()[1].Messages[1].Fields["reasoning_details"])
	want := `[{"index":0,"signature":"S","text":"hm, ok","type":"reasoning.text"},{"data":"abc","id":"e1","index":1,"type":"reasoning.encrypted"}]`
	if got != want {
		t.Errorf("reasoning_details\n%s, want\n%s", got, want)
	}
}
