package openai_test

import (
	"strings"

	"bureau/engine/llm"
)

const hi = `{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}`

func framingCases() []rawCase {
	return []rawCase{
		{name: "plain stream", raw: say("Hel") + say("lo") + finish("stop") + done, text: "Hello", deltas: []string{"T Hel", "T lo"}},
		{name: "CRLF", raw: strings.ReplaceAll(say("hi")+finish("stop")+done, "\n", "\r\n"), text: "hi"},
		{name: "CR alone", raw: strings.ReplaceAll(say("hi")+finish("stop")+done, "\n", "\r"), text: "hi"},
		{name: "mixed line ends", raw: "data: " + hi + "\r\n\r" + "data: " + hi + "\n\r\n" + finish("stop") + done, text: "hihi"},
		{name: "byte order mark", raw: "\xef\xbb\xbf" + say("hi") + finish("stop") + done, text: "hi"},
		{name: "leading blank lines", raw: "\n\r\n \n" + say("hi") + finish("stop") + done, text: "hi"},
		{name: "no blank after data", raw: "data:" + hi + "\n\n" + "data:[DONE]\n\n", text: "hi"},
		{name: "no blank lines between events", raw: "data: " + hi + "\ndata: " + hi + "\ndata: [DONE]\n", text: "hihi"},
		{name: "event over several data lines", raw: "data: {\"choices\":\ndata: [{\"delta\":\ndata: {\"content\":\"hi\"}}]}\n\n" + done, text: "hi"},
		{name: "keep-alive comments", raw: ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n" + say("hi") + ": keep-alive\n\n" + finish("stop") + done, text: "hi"},
		{name: "comment inside a data line", raw: "data: : OPENROUTER PROCESSING\n\n" + say("hi") + "data: : OPENROUTER PROCESSING\n" + finish("stop") + done, text: "hi"},
		{name: "comments behind the finish", raw: say("hi") + finish("stop") + ": x-tokens-in=178\n\n" + done, text: "hi"},
		{name: "unknown fields", raw: "ping: 1\n\nid: 7\nretry: 1000\nevent: message\n" + say("hi") + "ping\n\n" + finish("stop") + done, text: "hi"},
		{name: "400 keep-alives", raw: strings.Repeat(": ping\n\n", 400) + say("hi") + finish("stop") + done, text: "hi"},
		{name: "empty data lines", raw: "data:\n\ndata: \n\n" + say("hi") + finish("stop") + done, text: "hi"},
		{name: "frames glued on one line", raw: `data: {"id":"x","object":"chat.completion.cdata: ` + hi + "\n\n" + finish("stop") + done, text: "hi"},
		{name: "done glued to a cut frame", raw: say("hi") + `data: {"id":"x","obdata: [DONE]` + "\n\n", text: "hi"},
		{name: "two values in one event", raw: "data: " + hi + hi + "\n\n" + done, text: "hihi"},
		{name: "no newline after the last frame", raw: say("hi") + strings.TrimRight(finish("stop"), "\n"), text: "hi"},
		{name: "no newline after the last text", raw: say("h") + "data: " + hi + "\n\n" + finish("stop") + "data: [DONE]", text: "hhi"},
		{name: "done without a finish", raw: say("hi") + done, text: "hi"},
		{name: "finish without done", raw: say("hi") + finish("stop"), text: "hi"},
		{name: "done twice and data behind it", raw: say("hi") + finish("stop") + done + done + say("more"), text: "hi"},
		{name: "finish and then a broken connection", raw: say("hi") + finish("stop"), cut: true, text: "hi"},
		{name: "line of 1 MiB", raw: say(strings.Repeat("a", 1<<20)) + finish("stop") + done, text: strings.Repeat("a", 1<<20)},
		{name: "line of 17 MiB", raw: say("hi") + say(strings.Repeat("a", 17<<20)) + finish("stop") + done,
			text: "hi", kind: llm.KindProtocol, message: []string{"16 MiB"}},
		{name: "stream labelled as JSON", ctype: "application/json", raw: say("hi") + finish("stop") + done, text: "hi"},
		{name: "stream labelled as text", ctype: "text/plain; charset=utf-8", raw: say("hi") + finish("stop") + done, text: "hi"},
		{name: "stream labelled as a web page", ctype: "text/html", raw: say("hi") + finish("stop") + done, text: "hi"},
		{name: "JSON in place of a stream", ctype: "application/json",
			raw:  `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1}}`,
			text: "hi", usage: "5/1/0/0"},
		{name: "JSON with calls in place of a stream", ctype: "application/json",
			raw:   "  \n" + `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`,
			calls: []string{"a f {}"}, finish: llm.FinishToolCalls},
		{name: "JSON without a finish in place of a stream", raw: `{"choices":[{"message":{"content":"hi"}}]}`, text: "hi"},
		{name: "indented JSON in place of a stream", raw: "{\n  \"choices\": [\n {\"message\": {\"content\": \"hi\"}}\n]\n}\n", text: "hi"},
		{name: "invalid UTF-8 of the server's own", raw: "data: {\"choices\":[{\"delta\":{\"content\":\"a\xffb\"}}]}\n\n" + done, text: "a\ufffdb"},
		{name: "halves of a character in two events", raw: say("a\ufffd") + say("\ufffdb") + finish("stop") + done, text: "a\ufffd\ufffdb"},
		{name: "empty body", raw: "", kind: llm.KindEmpty, message: []string{"empty body"}},
		{name: "204", status: 204, kind: llm.KindEmpty},
		{name: "white space only", raw: "\n \n", kind: llm.KindEmpty},
		{name: "comments only", raw: ": ping\n\n", kind: llm.KindTruncated},
		{name: "done only", raw: done, kind: llm.KindEmpty},
		{name: "truncated text", raw: say("hal"), text: "hal", kind: llm.KindTruncated, message: []string{"without a finish"}},
		{name: "truncated call", raw: say("x") + calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p"}}`), text: "x",
			kind: llm.KindTruncated},
		{name: "broken connection", raw: say("hal"), cut: true, text: "hal", kind: llm.KindTruncated, message: []string{"in the middle"}},
		{name: "half a frame at the end", raw: say("hal") + `data: {"choices":[{"del`, text: "hal", kind: llm.KindProtocol, message: []string{"broken JSON"}},
		{name: "broken frame", raw: say("hal") + "data: {broken\n\n" + finish("stop") + done, text: "hal", kind: llm.KindProtocol,
			message: []string{"broken JSON", "{broken"}},
		{name: "web page", ctype: "text/html", raw: "<!DOCTYPE html>\n<html><title>Welcome \x1b[31mto nginx</title></html>", kind: llm.KindProtocol,
			message: []string{"is a web page; check the base URL", "/v1/chat/completions", "<!DOCTYPE html> <html><title>Welcome [31mto nginx"}},
		{name: "plain text", ctype: "text/plain", raw: "ollama is running", kind: llm.KindProtocol, message: []string{"no event stream", "ollama is running"}},
		{name: "JSON of something else", ctype: "application/json", raw: `{"status":"ok"}`, kind: llm.KindProtocol, message: []string{"no chat completion"}},
		{name: "lines of Ollama's own protocol", ctype: "application/x-ndjson",
			raw: `{"model":"m","message":{"role":"assistant","content":"hi"},"done":false}` + "\n" + `{"model":"m","done":true}` + "\n", kind: llm.KindProtocol},
		{name: "broken JSON body", ctype: "application/json", raw: `{malformed json: <<<chaos>>>`, kind: llm.KindProtocol, message: []string{"broken JSON: {malformed json"}},
	}
}
