package llm_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"bureau/engine/history"
	"bureau/engine/llm"
)

// at is a piece with an index, nowhere one without.
func at(index int, id, name, args string) llm.CallPart {
	return llm.CallPart{Index: index, HasIndex: true, ID: id, Name: name, Arguments: args}
}

func nowhere(id, name, args string) llm.CallPart {
	return llm.CallPart{ID: id, Name: name, Arguments: args}
}

func TestCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		parts []llm.CallPart
		want  []string
	}{
		{"one, in pieces", []llm.CallPart{at(0, "a", "f", ""), at(0, "", "", `{"p"`), at(0, "", "", `:1}`)}, []string{`a f {"p":1}`}},
		{"all of index 0", []llm.CallPart{at(0, "a", "f", `{"p":1}`), at(0, "b", "f", `{"p":2}`), at(0, "c", "g", `{}`)},
			[]string{`a f {"p":1}`, `b f {"p":2}`, "c g {}"}},
		{"no index", []llm.CallPart{nowhere("a", "f", `{"p":1}`), nowhere("b", "f", `{"p":2}`)}, []string{`a f {"p":1}`, `b f {"p":2}`}},
		{"one after the other, id in the first piece only",
			[]llm.CallPart{at(0, "a", "f", ""), at(1, "b", "g", ""), at(0, "", "", "{"), at(1, "", "", "{"), at(0, "", "", "}"), at(1, "", "", "}")},
			[]string{"a f {}", "b g {}"}},
		{"neither, same tool", []llm.CallPart{nowhere("", "f", `{"p":1}`), nowhere("", "f", `{"p":2}`)}, []string{` f {"p":1}`, ` f {"p":2}`}},
		{"neither, in pieces", []llm.CallPart{nowhere("", "f", `{"p":`), nowhere("", "", `1}`), nowhere("", "g", `{`), nowhere("", "", `}`)},
			[]string{` f {"p":1}`, " g {}"}},
		{"an id after the first piece", []llm.CallPart{at(0, "", "f", ""), at(0, "a", "", "{}")}, []string{"a f {}"}},
		{"a later id does not rename", []llm.CallPart{at(0, "a", "f", "{"), at(0, "a", "other", "}")}, []string{"a f {}"}},
		{"fragment that is an object itself", []llm.CallPart{at(0, "a", "f", `{"p":`), at(0, "", "", `{}`), at(0, "", "", `}`)}, []string{`a f {"p":{}}`}},
		{"fragment that begins like the whole", []llm.CallPart{at(0, "a", "f", `{"p":[`), at(0, "", "", `{"q":1}`), at(0, "", "", `]}`)}, []string{`a f {"p":[{"q":1}]}`}},
		{"sent again from the start", []llm.CallPart{at(0, "a", "f", `{`), at(0, "a", "f", `{"p"`), at(0, "a", "f", `{"p":1`), at(0, "a", "f", `{"p":1}`)},
			[]string{`a f {"p":1}`}},
		{"summed up", []llm.CallPart{at(0, "a", "f", `{"p":1}`), at(0, "a", "f", `{ "p": 1 }`)}, []string{`a f {"p":1}`}},
		{"summed up without a name", []llm.CallPart{at(0, "a", "f", `{"p":1}`), at(0, "", "", `{"p":1}`)}, []string{`a f {"p":1}`}},
		{"summed up at a new index", []llm.CallPart{at(0, "a", "f", `{"p":1}`), at(1, "a", "f", `{"p":1}`)}, []string{`a f {"p":1}`}},
		{"equal calls with ids", []llm.CallPart{at(0, "a", "f", `{}`), at(1, "b", "f", `{}`)}, []string{"a f {}", "b f {}"}},
		{"equal calls with indexes only", []llm.CallPart{at(0, "", "f", `{}`), at(1, "", "f", `{}`)}, []string{" f {}", " f {}"}},
		{"white space for arguments", []llm.CallPart{at(0, "a", "f", " \n")}, []string{"a f {}"}},
		{"empty pieces", []llm.CallPart{{}, at(3, "", "", "")}, nil},
		{"arguments of nobody", []llm.CallPart{nowhere("", "", `{"p":1}`)}, []string{`  {"p":1}`}},
		{"malformed stays as it came", []llm.CallPart{at(0, "a", "f", `{"p": 'x',`), at(0, "", "", `}`)}, []string{`a f {"p": 'x',}`}},
		{"name in three pieces", []llm.CallPart{at(0, "a", "read", ""), at(0, "", "_fi", ""), at(0, "", "le", ""), at(0, "", "", "{}")}, []string{"a read_file {}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var deltas []llm.Delta
			a := llm.NewAccumulator([]string{"f", "g", "read_file"}, func(d llm.Delta) { deltas = append(deltas, d) })
			for _, p := range c.parts {
				a.Call(p)
			}
			reply := a.Reply()
			var got []string
			for _, call := range reply.Calls {
				got = append(got, call.ID+" "+call.Name+" "+call.Arguments)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			holds(t, deltas, reply)
		})
	}
}

// holds checks that the deltas add up to the reply. It is used on replies without a lone closing tag.
func holds(t *testing.T, deltas []llm.Delta, reply llm.Reply) {
	t.Helper()
	var text, reasoning string
	var calls []llm.Call
	for _, d := range deltas {
		text += d.Text
		reasoning += d.Reasoning
		if d.Call == nil {
			continue
		}
		if d.Call.Index == len(calls) {
			calls = append(calls, llm.Call{ID: d.Call.ID, Name: d.Call.Name})
		} else if d.Call.ID != "" || d.Call.Name != "" {
			t.Errorf("a later delta of call %d has an id or a name: %+v", d.Call.Index, d.Call)
		}
		if d.Call.Index >= len(calls) {
			t.Fatalf("delta of call %d, but only %d have begun", d.Call.Index, len(calls))
		}
		calls[d.Call.Index].Arguments += d.Call.Arguments
	}
	if text != reply.Text {
		t.Errorf("the deltas' text is %q, the reply's %q", text, reply.Text)
	}
	if reasoning != reply.Reasoning && !strings.Contains(reasoning, "`") {
		t.Errorf("the deltas' reasoning is %q, the reply's %q", reasoning, reply.Reasoning)
	}
	if len(calls) != len(reply.Calls) {
		t.Fatalf("the deltas have %d calls, the reply %d", len(calls), len(reply.Calls))
	}
	for i, call := range reply.Calls {
		told := calls[i]
		if strings.TrimSpace(told.Arguments) == "" {
			told.Arguments = "{}"
		}
		if told.ID != call.ID && told.ID != "" || told.Name != call.Name || told.Arguments != call.Arguments {
			t.Errorf("the deltas' call %d is %+v, the reply's %+v", i, told, call)
		}
	}
}

func TestCallWire(t *testing.T) {
	t.Parallel()
	a := llm.NewAccumulator(nil, func(llm.Delta) {})
	p := at(0, "a", "f", "{")
	p.Wire = map[string]json.RawMessage{"extra_content": json.RawMessage(`{"google":{"thought_signature":"SIG"}}`)}
	a.Call(p)
	a.Call(at(0, "", "", "}"))
	a.Call(at(1, "b", "g", "{}"))
	reply := a.Reply()
	if got := string(reply.Calls[0].Wire["extra_content"]); got != `{"google":{"thought_signature":"SIG"}}` {
		t.Errorf("the call's wire is %s", got)
	}
	if reply.Calls[1].Wire != nil {
		t.Errorf("the other call has it too: %v", reply.Calls[1].Wire)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	a := llm.NewAccumulator(nil, func(llm.Delta) {})
	if reply := a.Reply(); reply.HasUsage || !reply.IsEmpty() || a.Started() {
		t.Errorf("nothing came, and the reply is %+v", reply)
	}
	a.Usage(history.Usage{InputTokens: 5, OutputTokens: 1})
	a.Usage(history.Usage{InputTokens: 5, OutputTokens: 2})
	a.Usage(history.Usage{})
	a.Text("hi")
	reply := a.Reply()
	if reply.Usage.InputTokens != 5 || reply.Usage.OutputTokens != 2 || !reply.HasUsage || !a.Started() {
		t.Errorf("the reply is %+v", reply)
	}
}

// TestThinking cuts every text at every place, and into single bytes: what comes out never depends on the chunks.
func TestThinking(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, text, reasoning string }{
		{"hello", "hello", ""},
		{"<think>hm</think>\n\nhello", "hello", "hm"},
		{"\n <thought>hm</thought>hello", "hello", "hm"},
		{"<thinking>a <b> c</thinking> hello </thinking> there", "hello </thinking> there", "a <b> c"},
		{"hm</think>hello", "hello", "hm"},
		{"hm\n</thought>\n\nhello </think>", "hello </think>", "hm\n"},
		{"</think>hello", "hello", ""},
		{"<think>hm", "", "hm"},
		{"<think></think>hello", "hello", ""},
		{"use `</think>` here", "use `</think>` here", ""},
		{"use ``</think> ` `` here", "use ``</think> ` `` here", ""},
		{"```\n</think>\n``` here", "```\n</think>\n``` here", ""},
		{"a ` alone\nhm</think>hello", "hello", "a ` alone\nhm"},
		{"<think>`</think>` is it</think>hello", "hello", "`</think>` is it"},
		{"<think>an odd ` here</think>hello", "hello", "an odd ` here"},
		{"`<think>` is a tag", "`<think>` is a tag", ""},
		{"a <think>b", "a <think>b", ""},
		{"<thin", "<thin", ""},
		{"<thinker>x", "<thinker>x", ""},
		{"a </thin", "a </thin", ""},
		{"a < b </ c </t> d", "a < b </ c </t> d", ""},
		{"<think>日本</think>語", "語", "日本"},
		{"   ", "   ", ""},
		{"<think>x</think>", "", "x"},
	} {
		for cut := 0; cut <= len(c.in)+1; cut++ {
			var deltas []llm.Delta
			a := llm.NewAccumulator(nil, func(d llm.Delta) { deltas = append(deltas, d) })
			if cut <= len(c.in) {
				a.Text(c.in[:cut])
				a.Text(c.in[cut:])
			} else {
				for i := range len(c.in) {
					a.Text(c.in[i : i+1])
				}
			}
			reply := a.Reply()
			if reply.Text != c.text || reply.Reasoning != c.reasoning {
				t.Errorf("%q cut at %d: text %q, reasoning %q; want %q, %q", c.in, cut, reply.Text, reply.Reasoning, c.text, c.reasoning)
			}
			for _, d := range deltas {
				if d.Text == "" && d.Reasoning == "" {
					t.Errorf("%q cut at %d: an empty delta", c.in, cut)
				}
			}
		}
	}
}

func TestThinkingInAFieldOfItsOwn(t *testing.T) {
	t.Parallel()
	a := llm.NewAccumulator(nil, func(llm.Delta) {})
	a.Reasoning("hm")
	a.Text("the tag </think> ends it")
	if reply := a.Reply(); reply.Text != "the tag </think> ends it" || reply.Reasoning != "hm" {
		t.Errorf("the reply is %+v", reply)
	}
}

// FuzzCalls feeds arbitrary pieces: the deltas always add up to the reply, and no call is lost that has an id of its own.
func FuzzCalls(f *testing.F) {
	f.Add([]byte("\x00a\x00{\x01\x00\x00}"), "f", `{"p":1}`)
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, "g", `{"p":{"q":[]}}`)
	f.Fuzz(func(t *testing.T, script []byte, name, args string) {
		var deltas []llm.Delta
		a := llm.NewAccumulator([]string{name, "f", "read_file"}, func(d llm.Delta) { deltas = append(deltas, d) })
		ids := map[string]bool{}
		for _, op := range script[:min(len(script), 64)] {
			p := llm.CallPart{Index: int(op & 3), HasIndex: op&4 != 0}
			if op&8 != 0 {
				p.ID = string('a' + rune(op&16>>4))
				ids[p.ID] = true
			}
			if op&32 != 0 {
				p.Name = name
			}
			cut := len(args) * int(op>>6) / 3
			p.Arguments = args[cut:]
			if op&1 != 0 {
				p.Arguments = args[:cut]
			}
			a.Call(p)
		}
		reply := a.Reply()
		holds(t, deltas, reply)
		for id := range ids {
			if !slices.ContainsFunc(reply.Calls, func(c llm.Call) bool { return c.ID == id }) {
				t.Errorf("the call %q is lost", id)
			}
		}
	})
}

// FuzzThinking holds what comes out of chunks against what comes out of the whole, and loses no byte but tags and white space.
func FuzzThinking(f *testing.F) {
	for _, seed := range []string{"<think>a</think>b", "a</think>b", "`</think>`", "<thought>`</thought>b", "\n\n<thinking>", "x ``` </think> ``` y"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, in string, size int) {
		if size < 1 {
			size = 1
		}
		var whole, pieces llm.Reply
		a := llm.NewAccumulator(nil, func(llm.Delta) {})
		a.Text(in)
		whole = a.Reply()
		a = llm.NewAccumulator(nil, func(llm.Delta) {})
		for rest := in; rest != ""; {
			n := min(size, len(rest))
			a.Text(rest[:n])
			rest = rest[n:]
		}
		pieces = a.Reply()
		if whole.Text != pieces.Text || whole.Reasoning != pieces.Reasoning {
			t.Errorf("%q in pieces of %d: %q, %q; whole: %q, %q", in, size, pieces.Text, pieces.Reasoning, whole.Text, whole.Reasoning)
		}
		if len(whole.Text)+len(whole.Reasoning) > len(in) {
			t.Errorf("%q became longer: %q, %q", in, whole.Text, whole.Reasoning)
		}
	})
}

func BenchmarkAccumulator(b *testing.B) {
	a := llm.NewAccumulator(nil, func(llm.Delta) {})
	b.ReportAllocs()
	for b.Loop() {
		a.Text(" word")
	}
}
