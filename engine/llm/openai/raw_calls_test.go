package openai_test

import "bureau/engine/llm"

func callCases() []rawCase {
	tools := llm.FinishToolCalls
	end := finish("tool_calls") + done
	return []rawCase{
		{name: "calls as the protocol has them", finish: tools,
			raw: calls(`{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}`) +
				calls(`{"index":0,"function":{"arguments":"{\"p\":"}}`) + calls(`{"index":0,"function":{"arguments":"1}"}}`) +
				calls(`{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}`) + end,
			calls:  []string{`a f {"p":1}`, "b g {}"},
			deltas: []string{"C0 a f", `A0 {"p":`, "A0 1}", "C1 b g"}},
		{name: "text and calls", finish: tools, raw: say("Let me look.") + calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`) + end,
			text: "Let me look.", calls: []string{"a f {}"}},
		{name: "no index", finish: tools,
			raw:   calls(`{"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}`) + calls(`{"id":"b","function":{"name":"g","arguments":"{}"}}`) + end,
			calls: []string{`a f {"p":1}`, "b g {}"}},
		{name: "no index, arguments in pieces", finish: tools,
			raw: calls(`{"id":"a","function":{"name":"f","arguments":""}}`) + calls(`{"function":{"arguments":"{\"p\":"}}`) +
				calls(`{"function":{"arguments":"1}"}}`) + calls(`{"id":"b","function":{"name":"f","arguments":"{}"}}`) + end,
			calls: []string{`a f {"p":1}`, "b f {}"}},
		{name: "index always 0", finish: tools,
			raw: calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}`) +
				calls(`{"index":0,"id":"b","function":{"name":"f","arguments":"{\"p\":2}"}}`) + end,
			calls: []string{`a f {"p":1}`, `b f {"p":2}`}},
		{name: "index always 0 in one chunk", finish: tools,
			raw: calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}`,
				`{"index":0,"id":"b","function":{"name":"g","arguments":""}}`) + calls(`{"index":0,"function":{"arguments":"{\"q\":2}"}}`) + end,
			calls: []string{`a f {"p":1}`, `b g {"q":2}`}},
		{name: "index always 0 and no ids", finish: tools,
			raw: calls(`{"index":0,"function":{"name":"f","arguments":"{\"p\":1}"}}`) +
				calls(`{"index":0,"function":{"name":"f","arguments":"{\"p\":2}"}}`) + end,
			calls: []string{` f {"p":1}`, ` f {"p":2}`}},
		{name: "neither index nor id", finish: tools,
			raw:   calls(`{"function":{"name":"f","arguments":"{\"p\":1}"}}`) + calls(`{"function":{"name":"g","arguments":"{}"}}`) + end,
			calls: []string{` f {"p":1}`, " g {}"}},
		{name: "neither index nor id nor arguments", finish: tools,
			raw:   calls(`{"function":{"name":"f","arguments":""}}`, `{"function":{"name":"g"}}`) + end,
			calls: []string{" f {}", " g {}"}},
		{name: "wrong later index", finish: tools,
			raw:   calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":"}}`) + calls(`{"index":3,"id":"a","function":{"arguments":"1}"}}`) + end,
			calls: []string{`a f {"p":1}`}},
		{name: "index as text and as a float", finish: tools,
			raw: calls(`{"index":"0","id":"a","function":{"name":"f","arguments":"{\"p\":"}}`) +
				calls(`{"index":1.0,"id":"b","function":{"name":"g","arguments":"{}"}}`) + calls(`{"index":0.0,"function":{"arguments":"1}"}}`) + end,
			calls: []string{`a f {"p":1}`, "b g {}"}},
		{name: "empty id later", finish: tools,
			raw:   calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}`) + calls(`{"index":0,"id":"","function":{"arguments":"}"}}`) + end,
			calls: []string{"a f {}"}},
		{name: "id and name in every chunk", finish: tools,
			raw: calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\""}}`) +
				calls(`{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}`) + end,
			calls: []string{`a f {"p":1}`}},
		{name: "id as a number", finish: tools, raw: calls(`{"index":0,"id":7,"function":{"name":"f","arguments":"{}"}}`) + end, calls: []string{"7 f {}"}},
		{name: "name in pieces", finish: tools,
			raw: calls(`{"index":0,"id":"a","function":{"name":"read"}}`) + calls(`{"index":0,"function":{"name":"_file"}}`) +
				calls(`{"index":0,"function":{"arguments":"{}"}}`) + end,
			calls: []string{"a read_file {}"}},
		{name: "empty name later", finish: tools,
			raw:   calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}`) + calls(`{"index":0,"function":{"name":"","arguments":"}"}}`) + end,
			calls: []string{"a f {}"}},
		{name: "name and first arguments together", finish: tools,
			raw:   calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\""}}`) + calls(`{"index":0,"function":{"arguments":":1}"}}`) + end,
			calls: []string{`a f {"p":1}`}},
		{name: "call written as text", raw: say("<tool_call>{\"name\":\"f\",") + say("\"arguments\":{}}</tool_call>") + finish("stop") + done,
			text: `<tool_call>{"name":"f","arguments":{}}</tool_call>`},
		{name: "name on a closing piece", finish: tools,
			raw: calls(`{"id":"a","function":{"name":"f","arguments":"{\"p\":1"}}`) +
				calls(`{"id":null,"function":{"name":"f","arguments":"}"}}`) + end,
			calls: []string{`a f {"p":1}`}},
		{name: "whole call in one chunk", finish: tools, raw: calls(`{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"p\":[1,2]}"}}`) + end,
			calls: []string{`a f {"p":[1,2]}`}},
		{name: "arguments as an object", finish: tools, raw: calls(`{"index":0,"id":"a","function":{"name":"f","arguments":{"p": 1, "q": "x y"}}}`) + end,
			calls: []string{`a f {"p":1,"q":"x y"}`}},
		{name: "no arguments: empty", finish: tools, raw: calls(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`) + end, calls: []string{"a f {}"}},
		{name: "no arguments: null", finish: tools, raw: calls(`{"index":0,"id":"a","function":{"name":"f","arguments":null}}`) + end, calls: []string{"a f {}"}},
		{name: "no arguments: absent", finish: tools, raw: calls(`{"index":0,"id":"a","function":{"name":"f"}}`) + end, calls: []string{"a f {}"}},
		{name: "everything so far in every chunk", finish: tools,
			raw: calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":"}}`) +
				calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\": 1"}}`) +
				calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\": 1}"}}`) +
				calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\": 1}"}}`) + end,
			calls: []string{`a f {"p": 1}`}, deltas: []string{"C0 a f", `A0 {"p":`, "A0  1", "A0 }"}},
		{name: "everything summed up at the end", finish: tools,
			raw: calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":"}}`) + calls(`{"index":0,"function":{"arguments":"1}"}}`) +
				calls(`{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}`) +
				calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\": 1}"}}`, `{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}`) + end,
			calls: []string{`a f {"p":1}`, "b g {}"}},
		{name: "summed up as a text in a text", finish: tools,
			raw: calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}`) +
				calls(`{"index":0,"function":{"arguments":"\"{\\\"p\\\":1}\""}}`) + end,
			calls: []string{`a f {"p":1}`}},
		{name: "empty object before the real one", finish: tools,
			raw:   calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`) + calls(`{"index":0,"function":{"arguments":"{\"p\":"}}`) + calls(`{"index":0,"function":{"arguments":"1}"}}`) + end,
			calls: []string{`a f {"p":1}`}},
		{name: "missing last brace is passed on as it is", finish: tools, raw: calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1"}}`) + end,
			calls: []string{`a f {"p":1`}},
		{name: "single quotes are passed on as they are", finish: tools, raw: calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{'p': 1,}"}}`) + end,
			calls: []string{`a f {'p': 1,}`}},
		{name: "calls interleaved", finish: tools,
			raw: calls(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`) + calls(`{"index":1,"id":"b","function":{"name":"g","arguments":""}}`) +
				calls(`{"index":0,"function":{"arguments":"{\"p\":"}}`) + calls(`{"index":1,"function":{"arguments":"{\"q\":"}}`) +
				calls(`{"index":0,"function":{"arguments":"1}"}}`) + calls(`{"index":1,"function":{"arguments":"2}"}}`) + end,
			calls: []string{`a f {"p":1}`, `b g {"q":2}`}},
		{name: "one id for two calls", finish: tools,
			raw: calls(`{"index":0,"id":"x","function":{"name":"f","arguments":"{\"p\":1}"}}`) +
				calls(`{"index":1,"id":"x","function":{"name":"g","arguments":"{\"q\":2}"}}`) + end,
			calls: []string{`x f {"p":1}`, `x g {"q":2}`}},
		{name: "two equal calls with ids of their own", finish: tools,
			raw:   calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`, `{"index":1,"id":"b","function":{"name":"f","arguments":"{}"}}`) + end,
			calls: []string{"a f {}", "b f {}"}},
		{name: "empty and null lists of calls", raw: piece(`{"content":"hi","tool_calls":[]}`) + piece(`{"content":"!","tool_calls":null}`) + finish("stop") + done, text: "hi!"},
		{name: "entries with null parts", finish: tools,
			raw: calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`) + calls(`{"index":0,"id":null,"type":null,"function":null}`) +
				calls(`{"index":1,"id":null,"function":{"name":null,"arguments":null}}`) + end,
			calls: []string{"a f {}"}},
		{name: "calls as one object in place of a list", finish: tools, raw: piece(`{"tool_calls":{"id":"a","function":{"name":"f","arguments":"{}"}}}`) + end,
			calls: []string{"a f {}"}},
		{name: "name and arguments beside the call", finish: tools, raw: calls(`{"index":0,"id":"a","name":"f","arguments":{"p":1}}`) + end, calls: []string{`a f {"p":1}`}},
		{name: "function_call of old", finish: tools,
			raw:   piece(`{"function_call":{"name":"f","arguments":"{\"p\":"}}`) + piece(`{"function_call":{"arguments":"1}"}}`) + finish("function_call") + done,
			calls: []string{` f {"p":1}`}},
		{name: "finish stop though there are calls", finish: tools, raw: calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`) + finish("stop") + done,
			calls: []string{"a f {}"}},
		{name: "done without a finish after calls", finish: tools, raw: calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`) + done, calls: []string{"a f {}"}},
		{name: "output limit in the middle of a call", finish: llm.FinishLength,
			raw: calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":\"abc"}}`) + finish("length") + done, calls: []string{`a f {"p":"abc`}},
		{name: "illegal name of a tool", finish: tools, raw: calls(`{"index":0,"id":"a","function":{"name":"get_US_A President","arguments":"{}"}}`) + end,
			calls: []string{"a get_US_A President {}"}},
		{name: "nameless call", finish: tools, raw: calls(`{"index":0,"function":{"arguments":"{\"p\":1}"}}`) + end, calls: []string{`  {"p":1}`}},
	}
}
