package cmd_test

import (
	"strings"
	"testing"

	"bureau/engine/llm/llmtest"
)

// A server that is found lists what makes embeddings too, often before what talks.
func TestTheModelThatIsFoundTalks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		models []string
		want   string
	}{
		{[]string{"all-minilm:22m", "bge-m3", "mxbai-embed-large", "nomic-embed-text", "qwen3:8b"}, "qwen3:8b"},
		{[]string{"llama3.2", "nomic-embed-text"}, "llama3.2"},
		{[]string{"nomic-embed-text"}, "nomic-embed-text"},
	} {
		server := llmtest.NewServer(t, answers["echo"], llmtest.Models(test.models...))
		local := newUser(t, nil)
		if err := writeConfig(local.folder+"/..", strings.Replace(noLocalServers, "http://127.0.0.1:1/v1", server.URL, 1)); err != nil {
			t.Fatal(err)
		}
		local.must("ask", "hello")
		variable := newUser(t, nil)
		variable.env = append(variable.env, "OPENAI_BASE_URL="+server.URL)
		variable.must("ask", "hello")
		for _, r := range server.Requests() {
			if r.Model != test.want {
				t.Errorf("of %v, %s was asked", test.models, r.Model)
			}
		}
		if len(server.Requests()) < 2 {
			t.Errorf("the server was asked %d times", len(server.Requests()))
		}
	}
}

// What to do without a model is said in a conversation too, not by "ask" alone.
func TestAConversationSaysHowToConnectAModel(t *testing.T) {
	t.Parallel()
	u := newUser(t, map[string]string{"one.yaml": "name: one\nagents:\n  Solo: {instructions: Talk.}\n"})
	c := u.command("--plain", "./one.yaml")
	c.Stdin = strings.NewReader("hello\n")
	out, _ := c.CombinedOutput()
	for _, want := range []string{"no model is connected, and one has no offline script", "What to do: ", "OPENAI_API_KEY"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not said:\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "Model: .") {
		t.Errorf("a model without a name is told of:\n%s", out)
	}
}
