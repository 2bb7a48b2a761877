package weave_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/weave"
)

// choices makes rows and a view from bytes.
type choices struct{ data []byte }

func (c *choices) number(below int) int {
	if len(c.data) == 0 {
		return 0
	}
	n := int(c.data[0]) % below
	c.data = c.data[1:]
	return n
}

func (c *choices) of(list ...string) string { return list[c.number(len(list))] }

func (c *choices) row(id int64, view weave.View) history.Message {
	m := history.Message{
		ID: id, Agent: c.of("A", "B", "C"), RunID: c.of("r1", "r2", ""), ParentCallID: c.of("", "", "c1", "c2"), CallerAgent: c.of("", "A", "B"),
		Type:   history.Type(c.of("message", "message", "function_call", "function_call_output", "reasoning", "?")),
		Role:   history.Role(c.of("user", "assistant", "system", "")),
		Status: history.Status(c.of("completed", "completed", "completed", "interrupted", "failed", "streaming")),
		Origin: history.Origin(c.of("", "", "recipient_reminder", "handoff_reminder")),
		CallID: c.of("c1", "c2", "", "\xff", "\xfe", "c1_2", "call_2"), Name: c.of("look", "own", "", "\xffü", strings.Repeat("n", 90)),
		Arguments: c.of("{}", "", "null", "[]", "{\"x\":\"\xff\"}", `{"x":`), Content: c.of("text", "", " ", "\xff", "世界", strings.Repeat("long ", 200)),
	}
	m.Extra.Model = c.of("", "p/m", "q/m")
	if c.number(4) == 0 {
		m.Extra.Wire = map[string]json.RawMessage{"sign": json.RawMessage(`1`)}
	}
	if m.CallerAgent == view.Caller {
		m.ParentCallID = "" // the call that started the run is in another conversation
	}
	if m.Origin == history.OriginRecipientReminder {
		m.Content = "now" // a reminder stays with its message whatever the budget is
	}
	return m
}

var legalName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// check holds what Prompt makes of rows against all that it promises.
func check(t *testing.T, data []byte) {
	c := &choices{data}
	view := weave.View{
		Agent: "A", Provider: "p", Caller: c.of("", "B"), System: c.of("You are A.", ""), Nudge: c.of("", "", "Speak."), Budget: c.number(2) * (1 + c.number(255)*c.number(8)),
	}
	if c.number(2) == 0 {
		view.Tools = []llm.Tool{{Name: "look", Parameters: json.RawMessage(`{"type":"object"}`)}}
	}
	if c.number(3) == 0 {
		view.InFlight = func(id string) bool { return id == "c2" }
	}
	var rows []history.Message
	for len(c.data) > 0 {
		rows = append(rows, c.row(int64(len(rows)+1), view))
	}
	before := slices.Clone(rows)
	messages := prompt(t, rows, view)
	if !reflect.DeepEqual(rows, before) {
		t.Fatal("the rows have changed")
	}
	if again := prompt(t, rows, view); !reflect.DeepEqual(again, messages) {
		t.Fatalf("the same rows give another prompt:\n%q\n%q", short(messages), short(again))
	}
	if fault := faultOf(messages); fault != "" {
		t.Fatalf("%s\n%q\n%+v", fault, short(messages), rows)
	}
	if view.Budget > 0 {
		least := view
		least.Budget = 1
		const reminder = 5
		used := func(m []llm.Message) int { return weave.Tokens(m) + weave.ToolTokens(view.Tools) }
		if got, smallest := used(messages), used(prompt(t, rows, least)); got > max(view.Budget, smallest+reminder) {
			t.Fatalf("%d tokens for a budget of %d, where %d are the least\n%q", got, view.Budget, smallest, short(messages))
		}
	}
	for _, row := range slices.Backward(rows) {
		woven := row.Type == history.TypeMessage && row.Role == history.RoleUser && row.Status != history.StatusFailed && strings.TrimSpace(row.Content) != ""
		if !woven || row.CallerAgent != view.Caller {
			continue
		}
		want := strings.ToValidUTF8(row.Content, "\ufffd")
		if !slices.ContainsFunc(messages, func(m llm.Message) bool { return m.Role == llm.RoleUser && m.Content == want }) {
			t.Fatalf("the last message of the user, %q, is missing in %q", want, short(messages))
		}
		break
	}
}

// faultOf is why the strictest server would refuse the messages; empty for no reason.
func faultOf(messages []llm.Message) string {
	ids := map[string]bool{}
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		for _, text := range []string{m.Content, m.CallID, m.Name, m.Reasoning} {
			if !utf8.ValidString(text) {
				return fmt.Sprintf("message %d holds %q", i, text)
			}
		}
		if strings.TrimSpace(m.Content) == "" && len(m.Calls) == 0 && m.Role != llm.RoleTool {
			return fmt.Sprintf("message %d is empty", i)
		}
		if m.Role == llm.RoleTool {
			return fmt.Sprintf("message %d answers no call", i)
		}
		for n, c := range m.Calls {
			var object map[string]any
			switch {
			case ids[c.ID] || c.ID == "" || !utf8.ValidString(c.ID):
				return fmt.Sprintf("the call id %q is there twice, empty or no text", c.ID)
			case !legalName.MatchString(c.Name):
				return fmt.Sprintf("the name %q is not legal", c.Name)
			case json.Unmarshal([]byte(c.Arguments), &object) != nil || object == nil || !utf8.ValidString(c.Arguments):
				return fmt.Sprintf("the arguments %q are no object", c.Arguments)
			case i+1+n >= len(messages) || messages[i+1+n].Role != llm.RoleTool || messages[i+1+n].CallID != c.ID || messages[i+1+n].Content == "":
				return fmt.Sprintf("the call %q is not answered in its place", c.ID)
			}
			ids[c.ID] = true
		}
		i += len(m.Calls)
	}
	if n := len(messages); n > 0 && messages[n-1].Role == llm.RoleAssistant {
		return "the last message is an assistant's"
	}
	return ""
}

func TestPromptOfAnyRows(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		data := make([]byte, r.IntN(400))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		check(t, data)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzPrompt(f *testing.F) {
	f.Add([]byte("a thread of some rows, as bytes choose them"))
	f.Fuzz(check)
}
