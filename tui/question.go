package tui

import (
	"encoding/json"
	"fmt"
	"strings"

	"bureau/engine/history"
	"bureau/tui/overlay"
	"bureau/tui/text"
)

// question is what the engine asks before a turn goes on.
type question struct {
	// Limit is its name, Message what has happened, Used and Max are amounts in its unit; Max is 0 where it has none.
	Limit   string  `json:"limit"`
	Message string  `json:"message"`
	Used    float64 `json:"used"`
	Max     float64 `json:"max"`
}

// The answers that are not an amount.
const (
	answerStop = "stop"
	answerOnce = "once"
	answerLet  = "let"
)

// choice is one answer to a question.
type choice struct {
	id, label, detail string
	answer            Answer
}

func readQuestion(e history.Event) *question {
	q := &question{}
	raw, err := json.Marshal(e.Value)
	if err != nil || json.Unmarshal(raw, q) != nil {
		return nil
	}
	return q
}

// choices are the answers, the safe one first.
func (q *question) choices() []choice {
	if q.Max <= 0 {
		return []choice{
			{answerStop, "Stop", "this run ends; what is done is kept", Answer{}},
			{answerOnce, "Once more", "and ask again", Answer{Verdict: Once}},
			{answerLet, "Let it go on", "and do not ask again in this turn", Answer{Verdict: Raise}},
		}
	}
	list := []choice{
		{answerStop, "Stop", "the turn ends; what is done is kept", Answer{}},
		{answerOnce, "Go on once", "one more call of a model, then ask again", Answer{Verdict: Once}},
	}
	for _, factor := range []float64{2, 5} {
		// The last call may have gone far beyond the limit: a raise leaves room all the same.
		by := max(q.Max, q.Used)*factor - q.Max
		list = append(list, choice{
			fmt.Sprint(factor), "Raise it to " + q.amount(q.Max+by), "it is " + q.amount(q.Max), Answer{Verdict: Raise, By: by},
		})
	}
	return list
}

// amount writes an amount in the unit of the limit.
func (q *question) amount(n float64) string {
	switch {
	case strings.HasSuffix(q.Limit, "max_cost"):
		return money(n)
	case strings.HasSuffix(q.Limit, "max_tokens"):
		return text.Tokens(int64(n)) + " tokens"
	case strings.HasSuffix(q.Limit, "max_seconds"):
		return fmt.Sprintf("%.0f s", n)
	}
	return fmt.Sprintf("%.0f", n)
}

// ask shows a question. Keys that are on their way do not answer it.
func (m *model) ask(e history.Event) {
	q := readQuestion(e)
	if q == nil {
		return
	}
	m.closeQuestion()
	m.question = q
	var choices []overlay.Choice
	for _, c := range q.choices() {
		choices = append(choices, overlay.Choice{ID: c.id, Label: c.label, Detail: c.detail})
	}
	m.overlays.Push(overlay.NewPicker(questionID, text.Line(e.Agent+" waits: "+q.Message), choices, ""), overlay.Grace)
}

// answer gives the answer of an id to the open question.
func (m *model) answer(id string) {
	q := m.question
	if q == nil {
		return
	}
	m.question = nil
	for _, c := range q.choices() {
		if c.id == id {
			m.session.Answer(c.answer)
			if c.answer.Verdict == Raise {
				m.budget.raise(q.Limit, c.answer.By)
			}
		}
	}
}

// refuseQuestion answers the question on top of the dialogs with a stop, before it is closed.
func (m *model) refuseQuestion() {
	if top := m.overlays.Top(); top != nil && top.ID() == questionID {
		m.answer(answerStop)
	}
}

// closeQuestion takes away a question that nobody waits for any more.
func (m *model) closeQuestion() {
	m.question = nil
	if top := m.overlays.Top(); top != nil && top.ID() == questionID {
		m.overlays.Pop()
	}
}

// raise adds to a limit of the session; one of a turn is new with the next.
func (b *Budget) raise(limit string, by float64) {
	switch limit {
	case "session_limits.max_tokens":
		b.Tokens += int64(by)
	case "session_limits.max_cost":
		b.Cost += by
	}
}

// spent says what the session has taken, and of which budget where there is one; while a turn is under way, also the turn's.
func (m *model) spent() []string {
	var parts []string
	add := func(used string, budget float64, of string) {
		if budget > 0 {
			used += " of " + of
		}
		parts = append(parts, used)
	}
	b, total := m.budget, m.total
	if total.Tokens() > 0 {
		add(text.Tokens(total.Tokens())+" tok", float64(b.Tokens), text.Tokens(b.Tokens))
	}
	if total.Cost != nil && (*total.Cost > 0 || b.Cost > 0) {
		add(money(*total.Cost), b.Cost, money(b.Cost))
	}
	if !m.busy() {
		return parts
	}
	if b.TurnTokens > 0 {
		add("turn "+text.Tokens(max(total.Tokens()-m.before.Tokens(), 0))+" tok", float64(b.TurnTokens), text.Tokens(b.TurnTokens))
	}
	if b.TurnCost > 0 && total.Cost != nil {
		cost := *total.Cost
		if m.before.Cost != nil {
			cost -= *m.before.Cost
		}
		add("turn "+money(max(cost, 0)), b.TurnCost, money(b.TurnCost))
	}
	return parts
}
