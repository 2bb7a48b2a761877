package swarm

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"bureau/engine/history"
	"bureau/engine/tool"
)

// Summary counts what became of a chat's items.
type Summary struct {
	// Messages that had calls of Chat Completions, those calls, and results of the role tool, that became rows like others.
	Messages, Calls, Results int
	// Notes are items of types that have no rows of their own.
	Notes int
	// Plain are all the others.
	Plain int
}

// Converted tells whether anything was of Chat Completions.
func (s Summary) Converted() bool { return s.Calls > 0 || s.Results > 0 }

// Rows makes rows of the items, in our order: a nested run stands between its call and the call's output. An item that names
// no agent belongs to the one before it, the first of all to entry. The rows have no session.
func (c *Chat) Rows(entry string) ([]history.Message, Summary, error) {
	m := maker{
		entry: entry, names: map[string]string{}, answered: map[string]bool{}, runs: map[string]string{}, agents: map[string]string{},
		now: time.Now().UnixMicro(),
	}
	for i := range c.items {
		m.learn(&c.items[i])
	}
	for i := range c.items {
		m.add(&c.items[i])
	}
	rows, err := nest(m.rows)
	if err != nil {
		return nil, Summary{}, err
	}
	link(rows)
	return rows, m.summary, nil
}

// maker makes rows of items, one after the other.
type maker struct {
	entry    string
	names    map[string]string // of the called tools, by call id
	answered map[string]bool   // call ids that have an output
	// runs and agents are the latest of each conversation, for items that name none.
	runs, agents map[string]string
	trace        string
	now          int64
	rows         []history.Message
	summary      Summary
}

func (m *maker) learn(it *item) {
	switch {
	case it.kind == kindCall:
		m.names[it.callID] = it.name
	case it.kind == kindOutput:
		m.answered[it.callID] = true
	}
	for _, call := range it.calls {
		m.names[call.id] = call.name
	}
}

// add makes the row, or the rows, of one item.
func (m *maker) add(it *item) {
	row := m.labelled(it)
	switch {
	case it.kind == kindCall:
		m.summary.Plain++
		m.call(row, it.callID, it.name, it.arguments)
	case it.kind == kindOutput:
		m.summary.Plain++
		m.output(row, it.callID, it.given)
	case it.kind == kindReasoning:
		m.summary.Plain++
		row.Type, row.Content, row.Extra.Item = history.TypeReason, reasoning(it), it.bare()
		m.rows = append(m.rows, row)
	case it.kind == kindMessage && it.role == "tool":
		m.summary.Results++
		row.Protocol = history.ProtocolChatCompletions
		m.output(row, it.toolCallID, it.content)
	case it.kind == kindMessage:
		m.message(row, it)
	default:
		m.summary.Notes++
		row.Type, row.Role, row.Origin = history.TypeMessage, history.RoleSystem, history.OriginImported
		row.Extra.Item = it.bare()
		row.Content = noteOf(it.kind, row.Extra.Item)
		m.rows = append(m.rows, row)
	}
}

// message makes a row of what a message says, and one of each call in it.
func (m *maker) message(row history.Message, it *item) {
	said := row
	said.Type, said.Role = history.TypeMessage, history.Role(it.role)
	if it.role == "developer" {
		said.Role = history.RoleSystem
	}
	var notes []json.RawMessage
	said.Content, notes = words(it.content)
	said.Extra.Citations = citations(it.fields["citations"], notes)
	if it.status == "incomplete" || it.status == "in_progress" {
		said.Status = history.StatusInterrupted
	}
	if len(it.calls) == 0 {
		m.summary.Plain++
		m.rows = append(m.rows, said)
		return
	}
	m.summary.Messages++
	m.summary.Calls += len(it.calls)
	said.Protocol, row.Protocol = history.ProtocolChatCompletions, history.ProtocolChatCompletions
	if strings.TrimSpace(said.Content) != "" {
		m.rows = append(m.rows, said)
	}
	for _, call := range it.calls {
		m.call(row, call.id, call.name, call.arguments)
	}
}

func (m *maker) call(row history.Message, id, name string, arguments json.RawMessage) {
	row.Type, row.CallID, row.Name = history.TypeCall, id, name
	if !tool.IsLegal(name) {
		row.Name, row.Extra.RawName = tool.Legal(name, nil), name
	}
	text, _ := words(arguments)
	if object, err := tool.Arguments(text); err == nil {
		row.Arguments = string(object)
	} else {
		row.Arguments, row.Extra.RawArguments, row.Extra.ArgumentsError = "{}", text, err.Error()
	}
	m.rows = append(m.rows, row)
}

func (m *maker) output(row history.Message, id string, given json.RawMessage) {
	row.Type, row.CallID, row.Name = history.TypeOutput, id, m.names[id]
	if row.Name != "" && !tool.IsLegal(row.Name) {
		row.Name = tool.Legal(row.Name, nil)
	}
	row.Content, _ = words(given)
	row.Extra.IsError = strings.HasPrefix(row.Content, "Error: ")
	m.rows = append(m.rows, row)
}

var originName = regexp.MustCompile(`^[a-z_]{1,64}$`)

// labelled is a row with the labels of an item; those that the item lacks are those of the items before it.
func (m *maker) labelled(it *item) history.Message {
	conversation := it.caller + "\x00" + it.parentCall
	isInput := it.kind == kindMessage && it.role == "user"
	agent, run, trace := it.agent, it.run, it.trace
	if agent == "" {
		agent = m.agents[conversation]
	}
	if agent == "" {
		agent = m.entry
	}
	if trace == "" || trace == "no-op" {
		if m.trace == "" || isInput && it.caller == "" {
			m.trace = history.NewTraceID()
		}
		trace = m.trace
	}
	if run == "" {
		if run = m.runs[conversation]; run == "" || isInput {
			run = history.NewRunID()
		}
	}
	m.agents[conversation], m.runs[conversation], m.trace = agent, run, trace
	at := it.at
	if at == 0 {
		at = m.now + int64(it.index)
	}
	row := history.Message{
		Agent: agent, CallerAgent: it.caller, RunID: run, ParentCallID: it.parentCall, TraceID: trace, CreatedAt: at,
		Protocol: history.ProtocolResponses, Status: history.StatusCompleted, Extra: history.Extra{Imported: Program},
	}
	if it.protocol == string(history.ProtocolChatCompletions) {
		row.Protocol = history.ProtocolChatCompletions
	}
	if origin := history.Origin(it.origin); originName.MatchString(it.origin) && origin != history.OriginError {
		row.Origin = origin
	}
	return row
}

// bare is the item without the framework's labels, as it was else.
func (it *item) bare() json.RawMessage {
	fields := map[string]json.RawMessage{}
	for name, value := range it.fields {
		fields[name] = value
	}
	for _, name := range labels {
		delete(fields, name)
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil // what was read as JSON is JSON
	}
	return raw
}

// maxNote bounds what a note quotes of its item, in bytes.
const maxNote = 4096

// noteOf tells of an item that has no row of its own kind.
func noteOf(kind string, raw json.RawMessage) string {
	text := string(raw)
	if len(text) > maxNote {
		text = strings.ToValidUTF8(text[:maxNote], "") + " … (cut)"
	}
	return fmt.Sprintf("An item of the type %s, from %s: %s", kind, "Agency Swarm", text)
}

// citations are the file's own list, else the annotations of the text.
func citations(raw json.RawMessage, notes []json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		return raw
	}
	if len(notes) == 0 {
		return nil
	}
	joined, err := json.Marshal(notes)
	if err != nil {
		return nil // what was read as JSON is JSON
	}
	return joined
}
