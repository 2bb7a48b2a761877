package llm_test

import (
	"encoding/json"
	"testing"

	"bureau/engine/llm"
)

var writable = []llm.Tool{
	{Name: "read", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"integer"}}}`)},
	{Name: "list", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)},
}

func TestReadWritten(t *testing.T) {
	t.Parallel()
	const like, words = llm.WrittenLikeCall, llm.WrittenWords
	for _, c := range []struct {
		name, text string
		want       llm.Written
		call       string // name arguments
	}{
		{"between tags", `<tool_call>{"name": "read", "arguments": {"path": "a.txt"}}</tool_call>`, llm.WrittenCall, `read {"path": "a.txt"}`},
		{"between tags, over lines", "\n<tool_call>\n{\"name\":\"list\",\"arguments\":{}}\n</tool_call>\n", llm.WrittenCall, `list {}`},
		{"function", `<function=read><parameter=path>a.txt</parameter><parameter=lines>3</parameter></function>`, llm.WrittenCall, `read {"lines":3,"path":"a.txt"}`},
		{"function between tags", "<tool_call>\n<function=read>\n<parameter=path>\n7\n</parameter>\n</function>\n</tool_call>", llm.WrittenCall, `read {"path":"7"}`},
		{"function with an object", `<function=read>{"path":"a"}</function>`, llm.WrittenCall, `read {"path":"a"}`},
		{"function without parameters", `<function=list></function>`, llm.WrittenCall, `list {}`},
		{"bare", `{"name":"read","arguments":{"path":"a"}}`, llm.WrittenCall, `read {"path":"a"}`},
		{"bare, parameters", ` {"name":"read","parameters":{"path":"a"}} `, llm.WrittenCall, `read {"path":"a"}`},

		{"unknown tool, bare", `{"name":"write","arguments":{}}`, like, ""},
		{"unknown tool, between tags", `<tool_call>{"name":"write","arguments":{}}</tool_call>`, like, ""},
		{"two calls", `<tool_call>{"name":"list","arguments":{}}</tool_call><tool_call>{"name":"list","arguments":{}}</tool_call>`, like, ""},
		{"words behind the call", `<tool_call>{"name":"list","arguments":{}}</tool_call> I have listed it.`, like, ""},
		{"never closed", `<tool_call>{"name":"list","arguments":{}}`, like, ""},
		{"arguments that are no object", `<tool_call>{"name":"list","arguments":[1]}</tool_call>`, like, ""},
		{"broken JSON", `<tool_call>{"name":"list","arguments":{</tool_call>`, like, ""},
		{"parameter twice", `<function=read><parameter=path>a</parameter><parameter=path>b</parameter></function>`, like, ""},
		{"keys and values of GLM", `<tool_call>read<arg_key>path</arg_key><arg_value>a</arg_value></tool_call>`, like, ""},
		{"list of Mistral", `[TOOL_CALLS][{"name":"list","arguments":{}}]`, like, ""},

		{"words before the call", `I will call <tool_call>{"name":"list","arguments":{}}</tool_call>`, words, ""},
		{"code fence", "```json\n{\"name\":\"list\",\"arguments\":{}}\n```", words, ""},
		{"in prose", `Send {"name":"list","arguments":{}} to the server.`, words, ""},
		{"other JSON", `{"name":"list","age":3}`, words, ""},
		{"more keys", `{"name":"list","arguments":{},"note":"x"}`, words, ""},
		{"a name alone", `{"name":"list"}`, words, ""},
		{"nothing", "  ", words, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			call, got := llm.ReadWritten(c.text, writable)
			if got != c.want {
				t.Errorf("it is %d, want %d", got, c.want)
			}
			if text := call.Name + " " + call.Arguments; c.call != "" && text != c.call {
				t.Errorf("call %s, want %s", text, c.call)
			}
		})
	}
	if _, got := llm.ReadWritten(`{"name":"read","arguments":{}}`, nil); got != words {
		t.Errorf("without tools it is %d", got)
	}
}

// FuzzReadWritten feeds any text: a call is always of a tool on offer, with an object as arguments.
func FuzzReadWritten(f *testing.F) {
	f.Add(`<tool_call>{"name": "read", "arguments": {"path": "a"}}</tool_call>`)
	f.Add("<function=read>\n<parameter=path>\na\n</parameter>\n</function>")
	f.Add(`{"name":"list","parameters":{}}`)
	f.Fuzz(func(t *testing.T, text string) {
		call, written := llm.ReadWritten(text, writable)
		if written != llm.WrittenCall {
			return
		}
		var object map[string]any
		if call.Name != "read" && call.Name != "list" || json.Unmarshal([]byte(call.Arguments), &object) != nil || object == nil {
			t.Errorf("%q was read as %+v", text, call)
		}
	})
}
