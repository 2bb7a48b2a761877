package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/llm/llmtest"
)

const looseSchema = `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]}`

// A schema that says all is sent as strict; one that leaves something open is not, for a strict server would refuse it.
func TestFormatIsStrictWhereItCanBe(t *testing.T) {
	t.Parallel()
	const closed = `"additionalProperties":false`
	for schema, strict := range map[string]bool{
		looseSchema: false,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],` + closed + `}`:                                                                      true,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{}}}},"required":["a"],` + closed + `}`:                             false,
		`{"type":"object","properties":{"properties":{"enum":["default"]}},"required":["properties"],` + closed + `}`:                                                 true,
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["a"],` + closed + `}`:                                          true,
		`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"}]}},"required":["a"],` + closed + `}`:                                                          false,
		`{"type":"object","properties":{"a":true},"required":["a"],` + closed + `}`:                                                                                   false,
		`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}},"required":["b"],` + closed + `}},"required":["a"],` + closed + `}`: true,
		`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}},"required":[],` + closed + `}},"required":["a"],` + closed + `}`:    false,
	} {
		s := llmtest.NewServer(t, answerHello)
		ask(t, against(t, s, "openai"), llm.Request{Messages: hello.Messages, Settings: llm.Settings{Format: &llm.Format{Name: "answer", Schema: json.RawMessage(schema)}}})
		noneRefused(t, s)
		var sent struct {
			Schema struct {
				Strict bool            `json:"strict"`
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		}
		if err := json.Unmarshal(s.Requests()[0].Fields["response_format"], &sent); err != nil {
			t.Fatal(err)
		}
		if sent.Schema.Strict != strict || string(sent.Schema.Schema) != schema {
			t.Errorf("%s is sent as %+v", schema, sent)
		}
	}
}

// A server that refuses the field is asked in words, once and from then on.
func TestFormatInWordsWhereItIsRefused(t *testing.T) {
	t.Parallel()
	has := func(r *llmtest.Request) bool { return r.Fields["response_format"] != nil }
	for _, message := range []string{
		"This response_format type is unavailable now", "json mode cannot be combined with tool/function calling",
		"Function calling with a response mime type: 'application/json' is unsupported", "Invalid schema for response_format 'answer'",
		"structured outputs are not supported by this model",
	} {
		s := llmtest.NewServer(t, refuseWhen(has, 400, message))
		m := against(t, s, "acme")
		req := llm.Request{Messages: hello.Messages, Settings: llm.Settings{Format: &llm.Format{Name: "answer", Schema: json.RawMessage(looseSchema)}}}
		for i := range 2 {
			ask(t, m, req)
			if got := len(s.Requests()); got != 2+i {
				t.Errorf("%q: %d requests after %d answers", message, got, i+1)
			}
		}
		if system := s.Requests()[2].System; !strings.Contains(system, looseSchema) {
			t.Errorf("%q: the words are %q", message, system)
		}
	}
}

// A local server whose grammar would keep the model from calling tools is asked in words as long as there are tools.
func TestFormatOrTools(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, answerHello)
	m := against(t, s, "ollama")
	req := conversation()
	req.Settings.Format = &llm.Format{Name: "answer", Schema: json.RawMessage(looseSchema)}
	ask(t, m, req)
	req.Messages, req.Tools = hello.Messages, nil
	ask(t, m, req)
	noneRefused(t, s)
	with, without := s.Requests()[0], s.Requests()[1]
	if with.Fields["response_format"] != nil || !strings.Contains(with.System, looseSchema) || !strings.Contains(with.System, "You are Note Taker.") {
		t.Errorf("with tools: %s", with.Body)
	}
	if without.Fields["response_format"] == nil || strings.Contains(without.System, looseSchema) {
		t.Errorf("without tools: %s", without.Body)
	}
}

func TestCitations(t *testing.T) {
	t.Parallel()
	raw := `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Fish."}}],"citations":["https://a.example","ftp://no",7]}

data: {"choices":[{"index":0,"delta":{"annotations":[{"type":"url_citation","url_citation":{"url":"https://b.example","title":"B","start_index":0,"end_index":4}},{"type":"file_citation","url":"https://no.example"},{"type":"url_citation","url":"https://c.example"}]}}]}

data: {"choices":[{"index":0,"delta":{"annotations":"none"},"finish_reason":"stop"}],"citations":["https://a.example"]}

data: [DONE]

`
	s := llmtest.NewServer(t, func(*llmtest.Request) llmtest.Response { return llmtest.Response{Raw: []byte(raw)} })
	reply := ask(t, against(t, s, "acme"), hello)
	want := []history.Citation{{URL: "https://a.example"}, {URL: "https://b.example", Title: "B", End: 4}, {URL: "https://c.example"}}
	if len(reply.Citations) != len(want) {
		t.Fatalf("citations %+v", reply.Citations)
	}
	for i := range want {
		if reply.Citations[i] != want[i] {
			t.Errorf("citation %d is %+v", i, reply.Citations[i])
		}
	}
}

// Over the Responses API the same stands in another place, and sources stand with the text.
func TestFormatAndCitationsOverResponses(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
	req := llm.Request{Messages: hello.Messages, Settings: llm.Settings{Format: &llm.Format{Name: "answer", Schema: json.RawMessage(schema)}}}
	s := llmtest.NewServer(t, answerHello)
	ask(t, against(t, s, "openai", overResponses), req)
	noneRefused(t, s)
	if got := string(s.Requests()[0].Fields["text"]); got != `{"format":{"name":"answer","schema":`+schema+`,"strict":true,"type":"json_schema"}}` {
		t.Errorf("sent %s", got)
	}

	refusing := llmtest.NewServer(t, refuseWhen(func(r *llmtest.Request) bool { return r.Fields["text"] != nil }, 400, "Unsupported parameter: 'text.format'"))
	m := against(t, refusing, "acme", overResponses)
	ask(t, m, req)
	ask(t, m, req)
	if got := refusing.Requests(); len(got) != 3 || !strings.Contains(string(got[2].Body), "JSON Schema") {
		t.Errorf("%d requests", len(got))
	}

	raw := `data: {"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"Fish."}

data: {"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"Fish.","annotations":[{"type":"url_citation","url":"https://b.example","title":"B","start_index":0,"end_index":4}]}]}}

data: {"type":"response.completed","response":{"status":"completed","output":[]}}

`
	cited := llmtest.NewServer(t, func(*llmtest.Request) llmtest.Response { return llmtest.Response{Raw: []byte(raw)} })
	reply := ask(t, against(t, cited, "acme", overResponses), hello)
	if want := (history.Citation{URL: "https://b.example", Title: "B", End: 4}); len(reply.Citations) != 1 || reply.Citations[0] != want {
		t.Errorf("citations %+v", reply.Citations)
	}
}
