package store_test

import (
	"errors"
	"reflect"
	"testing"

	"bureau/engine/history"
	"bureau/store"
)

// story is a turn: Editor asks Reporter (run r1, call c1), Reporter asks Checker (r2, c2), each row a microsecond after the one before.
type story struct {
	t    *testing.T
	s    *store.Store
	at   int64
	rows []history.Message
}

func newStory(t *testing.T) *story {
	s := openStore(t)
	newSession(t, s, "s1")
	return &story{t: t, s: s}
}

// says appends a row of a run: its agent, its kind and its text, which is the call id of a call and of an output.
func (y *story) says(run, agent string, kind history.Type, role history.Role, text string, change ...func(*history.Message)) history.Message {
	y.t.Helper()
	y.at++
	m := history.Message{
		SessionID: "s1", Agent: agent, Type: kind, Role: role, RunID: run, TraceID: "t", Protocol: history.ProtocolResponses,
		Status: history.StatusCompleted, CreatedAt: y.at,
	}
	switch run {
	case "r1":
		m.CallerAgent, m.ParentRunID, m.ParentCallID = "Editor", "r0", "c1"
	case "r2":
		m.CallerAgent, m.ParentRunID, m.ParentCallID = "Reporter", "r1", "c2"
	}
	if kind == history.TypeMessage {
		m.Content = text
	} else {
		m.CallID, m.Name = text, "send_message"
	}
	for _, f := range change {
		f(&m)
	}
	m = add(y.t, y.s, m)
	y.rows = append(y.rows, m)
	return m
}

func (y *story) task(run, to, text string) {
	y.says(run, to, history.TypeMessage, history.RoleUser, text)
}

func (y *story) answer(run, agent string) {
	y.says(run, agent, history.TypeMessage, history.RoleAssistant, "done")
}
func (y *story) call(run, agent, id string)   { y.says(run, agent, history.TypeCall, "", id) }
func (y *story) output(run, agent, id string) { y.says(run, agent, history.TypeOutput, "", id) }

func (y *story) request(run string, tokens, ended int64) {
	y.t.Helper()
	cost := float64(tokens) / 100
	r := history.Request{SessionID: "s1", RunID: run, Agent: "x", Usage: history.Usage{InputTokens: tokens, Cost: &cost}, EndedAt: ended, Outcome: history.OutcomeOK}
	if err := y.s.RecordRequest(y.t.Context(), &r); err != nil {
		y.t.Fatal(err)
	}
}

func (y *story) begin() {
	y.task("r0", "Editor", "go")
	y.call("r0", "Editor", "c1")
	y.task("r1", "Reporter", "find it")
	y.call("r1", "Reporter", "c2")
	y.task("r2", "Checker", "check it")
	y.request("r0", 1, 0)
	y.request("r1", 10, 0)
	y.request("r2", 100, 9)
	y.request("r1", 1000, 0)
}

func TestDelegationsTellOfNestedRuns(t *testing.T) {
	t.Parallel()
	y := newStory(t)
	y.begin()
	y.answer("r2", "Checker")
	y.output("r1", "Reporter", "c2")
	y.call("r1", "Reporter", "c3") // a tool of its own
	y.output("r1", "Reporter", "c3")
	y.answer("r1", "Reporter")
	y.output("r0", "Editor", "c1")
	y.answer("r0", "Editor")
	usage := func(tokens, requests int64) history.Usage {
		cost := float64(tokens) / 100
		return history.Usage{InputTokens: tokens, Requests: requests, Cost: &cost}
	}
	r1 := history.Delegation{
		RunID: "r1", ParentRunID: "r0", ParentCallID: "c1", From: "Editor", To: "Reporter", Tool: "send_message", Task: "find it",
		Status: history.StatusCompleted, StartedAt: 3, EndedAt: 11, Tools: 2, Usage: usage(1110, 3), FirstID: y.rows[2].ID,
	}
	r2 := history.Delegation{
		RunID: "r2", ParentRunID: "r1", ParentCallID: "c2", From: "Reporter", To: "Checker", Tool: "send_message", Task: "check it",
		Status: history.StatusCompleted, StartedAt: 5, EndedAt: 9, Usage: usage(100, 1), FirstID: y.rows[4].ID,
	}
	got, err := y.s.Delegations(t.Context(), "s1", []string{"c2", "c3", "none", "c1"})
	if err != nil || !reflect.DeepEqual(got, []history.Delegation{r2, r1}) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, []history.Delegation{r2, r1})
	}
	for thread, want := range map[history.Thread]history.Delegation{history.Pair("Editor", "Reporter"): r1, history.Pair("Checker", "Reporter"): r2} {
		if got, err := y.s.LastDelegation(t.Context(), "s1", thread); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v: got %+v, %v", thread, got, err)
		}
	}
	for _, thread := range []history.Thread{history.UserThread, history.Pair("Checker", "Editor")} {
		if _, err := y.s.LastDelegation(t.Context(), "s1", thread); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%v: %v", thread, err)
		}
	}
}

func TestLastDelegationIsTheOneThatBeganLast(t *testing.T) {
	t.Parallel()
	y := newStory(t)
	// Reporter asks back, so that a run of the pair is within another one, which goes on after it.
	y.task("r1", "Reporter", "find it")
	y.says("r9", "Editor", history.TypeMessage, history.RoleUser, "which one?", func(m *history.Message) {
		m.CallerAgent, m.ParentRunID, m.ParentCallID = "Reporter", "r1", "c9"
	})
	y.answer("r1", "Reporter")
	if got, err := y.s.LastDelegation(t.Context(), "s1", history.Pair("Editor", "Reporter")); err != nil || got.RunID != "r9" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestDelegationStatus(t *testing.T) {
	t.Parallel()
	failed := func(code history.Code) func(*history.Message) {
		return func(m *history.Message) {
			m.Status, m.Origin, m.Extra.Code = history.StatusFailed, history.OriginError, string(code)
		}
	}
	status := func(st history.Status) func(*history.Message) { return func(m *history.Message) { m.Status = st } }
	says := func(change ...func(*history.Message)) func(*story) {
		return func(y *story) {
			y.says("r2", "Checker", history.TypeMessage, history.RoleAssistant, "text", change...)
		}
	}
	for name, c := range map[string]struct {
		end        func(*story)
		held, idle history.Status
	}{
		"just begun":        {func(*story) {}, history.StatusStreaming, history.StatusInterrupted},
		"text streams":      {says(status(history.StatusStreaming)), history.StatusStreaming, history.StatusInterrupted},
		"at a tool":         {func(y *story) { y.call("r2", "Checker", "c7") }, history.StatusStreaming, history.StatusInterrupted},
		"attempt failed":    {says(status(history.StatusFailed)), history.StatusStreaming, history.StatusInterrupted},
		"answered":          {says(), history.StatusCompleted, history.StatusCompleted},
		"text cut off":      {says(status(history.StatusInterrupted)), history.StatusInterrupted, history.StatusInterrupted},
		"failed":            {says(failed(history.CodeModel)), history.StatusFailed, history.StatusFailed},
		"stopped":           {says(failed(history.CodeInterrupted)), history.StatusInterrupted, history.StatusInterrupted},
		"sender has output": {func(y *story) { y.output("r1", "Reporter", "c2") }, history.StatusInterrupted, history.StatusInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			y := newStory(t)
			hold := func() *store.Hold {
				h, err := y.s.Hold(t.Context(), "s1")
				if err != nil {
					t.Fatal(err)
				}
				return h
			}
			first := hold()
			y.begin()
			c.end(y)
			look := func(want history.Status) {
				t.Helper()
				got, err := y.s.Delegations(t.Context(), "s1", []string{"c2"})
				if err != nil || len(got) != 1 || got[0].Status != want || (got[0].EndedAt == 0) != (want == history.StatusStreaming) {
					t.Errorf("%+v, %v, want %s", got, err, want)
				}
			}
			look(c.held)
			if err := first.Release(); err != nil {
				t.Fatal(err)
			}
			look(c.idle)
			hold()
			look(c.idle)
		})
	}
}
