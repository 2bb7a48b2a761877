package openai_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"bureau/engine/llm"
	"bureau/engine/llm/llmtest"
	"bureau/engine/llm/openai"
)

// TestWhatIsNeverSentUnasked: fields and roles that some server refuses are sent by no dialect unless the user has set them.
func TestWhatIsNeverSentUnasked(t *testing.T) {
	t.Parallel()
	for _, p := range openai.Providers() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.NewServer(t, answerHello)
			ask(t, against(t, s, p.Name), conversation())
			request := s.Requests()[0]
			want := []string{"messages", "model", "stream", "stream_options", "tools"}
			var fields []string
			for name := range request.Fields {
				fields = append(fields, name)
			}
			slices.Sort(fields)
			if !slices.Equal(fields, want) {
				t.Errorf("fields %v, want %v", fields, want)
			}
			for i, m := range request.Messages {
				if !slices.Contains([]string{"system", "user", "assistant", "tool"}, m.Role) {
					t.Errorf("messages[%d] has the role %q", i, m.Role)
				}
				if content, ok := m.Fields["content"]; ok && (content[0] != '"' || string(content) == `""`) {
					t.Errorf("messages[%d] has the content %s", i, content)
				}
				if calls, ok := m.Fields["tool_calls"]; ok && len(m.Calls) == 0 {
					t.Errorf("messages[%d] has the calls %s", i, calls)
				}
				if _, ok := m.Fields["name"]; ok {
					t.Errorf("messages[%d] has a name", i)
				}
			}
			noneRefused(t, s)
		})
	}
}

// TestServerThatLosesTrackOfItsCalls: llama.cpp's failure of that name is asked again in one piece; where something of the
// answer has been told, by the caller's next try. The one after that streams again.
func TestServerThatLosesTrackOfItsCalls(t *testing.T) {
	t.Parallel()
	const fault = `{"error":{"code":500,"message":"Invalid diff: now finding less tool calls!","type":"server_error"}}`
	streams := func(r *llmtest.Request) bool { return string(r.Fields["stream"]) == "true" }
	whole := llmtest.Response{Body: `{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"echo","arguments":"{\"p\":1}"}}]},"finish_reason":"tool_calls"}]}`}
	req := llm.Request{Messages: hello.Messages, Tools: []llm.Tool{echoTool}}
	for name, failure := range map[string]llmtest.Response{
		"at once":          {Status: 500, Body: fault},
		"in the stream":    {Raw: []byte("data: " + fault + "\n\n")},
		"after some words": {Raw: []byte(say("Let me") + "data: " + fault + "\n\n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failed := false
			s := llmtest.NewServer(t, func(r *llmtest.Request) llmtest.Response {
				switch {
				case !streams(r):
					if _, ok := r.Fields["stream_options"]; ok {
						t.Error("stream_options without a stream")
					}
					return whole
				case failed:
					return llmtest.Response{Text: "hello"}
				}
				failed = true
				return failure
			})
			m := against(t, s, "llamacpp")
			var told []string
			reply, err := m.Stream(context.Background(), req, func(d llm.Delta) { told = append(told, written(d)) })
			if name == "after some words" {
				checkErrorKind(t, err, llm.KindModelFault)
				if !slices.Equal(told, []string{"T Let me"}) || len(reply.Calls) > 0 {
					t.Errorf("told %q, calls %v", told, reply.Calls)
				}
				reply = ask(t, m, req)
			} else if err != nil {
				t.Fatal(err)
			}
			if len(reply.Calls) != 1 || reply.Calls[0].Arguments != `{"p":1}` {
				t.Errorf("reply %+v", reply)
			}
			if got := len(s.Requests()); got != 2 {
				t.Errorf("%d requests", got)
			}
			if reply := ask(t, m, req); reply.Text != "hello" || !streams(s.Requests()[2]) {
				t.Errorf("the next answer is %+v", reply)
			}
		})
	}
}

func checkErrorKind(t *testing.T, err error, kind llm.Kind) {
	t.Helper()
	e, ok := err.(*llm.Error)
	if !ok || e.Kind != kind {
		t.Errorf("error %v, want a %s", err, kind)
	}
}

// TestLearnedSettingsAreTold: what is left out because the server refuses it is said with the first answer without it.
func TestLearnedSettingsAreTold(t *testing.T) {
	t.Parallel()
	zero := 0.0
	s := llmtest.NewServer(t, refuseWhen(has("temperature"), 400, "Unsupported value: 'temperature' does not support 0 with this model."))
	m := against(t, s, "acme")
	req := llm.Request{Messages: hello.Messages, Settings: llm.Settings{Temperature: &zero}}
	want := []string{"acme/m refuses the setting temperature: it is left out from now on, and the model uses its own default."}
	if got := ask(t, m, req).Warnings; !slices.Equal(got, want) {
		t.Errorf("warnings %q", got)
	}
	if got := ask(t, m, req).Warnings; len(got) > 0 {
		t.Errorf("warnings again: %q", got)
	}
}

// TestChoiceAtTheTopOfASchema: where only plain objects are taken, a choice becomes one object with all that the choices have.
func TestChoiceAtTheTopOfASchema(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{"type":"object","anyOf":[{"properties":{"a":{"type":"string"},"b":{"const":1}},"required":["a","b"]},{"properties":{"a":{"type":"integer"}},"required":["a"]}]}`: `{"type":"object","properties":{"a":{"type":"string"},"b":{"enum":[1]}},"required":["a"]}`,
		`{"allOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}},"required":["b"]}],"properties":{"c":{}},"required":["c"]}`:                             `{"type":"object","properties":{"a":{},"b":{},"c":{}},"required":["c","a","b"]}`,
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`:                                                                            `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`,
		`{"oneOf":[7,{"required":[{},"a",null]},{"required":"a"}]}`:                                                                                                        `{"type":"object","properties":{}}`,
	} {
		s := llmtest.NewServer(t, answerHello)
		ask(t, against(t, s, "gemini"), llm.Request{Messages: hello.Messages, Tools: []llm.Tool{{Name: "f", Parameters: json.RawMessage(schema)}}})
		var got, expected any
		if err := json.Unmarshal(s.Requests()[0].Tools[0].Parameters, &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(want), &expected); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, expected) {
			t.Errorf("%s became %s", schema, s.Requests()[0].Tools[0].Parameters)
		}
	}
}
