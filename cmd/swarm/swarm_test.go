package swarm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bureau/cmd/swarm"
	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/weave"
)

// delegation is a turn as that framework stores it: the nested run before the call that started it.
const delegation = `[
 {"role":"user","content":"hello","type":"message","agent":"A","callerAgent":null,"agent_run_id":"agent_run_1","run_trace_id":"trace_t","history_protocol":"responses","timestamp":1},
 {"role":"user","content":"do X","type":"message","agent":"B","callerAgent":"A","agent_run_id":"agent_run_2","parent_run_id":"call_1","run_trace_id":"trace_t","history_protocol":"responses","timestamp":2},
 {"role":"user","content":"do Y","type":"message","agent":"C","callerAgent":"B","agent_run_id":"agent_run_3","parent_run_id":"call_2","run_trace_id":"trace_t","timestamp":3},
 {"role":"assistant","content":[{"type":"output_text","text":"C reply"}],"type":"message","agent":"C","callerAgent":"B","agent_run_id":"agent_run_3","parent_run_id":"call_2","run_trace_id":"trace_t","timestamp":4},
 {"id":"fc_2","call_id":"call_2","type":"function_call","name":"send_message","arguments":"{\"recipient_agent\":\"C\",\"message\":\"do Y\"}","agent":"B","callerAgent":"A","agent_run_id":"agent_run_2","parent_run_id":"call_1","run_trace_id":"trace_t","timestamp":5},
 {"call_id":"call_2","type":"function_call_output","output":"C reply","agent":"B","callerAgent":"A","agent_run_id":"agent_run_2","parent_run_id":"call_1","run_trace_id":"trace_t","timestamp":6},
 {"id":"msg_b","role":"assistant","status":"completed","type":"message","content":[{"type":"output_text","text":"B reply","annotations":[],"logprobs":[]}],"agent":"B","callerAgent":"A","agent_run_id":"agent_run_2","parent_run_id":"call_1","run_trace_id":"trace_t","history_protocol":"responses","timestamp":7},
 {"id":"call_1","call_id":"call_1","type":"function_call","name":"send_message","status":"completed","arguments":"{\"recipient_agent\": \"B\", \"message\": \"do X\", \"additional_instructions\": \"extra\"}","agent":"A","callerAgent":null,"agent_run_id":"agent_run_1","run_trace_id":"trace_t","history_protocol":"responses","timestamp":8},
 {"call_id":"call_1","type":"function_call_output","output":"B reply","agent":"A","callerAgent":null,"agent_run_id":"agent_run_1","run_trace_id":"trace_t","history_protocol":"responses","timestamp":9},
 {"id":"__fake_id__","role":"assistant","status":"completed","type":"message","content":[{"type":"output_text","text":"final"}],"agent":"A","callerAgent":null,"agent_run_id":"agent_run_1","run_trace_id":"trace_t","history_protocol":"responses","timestamp":10,"citations":[{"file_id":"f1","text":"x"}]}
]`

func read(t testing.TB, data string) ([]history.Message, swarm.Summary) {
	t.Helper()
	chat, err := swarm.Read([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	rows, summary, err := chat.Rows("Entry")
	if err != nil {
		t.Fatal(err)
	}
	return rows, summary
}

// line is a row in short: agent<caller kind content.
func line(m history.Message) string {
	kind := string(m.Role)
	content := m.Content
	switch m.Type {
	case history.TypeCall:
		kind, content = "call", m.CallID+" "+m.Name+" "+m.Arguments
	case history.TypeOutput:
		kind, content = "output", m.CallID+" "+m.Name+" "+m.Content
	case history.TypeReason:
		kind = "reasoning"
	}
	if m.Origin != "" {
		kind = string(m.Origin)
	}
	out := fmt.Sprintf("%s<%s %s: %s", m.Agent, m.CallerAgent, kind, content)
	if m.Status != history.StatusCompleted {
		out += " (" + string(m.Status) + ")"
	}
	return out
}

func lines(rows []history.Message) []string {
	var out []string
	for _, m := range rows {
		out = append(out, line(m))
	}
	return out
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\n got %q\nwant %q", what, got, want)
	}
}

func TestDelegationIsNestedBetweenCallAndOutput(t *testing.T) {
	t.Parallel()
	rows, _ := read(t, delegation)
	equal(t, "rows", lines(rows), []string{
		"A< user: hello",
		`A< call: call_1 send_message {"recipient_agent":"B","message":"do X","additional_instructions":"extra"}`,
		"B<A user: do X",
		`B<A call: call_2 send_message {"recipient_agent":"C","message":"do Y"}`,
		"C<B user: do Y", "C<B assistant: C reply",
		"B<A output: call_2 send_message C reply", "B<A assistant: B reply",
		"A< output: call_1 send_message B reply", "A< assistant: final",
	})
	for _, m := range rows {
		want := map[string][2]string{"A": {"", ""}, "B": {"agent_run_1", "call_1"}, "C": {"agent_run_2", "call_2"}}[m.Agent]
		if m.ParentRunID != want[0] || m.ParentCallID != want[1] {
			t.Errorf("%s has the parent %s, %s", line(m), m.ParentRunID, m.ParentCallID)
		}
		if m.TraceID != "trace_t" || m.Protocol != history.ProtocolResponses || m.Extra.Imported != swarm.Program || m.CreatedAt == 0 {
			t.Errorf("%s: %+v", line(m), m)
		}
	}
	last := rows[len(rows)-1]
	if string(last.Extra.Citations) != `[{"file_id":"f1","text":"x"}]` || last.RunID != "agent_run_1" || last.CreatedAt != 10 {
		t.Errorf("the answer is %+v", last)
	}
}

func TestItems(t *testing.T) {
	t.Parallel()
	item := func(fields string) string { return `[{"agent":"A",` + fields + `}]` }
	for _, c := range []struct {
		name, data string
		want       []string
		check      func(history.Message) bool
	}{
		{"content in parts", item(`"role":"assistant","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b","annotations":[{"type":"url_citation"}]}]`),
			[]string{"A< assistant: ab"}, func(m history.Message) bool { return string(m.Extra.Citations) == `[{"type":"url_citation"}]` }},
		{"images and files in words", item(`"role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"},{"type":"input_file","filename":"a.pdf","file_data":"x"},{"type":"input_image","file_id":"f-1"},{"type":"input_audio"},{"type":"text","text":"so"}]`),
			[]string{"A< user: look\n[image: image/png, 4 bytes as text]\n[file: a.pdf]\n[image: f-1]\n[input_audio]\nso"}, nil},
		{"image address of Chat Completions", item(`"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/x.png"}}]`), []string{"A< user: [image: https://example.com/x.png]"}, nil},
		{"refusal", item(`"role":"assistant","content":[{"type":"refusal","refusal":"no"}]`), []string{"A< assistant: no"}, nil},
		{"null content", item(`"role":"assistant","content":null`), []string{"A< assistant: "}, nil},
		{"developer", item(`"role":"developer","content":"x"`), []string{"A< system: x"}, nil},
		{"origin", item(`"role":"system","content":"x","message_origin":"recipient_reminder"`), []string{"A< recipient_reminder: x"}, nil},
		{"origin that is none", item(`"role":"system","content":"x","message_origin":"error"`), []string{"A< system: x"}, nil},
		{"incomplete words", item(`"role":"assistant","content":"x","status":"incomplete"`), []string{"A< assistant: x (interrupted)"}, nil},
		{"output in parts", item(`"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"u"}]`),
			[]string{"A< output: c  a\n[image: u]"}, nil},
		{"output as JSON", item(`"type":"function_call_output","call_id":"c","output":{"a": 1}`), []string{`A< output: c  {"a":1}`}, nil},
		{"failed output", item(`"type":"function_call_output","call_id":"c","output":"Error: gone"`), []string{"A< output: c  Error: gone"}, func(m history.Message) bool { return m.Extra.IsError }},
		{"orphan call", item(`"type":"function_call","call_id":"c","name":"f","arguments":""`), []string{"A< call: c f {}"}, nil},
		{"arguments as an object", item(`"type":"function_call","call_id":"c","name":"f","arguments":{"p": 1}`), []string{`A< call: c f {"p":1}`}, nil},
		{"broken arguments", item(`"type":"function_call","call_id":"c","name":"f","arguments":"{\"p\""`), []string{"A< call: c f {}"},
			func(m history.Message) bool { return m.Extra.RawArguments == `{"p"` && m.Extra.ArgumentsError != "" }},
		{"illegal name", item(`"type":"function_call","call_id":"c","name":"a b","arguments":"{}"`), []string{"A< call: c a_b {}"}, func(m history.Message) bool { return m.Extra.RawName == "a b" }},
		{"reasoning", item(`"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}],"encrypted_content":"ENC"`),
			[]string{"A< reasoning: one\n\ntwo"}, func(m history.Message) bool {
				return strings.Contains(string(m.Extra.Item), `"encrypted_content":"ENC"`) && !strings.Contains(string(m.Extra.Item), "agent")
			}},
		{"hosted tool", item(`"type":"file_search_call","id":"fs_1","queries":["q"]`),
			[]string{`A< imported: An item of the type file_search_call, from Agency Swarm: {"id":"fs_1","queries":["q"],"type":"file_search_call"}`}, nil},
		{"type of the future", item(`"type":"hologram","x":[1,2]`), []string{`A< imported: An item of the type hologram, from Agency Swarm: {"type":"hologram","x":[1,2]}`}, nil},
		{"missing caller", `[{"agent":"A","role":"user","content":"x"}]`, []string{"A< user: x"}, nil},
		{"missing agents", `[{"role":"user","content":"x"},{"role":"assistant","content":"y","agent":"B"},{"role":"user","content":"z"}]`,
			[]string{"Entry< user: x", "B< assistant: y", "B< user: z"}, nil},
		{"duplicates stay", `{"items":[{"id":"m","agent":"A","role":"user","content":"x"},{"id":"m","agent":"A","role":"user","content":"x"}]}`, []string{"A< user: x", "A< user: x"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rows, _ := read(t, c.data)
			equal(t, "rows", lines(rows), c.want)
			if c.check != nil && !c.check(rows[0]) {
				t.Errorf("%+v", rows[0])
			}
		})
	}
}

// Labels that are missing are supplied: one run and one trace for each message of the user.
func TestMissingLabels(t *testing.T) {
	t.Parallel()
	rows, _ := read(t, `[{"agent":"A","role":"user","content":"1"},{"agent":"A","role":"assistant","content":"2","run_trace_id":"no-op"},
		{"agent":"A","role":"user","content":"3","timestamp":"soon"},{"agent":"B","callerAgent":"A","parent_run_id":"gone","role":"user","content":"4"}]`)
	if rows[0].RunID == "" || rows[0].RunID != rows[1].RunID || rows[0].TraceID != rows[1].TraceID {
		t.Errorf("the first turn has the runs %s, %s and the traces %s, %s", rows[0].RunID, rows[1].RunID, rows[0].TraceID, rows[1].TraceID)
	}
	if rows[2].RunID == rows[0].RunID || rows[2].TraceID == rows[0].TraceID || rows[2].CreatedAt <= 0 {
		t.Errorf("the second turn is %+v", rows[2])
	}
	if rows[3].RunID == rows[2].RunID || rows[3].TraceID != rows[2].TraceID || rows[3].ParentRunID != "" || rows[3].ParentCallID != "gone" {
		t.Errorf("the nested run is %+v", rows[3])
	}
}

func TestHostileFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ data, want string }{
		{``, "no chat file"}, {`[`, "no chat file"}, {`{"items":7}`, "no chat file"}, {`[]`, "empty"}, {`{"items":[],"metadata":{}}`, "empty"},
		{`[{"role":"user","content":"x"},7]`, "items[1]: an item is an object, not 7"}, {`[null]`, "items[0]: an item is an object"},
		{`[{"role":"user"},{"content":"x"}]`, "items[1]: an item has a type or a role"},
		{`[{"type":"message","content":"x"}]`, "items[0]: a message has a role"}, {`[{"role":"robot"}]`, `items[0]: there is no role "robot"`},
		{`[{"agent":5,"role":"user"}]`, "items[0]: agent is a text, not 5"}, {`[{"callerAgent":{"a":[1]},"role":"user"}]`, "items[0]: callerAgent is a text"},
		{`[{"type":"function_call","name":"f"}]`, "items[0]: a function_call has a call_id"}, {`[{"type":"function_call","call_id":"c"}]`, "items[0]: a function_call has a name"},
		{`[{"type":"function_call_output","output":"x"}]`, "items[0]: a function_call_output has a call_id"},
		{`[{"role":"tool","content":"x"}]`, "items[0]: a message of the role tool has a tool_call_id"},
		{`[{"role":"assistant","tool_calls":"x"}]`, "items[0]: tool_calls is a list of calls"}, {`[{"role":"assistant","tool_calls":[{"id":"c"}]}]`, "items[0]: tool_calls[0] has an id"},
	} {
		if _, err := swarm.Read([]byte(c.data)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.data, err, c.want)
		}
	}
	var deep strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&deep, `{"agent":"A","callerAgent":"B","parent_run_id":"c%d","type":"function_call","call_id":"c%d","name":"f"},`, i+1, i)
	}
	chat, err := swarm.Read([]byte("[" + strings.TrimSuffix(deep.String(), ",") + "]"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := chat.Rows("A"); err == nil || !strings.Contains(err.Error(), "nested deeper") {
		t.Errorf("error %v", err)
	}
}

// The framework's own check, item by item.
func TestProtocols(t *testing.T) {
	t.Parallel()
	const (
		call   = `{"agent":"A","type":"function_call","call_id":"c","name":"f","arguments":"{}"}`
		plain  = `{"agent":"A","role":"user","content":"x"}`
		labels = `{"agent":"A","role":"user","content":"x","history_protocol":"chat_completions"}`
		chat   = `{"agent":"A","role":"assistant","content":null,"tool_calls":[{"id":"d","type":"function","function":{"name":"g","arguments":"{}"}}]}`
		result = `{"agent":"A","role":"tool","tool_call_id":"d","content":"r"}`
		other  = `{"agent":"A","type":"reasoning","summary":[],"history_protocol":"chat_completions"}`
		empty  = `{"agent":"A","role":"assistant","content":"x","tool_calls":[]}`
	)
	for _, c := range []struct {
		name string
		list []string
		want string
	}{
		{"plain", []string{plain}, ""},
		{"a label on plain messages does not count", []string{labels, call}, ""},
		{"no calls in it", []string{call, empty}, ""},
		{"responses", []string{plain, call}, ""},
		{"calls of chat", []string{plain, chat, result}, "written in Chat Completions (items[1] (tool_calls))"},
		{"a result of chat", []string{result}, "written in Chat Completions (items[0] (role tool))"},
		{"another item with the label", []string{other}, "items[0] (reasoning, labelled so)"},
		{"mixed", []string{call, plain, result}, "mixes two protocols: items[0] (function_call) is of the Responses API, items[2] (role tool) of Chat Completions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file, err := swarm.Read([]byte("[" + strings.Join(c.list, ",") + "]"))
			if err != nil {
				t.Fatal(err)
			}
			err = file.Check()
			if c.want == "" {
				if err != nil {
					t.Errorf("error %v", err)
				}
				return
			}
			var e *swarm.ProtocolError
			if !errors.As(err, &e) || !strings.Contains(e.Error(), c.want) || !strings.Contains(e.Hint(), "--convert") {
				t.Errorf("error %v", err)
			}
		})
	}
	rows, summary := read(t, "["+strings.Join([]string{plain, strings.Replace(chat, "null", `"I call"`, 1), result, call}, ",")+"]")
	equal(t, "converted", lines(rows), []string{"A< user: x", "A< assistant: I call", "A< call: d g {}", "A< output: d g r", "A< call: c f {}"})
	if want := (swarm.Summary{Messages: 1, Calls: 1, Results: 1, Plain: 2}); summary != want || !summary.Converted() {
		t.Errorf("summary %+v", summary)
	}
	if rows[2].Protocol != history.ProtocolChatCompletions || rows[4].Protocol != history.ProtocolResponses {
		t.Errorf("protocols %s, %s", rows[2].Protocol, rows[4].Protocol)
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	chat, err := swarm.Read([]byte(`{"items":[{"role":"user","content":"x","agent":"B","callerAgent":"A"},{"role":"user","agent":"A"}],
		"metadata":{"created_at":"2025-10-01T12:00:00.5","modified_at":"2025-10-01T14:00:00+02:00","summary":"A talk","usage":{"total_tokens":3}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if chat.Title != "A talk" || !chat.HasUsage || chat.CreatedAt != 1759320000500000 || chat.UpdatedAt != 1759320000000000 {
		t.Errorf("%+v", chat)
	}
	equal(t, "agents", chat.Agents(), []string{"B", "A"})
	for data, want := range map[string]bool{`[]`: true, ` {"items":[]}`: true, `{"bureau":1,"items":[]}`: false, `{"messages":[]}`: false, `x`: false, ``: false} {
		if swarm.Looks([]byte(data)) != want {
			t.Errorf("%q looks like a chat: %v", data, !want)
		}
	}
}

// What is written and read again is written the same: of our own rows and of a chat's, nested runs and foreign items included.
func TestWrittenIsReadTheSame(t *testing.T) {
	t.Parallel()
	foreign := strings.TrimSuffix(strings.TrimSpace(delegation), "]") + `,{"type":"web_search_call","id":"ws_1","action":{"query":"q"},"agent":"A","callerAgent":null,"agent_run_id":"r","run_trace_id":"t","timestamp":11},
		{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"ENC","agent":"A","agent_run_id":"r","run_trace_id":"t","timestamp":12}]`
	rows, _ := read(t, foreign)
	v := history.Session{ID: "s", Title: "T", CreatedAt: 5e6, UpdatedAt: 6e6}
	one := encode(t, swarm.File(v, rows))
	for _, part := range []string{`"encrypted_content":"ENC"`, `"type":"web_search_call"`, `"parent_run_id":"call_2"`, `"citations":[{"file_id":"f1","text":"x"}]`, `"callerAgent":null`} {
		if !strings.Contains(one, part) {
			t.Errorf("the file lacks %s:\n%s", part, one)
		}
	}
	again, summary := read(t, one)
	if two := encode(t, swarm.File(v, again)); one != two {
		t.Errorf("written again it is\n%s\nnot\n%s", two, one)
	}
	if summary.Notes != 1 || !reflect.DeepEqual(lines(rows), lines(again)) {
		t.Errorf("rows\n%q\nnot\n%q", lines(again), lines(rows))
	}
}

func encode(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// FuzzRead feeds any file: never a panic; what is read can be woven, written, and read again.
func FuzzRead(f *testing.F) {
	f.Add([]byte(delegation))
	f.Add([]byte(`{"items":[{"role":"assistant","agent":"A","tool_calls":[{"id":"d","function":{"name":"g","arguments":"{}"}}]},{"role":"tool","tool_call_id":"d","content":[{"type":"x"}]}],"metadata":{"usage":{}}}`))
	f.Add([]byte(`[{"agent":"A","type":"function_call","call_id":"a","name":"f","parent_run_id":"b"},{"agent":"A","type":"function_call","call_id":"b","name":"f","parent_run_id":"a"},{"type":"function_call_output","call_id":"a","output":[[]]}]`))
	f.Add([]byte(`[{"type":"reasoning","summary":[{"text":"x"}],"citations":5},{"role":"user","content":{"a":1},"timestamp":1e99}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		chat, err := swarm.Read(data)
		if err != nil {
			return
		}
		_ = chat.Check()
		rows, summary, err := chat.Rows("Entry")
		if err != nil {
			return
		}
		if len(rows) == 0 || summary.Plain+summary.Notes+summary.Results+summary.Messages == 0 {
			t.Fatalf("no rows of %s", data)
		}
		for i := range rows {
			rows[i].ID = int64(i + 1)
			if rows[i].Agent == "" || rows[i].RunID == "" || rows[i].TraceID == "" || rows[i].CreatedAt <= 0 {
				t.Errorf("a row lacks something: %+v", rows[i])
			}
		}
		newest := func(yield func(history.Message, error) bool) {
			for _, m := range slices.Backward(rows) {
				if !yield(m, nil) {
					return
				}
			}
		}
		messages, err := weave.Prompt(newest, weave.View{Agent: rows[0].Agent, Provider: "p"})
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range messages {
			for j, call := range m.Calls {
				if answer := messages[i+1+j]; answer.Role != llm.RoleTool || answer.CallID != call.ID {
					t.Errorf("the call %s is not answered", call.ID)
				}
			}
		}
		if _, err := json.Marshal(swarm.File(history.Session{}, rows)); err != nil {
			t.Error(err)
		}
	})
}
