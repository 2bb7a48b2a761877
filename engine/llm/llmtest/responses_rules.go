package llmtest

import (
	"encoding/json"
	"slices"
	"strings"
)

var (
	responsesFields = strings.Fields(`model input instructions tools tool_choice stream store include reasoning max_output_tokens
		parallel_tool_calls temperature top_p truncation text metadata service_tier prompt_cache_key user`)
	itemFields = map[string][]string{
		"message":              strings.Fields("type id role content status phase"),
		"function_call":        strings.Fields("type id call_id name arguments status"),
		"function_call_output": strings.Fields("type id call_id output status"),
		"reasoning":            strings.Fields("type id summary content encrypted_content status"),
	}
	itemPrefixes = map[string]string{"message": "msg_", "function_call": "fc_", "function_call_output": "fc_", "reasoning": "rs_"}
)

// sentItem is an item of an answer as the server sent it, with the reasoning before it and the item after it, by id.
type sentItem struct {
	raw           string
	before, after string
}

// checkResponses returns why a request over the Responses API is refused, or nil. sent is what the server sent, by id.
func (rules rules) checkResponses(r *Request, sent map[string]sentItem) *refusal {
	for name := range r.Fields {
		if !slices.Contains(responsesFields, name) {
			return refuse("unknown parameter: '%s'", name)
		}
	}
	for _, check := range []func(*Request) *refusal{checkTools, checkTextFormat, checkResponsesFields, checkItems, checkItemCalls} {
		if fault := check(r); fault != nil {
			return fault
		}
	}
	if fault := checkReturned(r, sent); fault != nil {
		return fault
	}
	if rules.strictTemplate {
		if fault := checkTemplate(r); fault != nil {
			return fault
		}
	}
	return rules.checkWindow(r)
}

func checkResponsesFields(r *Request) *refusal {
	var include []string
	if raw, ok := r.Fields["include"]; ok && json.Unmarshal(raw, &include) != nil {
		return refuse("include is not a list of strings")
	}
	for _, name := range include {
		if name != "reasoning.encrypted_content" {
			return refuse("invalid value: '%s' in include", name)
		}
	}
	var reasoning map[string]json.RawMessage
	if raw, ok := r.Fields["reasoning"]; ok && (json.Unmarshal(raw, &reasoning) != nil || len(reasoning) == 0) {
		return refuse("reasoning is not an object with something in it")
	}
	for name := range reasoning {
		if name != "effort" && name != "summary" {
			return refuse("unknown parameter: 'reasoning.%s'", name)
		}
	}
	return nil
}

// checkItems looks at each item by itself.
func checkItems(r *Request) *refusal {
	if len(r.Items) == 0 {
		return refuse("input is empty")
	}
	seen := map[string]bool{}
	for i, item := range r.Items {
		known, ok := itemFields[item.Type]
		if !ok {
			return refuse("invalid value: '%s' as input[%d].type", item.Type, i)
		}
		for name := range item.Fields {
			if !slices.Contains(known, name) {
				return refuse("unknown parameter: 'input[%d].%s'", i, name)
			}
		}
		if _, ok := item.Fields["id"]; ok {
			if !strings.HasPrefix(item.ID, itemPrefixes[item.Type]) {
				return refuse("invalid 'input[%d].id': '%s'. Expected an ID that begins with '%s'", i, item.ID, itemPrefixes[item.Type])
			}
			if seen[item.ID] {
				return refuse("duplicate item found with id %s. Remove duplicate items from your input and try again", item.ID)
			}
			seen[item.ID] = true
		}
		if item.Type == "message" {
			if fault := checkItemMessage(i, item); fault != nil {
				return fault
			}
		}
	}
	if last := r.Items[len(r.Items)-1]; last.Type != "function_call_output" && (last.Type != "message" || last.text("role") == "assistant") {
		return refuse("the last item is the assistant's: there is nothing to answer")
	}
	return nil
}

func checkItemMessage(i int, item Item) *refusal {
	role := item.text("role")
	if !slices.Contains([]string{"user", "system", "developer", "assistant"}, role) {
		return refuse("invalid value: '%s' as input[%d].role", role, i)
	}
	raw := item.Fields["content"]
	if contentText(raw) == "" && !strings.Contains(string(raw), `"refusal"`) {
		return refuse("input[%d].content is empty", i)
	}
	var parts []struct {
		Type string `json:"type"`
	}
	if raw[0] == '[' && json.Unmarshal(raw, &parts) != nil {
		return refuse("input[%d].content is neither text nor a list of parts", i)
	}
	allowed := []string{"input_text"}
	if role == "assistant" {
		allowed = []string{"output_text", "refusal"}
	}
	for j, part := range parts {
		if !slices.Contains(allowed, part.Type) {
			return refuse("invalid value: '%s' as input[%d].content[%d].type", part.Type, i, j)
		}
	}
	return nil
}

// checkItemCalls holds calls and their outputs against each other.
func checkItemCalls(r *Request) *refusal {
	used := map[string]bool{}
	var waiting []string
	for i, item := range r.Items {
		id := item.text("call_id")
		switch item.Type {
		case "function_call":
			if id == "" || len(id) > 64 || used[id] {
				return refuse("invalid 'input[%d].call_id': '%s' is empty, too long or there twice", i, id)
			}
			used[id] = true
			waiting = append(waiting, id)
			if name := item.text("name"); !legalName.MatchString(name) {
				return refuse("invalid 'input[%d].name': %q does not match %s", i, name, legalName)
			}
			var object map[string]json.RawMessage
			if json.Unmarshal([]byte(item.text("arguments")), &object) != nil || object == nil {
				return refuse("input[%d].arguments is not a JSON object as text: %s", i, item.Fields["arguments"])
			}
		case "function_call_output":
			at := slices.Index(waiting, id)
			if at < 0 {
				return refuse("no tool call found for function call output with call_id %s", id)
			}
			waiting = slices.Delete(waiting, at, at+1)
			if raw := item.Fields["output"]; len(raw) < 3 || raw[0] != '"' {
				return refuse("input[%d].output is no text, or empty", i)
			}
		case "message":
			if len(waiting) > 0 {
				return refuse("no tool output found for function call %s", waiting[0])
			}
		}
	}
	if len(waiting) > 0 {
		return refuse("no tool output found for function call %s", waiting[0])
	}
	return nil
}

// checkReturned holds the items that came from the server against what it sent: reasoning comes back as it was, and with
// the item that it was sent with; an item that has an id comes with the reasoning that it was sent with.
func checkReturned(r *Request, sent map[string]sentItem) *refusal {
	for i, item := range r.Items {
		before, after := "", ""
		if i > 0 {
			before = r.Items[i-1].ID
		}
		if i+1 < len(r.Items) {
			after = r.Items[i+1].ID
		}
		was, known := sent[item.ID]
		switch {
		case item.Type == "reasoning" && len(item.Fields["encrypted_content"]) < 3:
			return refuse("item with id '%s' not found. Items are not persisted when `store` is set to false", item.ID)
		case item.Type == "reasoning" && (!known || string(item.Raw) != was.raw):
			fault := refuse("the encrypted content for item %s could not be verified", item.ID)
			fault.code = "invalid_encrypted_content"
			return fault
		case item.Type == "reasoning" && after != was.after:
			return refuse("item '%s' of type 'reasoning' was provided without its required following item", item.ID)
		case known && was.before != "" && before != was.before:
			return refuse("item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'", item.ID, item.Type, was.before)
		}
	}
	return nil
}
