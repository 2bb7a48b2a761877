package openai

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"bureau/engine/llm"

	goopenai "github.com/sashabaranov/go-openai"
)

// maxCallID is how long a call id may be.
const maxCallID = 64

// buildResponse makes the request of go-openai, and the edits to it, for the Responses API.
func (m *Model) buildResponse(req llm.Request, h habits) (goopenai.CreateResponseRequest, edits, error) {
	out := goopenai.CreateResponseRequest{Model: m.ref.Model, Input: ""}
	e := edits{fields: map[string]json.RawMessage{}}
	if err := m.onlyOfChat(req.Settings); err != nil {
		return out, e, err
	}
	dialect := m.provider.Dialect
	dialect.OneSystemFirst = dialect.OneSystemFirst || h.oneSystemFirst
	in := input{items: []any{}, seen: map[string]bool{}, plain: h.noItems}
	messages, format := m.format(req, h)
	if format != nil {
		format["type"] = "json_schema"
		e.set("text", map[string]any{"format": format})
	}
	out.Instructions = in.addAll(dialect.shape(messages))
	// The items go in as they are: go-openai would write them anew.
	e.set("input", in.items)
	for _, tool := range req.Tools {
		fields := map[string]any{"name": tool.Name, "parameters": dialect.parameters(tool.Parameters)}
		if tool.Description != "" {
			fields["description"] = tool.Description
		}
		if !h.noStrict {
			fields["strict"] = false // it is on where nothing is said, and most schemas are not made for it
		}
		out.Tools = append(out.Tools, goopenai.Tool{Type: goopenai.ToolTypeFunction, Parameters: fields})
	}
	if !h.noStore {
		out.Store = new(bool)
	}
	if !h.noEncrypted {
		out.Include = []goopenai.ResponseInclude{goopenai.ResponseIncludeReasoningEncryptedContent}
	}
	reasoning := goopenai.ResponseReasoning{Effort: req.Settings.ReasoningEffort}
	if !h.noSummary {
		reasoning.Summary = "auto"
	}
	if reasoning != (goopenai.ResponseReasoning{}) {
		out.Reasoning = &reasoning
	}
	out.MaxOutputTokens = req.Settings.MaxOutputTokens
	if len(req.Tools) > 0 {
		out.ParallelToolCalls = req.Settings.ParallelToolCalls
	}
	if t := req.Settings.Temperature; t != nil && !h.noTemperature {
		e.set("temperature", *t)
	}
	if p := req.Settings.TopP; p != nil && !h.noTopP {
		e.set("top_p", *p)
	}
	return out, e, nil
}

// onlyOfChat refuses settings that the Responses API does not have: left out they would seem to hold.
func (m *Model) onlyOfChat(s llm.Settings) error {
	name := ""
	switch {
	case s.Seed != nil:
		name = "seed"
	case len(s.Stop) > 0:
		name = "stop"
	default:
		return nil
	}
	return &llm.Error{
		Kind: llm.KindRequest, Ref: m.ref, Message: "the Responses API has no setting " + name,
		Hint: fmt.Sprintf("take %s out of the agent's model_settings, or set `api: chat_completions` for this model in the configuration", name),
	}
}

// input is the items of a request in the making.
type input struct {
	items []any
	seen  map[string]bool // ids of items, of which none may come twice
	plain bool            // nothing goes back as it came
}

// addAll adds the messages, and returns those of the system at the start as the instructions. Where they are all that there
// is, they are the input.
func (in *input) addAll(messages []llm.Message) string {
	n := 0
	for n < len(messages) && messages[n].Role == llm.RoleSystem {
		n++
	}
	if n == len(messages) {
		n = 0
	}
	var instructions []string
	for _, m := range messages[:n] {
		instructions = append(instructions, m.Content)
	}
	for _, m := range messages[n:] {
		in.add(m)
	}
	return strings.Join(instructions, betweenText)
}

func (in *input) add(m llm.Message) {
	switch m.Role {
	case llm.RoleAssistant:
		in.addWords(m)
		for _, call := range m.Calls {
			in.addCall(call)
		}
	case llm.RoleTool:
		in.items = append(in.items, map[string]any{"type": itemOutput, "call_id": wireCallID(m.CallID), "output": m.Content})
	default:
		in.items = append(in.items, map[string]any{"type": itemMessage, "role": string(m.Role), "content": m.Content})
	}
}

// addWords adds what an assistant message says: as it came, as long as that is what it says.
func (in *input) addWords(m llm.Message) {
	if raw, items := keptItems(m.Wire, itemMessage); len(raw) > 0 && !in.plain && wordsOf(items) == m.Content {
		for i := range raw {
			in.addItem(raw[i], string(items[i].ID))
		}
		return
	}
	if strings.TrimSpace(m.Content) != "" {
		in.items = append(in.items, map[string]any{"type": itemMessage, "role": string(llm.RoleAssistant), "content": m.Content})
	}
}

// addCall adds a call: as it came, but for what the history has otherwise.
func (in *input) addCall(call llm.Call) {
	args := call.Arguments
	if strings.TrimSpace(args) == "" {
		args = "{}"
	}
	id := wireCallID(call.ID)
	raw, items := keptItems(call.Wire, itemCall)
	last := len(raw) - 1
	if last < 0 || in.plain {
		in.items = append(in.items, map[string]any{"type": itemCall, "call_id": id, "name": call.Name, "arguments": args})
		return
	}
	for i, item := range items {
		own := raw[i]
		itemID := string(item.ID)
		if i == last {
			changes := map[string]any{}
			if string(item.CallID) != id {
				changes["call_id"] = id
			}
			if string(item.Name) != call.Name {
				changes["name"] = call.Name
			}
			if string(item.Arguments) != args || hasObjectArguments(own) {
				changes["arguments"] = args
			}
			if itemID == string(item.CallID) || itemID == id {
				changes["id"], itemID = nil, "" // an id that a server made up of the call's is none
			}
			if len(changes) > 0 {
				own = withFields(own, changes)
			}
		}
		in.addItem(own, itemID)
	}
}

// addItem adds an item as it is; an id that is there already is left out.
func (in *input) addItem(raw json.RawMessage, id string) {
	if id != "" && in.seen[id] {
		raw = withFields(raw, map[string]any{"id": nil})
	}
	in.seen[id] = true
	in.items = append(in.items, raw)
}

// hasObjectArguments tells whether a call came with its arguments as an object, which no server takes back.
func hasObjectArguments(raw json.RawMessage) bool {
	var fields struct {
		Arguments json.RawMessage `json:"arguments"`
	}
	return json.Unmarshal(raw, &fields) != nil || !bytes.HasPrefix(fields.Arguments, []byte(`"`))
}

// wordsOf is what the messages among the items say, as the reply had it.
func wordsOf(items []outputItem) string {
	var said []string
	for i := range items {
		var words strings.Builder
		for j := range items[i].Content {
			words.WriteString(items[i].Content[j].said())
		}
		if string(items[i].Type) == itemMessage && words.Len() > 0 {
			said = append(said, words.String())
		}
	}
	return strings.Join(said, betweenText)
}

// wireCallID is a call id of bearable length, the same for a call and its output.
func wireCallID(id string) string {
	if len(id) <= maxCallID {
		return id
	}
	return hashedCallID(id)
}

// hashedCallID is an id that every server takes, the same for the same id.
func hashedCallID(id string) string {
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:16])
}
