package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"
)

// Response is what the server answers. The zero value is an answer with neither text nor calls.
type Response struct {
	Text      string
	Reasoning string
	// Encrypted is the encrypted content of the reasoning, over the Responses API; empty makes one up where there is
	// Reasoning. It is sent when the request asks for it.
	Encrypted string
	// Calls are streamed one after the other, each with its index and id in the first chunk.
	Calls []Call
	// Finish is the finish_reason; empty means tool_calls with calls, else stop.
	Finish string
	// Usage is what the answer cost; nil means a prompt of 120 tokens, 20 of them cached, and 30 of output. It is sent
	// when the request asks for it.
	Usage *Usage

	// Status, Header and Body answer with that instead of a stream when Status or Body is set; Header is also set on a stream.
	Status int
	Header http.Header
	Body   string
	// Raw is sent as the bytes of the event stream, in place of what Text, Reasoning and Calls would be.
	Raw []byte

	// ChunkSize is how many characters of text, reasoning or arguments are in a chunk; 0 means 12.
	ChunkSize int
	// Gate holds back the first byte, headers too, until it can be received from or is closed.
	Gate <-chan struct{}
	// Pause is received from between one chunk and the next; a closed one holds nothing back.
	Pause <-chan struct{}
	// Cut drops the connection after that many chunks.
	Cut int
	// Hang goes silent after the last chunk, before the finish, until the client leaves.
	Hang bool
}

// Usage is the token counts of an answer.
type Usage struct{ Input, Output, Cached, Reasoning int }

func (c Call) id(i int) string {
	if c.ID == "" {
		return fmt.Sprintf("call_%d", i+1)
	}
	return c.ID
}

// write sends the response to a request.
func (resp Response) write(w http.ResponseWriter, r *http.Request, req *Request) {
	if !wait(r, resp.Gate) {
		return
	}
	for name, values := range resp.Header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	if resp.Status != 0 || resp.Body != "" {
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "application/json")
		}
		status := resp.Status
		if status == 0 {
			status = http.StatusOK
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(resp.Body)) // the client may have gone
		return
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	var chunks, closing [][]byte
	if resp.Raw != nil {
		chunks = [][]byte{resp.Raw}
	} else if req.Responses {
		chunks, closing = resp.events(req)
	} else {
		chunks, closing = resp.frames(req)
	}
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	for i, chunk := range append(chunks, closing...) {
		if i > 0 && !wait(r, resp.Pause) {
			return
		}
		if resp.Cut > 0 && i == resp.Cut {
			panic(http.ErrAbortHandler)
		}
		if resp.Hang && i == len(chunks) {
			<-r.Context().Done()
			return
		}
		if _, err := w.Write(chunk); err != nil {
			return
		}
		_ = flush.Flush() // fails only when the client has gone, which the next write tells
	}
	if resp.Cut > 0 {
		panic(http.ErrAbortHandler)
	}
	if resp.Hang {
		<-r.Context().Done()
	}
}

// wait receives from the channel, if there is one; false means that the client left.
func wait(r *http.Request, c <-chan struct{}) bool {
	if c == nil {
		return true
	}
	select {
	case <-c:
		return true
	case <-r.Context().Done():
		return false
	}
}

// frames is the answer as events: those of the content, and those that close the stream.
func (resp Response) frames(req *Request) (content, closing [][]byte) {
	frame := func(choices []any, usage any) []byte {
		chunk := map[string]any{
			"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1700000000, "model": req.Model, "choices": choices,
		}
		if usage != nil {
			chunk["usage"] = usage
		}
		b, err := json.Marshal(chunk)
		if err != nil {
			panic(fmt.Sprintf("llmtest: %v", err))
		}
		return fmt.Appendf(nil, "data: %s\n\n", b)
	}
	delta := func(fields map[string]any) {
		content = append(content, frame([]any{map[string]any{"index": 0, "delta": fields, "finish_reason": nil}}, nil))
	}
	delta(map[string]any{"role": "assistant", "content": ""})
	for _, piece := range resp.pieces(resp.Reasoning) {
		delta(map[string]any{"reasoning_content": piece})
	}
	for _, piece := range resp.pieces(resp.Text) {
		delta(map[string]any{"content": piece})
	}
	for i, call := range resp.Calls {
		first := map[string]any{
			"index": i, "id": call.id(i), "type": "function", "function": map[string]any{"name": call.Name, "arguments": ""},
		}
		for name, value := range call.Extra {
			first[name] = value
		}
		delta(map[string]any{"tool_calls": []any{first}})
		for _, piece := range resp.pieces(call.Arguments) {
			delta(map[string]any{"tool_calls": []any{
				map[string]any{"index": i, "function": map[string]any{"arguments": piece}},
			}})
		}
	}
	finish := resp.Finish
	if finish == "" {
		finish = "stop"
		if len(resp.Calls) > 0 {
			finish = "tool_calls"
		}
	}
	closing = append(closing, frame([]any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": finish}}, nil))
	var options struct {
		IncludeUsage bool `json:"include_usage"`
	}
	if raw, ok := req.Fields["stream_options"]; ok && json.Unmarshal(raw, &options) == nil && options.IncludeUsage {
		closing = append(closing, frame([]any{}, resp.usage()))
	}
	return content, append(closing, []byte("data: [DONE]\n\n"))
}

// counts is what the answer cost.
func (resp Response) counts() Usage {
	if resp.Usage != nil {
		return *resp.Usage
	}
	return Usage{Input: 120, Output: 30, Cached: 20}
}

func (resp Response) usage() map[string]any {
	u := resp.counts()
	return map[string]any{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details":     map[string]any{"cached_tokens": u.Cached},
		"completion_tokens_details": map[string]any{"reasoning_tokens": u.Reasoning},
	}
}

// pieces cuts text into runs of ChunkSize characters.
func (resp Response) pieces(text string) []string {
	size := resp.ChunkSize
	if size <= 0 {
		size = 12
	}
	var out []string
	for text != "" {
		end := 0
		for n := 0; n < size && end < len(text); n++ {
			_, width := utf8.DecodeRuneInString(text[end:])
			end += width
		}
		out = append(out, text[:end])
		text = text[end:]
	}
	return out
}
