package history_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"bureau/engine/history"
)

func TestThreadsAreFilters(t *testing.T) {
	for name, c := range map[string]struct {
		row  history.Message
		want history.Thread
	}{
		"the user's":        {history.Message{Agent: "B"}, history.UserThread},
		"a pair":            {history.Message{Agent: "B", CallerAgent: "A"}, history.Pair("A", "B")},
		"its other way":     {history.Message{Agent: "A", CallerAgent: "B"}, history.Pair("A", "B")},
		"names differ":      {history.Message{Agent: "b", CallerAgent: "A"}, history.Pair("A", "b")},
		"byte order of CJK": {history.Message{Agent: "規", CallerAgent: "画"}, history.Thread{A: "画", B: "規"}},
	} {
		if got := c.row.Thread(); got != c.want || !c.want.Holds(c.row) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if history.Pair("A", "B") == history.Pair("A", "b") {
		t.Error("names that differ in case are one pair")
	}
}

func TestRowsComeBackFromJSON(t *testing.T) {
	for name, m := range map[string]history.Message{
		"of the user": {
			ID: 1, SessionID: "s", Agent: "A", Type: history.TypeMessage, Role: history.RoleUser, Content: "hi\x00\x1b[2J",
			RunID: "r", TraceID: "t", Protocol: history.ProtocolChatCompletions, Status: history.StatusCompleted, CreatedAt: 7,
		},
		"nested": {
			ID: 2, Agent: "B", CallerAgent: "A", Type: history.TypeCall, CallID: "c", Name: "f", Arguments: `{"a":1}`,
			ParentRunID: "r", ParentCallID: "p", Extra: history.Extra{RawArguments: "{", IsError: true},
		},
		"not UTF-8": {ID: 3, Agent: "A", Type: history.TypeOutput, CallID: "c", Content: "\xff\xfe raw"},
	} {
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var back history.Message
		if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("%s: %v\n got %+v\nwant %+v\n via %s", name, err, back, m, data)
		}
	}
}

func TestEventsAreWrittenAsTheProtocolHasThem(t *testing.T) {
	usage := &history.Usage{Requests: 1}
	for want, e := range map[string]history.Event{
		`{"type":"TEXT_MESSAGE_CONTENT","timestamp":2,"threadId":"s","runId":"r","agent":"A","callerAgent":null,"messageId":"7","delta":"x"}`: {
			Type: history.EventTextContent, SessionID: "s", RunID: "r", Agent: "A", MessageID: 7, Delta: "x", At: 2999,
		},
		`{"type":"TOOL_CALL_RESULT","timestamp":0,"threadId":"","runId":"","subagentRunId":"n","parentSubagentRunId":"m","parentToolCallId":"c","agent":"B","callerAgent":"A","messageId":"8","role":"tool","toolCallId":"d","toolCallName":"f","content":"","isError":false}`: {
			Type: history.EventCallResult, SubagentRunID: "n", ParentSubagentRunID: "m", ParentCallID: "c", Agent: "B", CallerAgent: "A",
			MessageID: 8, CallID: "d", Name: "f",
		},
		`{"type":"RUN_FINISHED","timestamp":0,"threadId":"","runId":"","agent":"A","callerAgent":null,"result":"","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"reasoningTokens":0,"requests":1,"cost":null}}`: {
			Type: history.EventRunFinished, Agent: "A", Usage: usage,
		},
		`{"type":"RUN_ERROR","timestamp":0,"threadId":"","runId":"","agent":"A","callerAgent":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"reasoningTokens":0,"requests":1,"cost":null},"message":"no","code":"model"}`: {
			Type: history.EventRunError, Agent: "A", Usage: usage, Message: "no", Code: history.CodeModel,
		},
		`{"type":"CUSTOM","timestamp":0,"threadId":"","runId":"","agent":"A","callerAgent":null,"name":"handoff","value":{"to":"B"}}`: {
			Type: history.EventCustom, Agent: "A", Name: history.CustomHandoff, Value: map[string]string{"to": "B"},
		},
	} {
		data, err := json.Marshal(e)
		if err != nil || string(data) != want {
			t.Errorf("%v\n got %s\nwant %s", err, data, want)
		}
	}
}

func TestUsageAddsUp(t *testing.T) {
	cost := func(v float64) *float64 { return &v }
	for name, c := range map[string]struct {
		a, b history.Usage
		want *float64
	}{
		"both known":         {history.Usage{Requests: 1, Cost: cost(1)}, history.Usage{Requests: 2, Cost: cost(2)}, cost(3)},
		"one unknown":        {history.Usage{Requests: 1, Cost: cost(1)}, history.Usage{Requests: 1}, nil},
		"nothing and known":  {history.Usage{}, history.Usage{Requests: 1, Cost: cost(2)}, cost(2)},
		"known and nothing":  {history.Usage{Requests: 1, Cost: cost(2)}, history.Usage{}, cost(2)},
		"nothing at all yet": {history.Usage{}, history.Usage{}, nil},
	} {
		got := c.a.Add(c.b)
		if got.Requests != c.a.Requests+c.b.Requests || !reflect.DeepEqual(got.Cost, c.want) {
			t.Errorf("%s: %+v, want cost %v", name, got, c.want)
		}
	}
}

func TestIDsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		for _, id := range []string{history.NewSessionID(), history.NewRunID(), history.NewTraceID(), history.NewCallID()} {
			if seen[id] {
				t.Fatalf("%s came twice", id)
			}
			seen[id] = true
		}
	}
}
