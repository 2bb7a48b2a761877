package llm

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Written says what a reply's text is, where a model was to call a tool and may have written the call down instead.
type Written int

// What a text may be.
const (
	// WrittenWords: an answer in words, whatever JSON or markup stands in it.
	WrittenWords Written = iota
	// WrittenLikeCall: it begins as a call would, but is not exactly one call of a tool that is offered.
	WrittenLikeCall
	// WrittenCall: nothing but one call of a tool that is offered.
	WrittenCall
)

// maxWritten bounds the text that is looked at, in bytes.
const maxWritten = 1 << 20

// callMarks are what models begin a written call with.
var callMarks = []string{"<tool_call>", "<function=", "[TOOL_CALLS]", "<TOOLCALL>", "<|tool_call|>", "<|tool_call>", "<function_call>"}

// ReadWritten reads a text as a call of one of the tools. Three shapes are known, and the whole text must be one of them:
//
//	<tool_call>{"name": "f", "arguments": {"p": 1}}</tool_call>
//	<function=f><parameter=p>1</parameter></function>, also between tags of the first shape
//	{"name": "f", "arguments": {"p": 1}}, also with "parameters"
//
// The call has no ID; its arguments are a JSON object that has not been held against the tool's schema.
func ReadWritten(text string, tools []Tool) (Call, Written) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxWritten || len(tools) == 0 {
		return Call{}, WrittenWords
	}
	body, tagged := between(text, "<tool_call>", "</tool_call>")
	call, ok := readFunction(body, tools)
	if !ok {
		call, ok = readObject(body)
	}
	if ok && (tagged || body == text) {
		for _, t := range tools {
			if t.Name == call.Name {
				return call, WrittenCall
			}
		}
		return Call{}, WrittenLikeCall
	}
	for _, mark := range callMarks {
		if strings.HasPrefix(text, mark) {
			return Call{}, WrittenLikeCall
		}
	}
	return Call{}, WrittenWords
}

// between takes the tags off; without them the text is as it was.
func between(text, begin, end string) (string, bool) {
	inner, begins := strings.CutPrefix(text, begin)
	inner, ends := strings.CutSuffix(inner, end)
	if !begins || !ends {
		return text, false
	}
	return strings.TrimSpace(inner), true
}

// readObject reads {"name": …, "arguments": {…}} with nothing else in it.
func readObject(text string) (Call, bool) {
	if text == "" || text[0] != '{' {
		return Call{}, false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &fields) != nil || len(fields) != 2 {
		return Call{}, false
	}
	arguments, ok := fields["arguments"]
	if !ok {
		arguments = fields["parameters"]
	}
	call := Call{Arguments: string(bytes.TrimSpace(arguments))}
	if json.Unmarshal(fields["name"], &call.Name) != nil || call.Name == "" || !strings.HasPrefix(call.Arguments, "{") {
		return Call{}, false
	}
	return call, true
}

// readFunction reads <function=NAME> with parameters, or with a JSON object, and </function>.
func readFunction(text string, tools []Tool) (Call, bool) {
	body, ok := between(text, "<function=", "</function>")
	if !ok {
		return Call{}, false
	}
	name, body, ok := strings.Cut(body, ">")
	if !ok || name == "" || strings.ContainsAny(name, "<\n") {
		return Call{}, false
	}
	call := Call{Name: strings.TrimSpace(name)}
	body = strings.TrimSpace(body)
	if strings.HasPrefix(body, "{") && json.Valid([]byte(body)) {
		call.Arguments = body
		return call, true
	}
	arguments := map[string]json.RawMessage{}
	for body != "" {
		rest, begins := strings.CutPrefix(body, "<parameter=")
		key, rest, named := strings.Cut(rest, ">")
		value, rest, ends := strings.Cut(rest, "</parameter>")
		if _, twice := arguments[key]; !begins || !named || !ends || twice || key == "" || strings.ContainsAny(key, "<\n") {
			return Call{}, false
		}
		arguments[key] = typed(strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n"), call.Name, key, tools)
		body = strings.TrimSpace(rest)
	}
	object, err := json.Marshal(arguments)
	call.Arguments = string(object)
	return call, err == nil
}

// typed is a parameter's text as JSON: as it stands where the tool takes something else than text there.
func typed(text, name, key string, tools []Tool) json.RawMessage {
	for _, t := range tools {
		var schema struct {
			Properties map[string]struct {
				Type string `json:"type"`
			} `json:"properties"`
		}
		if t.Name != name || json.Unmarshal(t.Parameters, &schema) != nil {
			continue
		}
		if kind := schema.Properties[key].Type; kind != "" && kind != "string" && json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage(`""`) // text always marshals
	}
	return quoted
}
