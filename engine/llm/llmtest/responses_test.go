package llmtest_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"bureau/engine/llm/llmtest"
)

const (
	userItem   = `{"type":"message","role":"user","content":"hello"}`
	saidItem   = `{"type":"message","role":"assistant","content":"hi"}`
	calledItem = `{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`
	resultItem = `{"type":"function_call_output","call_id":"a","output":"x"}`
	lookTool   = `{"type":"function","name":"f","strict":false,"parameters":{"type":"object"}}`
)

func input(items ...string) string {
	return `{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],"input":[` + strings.Join(items, ",") + `]}`
}

func postItems(t testing.TB, s *llmtest.Server, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(s.URL+"/responses", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, string(b) + " then " + err.Error()
	}
	return resp.StatusCode, string(b)
}

// with puts further fields into an input.
func with(body, fields string) string { return strings.TrimSuffix(body, "}") + "," + fields + "}" }

func TestRefusalsOfResponses(t *testing.T) {
	t.Parallel()
	swap := func(item, old, now string) string { return strings.Replace(item, old, now, 1) }
	for _, c := range []struct {
		name, body, want string
		options          []llmtest.Option
	}{
		{name: "a good one", body: with(input(userItem, calledItem, resultItem, saidItem, userItem), `"instructions":"be brief","tools":[`+lookTool+`],"reasoning":{"summary":"auto"},"max_output_tokens":9`)},
		{name: "calls of one answer", body: input(userItem, calledItem, swap(calledItem, `"a"`, `"b"`), swap(resultItem, `"a"`, `"b"`), resultItem)},
		{name: "a strict tool with a strict schema", body: with(input(userItem), `"tools":[{"type":"function","name":"f","parameters":{"type":"object","additionalProperties":false}}]`)},
		{name: "not JSON", body: "{", want: "not a JSON object"},
		{name: "no model", body: `{"input":[]}`, want: "'model'"},
		{name: "no input", body: `{"model":"m"}`, want: "not a list of items"},
		{name: "empty input", body: input(), want: "input is empty"},
		{name: "unknown field", body: with(input(userItem), `"seed":1`), want: "unknown parameter: 'seed'"},
		{name: "messages", body: with(input(userItem), `"messages":[]`), want: "unknown parameter: 'messages'"},
		{name: "unknown include", body: `{"model":"m","include":["all"],"input":[` + userItem + `]}`, want: "'all' in include"},
		{name: "unknown part of reasoning", body: with(input(userItem), `"reasoning":{"depth":1}`), want: "'reasoning.depth'"},
		{name: "empty reasoning", body: with(input(userItem), `"reasoning":{}`), want: "something in it"},
		{name: "unknown item", body: input(userItem, `{"type":"thought","text":"x"}`), want: "'thought' as input[1].type"},
		{name: "unknown field of an item", body: input(swap(userItem, `"role"`, `"name":"x","role"`)), want: "'input[0].name'"},
		{name: "unknown role", body: input(swap(userItem, `"user"`, `"agent"`)), want: "'agent' as input[0].role"},
		{name: "empty message", body: input(swap(userItem, "hello", "")), want: "input[0].content is empty"},
		{name: "a part of the wrong kind", body: input(userItem, swap(saidItem, `"hi"`, `[{"type":"input_text","text":"hi"}]`), userItem), want: "'input_text'"},
		{name: "an id of the wrong kind", body: input(userItem, swap(calledItem, `"call_id"`, `"id":"call_1","call_id"`), resultItem), want: "begins with 'fc_'"},
		{name: "an id twice", body: input(userItem, swap(saidItem, `"role"`, `"id":"msg_9","role"`), swap(saidItem, `"role"`, `"id":"msg_9","role"`), userItem), want: "duplicate item"},
		{name: "last is the assistant's", body: input(userItem, saidItem), want: "nothing to answer"},
		{name: "output without its call", body: input(userItem, resultItem), want: "no tool call found"},
		{name: "output twice", body: input(userItem, calledItem, resultItem, resultItem), want: "no tool call found"},
		{name: "empty output", body: input(userItem, calledItem, swap(resultItem, `"x"`, `""`)), want: "no text, or empty"},
		{name: "call not answered", body: input(userItem, calledItem, userItem), want: "no tool output found for function call a"},
		{name: "call id twice", body: input(userItem, calledItem, resultItem, calledItem, resultItem), want: "there twice"},
		{name: "call id too long", body: input(userItem, swap(calledItem, `"a"`, `"`+strings.Repeat("a", 65)+`"`), resultItem), want: "too long"},
		{name: "illegal name of a call", body: input(userItem, swap(calledItem, `"f"`, `"f g"`), resultItem), want: "does not match"},
		{name: "arguments that are no object", body: input(userItem, swap(calledItem, `"{}"`, `"[]"`), resultItem), want: "not a JSON object"},
		{name: "arguments that are no text", body: input(userItem, swap(calledItem, `"{}"`, `{}`), resultItem), want: "not a JSON object"},
		{name: "a tool as Chat Completions has it", body: with(input(userItem), `"tools":[{"type":"function","function":{"name":"f"}}]`), want: "'tools[0].function'"},
		{name: "strict by default", body: with(input(userItem), `"tools":[{"type":"function","name":"f","parameters":{"type":"object"}}]`), want: "additionalProperties"},
		{name: "parallel calls without tools", body: with(input(userItem), `"parallel_tool_calls":false`), want: "only allowed when tools"},
		{name: "reasoning that nobody sent", body: input(userItem, `{"type":"reasoning","id":"rs_9","summary":[],"encrypted_content":"gX=="}`, saidItem, userItem), want: "could not be verified"},
		{name: "reasoning that is not kept", body: input(userItem, `{"type":"reasoning","id":"rs_9","summary":[]}`, saidItem, userItem), want: "not persisted"},
		{name: "too long", options: []llmtest.Option{llmtest.Window(10)}, body: input(userItem), want: "maximum context length"},
		{name: "user twice", options: []llmtest.Option{llmtest.StrictTemplate()}, body: input(userItem, userItem), want: "must alternate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.NewServer(t, hello, c.options...)
			status, answer := postItems(t, s, c.body)
			refused := s.Refused()
			if c.want == "" {
				if status != http.StatusOK || len(refused) != 0 {
					t.Fatalf("%d %s", status, answer)
				}
				return
			}
			if status != http.StatusBadRequest || len(refused) != 1 || !strings.Contains(refused[0], c.want) {
				t.Errorf("%d %q, want %q", status, refused, c.want)
			}
		})
	}
}

// TestReasoningComesBackAsItWas: what the server sent must come back to the byte, with what it was sent with.
func TestReasoningComesBackAsItWas(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, func(r *llmtest.Request) llmtest.Response {
		if len(r.Items) == 1 {
			return llmtest.Response{Reasoning: "hm <&>", Calls: []llmtest.Call{{ID: "a", Name: "f", Arguments: "{}"}}}
		}
		return llmtest.Response{Text: "ok"}
	})
	_, stream := postItems(t, s, input(userItem))
	var items []string
	for line := range strings.SplitSeq(stream, "\n") {
		var e struct {
			Type string          `json:"type"`
			Item json.RawMessage `json:"item"`
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(data), &e) == nil && e.Type == "response.output_item.done" {
			items = append(items, string(e.Item))
		}
	}
	if len(items) != 2 {
		t.Fatalf("items %q", items)
	}
	for _, c := range []struct{ name, body, want string }{
		{"as it was", input(userItem, items[0], items[1], resultItem), ""},
		{"neither, and a call without its id", input(userItem, calledItem, resultItem), ""},
		{"changed", input(userItem, strings.Replace(items[0], "hm", "ha", 1), items[1], resultItem), "could not be verified"},
		{"without the item after it", input(userItem, items[0], calledItem, resultItem), "without its required following item"},
		{"the item without it", input(userItem, items[1], resultItem), "without its required 'reasoning' item"},
	} {
		status, answer := postItems(t, s, c.body)
		if (status == http.StatusOK) != (c.want == "") || !strings.Contains(answer, c.want) {
			t.Errorf("%s: %d %s", c.name, status, answer)
		}
	}
}

func TestEventsOfResponses(t *testing.T) {
	t.Parallel()
	usage := &llmtest.Usage{Input: 1, Output: 2, Cached: 3, Reasoning: 4}
	for _, c := range []struct {
		name   string
		answer llmtest.Response
		want   []string // types, without "response."
		holds  string
	}{
		{"words", llmtest.Response{Text: "hello", ChunkSize: 3, Usage: usage}, []string{"created", "output_item.added", "output_text.delta", "output_text.delta", "output_text.done", "output_item.done", "completed"}, `"reasoning_tokens":4`},
		{"a call", llmtest.Response{Calls: []llmtest.Call{{Name: "f", Arguments: "{}"}}}, []string{"created", "output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done", "completed"}, `"call_id":"call_1"`},
		{"reasoning", llmtest.Response{Reasoning: "hm", Text: "hi"}, []string{"created", "output_item.added", "reasoning_summary_text.delta", "output_item.done", "output_item.added", "output_text.delta", "output_text.done", "output_item.done", "completed"}, `"encrypted_content":"gAAAA-1=="`},
		{"cut at the limit", llmtest.Response{Text: "hi", Finish: "length"}, []string{"created", "output_item.added", "output_text.delta", "output_text.done", "output_item.done", "incomplete"}, `"reason":"max_output_tokens"`},
		{"an answer of bytes", llmtest.Response{Raw: []byte("data: {\"type\":\"response.x\"}\n\n")}, []string{"x"}, ""},
	} {
		s := llmtest.NewServer(t, func(*llmtest.Request) llmtest.Response { return c.answer })
		_, stream := postItems(t, s, input(userItem))
		var got []string
		scanner := bufio.NewScanner(strings.NewReader(stream))
		for scanner.Scan() {
			var e struct {
				Type string `json:"type"`
			}
			if data, ok := strings.CutPrefix(scanner.Text(), "data: "); ok && json.Unmarshal([]byte(data), &e) == nil {
				got = append(got, strings.TrimPrefix(e.Type, "response."))
			}
		}
		if strings.Join(got, " ") != strings.Join(c.want, " ") || !strings.Contains(stream, c.holds) {
			t.Errorf("%s: events %q, want %q; %s", c.name, got, c.want, stream)
		}
	}
}
