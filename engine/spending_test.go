package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bureau/engine"
	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/llm/llmtest"
)

// dollar prices every request the same.
func dollar(each float64) func(llm.Ref, history.Usage) *float64 {
	return func(llm.Ref, history.Usage) *float64 { return &each }
}

// asking is an agency whose first agent asks the second one message after the other, each of which takes 150 tokens a request.
const asking = "agents:\n  A: {instructions: x}\n  B: {instructions: x}\ncommunication_flows: [A > B]\n"

func asksTwice() func(*llmtest.Request) llmtest.Response {
	return inTurn(calls(send("", "B", "m1")), calls(send("", "B", "m2")), text("f"))
}

// questions answers one after the other and keeps what was asked.
type questions struct {
	answers []engine.Answer

	mu    sync.Mutex
	asked []engine.Question
}

func (q *questions) decide(_ context.Context, question engine.Question) engine.Answer {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked = append(q.asked, question)
	if n := len(q.asked); n <= len(q.answers) {
		return q.answers[n-1]
	}
	return engine.Answer{}
}

// A budget counts the whole tree and is checked before every call of a model. Five requests would be made: A, B, A, B, A.
func TestBudgetOfATurn(t *testing.T) {
	t.Parallel()
	raise := func(by float64) engine.Answer { return engine.Answer{Verdict: engine.Raise, By: by} }
	once := engine.Answer{Verdict: engine.Once}
	for name, c := range map[string]struct {
		limit   string
		answers []engine.Answer // nil: nobody is there to be asked
		models  int             // requests in all
		asked   int
		code    history.Code
	}{
		"no limit":                     {"", nil, 5, 0, ""},
		"not reached":                  {"limits: {max_tokens: 601}", nil, 5, 0, ""},
		"tokens, nobody there":         {"limits: {max_tokens: 450}", nil, 3, 0, history.CodeLimit},
		"tokens in the middle of B":    {"limits: {max_tokens: 150}", nil, 1, 0, history.CodeLimit},
		"cost, nobody there":           {"limits: {max_cost: 0.3}", nil, 3, 0, history.CodeLimit},
		"tokens of the session":        {"session_limits: {max_tokens: 600}", nil, 4, 0, history.CodeLimit},
		"cost of the session":          {"session_limits: {max_cost: 0.2}", nil, 2, 0, history.CodeLimit},
		"stopped":                      {"limits: {max_tokens: 450}", []engine.Answer{{}}, 3, 1, history.CodeLimit},
		"raised enough":                {"limits: {max_tokens: 450}", []engine.Answer{raise(1000)}, 5, 1, ""},
		"raised by too little":         {"limits: {max_tokens: 450}", []engine.Answer{raise(1), raise(500)}, 5, 2, ""},
		"raised by nothing":            {"limits: {max_tokens: 450}", []engine.Answer{raise(-5), once}, 5, 2, ""},
		"once, and once more":          {"limits: {max_tokens: 450}", []engine.Answer{once, once}, 5, 2, ""},
		"once, then stopped":           {"limits: {max_tokens: 450}", []engine.Answer{once}, 4, 2, history.CodeLimit},
		"two limits at the same time":  {"limits: {max_tokens: 600, max_cost: 0.4}", []engine.Answer{once, once}, 5, 2, ""},
		"calls of a turn, raised":      {"limits: {max_turn_calls: 2}", []engine.Answer{raise(3)}, 5, 1, ""},
		"cost of the session, raised":  {"session_limits: {max_cost: 0.2}", []engine.Answer{raise(5)}, 5, 1, ""},
		"tokens of a session, stopped": {"session_limits: {max_tokens: 150}", []engine.Answer{{}}, 1, 1, history.CodeLimit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := &questions{answers: c.answers}
			s := setup{price: dollar(0.1)}
			if c.answers != nil {
				s.decide = q.decide
			}
			b := s.bench(t, asking+c.limit+"\n", play{"A": asksTwice()})
			result, err := b.say("A", "hi")
			if code(err) != c.code || c.code == "" && result.Text != "f" {
				t.Errorf("ended with %q, %v", result.Text, err)
			}
			if n := len(b.server.Requests()); n != c.models || result.Usage.Requests != int64(n) {
				t.Errorf("%d requests, %+v", n, result.Usage)
			}
			if len(q.asked) != c.asked || len(b.custom("question")) != c.asked {
				t.Errorf("asked %+v, told %v", q.asked, b.custom("question"))
			}
			for _, question := range q.asked {
				if !strings.Contains(c.limit, strings.TrimPrefix(question.Limit, "session_limits.")) || question.Used < question.Max ||
					question.Max <= 0 || question.SessionID != b.session || question.RunID == "" || question.Agent == "" || question.Message == "" {
					t.Errorf("%+v", question)
				}
			}
			if c.code == "" {
				return
			}
			limits := b.custom("limit")
			if len(limits) != 1 || !strings.Contains(err.Error(), fmt.Sprint(limits[0]["limit"])) {
				t.Errorf("limits told: %v, the error %v", limits, err)
			}
			for _, m := range b.rows() {
				if m.Status != history.StatusCompleted && m.Extra.Code != string(history.CodeLimit) {
					t.Errorf("a row %s", line(m))
				}
			}
		})
	}
}

func TestSessionBudgetCountsEarlierTurnsAndARestart(t *testing.T) {
	t.Parallel()
	q := &questions{answers: []engine.Answer{{Verdict: engine.Raise, By: 150}}}
	b := setup{decide: q.decide}.bench(t, agentsOf("A")+"session_limits: {max_tokens: 300}\n", nil)
	b.ok("A", "one")
	b.engine = b.newEngine(b.agency)
	b.ok("A", "two")
	b.ok("A", "three") // asks, and is raised to 450
	if len(q.asked) != 1 || q.asked[0].Used != 300 || q.asked[0].Max != 300 {
		t.Fatalf("%+v", q.asked)
	}
	if _, err := b.say("A", "four"); code(err) != history.CodeLimit {
		t.Errorf("ended with %v", err)
	}
	if len(q.asked) != 2 || q.asked[1].Max != 450 {
		t.Errorf("the raise has not lasted: %+v", q.asked)
	}
	b.begin("other")
	b.session = "other"
	b.ok("A", "in another session")
}

// Agents that work at the same time ask one after the other, and an answer counts for all.
func TestOneQuestionAtATime(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	open, most, asked := 0, 0, 0
	b := setup{decide: func(context.Context, engine.Question) engine.Answer {
		mu.Lock()
		open++
		asked++
		most = max(most, open)
		mu.Unlock()
		time.Sleep(5 * time.Millisecond)
		mu.Lock()
		open--
		mu.Unlock()
		return engine.Answer{Verdict: engine.Raise, By: 100_000}
	}}.bench(t, agentsOf("A B C D E", "A > B", "A > C", "A > D", "A > E")+"limits: {max_tokens: 100}\n", play{
		"A": first("f", send("", "B", "m"), send("", "C", "m"), send("", "D", "m"), send("", "E", "m")),
	})
	b.ok("A", "hi")
	if most != 1 || asked != 1 {
		t.Errorf("%d questions, %d at once", asked, most)
	}
}

func TestStopWhileTheUserIsAskedEndsTheTurn(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b := setup{decide: func(ctx context.Context, _ engine.Question) engine.Answer {
		cancel()
		<-ctx.Done()
		return engine.Answer{Verdict: engine.Raise, By: 1e9}
	}}.bench(t, asking+"limits: {max_tokens: 100}\n", play{"A": asksTwice()})
	_, err := b.engine.Turn(ctx, engine.Input{SessionID: b.session, Recipient: "A", Text: "hi"})
	if code(err) != history.CodeInterrupted || len(b.server.Requests()) != 1 {
		t.Errorf("ended with %v after %d requests", err, len(b.server.Requests()))
	}
}

// What has no price counts towards tokens alone, and it is said once a turn; what has one counts as money all the same.
func TestUnknownPriceCountsTokensOnly(t *testing.T) {
	t.Parallel()
	b := setup{price: func(ref llm.Ref, _ history.Usage) *float64 {
		if ref.Model == "B" {
			return nil
		}
		cost := 1.0
		return &cost
	}}.bench(t, asking+"limits: {max_cost: 3}\n", play{"A": asksTwice()})
	result := b.ok("A", "hi")
	if result.Usage.Cost != nil {
		t.Errorf("a cost of %v", *result.Usage.Cost)
	}
	warnings := b.custom("warning")
	if len(warnings) != 1 || !strings.Contains(fmt.Sprint(warnings), "strict/B") {
		t.Errorf("%v", warnings)
	}
	b.agency.SessionLimits.MaxTokens = 1 // by money there would be room
	b.engine = b.newEngine(b.agency)
	if _, err := b.say("A", "more"); code(err) != history.CodeLimit {
		t.Errorf("ended with %v", err)
	}
	quiet := setup{price: func(llm.Ref, history.Usage) *float64 { return nil }}.bench(t, asking, play{"A": asksTwice()})
	quiet.ok("A", "hi")
	if len(quiet.custom("warning")) != 0 {
		t.Error("a warning where no money is limited")
	}
}

// The clock of a turn stands still while the user thinks.
func TestSecondsOfATurn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		thinks time.Duration
		raise  float64
		asked  int
		code   history.Code
	}{
		"stopped":            {0, 0, 1, history.CodeLimit},
		"raised by the rest": {time.Hour, 100, 1, ""},
		"raised too little":  {time.Hour, 25, 2, history.CodeLimit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				slow := &scripted{answer: func(ctx context.Context, n int, _ llm.Request, on func(llm.Delta)) (llm.Reply, error) {
					time.Sleep(20 * time.Second)
					if n < 5 {
						return invoke(on, call("", "look", fmt.Sprintf(`{"x":%d}`, n)))
					}
					return utter(on, "f")
				}}
				b := setup{tools: fake{"look", func(context.Context, string) (string, error) { return "", nil }}.alone(), model: only(slow),
					decide: func(context.Context, engine.Question) engine.Answer {
						asked++
						time.Sleep(c.thinks)
						if asked == 1 && c.raise > 0 {
							return engine.Answer{Verdict: engine.Raise, By: c.raise}
						}
						return engine.Answer{}
					},
				}.bench(t, "agents:\n  A: {instructions: x, tools: [look]}\nlimits: {max_seconds: 30}\n", nil)
				if _, err := b.say("A", "hi"); code(err) != c.code || asked != c.asked {
					t.Errorf("asked %d times, ended with %v", asked, err)
				}
			})
		})
	}
}
