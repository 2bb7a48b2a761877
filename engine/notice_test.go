package engine_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"bureau/engine/history"
	"bureau/engine/llm/llmtest"
)

// warnings are the texts of the warnings so far.
func (b *bench) warnings() []string {
	var texts []string
	for _, v := range b.custom(history.CustomWarning) {
		texts = append(texts, fmt.Sprint(v["message"]))
	}
	return texts
}

// A call that a model wrote down as its whole answer is carried out, streamed or not; the words stay on record as failed and
// are never sent again.
func TestCallThatIsWrittenAsText(t *testing.T) {
	t.Parallel()
	for name, written := range map[string]string{
		"between tags": "<tool_call>\n{\"name\": \"look\", \"arguments\": {\"x\": 1}}\n</tool_call>",
		"function":     "<function=look><parameter=x>1</parameter></function>",
		"bare":         `{"name":"look","arguments":{"x":1}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, looks, play{"A": inTurn(llmtest.Response{Text: written, ChunkSize: 3}, text("f"))}, gives("look", "seen"))
			if result := b.ok("A", "hi"); result.Text != "f" {
				t.Errorf("answer %q", result.Text)
			}
			equal(t, "rows", b.lines(), []string{"A< user: hi", "A< assistant: " + written + " (failed)", "A< call look", "A< output: seen", "A< assistant: f"})
			equal(t, "A's next input", heard(b.asked("A")[1]), []string{"user: hi", "assistant:  +look", "tool: seen"})
			if w := b.warnings(); len(w) > 0 {
				t.Errorf("warnings %q", w)
			}
			ended := false
			for _, e := range b.told() {
				ended = ended || e.Type == history.EventTextEnd && e.Role == history.RoleAssistant && e.Status == history.StatusFailed
			}
			if !ended {
				t.Error("no event tells that the words are no answer")
			}
		})
	}
}

func TestDelegationThatIsWrittenAsText(t *testing.T) {
	t.Parallel()
	b := newBench(t, twoAgents, play{"A": inTurn(
		text(`<tool_call>{"name":"send_message","arguments":{"recipient_agent":"B","message":"do it"}}</tool_call>`), text("f"),
	), "B": says("done")})
	b.ok("A", "hi")
	equal(t, "B's input", heard(b.asked("B")[0]), []string{"user: do it"})
	equal(t, "outputs", b.outputs("A"), []string{"done"})
}

// What is not exactly one call that could be carried out is an answer, with a warning once where it looks like one.
func TestTextThatIsNoCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		warned     bool
	}{
		{"unknown tool", `<tool_call>{"name":"nope","arguments":{}}</tool_call>`, true},
		{"unknown recipient", `<tool_call>{"name":"send_message","arguments":{"recipient_agent":"Z","message":"m"}}</tool_call>`, true},
		{"arguments with a key twice", `{"name":"look","arguments":{"x":1,"x":2}}`, true},
		{"prose", `Use {"name":"look","arguments":{}} to look.`, false},
		{"fence", "```\n{\"name\":\"look\",\"arguments\":{}}\n```", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "agents:\n  A: {instructions: x, tools: [look]}\n  B: {instructions: x}\ncommunication_flows: [A > B]\n",
				play{"A": says(c.text)}, gives("look", "seen"))
			b.ok("A", "one")
			if result := b.ok("A", "two"); result.Text != c.text {
				t.Errorf("answer %q", result.Text)
			}
			want := 0
			if c.warned {
				want = 1
			}
			if w := b.warnings(); len(w) != want || want == 1 && !strings.Contains(w[0], "wrote a tool call as text: strict/A") {
				t.Errorf("warnings %q", w)
			}
			if rows := b.rows(); len(rows) != 4 || rows[1].Status != history.StatusCompleted {
				t.Errorf("rows %q", b.lines())
			}
		})
	}
}

// A structured call beside the text is the call; the text is words.
func TestWrittenCallBesideARealOne(t *testing.T) {
	t.Parallel()
	b := newBench(t, looks, play{"A": inTurn(
		llmtest.Response{Text: `{"name":"look","arguments":{}}`, Calls: []llmtest.Call{call("c", "look", "{}")}}, text("f"),
	)}, gives("look", "seen"))
	b.ok("A", "hi")
	equal(t, "outputs", b.outputs("A"), []string{"seen"})
}

// A local server that read less than it was sent is named once; counts that can be right are not.
func TestPromptThatIsCutSilently(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("seven words of text are in here ", 1200) // about 7,000 tokens
	for _, c := range []struct {
		name   string
		text   string
		count  int
		warned bool
	}{
		{"far below", long, 2047, true},
		{"exactly a usual window", strings.Repeat("seven words of text are in here ", 620), 4096, false},
		{"a usual window, filled", long, 4096, true},
		{"all of it", long, 8100, false},
		{"another vocabulary", long, 5600, false},
		{"only what was new", long, 300, false},
		{"a short prompt", "hi", 2048, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, agentsOf("A"), play{"A": func(*llmtest.Request) llmtest.Response {
				return llmtest.Response{Text: "f", Usage: &llmtest.Usage{Input: c.count, Output: 1}}
			}})
			b.ok("A", c.text)
			b.ok("A", "again")
			w := b.warnings()
			if !c.warned {
				if len(w) > 0 {
					t.Errorf("warnings %q", w)
				}
				return
			}
			if len(w) != 1 {
				t.Fatalf("%d warnings %q", len(w), w)
			}
			holds(t, "the warning", w[0], "strict/A", fmt.Sprint(c.count), "num_ctx", "OLLAMA_CONTEXT_LENGTH", "config.yaml")
		})
	}
}

// A setting that the server refuses is left out, and that is said once.
func TestSettingThatIsLeftOutIsTold(t *testing.T) {
	t.Parallel()
	b := setup{refusals: true}.bench(t, "agents:\n  A: {instructions: x, model_settings: {temperature: 0}}\n", play{"A": func(r *llmtest.Request) llmtest.Response {
		if _, ok := r.Fields["temperature"]; ok {
			return fault(http.StatusBadRequest, "Unsupported value: 'temperature' does not support 0 with this model.")
		}
		return text("f")
	}})
	b.ok("A", "one")
	w := b.warnings()
	if len(w) != 1 {
		t.Fatalf("warnings %q", w)
	}
	holds(t, "the warning", w[0], "strict/A", "temperature", "left out")
}
