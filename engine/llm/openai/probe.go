package openai

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"bureau/engine/llm"
)

// ProbeResult is what a model turned out to do.
type ProbeResult struct {
	// Reachable: the server answered, if only with an error.
	Reachable bool
	// Streams: the answer came in pieces as it was written.
	Streams bool
	// Tools: the model called the tool that it was told to call.
	Tools bool
	// FirstToken is the time from sending the request to the first piece of an answer.
	FirstToken time.Duration
	// Err is why there was no answer.
	Err error
}

// Probe asks the model one small question, with one tool offered; of a model that takes no tools it asks again without.
func Probe(ctx context.Context, c Config) ProbeResult {
	m, err := New(c)
	if err != nil {
		return ProbeResult{Err: err}
	}
	req := llm.Request{
		Messages: []llm.Message{{Role: llm.RoleUser, Content: "Call the tool named ping once, with the word hello. Say nothing else."}},
		Tools: []llm.Tool{{
			Name: "ping", Description: "Checks that tools can be called.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}`),
		}},
	}
	result := m.probe(ctx, req)
	var refused *llm.Error
	if errors.As(result.Err, &refused) && refused.Kind == llm.KindNoTools {
		req.Tools = nil
		req.Messages[0].Content = "Say hello."
		result = m.probe(ctx, req)
	}
	return result
}

func (m *Model) probe(ctx context.Context, req llm.Request) ProbeResult {
	var result ProbeResult
	start := time.Now()
	reply, streamed, err := m.stream(ctx, req, func(llm.Delta) {
		if result.FirstToken == 0 {
			result.FirstToken = time.Since(start)
		}
	})
	result.Err = err
	result.Streams = streamed && result.FirstToken > 0
	result.Tools = err == nil && len(req.Tools) > 0 && len(reply.Calls) > 0 && reply.Calls[0].Name == req.Tools[0].Name
	var e *llm.Error
	result.Reachable = err == nil || errors.As(err, &e) &&
		(e.Status != 0 || e.Kind != llm.KindConnect && e.Kind != llm.KindTimeout && e.Kind != llm.KindAuth)
	return result
}
