package thread_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bureau/engine/history"
	"bureau/tui/thread"
)

func sends(tool string) bool { return tool == "send_message" }

// sketch writes down all that is known of a session.
func sketch(s *thread.Session) string {
	var b strings.Builder
	write := func(t *thread.Thread) {
		fmt.Fprintf(&b, "[%s %s]\n", t.Key.A, t.Key.B)
		for _, run := range t.Runs {
			fmt.Fprintf(&b, "  run %s %s>%s %q state=%d tools=%d tokens=%d %d-%d\n",
				run.ID, run.From, run.To, run.Task, run.State, run.Tools, run.Usage.Tokens(), run.Started, run.Ended)
		}
		for _, it := range t.Items {
			fmt.Fprintf(&b, "  %d kind=%d %s<%s state=%d %q %s=%q error=%v at=%d-%d code=%s hint=%s carries=%d",
				it.ID, it.Kind, it.Agent, it.Caller, it.State(), it.Text(), it.Name, it.Output, it.IsError, it.At, it.Ended, it.Code, it.Hint, it.Carries)
			if it.Run != nil {
				fmt.Fprintf(&b, " run=%s", it.Run.ID)
			}
			b.WriteString("\n")
		}
	}
	write(s.User)
	for _, t := range s.Pairs {
		write(t)
	}
	return b.String()
}

// recorded is a turn as events, and the same as rows and delegations.
func recorded() (events []history.Event, rows []history.Message, runs []history.Delegation) {
	at := int64(1_000_000)
	emit := func(e history.Event) {
		at += 10
		e.At, e.SessionID, e.RunID = at, "s", "top"
		events = append(events, e)
	}
	type place struct{ agent, caller, run, parent, call string }
	event := func(p place, e history.Event) {
		e.Agent, e.CallerAgent = p.agent, p.caller
		if p.run != "top" {
			e.SubagentRunID, e.ParentCallID = p.run, p.call
			if p.parent != "top" {
				e.ParentSubagentRunID = p.parent
			}
		}
		emit(e)
	}
	row := func(p place, m history.Message) int64 {
		m.ID, m.Agent, m.CallerAgent, m.RunID, m.CreatedAt = int64(len(rows)+1), p.agent, p.caller, p.run, at+10
		rows = append(rows, m)
		return m.ID
	}
	say := func(p place, role history.Role, kind history.Type, status history.Status, origin history.Origin, text string) {
		id := row(p, history.Message{Type: kind, Role: role, Content: text, Status: status, Origin: origin})
		types := []history.EventType{history.EventTextStart, history.EventTextContent, history.EventTextEnd}
		if kind == history.TypeReason {
			types = []history.EventType{history.EventReasoningStart, history.EventReasoningContent, history.EventReasoningEnd}
		}
		event(p, history.Event{Type: types[0], MessageID: id, Role: role, Origin: origin})
		for i, r := range text {
			event(p, history.Event{Type: types[1], MessageID: id, Delta: string(r), Offset: i})
		}
		event(p, history.Event{Type: types[2], MessageID: id, Status: status, Content: text})
	}
	call := func(p place, id, name, arguments string) {
		row(p, history.Message{Type: history.TypeCall, CallID: id, Name: name, Arguments: arguments, Status: history.StatusCompleted})
		n := int64(len(rows))
		event(p, history.Event{Type: history.EventCallStart, MessageID: n, CallID: id, Name: name})
		event(p, history.Event{Type: history.EventCallArgs, MessageID: n, CallID: id, Name: name, Delta: arguments})
		event(p, history.Event{Type: history.EventCallEnd, MessageID: n, CallID: id, Name: name, Status: history.StatusCompleted})
	}
	result := func(p place, id, name, output string, isError bool) {
		n := row(p, history.Message{
			Type: history.TypeOutput, CallID: id, Name: name, Content: output, Status: history.StatusCompleted, Extra: history.Extra{IsError: isError},
		})
		event(p, history.Event{Type: history.EventCallResult, MessageID: n, CallID: id, Name: name, Content: output, IsError: isError})
	}
	begin := func(p place) {
		event(p, history.Event{Type: history.EventSubagentStarted})
		runs = append(runs, history.Delegation{
			RunID: p.run, ParentRunID: p.parent, ParentCallID: p.call, From: p.caller, To: p.agent, Status: history.StatusStreaming, StartedAt: at,
		})
	}
	end := func(p place, kind history.EventType, task string, status history.Status, tools int, code history.Code, hint string) {
		usage := history.Usage{InputTokens: 100, OutputTokens: 7}
		event(p, history.Event{Type: kind, Usage: &usage, Code: code, Hint: hint, Message: "why"})
		i := slices.IndexFunc(runs, func(d history.Delegation) bool { return d.RunID == p.run })
		runs[i].Task, runs[i].Status, runs[i].Tools, runs[i].Usage, runs[i].EndedAt = task, status, tools, usage, at
	}

	guide, scout := place{agent: "Guide", run: "top"}, place{"Scout", "Guide", "r1", "top", "c1"}
	checker, nested := place{"Checker", "Guide", "r2", "top", "c2"}, place{"Checker", "Scout", "r3", "r1", "c4"}
	emit(history.Event{Type: history.EventRunStarted, Agent: "Guide"})
	say(guide, history.RoleUser, history.TypeMessage, history.StatusCompleted, "", "Look.")
	say(guide, "", history.TypeReason, history.StatusCompleted, "", "Hm.")
	say(guide, history.RoleAssistant, history.TypeMessage, history.StatusCompleted, "", "I ask.")
	call(guide, "c1", "send_message", `{"recipient_agent":"Scout","message":"What is there?"}`)
	call(guide, "c2", "send_message", `{"recipient_agent":"Checker","message":"True?"}`)
	begin(scout)
	begin(checker)
	say(scout, history.RoleUser, history.TypeMessage, history.StatusCompleted, "", "What is there?")
	say(checker, history.RoleUser, history.TypeMessage, history.StatusCompleted, "", "True?")
	call(scout, "c3", "list_directory", `{"path":"."}`)
	call(scout, "c4", "send_message", `{"recipient_agent":"Checker","message":"Builds?"}`)
	begin(nested)
	say(nested, history.RoleUser, history.TypeMessage, history.StatusCompleted, "", "Builds?")
	result(scout, "c3", "list_directory", "a\nb", false)
	say(nested, history.RoleAssistant, history.TypeMessage, history.StatusCompleted, "", "Yes.")
	end(nested, history.EventSubagentFinished, "Builds?", history.StatusCompleted, 0, "", "")
	result(scout, "c4", "send_message", "Yes.", false)
	rows = append(rows, history.Message{ // the failed row of a run that ended in an error; what is to be done comes with the run's end
		ID: int64(len(rows) + 1), Agent: "Checker", CallerAgent: "Guide", RunID: "r2", CreatedAt: at + 10, Type: history.TypeMessage, Role: history.RoleAssistant,
		Origin: history.OriginError, Status: history.StatusFailed, Content: "why", Extra: history.Extra{Code: "model", Hint: "Wait."},
	})
	n := int64(len(rows))
	event(checker, history.Event{Type: history.EventTextStart, MessageID: n, Role: history.RoleAssistant, Origin: history.OriginError})
	event(checker, history.Event{Type: history.EventTextEnd, MessageID: n, Status: history.StatusFailed, Content: "why"})
	end(checker, history.EventSubagentError, "True?", history.StatusFailed, 0, history.CodeModel, "Wait.")
	result(guide, "c2", "send_message", "Error: why", true)
	say(scout, history.RoleAssistant, history.TypeMessage, history.StatusCompleted, "", "a and b.")
	end(scout, history.EventSubagentFinished, "What is there?", history.StatusCompleted, 2, "", "")
	result(guide, "c1", "send_message", "a and b.", false)
	call(guide, "c5", "transfer_to_Desk", `{"recipient_agent":"Desk"}`)
	result(guide, "c5", "transfer_to_Desk", "Desk", false)
	desk := place{agent: "Desk", run: "top"}
	say(desk, history.RoleSystem, history.TypeMessage, history.StatusCompleted, history.OriginHandoffReminder, "You are on.")
	call(desk, "c6", "current_time", `{}`) // cut off by the stop
	say(desk, history.RoleAssistant, history.TypeMessage, history.StatusInterrupted, "", "Half")
	emit(history.Event{Type: history.EventRunError, Code: history.CodeInterrupted, Message: "stopped"})
	return events, rows, runs
}

func play(events []history.Event) *thread.Session {
	s := thread.New(sends)
	for _, e := range events {
		s.Apply(e)
	}
	return s
}

// reread reads the rows as a session is opened: the newest page of each conversation, then older ones of size rows.
func reread(rows []history.Message, runs []history.Delegation, size int) *thread.Session {
	s := thread.New(sends)
	var conversations []history.Conversation
	keys := []history.Thread{history.UserThread}
	for _, row := range rows {
		if key := row.Thread(); !slices.Contains(keys, key) {
			keys = append(keys, key)
			conversations = append(conversations, history.Conversation{Thread: key, FirstID: row.ID})
		}
	}
	s.LoadConversations(conversations)
	for _, key := range keys {
		for before := int64(1 << 40); ; {
			var page []history.Message
			for _, row := range slices.Backward(rows) {
				if key.Holds(row) && row.ID < before && len(page) < size {
					page = append([]history.Message{row}, page...)
				}
			}
			s.Load(key, page, len(page) == size)
			if len(page) < size {
				break
			}
			before = s.Thread(key).FirstID()
		}
	}
	s.LoadDelegations(runs)
	return s
}

func TestEventsAndRowsTellTheSame(t *testing.T) {
	t.Parallel()
	events, rows, runs := recorded()
	want := sketch(play(events))
	for _, size := range []int{1, 2, 3, 7, 1000} {
		if got := sketch(reread(rows, runs, size)); got != want {
			t.Errorf("in pages of %d the rows tell\n%s\nand the events\n%s", size, got, want)
		}
	}
	for _, part := range []string{"state=0", "[Checker Scout]", "run r3", `"Half"`} {
		if strings.Contains(want, part) == (part == "state=0") {
			t.Errorf("%q: nothing may be at work still, and all must be there:\n%s", part, want)
		}
	}
}

func TestEventsThatComeTwiceChangeNothing(t *testing.T) {
	t.Parallel()
	events, _, _ := recorded()
	want := sketch(play(events))
	var twice []history.Event
	for _, e := range events {
		twice = append(twice, e)
		switch e.Type {
		case history.EventRunError, history.EventSubagentError, history.EventSubagentFinished:
		default:
			twice = append(twice, e)
		}
	}
	s := play(twice)
	if got := sketch(s); got != want {
		t.Errorf("twice\n%s\nonce\n%s", got, want)
	}
	if gaps := s.Gaps(); len(gaps) != 0 {
		t.Errorf("gaps %v", gaps)
	}
}

// TestLostDeltasHeal leaves out deltas at random: the end of a message tells it whole, and before that a gap asks for the row.
func TestLostDeltasHeal(t *testing.T) {
	t.Parallel()
	events, rows, _ := recorded()
	want := sketch(play(events))
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := thread.New(sends)
		for _, e := range events {
			lossy := e.Type == history.EventTextContent || e.Type == history.EventReasoningContent
			if lossy && r.IntN(3) == 0 {
				continue
			}
			s.Apply(e)
			for _, gap := range s.Gaps() {
				row := rows[gap.ID-1]
				row.Status, row.Content = history.StatusStreaming, row.Content[:min(len(row.Content), e.Offset+len(e.Delta))]
				s.Load(gap.Thread, []history.Message{row}, true)
				i := slices.IndexFunc(s.Thread(gap.Thread).Items, func(it *thread.Item) bool { return it.ID == gap.ID })
				if got := s.Thread(gap.Thread).Items[i].Text(); got != row.Content {
					t.Fatalf("seed %d: row %d is %q after it was read again, want %q", seed, gap.ID, got, row.Content)
				}
			}
		}
		if got := sketch(s); got != want {
			t.Fatalf("seed %d: with losses\n%s\nwithout\n%s", seed, got, want)
		}
	}
}

func TestRetryIsGoneWhenTheRunGoesOn(t *testing.T) {
	t.Parallel()
	s := thread.New(sends)
	s.Apply(history.Event{Type: history.EventRunStarted, RunID: "top", Agent: "A", At: 1})
	retry := history.Event{
		Type: history.EventCustom, Name: history.CustomRetry, RunID: "top", Agent: "A", At: 5,
		Value: map[string]any{"attempt": 2, "of": 3, "wait": 1.5, "reason": "busy"},
	}
	s.Apply(retry)
	s.Apply(retry)
	if n := len(s.User.Items); n != 1 || s.User.Items[0].Until != 1_500_005 || s.User.Items[0].Attempt != 2 {
		t.Fatalf("%d items, %+v", n, s.User.Items)
	}
	s.Apply(history.Event{Type: history.EventTextStart, RunID: "top", Agent: "A", MessageID: 1, Role: history.RoleAssistant, At: 9})
	if len(s.User.Items) != 1 || s.User.Items[0].Kind != thread.Answer {
		t.Errorf("the retry is still there: %+v", s.User.Items[0])
	}
}

func TestUsageOfARunThatGoesOn(t *testing.T) {
	t.Parallel()
	s := thread.New(sends)
	nested := history.Event{RunID: "top", SubagentRunID: "n", ParentCallID: "c", Agent: "B", CallerAgent: "A", At: 1}
	tell := func(kind history.EventType, name string, tokens int64) {
		e := nested
		e.Type, e.Name, e.Usage = kind, name, &history.Usage{InputTokens: tokens}
		s.Apply(e)
	}
	run := func() *thread.Run { return s.Pairs[0].Runs[0] }
	tell(history.EventSubagentStarted, "", 0)
	before := s.Pairs[0].Changed
	tell(history.EventCustom, history.CustomUsage, 120)
	if got := run().Usage.Tokens(); got != 120 || s.Pairs[0].Changed == before {
		t.Errorf("a run that goes on took %d tokens, its conversation changed: %v", got, s.Pairs[0].Changed != before)
	}
	tell(history.EventSubagentFinished, "", 200)
	tell(history.EventCustom, history.CustomUsage, 150)
	if got := run().Usage.Tokens(); got != 200 {
		t.Errorf("a run that ended with 200 tokens took %d", got)
	}
	if n := len(s.Pairs[0].Items); n != 0 {
		t.Errorf("usage made %d items", n)
	}
}

// TestEveryChangeIsCounted holds versions to what they promise: an item that shows something else has another version.
func TestEveryChangeIsCounted(t *testing.T) {
	t.Parallel()
	events, _, _ := recorded()
	s := thread.New(sends)
	type seen struct {
		version uint64
		shown   string
	}
	last := map[*thread.Item]seen{}
	for _, e := range events {
		s.Apply(e)
		for _, t2 := range append([]*thread.Thread{s.User}, s.Pairs...) {
			for _, it := range t2.Items {
				shown := fmt.Sprint(it.Kind, it.Agent, it.State(), it.Text(), it.Output, it.HasOutput, it.Code, it.Hint, it.Ended, it.Carries)
				if it.Run != nil {
					shown += fmt.Sprint(it.Run.State, it.Run.Task, it.Run.Tools, it.Run.Ended, it.Run.Usage.Tokens())
				}
				if before, ok := last[it]; ok && before.shown != shown && before.version == it.Version() {
					t.Fatalf("%s changed item %d from\n%s\nto\n%s\nunder the same version", e.Type, it.ID, before.shown, shown)
				}
				last[it] = seen{it.Version(), shown}
			}
		}
	}
}
