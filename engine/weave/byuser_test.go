package weave_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bureau/engine/weave"
)

// In a sub-conversation the agent that the user speaks to hears that it is he; the other one, when it is asked there, is told.
func TestWhatTheUserSaysInASubConversation(t *testing.T) {
	t.Parallel()
	rows := thread("user B do it", "assistant B done", "user B not so", "assistant B better", "user B and now this", "user A tell me")
	for i := range rows {
		rows[i].CallerAgent = "A"
		if rows[i].Agent == "A" {
			rows[i].CallerAgent = "B"
		}
	}
	rows[2].Extra.ByUser = true
	got := prompt(t, rows[:5], weave.View{Agent: "B", Caller: "A"})
	if len(got) != 5 || got[2].Role != "user" || !strings.HasPrefix(got[2].Content, "From the user himself") || !strings.HasSuffix(got[2].Content, "\nnot so") {
		t.Errorf("B hears %+v", got)
	}
	got = prompt(t, rows, weave.View{Agent: "A", Caller: "B"})
	if got[2].Role != "system" || got[2].Content != "The user himself said to B: not so" {
		t.Errorf("A hears %+v", got[2])
	}
}

// What the user says in the middle of a turn begins no turn of its own: where the window is full, the task stays, and his words.
func TestWordsInTheMiddleOfATurnStay(t *testing.T) {
	t.Parallel()
	texts := []string{"user A the task"}
	said := 0
	for i := range 200 {
		texts = append(texts, fmt.Sprintf("call A c%d look", i), fmt.Sprintf("output A c%d %s", i, strings.Repeat("word ", 30)))
		if i == 20 || i == 150 {
			said = len(texts)
			texts = append(texts, fmt.Sprintf("user A wish %d", i))
		}
	}
	rows := thread(texts...)
	for i := range rows {
		rows[i].Extra.Steering = strings.HasPrefix(rows[i].Content, "wish")
	}
	if !rows[said].Extra.Steering {
		t.Fatal("no words in the middle")
	}
	for _, budget := range []int{1500, 3000, 6000} {
		var users []string
		messages := prompt(t, rows, weave.View{Agent: "A", Budget: budget})
		for _, m := range messages {
			if m.Role == "user" {
				users = append(users, m.Content)
			}
		}
		if !slices.Equal(users, []string{"the task", "wish 20", "wish 150"}) {
			t.Errorf("budget %d keeps %q", budget, users)
		}
		if used := weave.Tokens(messages); used > budget || used < budget/2 {
			t.Errorf("budget %d: %d tokens", budget, used)
		}
		if last := messages[len(messages)-1]; last.CallID != "c199" {
			t.Errorf("the newest step is %+v", last)
		}
	}
}
