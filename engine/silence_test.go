package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bureau/engine"
	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/llm/llmtest"
	"bureau/engine/tool"
)

// team gives each agent the model of its name.
func team(models map[string]*scripted) func(string) llm.Model {
	return func(agent string) llm.Model { return models[agent] }
}

// asks is a model in memory that sends messages with its first reply and then answers with what it was told.
func asks(list ...llmtest.Call) *scripted {
	return &scripted{answer: func(_ context.Context, n int, req llm.Request, on func(llm.Delta)) (llm.Reply, error) {
		if n == 1 {
			return invoke(on, list...)
		}
		var told []string
		for _, m := range req.Messages {
			if m.Role == llm.RoleTool {
				told = append(told, m.Content)
			}
		}
		return utter(on, strings.Join(told, "|"))
	}}
}

// mute says something and then nothing any more, for ever.
func mute(words string) *scripted {
	return &scripted{answer: func(ctx context.Context, _ int, _ llm.Request, on func(llm.Delta)) (llm.Reply, error) {
		on(llm.Delta{Text: words})
		<-ctx.Done()
		return llm.Reply{Text: words}, ctx.Err()
	}}
}

// A child that goes silent ends with what it had said; its sibling's answer is kept, and the sender goes on.
func TestSilentRunEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := &scripted{answer: func(_ context.Context, _ int, _ llm.Request, on func(llm.Delta)) (llm.Reply, error) {
			for i := range 20 { // far longer than the limit, but never silent
				time.Sleep(50 * time.Second)
				on(llm.Delta{Text: fmt.Sprint(i)})
			}
			return llm.Reply{Text: strings.Join(strings.Fields(seq("", 20)), "")}, nil
		}}
		b := setup{model: team(map[string]*scripted{
			"A": asks(send("c1", "B", "m"), send("c2", "C", "m")), "B": mute("half an answer"), "C": slow,
		})}.bench(t, agentsOf("A B C", "A > B", "A > C")+"limits: {max_silence: 60}\n", nil)
		began := time.Now()
		result := b.ok("A", "hi")
		if time.Since(began) != 1000*time.Second {
			t.Errorf("took %s", time.Since(began))
		}
		holds(t, "what A is told", result.Text, "Error: B could not answer", "max_silence", "1m0s", "half an answer", "|0123")
		for _, e := range b.told() {
			if e.Type == history.EventSubagentError && e.Agent == "B" && e.Code != history.CodeLimit {
				t.Errorf("%+v", e)
			}
		}
		holds(t, "the rows", strings.Join(b.lines(), "\n"), "B<A assistant: half an answer (interrupted)", "B<A error (failed)")
	})
}

// Each agent may have a limit of its own, and a run that waits for another one is not silent, whatever its own limit is.
func TestSilenceBelow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup{model: team(map[string]*scripted{"A": asks(send("c1", "B", "m")), "B": asks(send("c2", "C", "m")), "C": mute("a word")})}.bench(t,
			"agents:\n  A: {instructions: x}\n  B: {instructions: x, max_silence: 5}\n  C: {instructions: x, max_silence: 90}\n"+
				"communication_flows: [A > B > C]\n", nil)
		began := time.Now()
		result := b.ok("A", "hi")
		holds(t, "what came up", result.Text, "Error: C could not answer", "1m30s", "a word")
		if strings.Contains(result.Text, "B could not") || time.Since(began) != 90*time.Second {
			t.Errorf("%q after %s", result.Text, time.Since(began))
		}
	})
}

// A tool that never ends is silence as well; the time in which the user thinks is none.
func TestSilenceOfAToolAndOfTheUser(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stuck := fake{"stuck", func(ctx context.Context, _ string) (string, error) { <-ctx.Done(); return "", ctx.Err() }}
		b := setup{tools: stuck.alone(), model: team(map[string]*scripted{"A": asks(send("c1", "B", "m")), "B": asks(call("c2", "stuck", "{}"))})}.bench(t,
			"agents:\n  A: {instructions: x}\n  B: {instructions: x, tools: [stuck]}\ncommunication_flows: [A > B]\n", nil)
		began := time.Now()
		holds(t, "what A is told", b.ok("A", "hi").Text, "max_silence", "10m0s", "Tool calls that it had made: 1")
		if time.Since(began) > 601*time.Second {
			t.Errorf("took %s", time.Since(began))
		}
		outputs := b.outputs("B")
		if len(outputs) != 1 || strings.Contains(outputs[0], "by the user") || !strings.Contains(outputs[0], "max_silence") {
			t.Errorf("%q", outputs)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := setup{
			decide: func(context.Context, engine.Question) engine.Answer {
				time.Sleep(time.Hour)
				return engine.Answer{Verdict: engine.Raise, By: 100}
			},
			model: team(map[string]*scripted{"A": asks(send("c1", "B", "m")), "B": {answer: func(_ context.Context, _ int, _ llm.Request, on func(llm.Delta)) (llm.Reply, error) {
				return utter(on, "b")
			}}}),
		}.bench(t, agentsOf("A B", "A > B")+"limits: {max_silence: 60, max_turn_calls: 1}\n", nil)
		b.ok("A", "hi")
		for _, output := range b.outputs("A") {
			if strings.Contains(output, "Error") {
				t.Error(output)
			}
		}
	})
}

// A child that ends without a word is asked once for a summary, with all that it did; only then has it failed.
func TestRunWithoutAnAnswerIsAskedForASummary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		silent int // how many replies hold nothing but thoughts
		want   string
		asked  int // requests of B
	}{
		"answers after the nudge":   {1, "it is 7", 3},
		"answers with a summary":    {2, "it is 7", 4},
		"does not answer that even": {9, "Error: B could not answer", 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				thinking := &scripted{answer: func(_ context.Context, n int, req llm.Request, on func(llm.Delta)) (llm.Reply, error) {
					switch {
					case n == 1:
						return invoke(on, call("c2", "look", "{}"))
					case n <= 1+c.silent:
						on(llm.Delta{Reasoning: "hm"})
						return llm.Reply{Reasoning: "hm", Finish: llm.FinishStop}, nil
					}
					last := req.Messages[len(req.Messages)-1]
					if asked := strings.Contains(last.Content, "Write now, in words"); asked != (n > 3) {
						t.Errorf("request %d ends with %q", n, last.Content)
					}
					return utter(on, "it is 7")
				}}
				b := setup{tools: []tool.Tool{gives("look", "7")}, model: team(map[string]*scripted{"A": asks(send("c1", "B", "m")), "B": thinking})}.bench(t,
					"agents:\n  A: {instructions: x}\n  B: {instructions: x, tools: [look]}\ncommunication_flows: [A > B]\n", nil)
				result := b.ok("A", "hi")
				holds(t, "what A is told", result.Text, c.want)
				if len(thinking.requests) != c.asked {
					t.Errorf("B was asked %d times", len(thinking.requests))
				}
			})
		})
	}
}
