package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// object is an item, or another object of an event.
type object map[string]any

// output is the items of the answer: the reasoning, the message and the calls.
func (resp Response) output(req *Request) []object {
	var items []object
	if resp.Reasoning != "" || resp.Encrypted != "" {
		summary := []object{}
		if resp.Reasoning != "" {
			summary = append(summary, object{"type": "summary_text", "text": resp.Reasoning})
		}
		item := object{"id": fmt.Sprintf("rs_%d", req.number), "type": "reasoning", "summary": summary}
		if strings.Contains(string(req.Fields["include"]), "reasoning.encrypted_content") {
			item["encrypted_content"] = resp.Encrypted
			if resp.Encrypted == "" {
				item["encrypted_content"] = fmt.Sprintf("gAAAA-%d==", req.number)
			}
		}
		items = append(items, item)
	}
	if resp.Text != "" {
		items = append(items, object{
			"id": fmt.Sprintf("msg_%d", req.number), "type": "message", "status": "completed", "role": "assistant", "phase": "final_answer",
			"content": []object{{"type": "output_text", "text": resp.Text, "annotations": []any{}, "logprobs": []any{}}},
		})
	}
	for i, call := range resp.Calls {
		items = append(items, object{
			"id": fmt.Sprintf("fc_%d_%d", req.number, i+1), "type": "function_call", "status": "completed", "call_id": call.id(i),
			"name": call.Name, "arguments": call.Arguments,
		})
	}
	return items
}

// remember notes what is sent to a request that asked for encrypted reasoning.
func (resp Response) remember(req *Request, sent map[string]sentItem) {
	if resp.Raw != nil || resp.Status != 0 || resp.Body != "" {
		return
	}
	items := resp.output(req)
	for i, item := range items {
		was := sentItem{raw: string(compact(item))}
		if i+1 < len(items) {
			was.after, _ = items[i+1]["id"].(string)
		}
		if i > 0 && items[i-1]["type"] == "reasoning" {
			was.before, _ = items[i-1]["id"].(string)
		}
		id, _ := item["id"].(string)
		sent[id] = was
	}
}

// compact is a value as JSON in which nothing is escaped that need not be.
func compact(v any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(fmt.Sprintf("llmtest: %v", err))
	}
	return bytes.TrimSpace(b.Bytes())
}

// events is the answer as events of the Responses API: those of the content, and those that close the stream.
func (resp Response) events(req *Request) (content, closing [][]byte) {
	number := 0
	event := func(kind string, fields object) []byte {
		fields["type"], fields["sequence_number"] = kind, number
		number++
		return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", kind, compact(fields))
	}
	add := func(kind string, fields object) { content = append(content, event("response."+kind, fields)) }
	response := object{
		"id": fmt.Sprintf("resp_%d", req.number), "object": "response", "created_at": 1700000000, "model": req.Model, "status": "in_progress",
		"output": []any{}, "error": nil, "usage": nil,
	}
	add("created", object{"response": response})
	items := resp.output(req)
	for i, item := range items {
		place := func(fields object) object {
			fields["item_id"], fields["output_index"] = item["id"], i
			return fields
		}
		began := object{"id": item["id"], "type": item["type"], "status": "in_progress"}
		switch item["type"] {
		case "reasoning":
			began["summary"] = []any{}
			add("output_item.added", object{"output_index": i, "item": began})
			for _, piece := range resp.pieces(resp.Reasoning) {
				add("reasoning_summary_text.delta", place(object{"summary_index": 0, "delta": piece}))
			}
		case "message":
			began["role"], began["content"] = "assistant", []any{}
			add("output_item.added", object{"output_index": i, "item": began})
			for _, piece := range resp.pieces(resp.Text) {
				add("output_text.delta", place(object{"content_index": 0, "delta": piece, "logprobs": []any{}}))
			}
			add("output_text.done", place(object{"content_index": 0, "text": resp.Text}))
		case "function_call":
			began["call_id"], began["name"], began["arguments"] = item["call_id"], item["name"], ""
			add("output_item.added", object{"output_index": i, "item": began})
			arguments, _ := item["arguments"].(string)
			for _, piece := range resp.pieces(arguments) {
				add("function_call_arguments.delta", place(object{"delta": piece}))
			}
			add("function_call_arguments.done", place(object{"arguments": arguments}))
		}
		add("output_item.done", object{"output_index": i, "item": item})
	}
	status := "completed"
	if reasons := []string{"length", "content_filter"}; slices.Contains(reasons, resp.Finish) {
		status = "incomplete"
		reason := resp.Finish
		if reason == "length" {
			reason = "max_output_tokens"
		}
		response["incomplete_details"] = object{"reason": reason}
	}
	response["status"], response["output"], response["usage"] = status, items, resp.responsesUsage()
	return content, [][]byte{event("response."+status, object{"response": response})}
}

func (resp Response) responsesUsage() object {
	u := resp.counts()
	return object{
		"input_tokens": u.Input, "output_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"input_tokens_details":  object{"cached_tokens": u.Cached},
		"output_tokens_details": object{"reasoning_tokens": u.Reasoning},
	}
}
