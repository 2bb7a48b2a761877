package cmd

import (
	"time"

	"bureau/engine/history"
)

// swarmItem is an item as Agency Swarm stores it: a Responses item with the framework's own labels.
type swarmItem struct {
	ID        string  `json:"id,omitempty"`
	Type      string  `json:"type"`
	Role      string  `json:"role,omitempty"`
	Content   any     `json:"content,omitempty"`
	CallID    string  `json:"call_id,omitempty"`
	Name      string  `json:"name,omitempty"`
	Arguments string  `json:"arguments,omitempty"`
	Output    *string `json:"output,omitempty"`
	Status    string  `json:"status,omitempty"`

	Agent       string  `json:"agent"`
	CallerAgent *string `json:"callerAgent"`
	Timestamp   int64   `json:"timestamp"`
	RunID       string  `json:"agent_run_id"`
	// ParentRunID is the id of the call that started the run, as that framework has it.
	ParentRunID string `json:"parent_run_id,omitempty"`
	TraceID     string `json:"run_trace_id"`
	Protocol    string `json:"history_protocol"`
	Origin      string `json:"message_origin,omitempty"`
}

type swarmText struct {
	Type        string   `json:"type"`
	Text        string   `json:"text"`
	Annotations []string `json:"annotations"`
}

// swarmChat is a session as Agency Swarm's terminal stores a chat. Only what that framework can send again goes in: no failed
// rows, no reasoning of other protocols, no call without an output and no output without a call.
func swarmChat(v history.Session, rows []history.Message) any {
	answered, asked := map[string]bool{}, map[string]bool{}
	for _, m := range rows {
		switch m.Type {
		case history.TypeOutput:
			answered[m.CallID] = true
		case history.TypeCall:
			asked[m.CallID] = m.Status == history.StatusCompleted
		}
	}
	items := []swarmItem{}
	for _, m := range rows {
		item := swarmItem{
			Type: string(m.Type), Agent: m.Agent, Timestamp: m.CreatedAt, RunID: m.RunID, ParentRunID: m.ParentCallID,
			TraceID: m.TraceID, Protocol: string(history.ProtocolResponses), Origin: string(m.Origin),
		}
		if m.CallerAgent != "" {
			item.CallerAgent = &m.CallerAgent
		}
		switch {
		case m.Status == history.StatusFailed || m.Type == history.TypeReason:
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
			item.Content = []swarmText{{Type: "output_text", Text: m.Content, Annotations: []string{}}}
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
