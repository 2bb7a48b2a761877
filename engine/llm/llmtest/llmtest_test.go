package llmtest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"bureau/engine/llm/llmtest"
)

const (
	system = `{"role":"system","content":"be brief"}`
	user   = `{"role":"user","content":"hello"}`
	called = `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	result = `{"role":"tool","tool_call_id":"a","content":"x"}`
	said   = `{"role":"assistant","content":"hi"}`
)

func body(messages ...string) string {
	return `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[` + strings.Join(messages, ",") + `]}`
}

func post(t testing.TB, s *llmtest.Server, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(s.URL+"/chat/completions", "application/json", strings.NewReader(body))
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

func hello(*llmtest.Request) llmtest.Response { return llmtest.Response{Text: "hello"} }

func TestRefusals(t *testing.T) {
	t.Parallel()
	call := func(id, kind, name, args string) string {
		return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":%q,"function":{"name":%q,"arguments":%q}}]}`, id, kind, name, args)
	}
	tool := func(name, schema string) string {
		return `{"type":"function","function":{"name":"` + name + `","parameters":` + schema + `}}`
	}
	withTools := func(tools string) string {
		return `{"model":"m","messages":[` + user + `],"tools":[` + tools + `]}`
	}
	for _, c := range []struct {
		name, body, want string
		options          []llmtest.Option
	}{
		{name: "a good one", body: body(system, user, called, result, said, user)},
		{name: "two calls answered in any order", body: body(user,
			`{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
			`{"role":"tool","tool_call_id":"b","content":"x"}`, result)},
		{name: "good tools", body: withTools(tool("f", `{"type":"object"}`) + "," + tool("g", `{"type":"object","properties":{}}`))},
		{name: "not JSON", body: `{`, want: "not a JSON object"},
		{name: "invalid UTF-8", body: "{\"model\":\"\xff\"}", want: "UTF-8"},
		{name: "no model", body: `{"messages":[]}`, want: "model is missing"},
		{name: "no messages", body: body(), want: "messages is empty"},
		{name: "unknown field", body: `{"model":"m","bureau":1,"messages":[` + user + `]}`, want: "bureau"},
		{name: "unknown field of a message", body: body(`{"role":"user","content":"x","run_id":"r"}`), want: "run_id is an unknown field"},
		{name: "unknown field of a call", body: body(user, strings.Replace(called, `"id"`, `"index":0,"id"`, 1), result), want: "index is an unknown field"},
		{name: "unknown role", body: body(`{"role":"agent","content":"x"}`), want: `role "agent" is unknown`},
		{name: "illegal name", body: body(`{"role":"user","content":"x","name":"Note Taker"}`), want: "name"},
		{name: "no content", body: body(`{"role":"user"}`), want: "content is missing"},
		{name: "content that is an object", body: body(`{"role":"user","content":{}}`), want: "neither text nor a list"},
		{name: "empty assistant message", body: body(user, `{"role":"assistant","content":""}`, user), want: "neither content nor tool_calls"},
		{name: "last is the assistant's", body: body(user, said), want: "nothing to answer"},
		{name: "output without a call", body: body(user, result), want: "must answer a call"},
		{name: "output for another call", body: body(user, called, strings.Replace(result, `"a"`, `"b"`, 1)), want: `"b" does not`},
		{name: "output twice", body: body(user, called, result, result), want: "must answer a call"},
		{name: "output too late", body: body(user, called, user, result), want: "a is not answered"},
		{name: "call not answered", body: body(user, called), want: "nothing to answer|not answered"},
		{name: "id used again later", body: body(user, called, result, called, result), want: `"a" is used twice`},
		{name: "no id", body: body(user, call("", "function", "f", "{}"), result), want: "id is missing"},
		{name: "no type", body: body(user, call("a", "", "f", "{}"), result), want: "type is not function"},
		{name: "illegal tool name in a call", body: body(user, call("a", "function", "f g", "{}"), result), want: "does not match"},
		{name: "arguments that are no JSON", body: body(user, call("a", "function", "f", `{"p`), result), want: "not a JSON object"},
		{name: "arguments that are a list", body: body(user, call("a", "function", "f", `[]`), result), want: "not a JSON object"},
		{name: "arguments that are null", body: body(user, call("a", "function", "f", `null`), result), want: "not a JSON object"},
		{name: "empty list of calls", body: body(user, `{"role":"assistant","content":"x","tool_calls":[]}`, user), want: "at least one"},
		{name: "no tools in tools", body: withTools(""), want: "tools is empty"},
		{name: "illegal tool name", body: withTools(tool("a b", `{"type":"object"}`)), want: "does not match"},
		{name: "tool twice", body: withTools(tool("f", `{"type":"object"}`) + "," + tool("f", `{"type":"object"}`)), want: "is there twice"},
		{name: "tool without a schema", body: withTools(`{"type":"function","function":{"name":"f"}}`), want: "type object"},
		{name: "schema null", body: withTools(tool("f", "null")), want: "type object"},
		{name: "schema of another type", body: withTools(tool("f", `{"type":"string"}`)), want: "type object"},
		{name: "parallel calls without tools", body: `{"model":"m","parallel_tool_calls":false,"messages":[` + user + `]}`, want: "only allowed when tools"},

		{name: "null content", options: []llmtest.Option{llmtest.RefuseNullContent()}, body: body(user, call("a", "function", "f", "{}"), result), want: "<nil>"},
		{name: "empty content", options: []llmtest.Option{llmtest.RefuseEmptyContent()}, body: body(`{"role":"user","content":""}`), want: "is empty"},
		{name: "absent content", options: []llmtest.Option{llmtest.RequireContent()}, body: body(user, called, result), want: "field required"},
		{name: "second system message", options: []llmtest.Option{llmtest.StrictTemplate()}, body: body(system, system, user), want: "at the beginning"},
		{name: "user twice", options: []llmtest.Option{llmtest.StrictTemplate()}, body: body(system, user, user), want: "must alternate"},
		{name: "assistant first", options: []llmtest.Option{llmtest.StrictTemplate()}, body: body(said, user), want: "must alternate"},
		{name: "a good one for a template", options: []llmtest.Option{llmtest.StrictTemplate()}, body: body(system, user, called, result, said, user)},
		{name: "long id", options: []llmtest.Option{llmtest.ShortCallIDs()}, body: body(user, called, result), want: "length of 9"},
		{name: "user after tool", options: []llmtest.Option{llmtest.ShortCallIDs()},
			body: body(user, strings.Replace(called, `"a"`, `"abcdefghi"`, 1), strings.Replace(result, `"a"`, `"abcdefghi"`, 1), user), want: "after role 'tool'"},
		{name: "too long", options: []llmtest.Option{llmtest.Window(10)}, body: body(user), want: "context_length_exceeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.NewServer(t, hello, c.options...)
			status, answer := post(t, s, c.body)
			if c.want == "" {
				if status != http.StatusOK || len(s.Refused()) != 0 {
					t.Fatalf("%d %s", status, answer)
				}
				return
			}
			found := false
			for _, want := range strings.Split(c.want, "|") {
				found = found || strings.Contains(strings.ReplaceAll(strings.ReplaceAll(answer, `\"`, `"`), `\u003c`, "<"), want) || strings.Contains(strings.Join(s.Refused(), ""), want)
			}
			if status != http.StatusBadRequest || !found || len(s.Refused()) != 1 {
				t.Errorf("%d %s, refused %q; want %q", status, answer, s.Refused(), c.want)
			}
			if len(s.Requests()) != 1 {
				t.Errorf("%d requests", len(s.Requests()))
			}
		})
	}
}

func TestReasoningMustComeBack(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, func(*llmtest.Request) llmtest.Response {
		return llmtest.Response{Reasoning: "hm", Calls: []llmtest.Call{{ID: "a", Name: "f", Arguments: "{}"}}}
	}, llmtest.RequireReasoning())
	post(t, s, body(user))
	if status, answer := post(t, s, body(user, called, result)); status != http.StatusBadRequest || !strings.Contains(answer, "must be passed back") {
		t.Errorf("%d %s", status, answer)
	}
	with := strings.Replace(called, `"role"`, `"reasoning_content":"hm","role"`, 1)
	if status, answer := post(t, s, body(user, with, result)); status != http.StatusOK {
		t.Errorf("%d %s", status, answer)
	}
}

func TestWhatTheAnswerIsGiven(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, hello)
	post(t, s, `{"model":"m","messages":[`+strings.Join([]string{system, `{"role":"developer","content":"two"}`, user, called, result}, ",")+`],
		"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}]}`)
	r := s.Requests()[0]
	if r.Model != "m" || r.System != "be brief\n\ntwo" || r.Last != "hello" || len(r.Messages) != 5 || r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%+v", r)
	}
	if tool, ok := r.Tool("f"); !ok || tool.Description != "d" || string(tool.Parameters) != `{"type":"object"}` {
		t.Errorf("%+v", tool)
	}
	if got := r.Results(); len(got) != 1 || got[0] != "x" {
		t.Errorf("results %q", got)
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, func(*llmtest.Request) llmtest.Response {
		return llmtest.Response{Reasoning: "hm", Text: "日本語", Calls: []llmtest.Call{{Name: "f", Arguments: `{"p":1}`}}, ChunkSize: 2, Usage: &llmtest.Usage{Input: 7, Output: 3}}
	})
	_, answer := post(t, s, body(user))
	for _, want := range []string{`"reasoning_content":"hm"`, `"content":"日本"`, `"content":"語"`, `"id":"call_1"`, `"arguments":"{\""`, `"finish_reason":"tool_calls"`, `"prompt_tokens":7`, "data: [DONE]\n\n"} {
		if !strings.Contains(answer, want) {
			t.Errorf("%q is not in\n%s", want, answer)
		}
	}
	for _, line := range strings.Split(answer, "\n\n") {
		if data, ok := strings.CutPrefix(line, "data: {"); ok && !json.Valid([]byte("{"+data)) {
			t.Errorf("broken frame %q", line)
		}
	}
}

func TestErrorsAndRawAnswers(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, llmtest.Sequence(t,
		llmtest.Response{Status: 429, Header: http.Header{"retry-after": {"7"}}, Body: "slow down"},
		llmtest.Response{Raw: []byte("data: x\n\n")},
		llmtest.Response{Text: "one two three", ChunkSize: 3, Cut: 2},
	))
	if status, answer := post(t, s, body(user)); status != 429 || answer != "slow down" {
		t.Errorf("%d %s", status, answer)
	}
	if status, answer := post(t, s, body(user)); status != 200 || answer != "data: x\n\n" {
		t.Errorf("%d %s", status, answer)
	}
	if _, answer := post(t, s, body(user)); !strings.Contains(answer, "one") || strings.Contains(answer, "two") || !strings.Contains(answer, "then unexpected EOF") {
		t.Errorf("%s", answer)
	}
}

func TestPace(t *testing.T) {
	t.Parallel()
	gate, pause := make(chan struct{}), make(chan struct{})
	s := llmtest.NewServer(t, func(*llmtest.Request) llmtest.Response {
		return llmtest.Response{Text: "hello", Gate: gate, Pause: pause, Hang: true}
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	lines := make(chan string)
	go func() {
		defer close(lines)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/chat/completions", strings.NewReader(body(user)))
		if err != nil {
			t.Error(err)
			return
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		for scanner := bufio.NewScanner(resp.Body); scanner.Scan(); {
			if scanner.Text() != "" {
				lines <- scanner.Text()
			}
		}
	}()
	select {
	case line := <-lines:
		t.Fatalf("before the gate is open: %s", line)
	case gate <- struct{}{}:
	}
	if line := <-lines; !strings.Contains(line, `"role":"assistant"`) {
		t.Errorf("first %s", line)
	}
	if s.Open() != 1 {
		t.Errorf("%d open", s.Open())
	}
	pause <- struct{}{}
	if line := <-lines; !strings.Contains(line, "hello") {
		t.Errorf("second %s", line)
	}
	close(pause)
	cancel()
	for line := range lines {
		t.Errorf("after the text, where it hangs: %s", line)
	}
}
