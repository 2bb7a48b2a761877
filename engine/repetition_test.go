package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"bureau/engine"
	"bureau/engine/history"
	"bureau/engine/llm/llmtest"
)

// same is a reply that calls tools, named one after the other, each with arguments of its own.
func same(names string) llmtest.Response {
	var list []llmtest.Call
	for name := range strings.FieldsSeq(names) {
		list = append(list, call("", name[:1], fmt.Sprintf(`{"x":%q}`, name)))
	}
	return calls(list...)
}

// The tools are a, b and c, whose results never change, and n, whose results always do. A word is a call: its first letter is
// the tool, the whole of it the argument.
func TestRepetition(t *testing.T) {
	t.Parallel()
	const nobody = -1
	for name, c := range map[string]struct {
		replies string // separated by commas; after them, the model answers
		verdict engine.Verdict
		runs    int // calls that are carried out
		told    int // outputs that tell the model of it
		asked   int
		code    history.Code
	}{
		"twice":                             {"a,a", nobody, 2, 0, 0, ""},
		"the third is refused":              {"a,a,a", nobody, 2, 1, 0, ""},
		"the fourth ends the run":           {"a,a,a,a", nobody, 2, 2, 0, history.CodeLimit},
		"the fourth asks, and stops":        {"a,a,a,a", engine.Stop, 2, 2, 1, history.CodeLimit},
		"once":                              {"a,a,a,a,a", engine.Once, 4, 1, 2, ""},
		"allowed":                           {"a,a,a,a,a,a,a,a", engine.Raise, 7, 1, 1, ""},
		"other arguments":                   {"a1,a2,a3,a4,a5,a6,a7,a8,a9", nobody, 9, 0, 0, ""},
		"other results":                     {"n,n,n,n,n,n,n,n", nobody, 8, 0, 0, ""},
		"fifty pages":                       {strings.Join(strings.Fields(fmt.Sprint(seq("a", 50))), ","), nobody, 50, 0, 0, ""},
		"something else in between":         {"a,a,b,a,a,c,a,a", nobody, 8, 0, 0, ""},
		"tests after each change":           {"a,b1,a,b2,a,b3,a,b4,a", nobody, 9, 0, 0, ""},
		"taken up again after a word of it": {"a,a,a,b,a,a", nobody, 5, 1, 0, ""},
		"a cycle of two":                    {"a,b,a,b,a", nobody, 4, 1, 0, ""},
		"a cycle of two goes on":            {"a,b,a,b,a,b", nobody, 4, 2, 0, history.CodeLimit},
		"a cycle of three":                  {"a,b,c,a,b,c,a,b", nobody, 6, 2, 0, history.CodeLimit},
		"a cycle with one new result":       {"a,n,a,n,a,n,a,n", nobody, 8, 0, 0, ""},
		"two calls in a reply":              {"a b,a b,a b", nobody, 4, 2, 0, ""},
		"two calls in a reply go on":        {"a b,a b,a b,a b", nobody, 4, 4, 0, history.CodeLimit},
		"one of two is new":                 {"a b,a b,a b1", nobody, 5, 1, 0, ""},
		"the same at once":                  {"a a a a", nobody, 4, 0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ran, changes atomic.Int64
			var s setup
			for tool := range strings.SplitSeq("a b c n", " ") {
				s.tools = append(s.tools, fake{tool, func(context.Context, string) (string, error) {
					ran.Add(1)
					if tool == "n" {
						return fmt.Sprint(changes.Add(1)), nil
					}
					return "the same", nil
				}})
			}
			asked := 0
			if c.verdict != nobody {
				s.decide = func(_ context.Context, q engine.Question) engine.Answer {
					asked++
					if q.Limit != engine.LimitRepeated || !strings.Contains(q.Message, "A goes on calling a") {
						t.Errorf("%+v", q)
					}
					return engine.Answer{Verdict: c.verdict}
				}
			}
			var replies []llmtest.Response
			for reply := range strings.SplitSeq(c.replies, ",") {
				replies = append(replies, same(reply))
			}
			b := s.bench(t, "agents:\n  A: {instructions: x, tools: [a, b, c, n]}\n", play{"A": inTurn(append(replies, text("f"))...)})
			result, err := b.say("A", "hi")
			if code(err) != c.code || c.code == "" && result.Text != "f" {
				t.Errorf("ended with %q, %v", result.Text, err)
			}
			told := 0
			for _, output := range b.outputs("A") {
				if strings.HasPrefix(output, "Error: ") {
					told++
				}
			}
			if int(ran.Load()) != c.runs || told != c.told || asked != c.asked {
				t.Errorf("%d calls ran, %d told, %d asked: %q", ran.Load(), told, asked, b.lines())
			}
		})
	}
}

func seq(prefix string, n int) string {
	var words []string
	for i := range n {
		words = append(words, fmt.Sprint(prefix, i))
	}
	return strings.Join(words, " ")
}

// Arguments are compared by what they say, numbers by all their digits.
func TestRepetitionComparesWhatArgumentsSay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		arguments []string
		runs      int64
	}{
		"spaces and order": {[]string{`{"x":1,"y":2}`, `{ "y": 2, "x": 1 }`, `{"y":2,"x":1}`}, 2},
		"large numbers":    {[]string{`{"x":9007199254740993}`, `{"x":9007199254740992}`, `{"x":9007199254740994}`}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ran atomic.Int64
			look := fake{"look", func(context.Context, string) (string, error) { ran.Add(1); return "", nil }}
			var replies []llmtest.Response
			for _, arguments := range c.arguments {
				replies = append(replies, calls(call("", "look", arguments)))
			}
			b := setup{tools: look.alone()}.bench(t, "agents:\n  A: {instructions: x, tools: [look]}\n", play{"A": inTurn(append(replies, text("f"))...)})
			b.ok("A", "hi")
			if ran.Load() != c.runs {
				t.Errorf("%d calls ran", ran.Load())
			}
		})
	}
}

// A nested run that goes round in circles ends; its sender hears why, and goes on.
func TestRepetitionBelow(t *testing.T) {
	t.Parallel()
	b := newBench(t, "agents:\n  A: {instructions: x}\n  B: {instructions: x, tools: [a]}\ncommunication_flows: [A > B]\n", play{
		"A": first("f", send("", "B", "m")), "B": inTurn(same("a")),
	}, gives("a", "same"))
	b.ok("A", "hi")
	holds(t, "what A is told", b.outputs("A")[0], "Error: ", "B could not answer", "repeated calls", "goes on calling a")
}
