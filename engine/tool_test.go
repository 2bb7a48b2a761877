package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"bureau/engine/llm"
	"bureau/engine/tool"
)

// counted is a tool that wants a whole number n and, where it is given, a word of two.
type counted struct{ runs atomic.Int32 }

func (c *counted) Definition() llm.Tool {
	return llm.Tool{Name: "count", Description: "Counts.", Parameters: json.RawMessage(
		`{"type":"object","properties":{"n":{"type":"integer"},"how":{"enum":["up","down"]}},"required":["n"],"additionalProperties":false}`)}
}

func (c *counted) Run(_ context.Context, call tool.Call) (string, error) {
	c.runs.Add(1)
	return "counted " + string(call.Arguments), nil
}

// callOnce is what one call of the tool comes to, and how often it ran.
func callOnce(t *testing.T, arguments string) (string, int32) {
	t.Helper()
	c := &counted{}
	b := newBench(t, "agents: {A: {instructions: x, tools: [count]}}", play{"A": first("done", call("c", "count", arguments))}, c)
	b.ok("A", "hi")
	return b.outputs("A")[0], c.runs.Load()
}

const alone = "agents:\n  A: {instructions: I am A, tools: [slow, ft], one_call_at_a_time: [slow]}\n  B: {instructions: I am B, tools: [slow], one_call_at_a_time: [slow]}\n" +
	"communication_flows: [A > B]\n"

// together is what the calls of one reply come to.
func together(t *testing.T, names ...string) []string {
	t.Helper()
	reply := calls()
	for i, name := range names {
		reply.Calls = append(reply.Calls, call(fmt.Sprintf("c%d", i), name, "{}"))
	}
	b := newBench(t, alone, play{"A": first("done", reply.Calls...)}, gives("slow", "slow ran"), gives("ft", "ft ran"))
	b.ok("A", "hi")
	var short []string
	for _, output := range b.outputs("A") {
		switch {
		case strings.Contains(output, "slow is still running, and it runs alone"):
			output = "after slow"
		case strings.Contains(output, "slow runs alone, and another tool is still running"):
			output = "slow not beside another"
		}
		short = append(short, output)
	}
	return short
}

// runsAlone are the lines on tools that run alone.
var runsAlone = map[string]func(*testing.T){
	"L09": func(t *testing.T) {
		equal(t, "outputs", together(t, "slow", "ft"), []string{"slow ran", "after slow"})
	},
	"L10": func(t *testing.T) {
		for range 3 { // whatever ends first
			equal(t, "outputs", together(t, "slow", "ft", "slow"), []string{"slow ran", "after slow", "after slow"})
			equal(t, "outputs", together(t, "ft", "slow"), []string{"ft ran", "slow not beside another"})
		}
	},
	"L11": func(t *testing.T) { // while A waits for B, which counts as a tool of A at work, B's own runs
		b := newBench(t, alone, play{"A": first("done", send("c1", "B", "m")), "B": first("r", call("c2", "slow", "{}"))}, gives("slow", "slow ran"), gives("ft", ""))
		b.ok("A", "hi")
		equal(t, "B's outputs", b.outputs("B"), []string{"slow ran"})
	},
	"X26": func(t *testing.T) {
		b := newBench(t, alone, play{"A": first("done", call("c1", "slow", "{}"), send("c2", "B", "m"))}, gives("slow", "slow ran"), gives("ft", ""))
		b.ok("A", "hi")
		got := b.outputs("A")
		if got[0] != "slow ran" || !strings.Contains(got[1], "slow is still running") || len(b.asked("B")) != 0 {
			t.Errorf("outputs %q", got)
		}
	},
}

// toolAnswers are the lines on tools whose output is the answer.
var toolAnswers = map[string]func(*testing.T){
	"E23": func(t *testing.T) {
		b := newBench(t, "agents: {A: {instructions: x, tools: [look], tool_use_behavior: stop_on_first_tool}}",
			play{"A": inTurn(calls(call("c", "look", "{}")), text("never"))}, gives("look", "seen"))
		if got := b.ok("A", "hi").Text; got != "seen" || len(b.asked("A")) != 1 {
			t.Errorf("answer %q after %d model calls", got, len(b.asked("A")))
		}
		b.ok("A", "and now") // the next request is one that a strict server takes
	},
	"X21": func(t *testing.T) {
		b := newBench(t, "agents:\n  A: {instructions: I am A}\n  B: {instructions: I am B, tools: [look], tool_use_behavior: stop_on_first_tool}\ncommunication_flows: [A > B]\n",
			play{"A": first("done", send("c1", "B", "m")), "B": first("never", call("c2", "look", "{}"))}, gives("look", "seen"))
		b.ok("A", "hi")
		equal(t, "outputs", b.outputs("A"), []string{"seen"})
	},
}

// toolLines are the lines L of the conformance table.
var toolLines = lines{
	letter: "L", last: 20,
	leftOut: map[string]string{
		"L04": "there is one kind of tool, and one check of arguments", "L07": "a tool gives text",
		"L12": "tools are not loaded from folders", "L13": noPythonAPI, "L14": "tools are not made of OpenAPI documents",
		"L15": "tools are not made of OpenAPI documents", "L16": "tools do not come from MCP servers", "L17": "no tool runs a shell",
		"L18": "no tool runs Python", "L19": noAttachments, "L20": "an unknown key is a fault of the file",
	},
	covered: map[string]func(*testing.T){
		"L01": func(t *testing.T) {
			if got, runs := callOnce(t, `{"n": 1}`); got != `counted {"n":1}` || runs != 1 {
				t.Errorf("%q after %d runs", got, runs)
			}
		},
		"L02": func(t *testing.T) {
			b := newBench(t, "agents: {A: {instructions: x, tools: [bad, worse]}}", play{"A": first("done", call("c1", "bad", "{}"), call("c2", "worse", "{}"))},
				failing("bad", "the disk is full"), breaking("worse"))
			b.ok("A", "hi")
			got := b.outputs("A")
			if got[0] != "Error: the disk is full" || !strings.HasPrefix(got[1], "Error: the tool broke") {
				t.Errorf("outputs %q", got)
			}
		},
		"L03": func(t *testing.T) {
			got, runs := callOnce(t, `no object`)
			if !strings.HasPrefix(got, "Error: ") || !strings.Contains(got, "JSON") || runs != 0 {
				t.Errorf("%q after %d runs", got, runs)
			}
		},
		"L05": func(t *testing.T) {
			got, runs := callOnce(t, `{"n": "many"}`)
			if !strings.HasPrefix(got, "Error: ") || !strings.Contains(got, "n") || runs != 0 {
				t.Errorf("%q after %d runs", got, runs)
			}
		},
		"L06": func(t *testing.T) {
			got, runs := callOnce(t, `{"n": "many", "how": "sideways"}`)
			if strings.Count(got, "how") != 1 || !strings.Contains(got, "up") || !strings.Contains(got, "integer") || runs != 0 {
				t.Errorf("%q after %d runs", got, runs)
			}
		},
		"L08": func(t *testing.T) {
			b := newBench(t, "agents: {A: {instructions: x, tools: [count]}}", nil, &counted{})
			b.ok("A", "hi")
			if got := b.asked("A")[0].Tools[0].Parameters; !strings.Contains(string(got), `"additionalProperties":false`) {
				t.Errorf("parameters %s", got)
			}
		},
		"L09": runsAlone["L09"], "L10": runsAlone["L10"], "L11": runsAlone["L11"],
	},
}

// A tool that runs alone says so where the model reads it.
func TestToolThatRunsAloneSaysSo(t *testing.T) {
	t.Parallel()
	b := newBench(t, alone, nil, gives("slow", ""), gives("ft", ""))
	b.ok("A", "hi")
	for _, offered := range b.asked("A")[0].Tools {
		if says := strings.Contains(offered.Description, "runs alone"); says != (offered.Name == "slow") {
			t.Errorf("%s: %q", offered.Name, offered.Description)
		}
	}
}

// A tool that answers does so only where it succeeds; where it is named, the others do not; and control that moves wins.
func TestWhichToolAnswers(t *testing.T) {
	t.Parallel()
	yaml := func(behaviour string) string {
		return "agents:\n  A: {instructions: I am A, tools: [look, find, bad], tool_use_behavior: " + behaviour + "}\n  B: {instructions: I am B}\ncommunication_flows: [A > B, {A > B: handoff}]\n"
	}
	look, find, bad := call("c1", "look", "{}"), call("c2", "find", "{}"), call("c3", "bad", "{}")
	for _, c := range []struct {
		behaviour string
		reply     []string
		want      string
	}{
		{"run_llm_again", []string{"look"}, "done"},
		{"stop_on_first_tool", []string{"find", "look"}, "found"},
		{"stop_on_first_tool", []string{"bad"}, "done"},
		{"stop_on_first_tool", []string{"bad", "look"}, "seen"},
		{"{stop_at: [find]}", []string{"look"}, "done"},
		{"{stop_at: [find]}", []string{"look", "find"}, "found"},
		{"{stop_at: [send_message]}", []string{"send"}, "B answers m"},
		{"stop_on_first_tool", []string{"look", "handoff"}, "B answers hi"},
	} {
		reply := calls()
		for _, name := range c.reply {
			switch name {
			case "look":
				reply.Calls = append(reply.Calls, look)
			case "find":
				reply.Calls = append(reply.Calls, find)
			case "bad":
				reply.Calls = append(reply.Calls, bad)
			case "send":
				reply.Calls = append(reply.Calls, send("c4", "B", "m"))
			case "handoff":
				reply.Calls = append(reply.Calls, handoff("c5", "B"))
			}
		}
		b := newBench(t, yaml(c.behaviour), play{"A": inTurn(reply, text("done"))}, gives("look", "seen"), gives("find", "found"), failing("bad", "no"))
		if got := b.ok("A", "hi").Text; got != c.want {
			t.Errorf("%s, %v: answer %q", c.behaviour, c.reply, got)
		}
	}
}
