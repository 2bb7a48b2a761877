package history

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// rowJSON is a row as JSON, with the names of the table's columns. Content that is no valid UTF-8 goes as base64.
type rowJSON struct {
	ID           int64    `json:"id"`
	SessionID    string   `json:"session_id"`
	Agent        string   `json:"agent"`
	CallerAgent  *string  `json:"caller_agent"`
	Type         Type     `json:"type"`
	Role         Role     `json:"role,omitempty"`
	Content      string   `json:"content,omitempty"`
	ContentBytes []byte   `json:"content_base64,omitempty"`
	CallID       string   `json:"call_id,omitempty"`
	Name         string   `json:"name,omitempty"`
	Arguments    string   `json:"arguments,omitempty"`
	RunID        string   `json:"run_id"`
	ParentRunID  string   `json:"parent_run_id,omitempty"`
	ParentCallID string   `json:"parent_call_id,omitempty"`
	TraceID      string   `json:"trace_id"`
	Origin       Origin   `json:"origin,omitempty"`
	Protocol     Protocol `json:"protocol"`
	Status       Status   `json:"status"`
	Extra        *Extra   `json:"extra,omitempty"`
	CreatedAt    int64    `json:"created_at"`
}

// MarshalJSON writes the row with the names of the table's columns.
func (m Message) MarshalJSON() ([]byte, error) {
	w := rowJSON{
		ID: m.ID, SessionID: m.SessionID, Agent: m.Agent, Type: m.Type, Role: m.Role, Content: m.Content, CallID: m.CallID,
		Name: m.Name, Arguments: m.Arguments, RunID: m.RunID, ParentRunID: m.ParentRunID, ParentCallID: m.ParentCallID,
		TraceID: m.TraceID, Origin: m.Origin, Protocol: m.Protocol, Status: m.Status, CreatedAt: m.CreatedAt,
	}
	if m.CallerAgent != "" {
		w.CallerAgent = &m.CallerAgent
	}
	if !m.Extra.IsZero() {
		w.Extra = &m.Extra
	}
	if !utf8.ValidString(m.Content) {
		w.Content, w.ContentBytes = "", []byte(m.Content)
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // what a server wants back unchanged stays so to the byte
	if err := encoder.Encode(w); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Message) UnmarshalJSON(data []byte) error {
	var w rowJSON
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*m = Message{
		ID: w.ID, SessionID: w.SessionID, Agent: w.Agent, Type: w.Type, Role: w.Role, Content: w.Content, CallID: w.CallID,
		Name: w.Name, Arguments: w.Arguments, RunID: w.RunID, ParentRunID: w.ParentRunID, ParentCallID: w.ParentCallID,
		TraceID: w.TraceID, Origin: w.Origin, Protocol: w.Protocol, Status: w.Status, CreatedAt: w.CreatedAt,
	}
	if w.CallerAgent != nil {
		m.CallerAgent = *w.CallerAgent
	}
	if w.Extra != nil {
		m.Extra = *w.Extra
	}
	if len(w.ContentBytes) > 0 {
		m.Content = string(w.ContentBytes)
	}
	return nil
}
