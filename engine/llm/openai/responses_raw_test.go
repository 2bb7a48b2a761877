package openai_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/llm/openai"
)

// overResponses asks over the Responses API.
func overResponses(c *openai.Config) { c.API = history.ProtocolResponses }

// ev writes an event as servers do; the type stands in both places.
func ev(kind, fields string) string {
	if fields != "" {
		fields = "," + fields
	}
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + fields + "}\n\n"
}

const (
	msgItem  = `{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hi there","annotations":[]}]}`
	callItem = `{"id":"fc_1","type":"function_call","status":"completed","call_id":"c1","name":"f","arguments":"{\"a\":1}"}`
	rsItem   = `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gAAA=="}`
	usageOf  = `"usage":{"input_tokens":11,"input_tokens_details":{"cached_tokens":3},"output_tokens":22,"output_tokens_details":{"reasoning_tokens":7},"total_tokens":33}`
)

func added(index int, item string) string {
	return ev("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":%s`, index, item))
}

func doneItem(index int, item string) string {
	return ev("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, index, item))
}

func textDelta(text string) string {
	return ev("response.output_text.delta", `"item_id":"msg_1","output_index":0,"content_index":0,"delta":`+quoted(text)+`,"logprobs":[],"obfuscation":"x"`)
}

func argsDelta(item string, index int, delta string) string {
	return ev("response.function_call_arguments.delta", fmt.Sprintf(`"item_id":%q,"output_index":%d,"delta":%s`, item, index, delta))
}

func completed(items ...string) string {
	return ev("response.completed", `"response":{"id":"r","object":"response","status":"completed","error":null,"output":[`+strings.Join(items, ",")+`],`+usageOf+`}`)
}

func bareMessage(id string) string {
	return `{"id":"` + id + `","type":"message","status":"in_progress","role":"assistant","content":[]}`
}

func bareCall(id, callID, name string) string {
	return fmt.Sprintf(`{"id":%q,"type":"function_call","status":"in_progress","call_id":%q,"name":%q,"arguments":""}`, id, callID, name)
}

const usual = "11/22/3/7"

func eventCases() []rawCase {
	created := ev("response.created", `"response":{"id":"r","object":"response","status":"in_progress","error":null,"output":[],"usage":null}`)
	summary := func(part int, text string) string {
		return ev("response.reasoning_summary_text.delta", fmt.Sprintf(`"item_id":"rs_1","output_index":0,"summary_index":%d,"delta":%s`, part, quoted(text)))
	}
	return []rawCase{
		{name: "text in pieces", raw: created + added(0, bareMessage("msg_1")) + textDelta("Hi ") + textDelta("there") + doneItem(0, msgItem) + completed(msgItem),
			text: "Hi there", usage: usual, deltas: []string{"T Hi ", "T there"}},
		{name: "text in the part's end alone", raw: created + ev("response.output_text.done", `"item_id":"msg_1","output_index":0,"content_index":0,"text":"Hi there"`) + doneItem(0, msgItem) + completed(),
			text: "Hi there", usage: usual},
		{name: "text in the item's end alone", raw: created + doneItem(0, msgItem) + completed(msgItem), text: "Hi there", usage: usual},
		{name: "text in the answer's end alone", raw: created + completed(msgItem), text: "Hi there", usage: usual},
		{name: "reasoning, words and a call in the answer's end alone", raw: created + completed(rsItem, msgItem, callItem), text: "Hi there", reasoning: "hm",
			calls: []string{`c1 f {"a":1}`}, finish: llm.FinishToolCalls, usage: usual},
		{name: "one of two items in the answer's end alone", raw: created + added(0, bareMessage("msg_1")) + textDelta("Hi there") + doneItem(0, msgItem) + completed(msgItem, callItem),
			text: "Hi there", calls: []string{`c1 f {"a":1}`}, finish: llm.FinishToolCalls, usage: usual},
		{name: "deltas without the item's beginning", raw: textDelta("Hi ") + textDelta("there") + completed(), text: "Hi there", usage: usual},
		{name: "a text delta as an object", raw: ev("response.output_text.delta", `"output_index":0,"delta":{"type":"text","text":"Hi"}`) + completed(), text: "Hi", usage: usual},
		{name: "two messages stand apart", raw: added(0, bareMessage("msg_1")) + textDelta("One.") + added(1, bareMessage("msg_2")) +
			ev("response.output_text.delta", `"item_id":"msg_2","output_index":1,"content_index":0,"delta":"Two."`) + completed(), text: "One.\n\nTwo.", usage: usual},
		{name: "a refusal is what is said", raw: ev("response.refusal.delta", `"item_id":"msg_1","output_index":0,"content_index":0,"delta":"I "`) +
			ev("response.refusal.delta", `"item_id":"msg_1","output_index":0,"content_index":0,"delta":"cannot."`) +
			ev("response.refusal.done", `"item_id":"msg_1","output_index":0,"content_index":0,"refusal":"I cannot."`) + completed(), text: "I cannot.", usage: usual},
		{name: "a refusal in the item alone", raw: doneItem(0, `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"refusal","refusal":"No."}]}`) + completed(), text: "No.", usage: usual},
		{name: "thinking between tags", raw: textDelta("<think>hm</think>") + textDelta("Hi") + completed(), text: "Hi", reasoning: "hm", usage: usual},

		{name: "a reasoning summary in two parts", raw: summary(0, "one") + summary(0, "!") + summary(1, "two") + textDelta("Hi") + completed(), text: "Hi", reasoning: "one!\n\ntwo", usage: usual},
		{name: "reasoning text", raw: ev("response.reasoning_text.delta", `"item_id":"rs_1","output_index":0,"content_index":0,"delta":"hm"`) + textDelta("Hi") + completed(), text: "Hi", reasoning: "hm", usage: usual},
		{name: "reasoning as text and as a summary is told once", raw: ev("response.reasoning_text.delta", `"item_id":"rs_1","output_index":0,"content_index":0,"delta":"long"`) +
			summary(0, "short") + doneItem(0, `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"short"}],"content":[{"type":"reasoning_text","text":"long"}]}`) +
			textDelta("Hi") + completed(), text: "Hi", reasoning: "long", usage: usual},
		{name: "reasoning in the item alone", raw: doneItem(0, rsItem) + textDelta("Hi") + completed(), text: "Hi", reasoning: "hm", usage: usual},
		{name: "reasoning and nothing else", raw: doneItem(0, rsItem) + completed(rsItem), reasoning: "hm", usage: usual, kind: llm.KindEmpty, message: []string{"thought"}},

		{name: "a call in pieces", raw: added(0, bareCall("fc_1", "c1", "f")) + argsDelta("fc_1", 0, `"{\"a\""`) + argsDelta("fc_1", 0, `":1}"`) +
			ev("response.function_call_arguments.done", `"item_id":"fc_1","output_index":0,"arguments":"{\"a\":1}"`) + doneItem(0, callItem) + completed(callItem),
			calls: []string{`c1 f {"a":1}`}, finish: llm.FinishToolCalls, usage: usual, deltas: []string{"C0 c1 f", `A0 {"a"`, `A0 :1}`}},
		{name: "arguments as an object in a delta", raw: added(0, bareCall("fc_1", "c1", "f")) + argsDelta("fc_1", 0, `{"a": 1}`) + completed(),
			calls: []string{`c1 f {"a":1}`}, finish: llm.FinishToolCalls, usage: usual},
		{name: "arguments as an object in the item", raw: doneItem(0, `{"id":"fc_1","type":"function_call","call_id":"c1","name":"f","arguments":{"a": 1}}`) + completed(),
			calls: []string{`c1 f {"a":1}`}, finish: llm.FinishToolCalls, usage: usual},
		{name: "arguments in their end alone", raw: added(0, bareCall("fc_1", "c1", "f")) + ev("response.function_call_arguments.done", `"item_id":"fc_1","output_index":0,"arguments":"{\"a\":1}"`) + completed(),
			calls: []string{`c1 f {"a":1}`}, finish: llm.FinishToolCalls, usage: usual},
		{name: "no arguments", raw: added(0, bareCall("fc_1", "c1", "f")) + doneItem(0, bareCall("fc_1", "c1", "f")) + completed(),
			calls: []string{`c1 f {}`}, finish: llm.FinishToolCalls, usage: usual},
		{name: "arguments before the name", raw: argsDelta("fc_1", 0, `"{\"a\":1}"`) + doneItem(0, callItem) + completed(callItem),
			calls: []string{`c1 f {"a":1}`}, finish: llm.FinishToolCalls, usage: usual},
		{name: "a name that comes with the end of the arguments", raw: argsDelta("fc_1", 0, `"{\"a\":1}"`) +
			ev("response.function_call_arguments.done", `"item_id":"fc_1","output_index":0,"name":"f","arguments":"{\"a\":1}"`) + completed(),
			calls: []string{` f {"a":1}`}, finish: llm.FinishToolCalls, usage: usual},
		{name: "two calls interleaved", raw: added(0, bareCall("fc_1", "c1", "f")) + added(1, bareCall("fc_2", "c2", "g")) + argsDelta("fc_2", 1, `"{\"b\""`) + argsDelta("fc_1", 0, `"{\"a\""`) +
			argsDelta("fc_2", 1, `":2}"`) + argsDelta("fc_1", 0, `":1}"`) + completed(), calls: []string{`c1 f {"a":1}`, `c2 g {"b":2}`}, finish: llm.FinishToolCalls, usage: usual},
		{name: "ids that differ from event to event", raw: added(0, bareCall("x1", "c1", "f")) + added(1, bareCall("x2", "c2", "g")) + argsDelta("y9", 0, `"{\"a\":1}"`) + argsDelta("z9", 1, `"{\"b\":2}"`) + completed(),
			calls: []string{`c1 f {"a":1}`, `c2 g {"b":2}`}, finish: llm.FinishToolCalls, usage: usual},
		{name: "one index for all", raw: added(0, bareCall("fc_1", "c1", "f")) + argsDelta("fc_1", 0, `"{\"a\":1}"`) + doneItem(0, callItem) + added(0, bareCall("fc_2", "c2", "g")) +
			argsDelta("fc_2", 0, `"{\"b\":2}"`) + completed(), calls: []string{`c1 f {"a":1}`, `c2 g {"b":2}`}, finish: llm.FinishToolCalls, usage: usual},
		{name: "no index and no id", raw: "data: {\"type\":\"response.output_item.added\",\"item\":" + bareCall("", "c1", "f") + "}\n\n" +
			"data: {\"type\":\"response.function_call_arguments.delta\",\"delta\":\"{}\"}\n\n" + completed(), calls: []string{`c1 f {}`}, finish: llm.FinishToolCalls, usage: usual},
		{name: "one call id for two calls", raw: doneItem(0, callItem) + doneItem(1, `{"id":"fc_2","type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\":2}"}`) + completed(),
			calls: []string{`c1 f {"a":1}`, `c1 f {"a":2}`}, finish: llm.FinishToolCalls, usage: usual},
		{name: "an index as text and usage as floats", raw: ev("response.output_text.delta", `"output_index":"0","content_index":0.0,"delta":"Hi"`) +
			ev("response.completed", `"response":{"status":"completed","usage":{"input_tokens":11.0,"output_tokens":"22"}}`), text: "Hi", usage: "11/22/0/0"},

		{name: "without event lines", raw: strings.ReplaceAll(textDelta("Hi")+completed(), "event: ", ": "), text: "Hi", usage: usual},
		{name: "types in the event lines alone", raw: "event: response.output_text.delta\ndata: {\"delta\":\"Hi\",\"output_index\":0}\n\nevent: response.completed\ndata: {\"response\":{\"status\":\"completed\"}}\n\n", text: "Hi"},
		{name: "DONE at the end", raw: textDelta("Hi") + completed() + done, text: "Hi", usage: usual},
		{name: "DONE in place of the end", raw: textDelta("Hi") + done, text: "Hi"},
		{name: "no blank line at the end", raw: strings.TrimRight(textDelta("Hi")+completed(), "\n"), text: "Hi", usage: usual},
		{name: "CRLF and comments", raw: strings.ReplaceAll(": ping\n\n"+textDelta("Hi")+": ping\n"+completed(), "\n", "\r\n"), text: "Hi", usage: usual},
		{name: "events of other kinds", raw: ev("keepalive", `"sequence_number":3`) + ev("response.web_search_call.searching", `"item_id":"ws_1"`) + ev("response.output_text.annotation.added", `"annotation":{}`) + textDelta("Hi") + completed(),
			text: "Hi", usage: usual},
		{name: "the connection breaks after the end", raw: textDelta("Hi") + completed(), cut: true, text: "Hi", usage: usual},
		{name: "a whole answer without a stream", ctype: "application/json", raw: `{"id":"r","object":"response","status":"completed","output":[` + rsItem + "," + msgItem + `],` + usageOf + `}`,
			text: "Hi there", reasoning: "hm", usage: usual},
		{name: "a whole answer that failed", ctype: "application/json", raw: `{"id":"r","object":"response","status":"failed","output":[],"error":{"code":"server_error","message":"boom"}}`,
			kind: llm.KindServer, message: []string{"boom"}},

		{name: "cut at the output limit", raw: textDelta("Hi") + ev("response.incomplete", `"response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},`+usageOf+`}`),
			text: "Hi", finish: llm.FinishLength, usage: usual},
		{name: "cut at the output limit while thinking", raw: summary(0, "hm") + ev("response.incomplete", `"response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},`+usageOf+`}`),
			reasoning: "hm", usage: usual, kind: llm.KindRequest, message: []string{"output limit"}, hint: "max_output_tokens"},
		{name: "withheld", raw: ev("response.incomplete", `"response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}`), kind: llm.KindFilter},
		{name: "withheld in the middle", raw: textDelta("Hi") + ev("response.incomplete", `"response":{"incomplete_details":{"reason":"content_filter"}}`), text: "Hi", finish: llm.FinishFilter},
		{name: "nothing said", raw: created + completed(), usage: usual, kind: llm.KindEmpty},

		{name: "failed", raw: textDelta("Hi") + ev("response.failed", `"response":{"status":"failed","error":{"code":"server_error","message":"An error occurred."},`+usageOf+`}`),
			text: "Hi", usage: usual, kind: llm.KindServer, message: []string{"An error occurred."}},
		{name: "failed: too fast", raw: ev("response.failed", `"response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"Rate limit reached. Please try again in 2s."}}`), kind: llm.KindRateLimit},
		{name: "failed: too long", raw: ev("response.failed", `"response":{"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}`), kind: llm.KindOverflow},
		{name: "failed: the prompt is refused", raw: ev("response.failed", `"response":{"error":{"code":"invalid_prompt","message":"Limited access to this content."}}`), kind: llm.KindRequest},
		{name: "failed without a reason", raw: ev("response.failed", `"response":{"status":"failed","error":null}`), kind: llm.KindServer, message: []string{"does not say why"}},
		{name: "cancelled", raw: textDelta("Hi") + ev("response.cancelled", `"response":{"status":"cancelled"}`), text: "Hi", kind: llm.KindServer},
		{name: "an error event", raw: textDelta("Hi") + ev("error", `"code":"server_error","message":"boom","param":null`), text: "Hi", kind: llm.KindServer, message: []string{"boom"}},
		{name: "an error event with a number as its code", raw: ev("error", `"code":429,"message":"slow down"`), kind: llm.KindRateLimit, message: []string{"slow down"}},
		{name: "an error event with an error in it", raw: ev("error", `"error":{"type":"invalid_request_error","code":"invalid_api_key","message":"Incorrect API key provided"}`), kind: llm.KindAuth},
		{name: "an error without a type", raw: textDelta("Hi") + "data: {\"error\":{\"message\":\"overloaded\",\"code\":529}}\n\n", text: "Hi", kind: llm.KindServer, message: []string{"overloaded"}},
		{name: "no end", raw: created + textDelta("Hi"), text: "Hi", kind: llm.KindTruncated},
		{name: "no end of a call", raw: added(0, bareCall("fc_1", "c1", "f")) + argsDelta("fc_1", 0, `"{\"a\":1}"`), kind: llm.KindTruncated},
		{name: "a broken connection", raw: textDelta("Hi"), cut: true, text: "Hi", kind: llm.KindTruncated},
		{name: "broken JSON", raw: textDelta("Hi") + "data: {\"type\":\"response.output_text.delta\",\"delta\":\n\n", text: "Hi", kind: llm.KindProtocol, hint: "the Responses API"},
		{name: "a chat completion", raw: say("Hi") + finish("stop"), kind: llm.KindProtocol, message: []string{"no response"}, hint: "api: chat_completions"},
		{name: "a web page", raw: "<!doctype html><title>Sign in</title>", ctype: "text/html", kind: llm.KindProtocol, message: []string{"web page"}},
		{name: "no such path", raw: `{"detail":"Not Found"}`, status: 404, kind: llm.KindNotFound, hint: "api: chat_completions"},
		{name: "no such model", raw: `{"error":{"message":"The model 'm' does not exist","code":"model_not_found"}}`, status: 404, kind: llm.KindNotFound, hint: "bureau model list"},
	}
}

func TestRawEvents(t *testing.T) {
	t.Parallel()
	for _, c := range eventCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := modelOf(t, rawServer(t, c).URL+"/v1", overResponses, func(config *openai.Config) {
				config.Key = func() string { return "secret-key-12345" }
			})
			checkAnswer(t, m, c)
		})
	}
}

func TestProtocolIsTheConfigured(t *testing.T) {
	t.Parallel()
	if m := modelOf(t, "http://127.0.0.1:1/v1", overResponses); m.Protocol() != history.ProtocolResponses {
		t.Errorf("protocol %s", m.Protocol())
	}
	_, err := openai.New(openai.Config{Ref: llm.Ref{Provider: "acme", Model: "m"}, Provider: openai.Custom("acme", "http://127.0.0.1:1/v1", ""), API: "soap"})
	if err == nil || !strings.Contains(err.Error(), "soap") {
		t.Errorf("error %v", err)
	}
}

// FuzzEvents holds an answer that comes in one piece against the same in many, and every answer against its deltas.
func FuzzEvents(f *testing.F) {
	for _, c := range eventCases() {
		f.Add([]byte(c.raw), 7)
	}
	f.Fuzz(func(t *testing.T, raw []byte, size int) { wholeAndInPieces(t, raw, max(size, 1), overResponses) })
}

func TestCallsOfTheAnswerAreThereOnce(t *testing.T) {
	t.Parallel()
	second := `{"id":"fc_2","type":"function_call","call_id":"c2","name":"f","arguments":"{\"a\":1}"}`
	raw := added(0, bareCall("fc_1", "c1", "f")) + argsDelta("fc_1", 0, `"{\"a\":1}"`) + doneItem(0, callItem) + doneItem(1, second) + completed(callItem, second)
	reply, err := modelOf(t, rawServer(t, rawCase{raw: raw}).URL+"/v1", overResponses).Stream(context.Background(), hello, func(llm.Delta) {})
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, call := range reply.Calls {
		ids = append(ids, call.ID)
	}
	if !slices.Equal(ids, []string{"c1", "c2"}) {
		t.Errorf("calls %q", ids)
	}
}
