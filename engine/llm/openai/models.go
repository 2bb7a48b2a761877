package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"bureau/engine/llm"
)

// ModelInfo is a model that a server offers.
type ModelInfo struct {
	ID string
	// Window is the size of its context window in tokens; 0 where the server does not say.
	Window int
}

// listLimit is how long a list of models may take.
const listLimit = 30 * time.Second

// ListModels returns what the server of the configuration offers, by id; the configuration's model may be empty. Errors
// are *llm.Error, or the context's own.
func ListModels(ctx context.Context, c Config) ([]ModelInfo, error) {
	e, err := newEndpoint(c)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	models, err := e.list(limited, e.modelsURL())
	if err != nil && e.provider.IsLocal() && isAnswer(err) {
		// An Ollama of old lists its models in its own way only, beside the base.
		root := *e.base
		root.Path, root.RawQuery = strings.TrimSuffix(strings.TrimRight(root.Path, "/"), "/v1"), ""
		if own, ownErr := e.list(limited, root.JoinPath("api", "tags")); ownErr == nil {
			models, err = own, nil
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if limited.Err() != nil && err != nil {
		return nil, &llm.Error{Kind: llm.KindTimeout, Ref: c.Ref, Message: fmt.Sprintf("%s did not list its models within %s", shown(e.base), listLimit)}
	}
	return models, err
}

// isAnswer tells whether the server answered at all.
func isAnswer(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && (e.Kind == llm.KindNotFound || e.Kind == llm.KindProtocol)
}

func (e *endpoint) list(ctx context.Context, from *url.URL) ([]ModelInfo, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if err := e.authorise(req.Header); err != nil {
		return nil, err
	}
	resp, err := e.http.Do(req)
	if err != nil {
		return nil, e.connectError(err)
	}
	x := &exchange{endpoint: e, at: from}
	if resp.StatusCode != http.StatusOK {
		return nil, x.statusError(resp)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxLine))
	if err != nil {
		return nil, x.readError(err)
	}
	models, ok := parseModels(body)
	if !ok {
		if f, isFault := parseFault(body); isFault {
			return nil, e.fault(f, resp.Header)
		}
		return nil, &llm.Error{
			Kind: llm.KindProtocol, Ref: e.ref, Hint: e.baseHint(),
			Message: fmt.Sprintf("%s is no list of models: %s", shown(from), e.clean(safeText(string(body), 80))),
		}
	}
	return models, nil
}

// parseModels reads the lists of the several servers: {data: […]}, {models: […]}, or the list itself.
func parseModels(body []byte) ([]ModelInfo, bool) {
	body = bytes.TrimSpace(body)
	raw := json.RawMessage(body)
	if len(body) == 0 {
		return nil, false
	}
	if body[0] == '{' {
		var object map[string]json.RawMessage
		if json.Unmarshal(body, &object) != nil {
			return nil, false
		}
		raw = object["data"]
		if raw == nil {
			raw = object["models"]
		}
	}
	var entries []json.RawMessage
	if json.Unmarshal(raw, &entries) != nil {
		return nil, false
	}
	models := []ModelInfo{}
	for _, entry := range entries {
		if model := parseModel(entry); model.ID != "" {
			models = append(models, model)
		}
	}
	slices.SortFunc(models, func(a, b ModelInfo) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(models, func(a, b ModelInfo) bool { return a.ID == b.ID }), true
}

func parseModel(entry json.RawMessage) ModelInfo {
	if len(entry) > 0 && entry[0] == '"' {
		entry, _ = json.Marshal(map[string]json.RawMessage{"id": entry}) // a valid value always marshals
	}
	var fields struct {
		ID              text   `json:"id"`
		Name            text   `json:"name"`
		Model           text   `json:"model"`
		ContextLength   number `json:"context_length"`
		ContextWindow   number `json:"context_window"`
		MaxModelLen     number `json:"max_model_len"`
		MaxContext      number `json:"max_context_length"`
		Loaded          number `json:"loaded_context_length"`
		InputTokenLimit number `json:"inputTokenLimit"`
		Meta            struct {
			Context number `json:"n_ctx"`
		} `json:"meta"`
	}
	if lenient(json.Unmarshal(entry, &fields)) != nil {
		return ModelInfo{}
	}
	id := string(fields.ID)
	for _, other := range []text{fields.Model, fields.Name} {
		if id == "" {
			id = string(other)
		}
	}
	id = strings.TrimPrefix(id, "models/")
	if safeText(id, 200) != id {
		return ModelInfo{} // no name that could be shown, or typed
	}
	return ModelInfo{
		ID: id,
		Window: int(first(fields.Loaded, fields.Meta.Context, fields.MaxModelLen, fields.ContextLength, fields.ContextWindow,
			fields.MaxContext, fields.InputTokenLimit)),
	}
}
