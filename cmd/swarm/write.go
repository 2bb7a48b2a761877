package swarm

import (
	"encoding/json"
	"maps"
	"time"

	"bureau/engine/history"
)

// marks are the framework's own labels on an item.
type marks struct {
	Agent       string  `json:"agent"`
	CallerAgent *string `json:"callerAgent"`
	Timestamp   int64   `json:"timestamp"`
	RunID       string  `json:"agent_run_id"`
	// ParentRunID is the id of the call that started the run, as that framework has it.
	ParentRunID string          `json:"parent_run_id,omitempty"`
	TraceID     string          `json:"run_trace_id"`
	Protocol    string          `json:"history_protocol"`
	Origin      string          `json:"message_origin,omitempty"`
	Citations   json.RawMessage `json:"citations,omitempty"`
}

// written is an item as Agency Swarm stores it: one of the Responses API, with its marks.
type written struct {
	Type      string  `json:"type"`
	Role      string  `json:"role,omitempty"`
	Content   any     `json:"content,omitempty"`
	CallID    string  `json:"call_id,omitempty"`
	Name      string  `json:"name,omitempty"`
	Arguments string  `json:"arguments,omitempty"`
	Output    *string `json:"output,omitempty"`
	Status    string  `json:"status,omitempty"`
	marks
}

type outputText struct {
	Type        string   `json:"type"`
	Text        string   `json:"text"`
	Annotations []string `json:"annotations"`
}

// File is a session as Agency Swarm's terminal stores a chat, to be written as JSON. Only what that framework can send again
// goes in: no failed rows, no reasoning but its own, no call without an output and no output without a call.
func File(v history.Session, rows []history.Message) any {
	answered, asked := map[string]bool{}, map[string]bool{}
	for _, m := range rows {
		switch m.Type {
		case history.TypeOutput:
			answered[m.CallID] = true
		case history.TypeCall:
			asked[m.CallID] = m.Status == history.StatusCompleted
		}
	}
	items := []any{}
	for _, m := range rows {
		item := written{Type: string(m.Type), marks: marksOf(m)}
		switch {
		case m.Status == history.StatusFailed:
			continue
		case m.Origin == history.OriginImported || m.Type == history.TypeReason:
			if own, ok := ownItem(m); ok {
				items = append(items, own)
			}
			continue
		case m.Type == history.TypeCall:
			if !asked[m.CallID] || !answered[m.CallID] {
				continue
			}
			item.CallID, item.Name, item.Arguments, item.Status = m.CallID, m.Name, m.Arguments, "completed"
		case m.Type == history.TypeOutput:
			if !asked[m.CallID] {
				continue
			}
			item.CallID, item.Output = m.CallID, &m.Content
		case m.Role == history.RoleAssistant:
			item.Role, item.Status = "assistant", "completed"
			item.Content = []outputText{{Type: "output_text", Text: m.Content, Annotations: []string{}}}
		default:
			item.Role, item.Content = string(m.Role), m.Content
		}
		items = append(items, item)
	}
	return map[string]any{
		"items": items,
		"metadata": map[string]any{
			"created_at": time.UnixMicro(v.CreatedAt).UTC().Format(time.RFC3339), "modified_at": time.UnixMicro(v.UpdatedAt).UTC().Format(time.RFC3339),
			"msgs": len(items), "branch": "", "summary": v.Title,
		},
	}
}

func marksOf(m history.Message) marks {
	out := marks{
		Agent: m.Agent, Timestamp: m.CreatedAt, RunID: m.RunID, ParentRunID: m.ParentCallID, TraceID: m.TraceID,
		Protocol: string(history.ProtocolResponses), Origin: string(m.Origin), Citations: m.Extra.Citations,
	}
	if m.CallerAgent != "" {
		out.CallerAgent = &m.CallerAgent
	}
	if m.Origin == history.OriginImported {
		out.Origin = ""
	}
	return out
}

// ownItem is an item that came from that framework, as it was; false for a row that did not.
func ownItem(m history.Message) (map[string]json.RawMessage, bool) {
	var item, labels map[string]json.RawMessage
	if json.Unmarshal(m.Extra.Item, &item) != nil || item == nil {
		return nil, false
	}
	raw, err := json.Marshal(marksOf(m))
	if err != nil || json.Unmarshal(raw, &labels) != nil {
		return nil, false
	}
	maps.Copy(item, labels)
	return item, true
}
