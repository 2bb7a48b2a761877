package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/llm/openai"
)

// The helpers write frames as servers do.
const done = "data: [DONE]\n\n"

func frame(choice string) string {
	return `data: {"id":"c1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[` + choice + "]}\n\n"
}

func piece(delta string) string {
	return frame(`{"index":0,"delta":` + delta + `,"finish_reason":null}`)
}

func say(text string) string { return piece(`{"content":` + quoted(text) + `}`) }

func finish(reason string) string {
	return frame(`{"index":0,"delta":{},"finish_reason":` + quoted(reason) + `}`)
}

func calls(parts ...string) string {
	return piece(`{"tool_calls":[` + strings.Join(parts, ",") + `]}`)
}

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// rawCase is an answer as bytes, and what is to come of it.
type rawCase struct {
	name   string
	raw    string
	ctype  string // text/event-stream unless given
	status int    // 200 unless given
	header map[string]string
	cut    bool // the connection breaks after the bytes

	text, reasoning string
	calls           []string // id name arguments
	finish          llm.Finish
	usage           string   // in/out/cached/reasoning
	deltas          []string // exact, where given

	kind    llm.Kind // of the error, where one is expected
	message []string // what it must hold
	hint    string
}

// rawServer answers every chat request with the bytes of the case.
func rawServer(t testing.TB, c rawCase) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctype := c.ctype
		if ctype == "" {
			ctype = "text/event-stream"
		}
		w.Header().Set("Content-Type", ctype)
		for name, value := range c.header {
			w.Header().Set(name, value)
		}
		status := c.status
		if status == 0 {
			status = http.StatusOK
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(c.raw))
		if c.cut {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func modelOf(t testing.TB, baseURL string, change ...func(*openai.Config)) *openai.Model {
	t.Helper()
	c := openai.Config{Ref: llm.Ref{Provider: "acme", Model: "m"}, Provider: openai.Custom("acme", baseURL, "")}
	for _, f := range change {
		f(&c)
	}
	m, err := openai.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var hello = llm.Request{
	Messages: []llm.Message{{Role: llm.RoleUser, Content: "hello"}},
	Tools:    []llm.Tool{{Name: "f"}, {Name: "g"}, {Name: "read_file"}},
}

// written is a delta as the cases write it.
func written(d llm.Delta) string {
	switch {
	case d.Call != nil && d.Call.Arguments == "":
		return fmt.Sprintf("C%d %s %s", d.Call.Index, d.Call.ID, d.Call.Name)
	case d.Call != nil:
		return fmt.Sprintf("A%d %s", d.Call.Index, d.Call.Arguments)
	case d.Reasoning != "":
		return "R " + d.Reasoning
	default:
		return "T " + d.Text
	}
}

// checkDeltas holds the deltas against the reply that they are the pieces of.
func checkDeltas(t *testing.T, deltas []llm.Delta, reply llm.Reply) {
	t.Helper()
	var text strings.Builder
	var args []string
	for i, d := range deltas {
		text.WriteString(d.Text)
		if d.Call == nil {
			if (d.Text == "") == (d.Reasoning == "") {
				t.Errorf("delta %d sets not exactly one field: %+v", i, d)
			}
			continue
		}
		switch {
		case d.Call.Index == len(args):
			args = append(args, d.Call.Arguments)
			if d.Call.Index < len(reply.Calls) && d.Call.Name != reply.Calls[d.Call.Index].Name {
				t.Errorf("the first delta of call %d names %q, the reply %q", d.Call.Index, d.Call.Name, reply.Calls[d.Call.Index].Name)
			}
		case d.Call.Index < len(args):
			args[d.Call.Index] += d.Call.Arguments
		default:
			t.Errorf("delta %d is of call %d before there is one", i, d.Call.Index)
		}
	}
	if text.String() != reply.Text && !strings.HasSuffix(text.String(), reply.Text) {
		t.Errorf("the text deltas come to %q, the reply's text is %q", text.String(), reply.Text)
	}
	for i, call := range reply.Calls {
		if i < len(args) && args[i] != call.Arguments && !(args[i] == "" && call.Arguments == "{}") {
			t.Errorf("the deltas of call %d come to %q, the reply's arguments are %q", i, args[i], call.Arguments)
		}
	}
}

func TestRawAnswers(t *testing.T) {
	t.Parallel()
	all := slices.Concat(framingCases(), callCases(), contentCases(), errorCases())
	if len(all) < 80 {
		t.Fatalf("only %d cases", len(all))
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := rawServer(t, c)
			m := modelOf(t, server.URL+"/v1", func(config *openai.Config) {
				config.Provider.NeedsKey, config.Provider.KeyEnv = true, "ACME_KEY"
				config.Key = func() string { return "secret-key-12345" }
			})
			checkAnswer(t, m, c)
		})
	}
}

// checkAnswer asks a server that answers with the bytes of the case.
func checkAnswer(t *testing.T, m *openai.Model, c rawCase) {
	t.Helper()
	var deltas []llm.Delta
	reply, err := m.Stream(context.Background(), hello, func(d llm.Delta) { deltas = append(deltas, d) })
	checkDeltas(t, deltas, reply)
	if reply.Text != c.text {
		t.Errorf("text %.200q, want %.200q", reply.Text, c.text)
	}
	if reply.Reasoning != c.reasoning {
		t.Errorf("reasoning %q, want %q", reply.Reasoning, c.reasoning)
	}
	var got []string
	for _, call := range reply.Calls {
		got = append(got, call.ID+" "+call.Name+" "+call.Arguments)
	}
	if !slices.Equal(got, c.calls) {
		t.Errorf("calls %q, want %q", got, c.calls)
	}
	if c.deltas != nil {
		var got []string
		for _, d := range deltas {
			got = append(got, written(d))
		}
		if !slices.Equal(got, c.deltas) {
			t.Errorf("deltas %q, want %q", got, c.deltas)
		}
	}
	if c.usage != "" {
		u := reply.Usage
		if got := fmt.Sprintf("%d/%d/%d/%d", u.InputTokens, u.OutputTokens, u.CachedTokens, u.ReasoningTokens); got != c.usage || !reply.HasUsage {
			t.Errorf("usage %s (%v), want %s", got, reply.HasUsage, c.usage)
		}
	} else if reply.HasUsage {
		t.Errorf("usage %+v where none was sent", reply.Usage)
	}
	if c.kind == "" {
		if err != nil {
			t.Fatalf("error: %v", err)
		}
		want := c.finish
		if want == "" {
			want = llm.FinishStop
		}
		if reply.Finish != want {
			t.Errorf("finish %q, want %q", reply.Finish, want)
		}
		return
	}
	checkError(t, err, c)
}

func checkError(t *testing.T, err error, c rawCase) {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want a %s", err, c.kind)
	}
	if e.Kind != c.kind {
		t.Errorf("kind %s, want %s: %v", e.Kind, c.kind, e)
	}
	if e.Ref.String() != "acme/m" {
		t.Errorf("ref %v", e.Ref)
	}
	for _, part := range c.message {
		if !strings.Contains(e.Message, part) {
			t.Errorf("message %q does not hold %q", e.Message, part)
		}
	}
	if !strings.Contains(e.Hint, c.hint) {
		t.Errorf("hint %q does not hold %q", e.Hint, c.hint)
	}
	if strings.Contains(e.Error()+e.Hint, "secret-key-12345") {
		t.Errorf("the key is in the error: %v", e)
	}
	if len(e.Message) > 2000 {
		t.Errorf("a message of %d bytes", len(e.Message))
	}
	if strings.ContainsAny(e.Message, "\x1b\n\r\x00") {
		t.Errorf("control characters in %q", e.Message)
	}
}

func TestProtocolAndWindow(t *testing.T) {
	t.Parallel()
	m := modelOf(t, "http://127.0.0.1:1/v1", func(c *openai.Config) { c.Window = 8192 })
	if m.Protocol() != history.ProtocolChatCompletions || m.Window() != 8192 || m.Ref().String() != "acme/m" {
		t.Errorf("protocol %s, window %d, ref %s", m.Protocol(), m.Window(), m.Ref())
	}
}
