package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/llm/script"
)

var ref = llm.Ref{Provider: "script", Model: "test"}

func parse(t *testing.T, text string) *script.Script {
	t.Helper()
	s, err := script.Parse("test.script.yaml", []byte(text))
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	return s
}

// ask runs one request and checks that the deltas add up to the reply.
func ask(t *testing.T, m llm.Model, req llm.Request) (llm.Reply, error) {
	t.Helper()
	var text, reasoning strings.Builder
	var calls []llm.Call
	reply, err := m.Stream(t.Context(), req, func(d llm.Delta) {
		text.WriteString(d.Text)
		reasoning.WriteString(d.Reasoning)
		if d.Call == nil {
			return
		}
		if d.Call.Index == len(calls) {
			calls = append(calls, llm.Call{ID: d.Call.ID, Name: d.Call.Name})
		}
		calls[d.Call.Index].Arguments += d.Call.Arguments
	})
	if text.String() != reply.Text || reasoning.String() != reply.Reasoning || len(calls) != len(reply.Calls) {
		t.Fatalf("deltas %q, %q, %v do not add up to the reply %+v", text.String(), reasoning.String(), calls, reply)
	}
	for i, c := range calls {
		if r := reply.Calls[i]; c.ID != r.ID || c.Name != r.Name || c.Arguments != r.Arguments {
			t.Fatalf("call %d came as %+v and is %+v in the reply", i, c, r)
		}
	}
	return reply, err
}

func system(text string) llm.Message    { return llm.Message{Role: llm.RoleSystem, Content: text} }
func user(text string) llm.Message      { return llm.Message{Role: llm.RoleUser, Content: text} }
func assistant(text string) llm.Message { return llm.Message{Role: llm.RoleAssistant, Content: text} }

func calling(names ...string) llm.Message {
	m := llm.Message{Role: llm.RoleAssistant}
	for _, name := range names {
		m.Calls = append(m.Calls, llm.Call{ID: "id_" + name, Name: name, Arguments: "{}"})
	}
	return m
}

func output(tool, text string) llm.Message {
	return llm.Message{Role: llm.RoleTool, CallID: "id_" + tool, Name: tool, Content: text}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		on   string
		// holds and fails are conversations in which the rule answers, and does not.
		holds, fails []llm.Message
	}{
		{"message", `message: "(?i)desk"`, []llm.Message{user("guide"), assistant("?"), user("the Desk")}, []llm.Message{user("desk"), assistant("?"), user("guide")}},
		{"first step", `step: 0`, []llm.Message{user("a"), assistant("b"), user("c")}, []llm.Message{user("a"), calling("x"), output("x", "")}},
		{"second step", `step: 1`, []llm.Message{user("a"), calling("x"), output("x", "")}, []llm.Message{user("a")}},
		{"turn", `turn: 2`, []llm.Message{user("a"), assistant("b"), user("c")}, []llm.Message{user("a")}},
		{"after", `after: y`, []llm.Message{user("a"), calling("x", "y"), output("x", ""), output("y", "")}, []llm.Message{user("a"), calling("y"), output("y", ""), calling("x"), output("x", "")}},
		{"output", `output: "^1 "`, []llm.Message{user("a"), calling("x"), output("x", "1 file")}, []llm.Message{user("1 "), calling("x"), output("x", "no file")}},
		{"output without one", `output: ".*"`, []llm.Message{user("a"), calling("x"), output("x", "")}, []llm.Message{user("a")}},
		{"system", `system: strict`, []llm.Message{system("be strict"), user("a")}, []llm.Message{system("be kind"), user("strict")}},
		{"handoff", `handoff: true`, []llm.Message{user("a"), calling("t"), output("t", ""), system("you are B")}, []llm.Message{user("a"), assistant("b"), system("you are B"), user("c")}},
		{"no handoff", `handoff: false`, []llm.Message{system("s"), user("a")}, []llm.Message{user("a"), system("you are B"), calling("t"), output("t", "")}},
		{"steps count from a handoff", `step: 0`, []llm.Message{user("a"), assistant("by A"), system("you are B")}, []llm.Message{user("a"), system("you are B"), assistant("by B")}},
		{"outputs of another agent are not newest", `{after: t, output: x}`, []llm.Message{user("a"), system("you are B"), calling("t"), output("t", "x")}, []llm.Message{user("a"), calling("t"), output("t", "x"), system("you are B")}},
		{"all together", `{message: a, step: 1, after: x, turn: 1}`, []llm.Message{user("a"), calling("x"), output("x", "")}, []llm.Message{user("b"), calling("x"), output("x", "")}},
		{"nothing said yet", `turn: 0`, []llm.Message{system("s")}, []llm.Message{system("s"), user("a")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			on := test.on
			if !strings.HasPrefix(on, "{") {
				on = "{" + on + "}"
			}
			m := parse(t, "agents:\n  A:\n    - {on: "+on+", say: holds}\n    - say: fails\n").Model("A", ref)
			for want, messages := range map[string][]llm.Message{"holds": test.holds, "fails": test.fails} {
				if reply, err := ask(t, m, llm.Request{Messages: messages}); err != nil || reply.Text != want {
					t.Errorf("%s: got %q, %v", want, reply.Text, err)
				}
			}
		})
	}
}

func TestConditionOnOfferedTool(t *testing.T) {
	t.Parallel()
	m := parse(t, "agents: {A: [{on: {tool: read_file}, say: 'yes'}, {say: 'no'}]}").Model("A", ref)
	for want, name := range map[string]string{"yes": "read_file", "no": "write_file"} {
		reply, err := ask(t, m, llm.Request{Messages: []llm.Message{user("a")}, Tools: []llm.Tool{{Name: name}}})
		if err != nil || reply.Text != want {
			t.Errorf("with %s: got %q, %v", name, reply.Text, err)
		}
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	m := parse(t, `
window: 4096
agents:
  Lead Writer:
    - reason: Two colleagues can help.
      say: "One moment, **{{.Agent}}** is on it.\n"
      call:
        - send_message: {recipient_agent: Scout, message: 'Look at: {{.Message}}', n: 3, list: [1.5, true, null, "{{.Turn}}"], nested: {deep: "<&>"}}
        - read_file: {}
`).Model("Lead Writer", ref)
	if m.Ref() != ref || m.Protocol() != history.ProtocolChatCompletions || m.Window() != 4096 {
		t.Fatalf("ref %v, protocol %v, window %d", m.Ref(), m.Protocol(), m.Window())
	}
	req := llm.Request{Messages: []llm.Message{user(`say "hi" to 李雷` + "\n\x00\xff")}}
	reply, err := ask(t, m, req)
	if err != nil {
		t.Fatal(err)
	}
	if reply.Reasoning != "Two colleagues can help." || reply.Text != "One moment, **Lead Writer** is on it." || reply.Finish != llm.FinishToolCalls {
		t.Errorf("reply %+v", reply)
	}
	if len(reply.Calls) != 2 || reply.Calls[0].ID == reply.Calls[1].ID || reply.Calls[1].Arguments != "{}" {
		t.Fatalf("calls %+v", reply.Calls)
	}
	want := `{"recipient_agent":"Scout","message":"Look at: say \"hi\" to 李雷\n\u0000` + "\uFFFD" + `","n":3,"list":[1.5,true,null,"1"],"nested":{"deep":"<&>"}}`
	if got := reply.Calls[0].Arguments; got != want || !json.Valid([]byte(got)) {
		t.Errorf("arguments\n%s\nwant\n%s", got, want)
	}
	if u := reply.Usage; !reply.HasUsage || u.InputTokens == 0 || u.OutputTokens <= u.ReasoningTokens || u.ReasoningTokens != 6 {
		t.Errorf("usage %+v", reply.Usage)
	}

	again, _ := ask(t, m, req)
	if again.Calls[0].ID != reply.Calls[0].ID || again.Usage != reply.Usage {
		t.Error("the same request got other ids or another usage")
	}
	req.Messages = append(req.Messages, assistant("x"), user("more"))
	other, _ := ask(t, m, req)
	if other.Calls[0].ID == reply.Calls[0].ID {
		t.Error("another position of the conversation got the same call id")
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	conversation := []llm.Message{
		user("first"), assistant("ok"), user("read\nthe files"),
		calling("list", "read"), output("list", "a.go\nb/\nREADME.md\n\nz"), output("read", "one"),
		calling("read", "get"), output("read", "two"), output("get", `{"items":[{"name":"x","n":12345678901234567890}],"ok":true}`),
	}
	tests := map[string]string{
		`{{.Message}}|{{.Agent}}|{{.Step}}|{{.Turn}}`:             "read\nthe files|A|2|2",
		`{{output 0}}|{{output 1 | json "ok"}}|{{output 9}}|end`:  "two|true||end",
		`{{output "read"}}|{{output "read" 0}}|{{output "none"}}`: "two|one|",
		`{{outputs}}|{{outputs "read"}}|{{outputs "none"}}`:       "2|2|0",
		`{{first 2 (output "list")}}`:                             "a.go\nb/",
		`{{output "list" | lines}}`:                               "4",
		`{{find "(?m)^(READ\\w+)[.]md$" (output "list")}}`:        "README",
		`{{find "[a-z]+[.]go" (output "list")}}`:                  "a.go",
		`{{find "nothing" (output "list") | default "none"}}`:     "none",
		`{{cut 4 .Message}}|{{cut 99 .Message}}`:                  "read…|read\nthe files",
		`{{quote .Message}}`:                                      "> read\n> the files",
		`{{trim "  a "}}`:                                         "a",
		`{{json "items.0.name" (output 1)}}`:                      "x",
		`{{json "items.0.n" (output 1)}}`:                         "12345678901234567890",
		`{{json "items.0" (output 1)}}`:                           `{"n":12345678901234567890,"name":"x"}`,
		`{{json "items.7.name" (output 1)}}{{json "a" "{"}}`:      "",
		`{{if eq .Step 2}}two{{else}}other{{end}}`:                "two",
		`{{if and (ne .Turn 1) (not (output "none"))}}y{{end}}`:   "y",
		`{{or (output "none") "else"}}`:                           "else",
		`{{first "x" .Message}}{{first 0 .Message}}{{first 1 5}}`: "5",
	}
	for text, want := range tests {
		quoted, _ := json.Marshal(text)
		m := parse(t, `agents: {A: [{say: `+string(quoted)+`, call: [x: {}]}]}`).Model("A", ref)
		if reply, err := ask(t, m, llm.Request{Messages: conversation}); err != nil || reply.Text != want {
			t.Errorf("%s\n got %q, %v\nwant %q", text, reply.Text, err, want)
		}
	}
}

func TestSilenceIsPutInWords(t *testing.T) {
	t.Parallel()
	s := parse(t, "agents: {A: [{on: {turn: 9}, say: nine}], B: [{say: '{{.Message}}'}]}")
	for _, agent := range []string{"A", "B", "Nobody"} {
		reply, err := ask(t, s.Model(agent, ref), llm.Request{})
		if err != nil || !strings.Contains(reply.Text, agent) || !strings.Contains(reply.Text, "test.script.yaml") || reply.Finish != llm.FinishStop {
			t.Errorf("%s: %+v, %v", agent, reply, err)
		}
	}
}

func TestRawArgumentsAndFinish(t *testing.T) {
	t.Parallel()
	m := parse(t, `agents: {A: [{finish: length, say: cut, call: [read_file: '{"path": "{{.Message}}']}]}`).Model("A", ref)
	reply, err := ask(t, m, llm.Request{Messages: []llm.Message{user("x.go")}})
	if err != nil || reply.Finish != llm.FinishLength || reply.Calls[0].Arguments != `{"path": "x.go` {
		t.Errorf("%+v, %v", reply, err)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	tests := map[string]llm.Error{
		"{kind: connect, message: no route}":                     {Kind: llm.KindConnect, Message: "no route"},
		"{status: 429, retry_after: 3s, code: slow, message: m}": {Kind: llm.KindRateLimit, Status: 429, RetryAfter: 3 * time.Second, Code: "slow", Message: "m"},
		"{status: 503, message: m}":                              {Kind: llm.KindServer, Status: 503, Message: "m"},
		"{status: 401, message: m}":                              {Kind: llm.KindAuth, Status: 401, Message: "m"},
		"{status: 404, message: m}":                              {Kind: llm.KindNotFound, Status: 404, Message: "m"},
		"{status: 402, message: m}":                              {Kind: llm.KindQuota, Status: 402, Message: "m"},
		"{status: 408, message: m}":                              {Kind: llm.KindTimeout, Status: 408, Message: "m"},
		"{status: 422, message: m}":                              {Kind: llm.KindRequest, Status: 422, Message: "m"},
		"{status: 400, kind: overflow, message: m}":              {Kind: llm.KindOverflow, Status: 400, Message: "m"},
	}
	for text, want := range tests {
		m := parse(t, "agents: {A: [{say: never, fail: "+text+"}]}").Model("A", ref)
		reply, err := ask(t, m, llm.Request{Messages: []llm.Message{user("a")}})
		want.Ref = ref
		var got *llm.Error
		if !errors.As(err, &got) || *got != want || reply.Text != "" {
			t.Errorf("%s: got %+v with %q", text, err, reply.Text)
		}
	}
}

func TestFailureInTheMidst(t *testing.T) {
	t.Parallel()
	m := parse(t, `agents: {A: [{say: one two three four, call: [x: {}], fail: {kind: truncated, after_words: 2, times: 2}}]}`).Model("A", ref)
	first := llm.Request{Messages: []llm.Message{user("a")}}
	second := llm.Request{Messages: []llm.Message{user("b")}}
	for i, step := range []struct {
		req  llm.Request
		fail bool
	}{{first, true}, {first, true}, {second, true}, {first, false}, {first, false}, {second, true}, {second, false}} {
		reply, err := ask(t, m, step.req)
		if step.fail && (err == nil || reply.Text != "one two " || len(reply.Calls) != 0) {
			t.Errorf("request %d: %+v, %v; want a failure after two words", i, reply, err)
		}
		if !step.fail && (err != nil || reply.Text != "one two three four" || len(reply.Calls) != 1) {
			t.Errorf("request %d: %+v, %v; want the answer", i, reply, err)
		}
	}
}

func TestPace(t *testing.T) {
	t.Parallel()
	const text = `{pace: 10ms, agents: {A: [{wait: 1s, say: "one two\nthree 四五六 seven"}]}}`
	for factor, want := range map[float64]time.Duration{1: 1060 * time.Millisecond, 0.5: 530 * time.Millisecond, 0: 0, -1: 0} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			var deltas []string
			m := parse(t, text).Model("A", ref, script.Pace(factor))
			_, err := m.Stream(t.Context(), llm.Request{}, func(d llm.Delta) { deltas = append(deltas, d.Text) })
			if took := time.Since(start); err != nil || took != want {
				t.Errorf("factor %v took %v, %v; want %v", factor, took, err, want)
			}
			if got := strings.Join(deltas, "|"); got != "one |two\n|three |四五|六 |seven" {
				t.Errorf("deltas %s", got)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	const text = `{pace: 1s, agents: {A: [{wait: 1s, say: "one two three", call: [x: {}]}]}}`
	for at, want := range map[time.Duration]string{0: "", 500 * time.Millisecond: "", 1500 * time.Millisecond: "one ", 2500 * time.Millisecond: "one two "} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), at)
			defer cancel()
			start := time.Now()
			reply, err := parse(t, text).Model("A", ref).Stream(ctx, llm.Request{}, func(llm.Delta) {})
			if !errors.Is(err, context.DeadlineExceeded) || reply.Text != want || len(reply.Calls) != 0 || time.Since(start) != at {
				t.Errorf("cancelled at %v: %+v, %v after %v", at, reply, err, time.Since(start))
			}
		})
	}
}
