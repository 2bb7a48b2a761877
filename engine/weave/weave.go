// Package weave turns rows into what an agent is sent: the only way from the message table to a request. It is pure: the
// same rows and the same view give the same bytes. Whatever is on record (killed, cancelled, failed, imported), what it
// returns is a history that a strict server accepts: every call is answered exactly once, right after it and in call
// order, no message is empty, and nothing follows that a model could take for its own unfinished words.
package weave

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"

	"bureau/engine/history"
	"bureau/engine/llm"
)

// View is whom the rows are woven for, and within what.
type View struct {
	// System is the composed instructions; empty for none.
	System string
	// Reminders are system messages behind the instructions, for this request alone.
	Reminders []string
	// Agent is the one that is asked.
	Agent string
	// Caller started the run; empty for the user.
	Caller string
	// Tools are those that it is offered. Calls of other agents to tools that it lacks become notes.
	Tools []llm.Tool
	// Provider is the one that is asked, over Protocol: only what it sent itself, over the same one, goes back to it unchanged.
	Provider string
	Protocol history.Protocol
	// InFlight holds the ids of calls that are being carried out at this moment, this run's own ancestors among them: they
	// are left out, since they are neither answered nor interrupted.
	InFlight func(callID string) bool
	// Budget bounds the prompt in estimated tokens, system and tools included; 0 is no bound.
	Budget int
	// Nudge is a last system message for this request alone; empty for none.
	Nudge string

	// ids are the call ids that the request holds so far.
	ids map[string]bool
}

// Interrupted is the output that a call without one is given.
const Interrupted = "Interrupted: the program was stopped before this call had a result."

// byUser stands before what the user himself says to an agent in a conversation of agents, where user messages are the caller's.
const byUser = "From the user himself, directly to you:\n"

// maxNote bounds the outcome that a note on another agent's call quotes, in bytes.
const maxNote = 4096

// Prompt weaves rows, given newest first, into the messages of a request. It reads no further back than the budget
// reaches, then to the start of that turn. The messages from the last user message on are always there; where they alone
// pass the budget, steps after that message are left out, the oldest first, and a note says how many.
func Prompt(rows iter.Seq2[history.Message, error], view View) ([]llm.Message, error) {
	head := []llm.Message{}
	if view.System != "" {
		head = append(head, llm.Message{Role: llm.RoleSystem, Content: view.System})
	}
	for _, text := range view.Reminders {
		head = append(head, llm.Message{Role: llm.RoleSystem, Content: text})
	}
	var tail []llm.Message
	if view.Nudge != "" {
		tail = append(tail, llm.Message{Role: llm.RoleSystem, Content: view.Nudge})
	}
	used := Tokens(head) + Tokens(tail) + ToolTokens(view.Tools)
	kept, err := read(rows, view, view.Budget-used)
	if err != nil {
		return nil, err
	}
	units := group(kept, view)
	if view.Budget > 0 {
		units = fit(units, view.Budget-used)
	}
	messages := head
	for _, u := range answerable(units) {
		messages = append(messages, u.messages...)
	}
	for i := range messages {
		messages[i].Content = asText(messages[i].Content)
		messages[i].Reasoning = asText(messages[i].Reasoning)
	}
	return append(messages, tail...), nil
}

// answerable leaves out words of agents at the end: those that another run says at this moment in the same conversation.
func answerable(units []unit) []unit {
	end := len(units)
	for end > 0 && isWords(units[end-1]) {
		end--
	}
	return units[:end]
}

func isWords(u unit) bool {
	return u.messages[0].Role == llm.RoleAssistant && len(u.messages[0].Calls) == 0
}

// asText puts a mark in place of bytes that are no text, as an encoder of JSON would.
func asText(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// read takes rows until the room is used up and a whole turn is there, with its reminder, and returns them oldest first.
func read(rows iter.Seq2[history.Message, error], view View, room int) ([]history.Message, error) {
	var kept []history.Message
	full := false
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		if full && row.Origin != history.OriginRecipientReminder {
			break
		}
		kept = append(kept, row)
		room -= Estimate(row.Content) + Estimate(row.Arguments) + perMessage
		full = full || view.Budget > 0 && room < 0 && beginsTurn(row, view)
	}
	slices.Reverse(kept)
	return kept, nil
}

// beginsTurn tells whether a row is a message to the agent, and not one that it sent to the agent which calls it.
func beginsTurn(row history.Message, view View) bool {
	m, ok := plain(row, view)
	return ok && m.Role == llm.RoleUser && row.CallerAgent == view.Caller && !row.Extra.Steering
}

// unit is what is never split: a message, or a reply's calls with their outputs.
type unit struct {
	messages []llm.Message
	user     bool
	begins   bool // the run of the agent, or an earlier one with the same caller
	reminder bool // that the user turns to another agent; it belongs to the message after it
	steering bool // what the user said while the run was at work
	tokens   int
}

// group walks the rows in order and makes them units.
func group(rows []history.Message, view View) []unit {
	rows = untwice(rows, view)
	outputs := pairOutputs(rows)
	view.ids = map[string]bool{}
	var units []unit
	for i := 0; i < len(rows); {
		if n := replyLength(rows[i:]); n > 0 {
			units = append(units, reply(rows[i:i+n], outputs, view)...)
			i += n
			continue
		}
		if m, ok := plain(rows[i], view); ok {
			u := newUnit(m)
			u.begins = beginsTurn(rows[i], view)
			u.reminder = rows[i].Origin == history.OriginRecipientReminder
			u.steering = rows[i].Extra.Steering
			units = append(units, u)
		}
		i++
	}
	return units
}

// untwice leaves out what the agent would be told twice, where two agents have asked each other in one conversation: of its
// own call the rows of the run that it started, for its output tells of them; of another's call that started a run of the
// agent's own the call, for the rows tell of it.
func untwice(rows []history.Message, view View) []history.Message {
	callers := map[string]string{}
	for _, row := range rows {
		if row.Type == history.TypeCall && row.CallID != "" && isWoven(row) {
			callers[row.CallID] = row.Agent
		}
	}
	within := map[string]bool{}
	for _, row := range rows {
		if _, ok := callers[row.ParentCallID]; ok {
			within[row.ParentCallID] = true
		}
	}
	if len(within) == 0 {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(row history.Message) bool {
		if within[row.ParentCallID] && callers[row.ParentCallID] == view.Agent {
			return view.InFlight == nil || !view.InFlight(row.ParentCallID)
		}
		isCall := row.Type == history.TypeCall || row.Type == history.TypeOutput
		return isCall && within[row.CallID] && callers[row.CallID] != view.Agent
	})
}

// pairOutputs gives each call row's index id the output that belongs to it: the first that follows it with its call id.
func pairOutputs(rows []history.Message) map[int64]history.Message {
	open := map[string]int64{}
	outputs := map[int64]history.Message{}
	for _, row := range rows {
		switch row.Type {
		case history.TypeCall:
			if isWoven(row) {
				open[row.CallID] = row.ID
			}
		case history.TypeOutput:
			if call, ok := open[row.CallID]; ok {
				outputs[call] = row
				delete(open, row.CallID)
			}
		}
	}
	return outputs
}

// replyLength counts the rows at the start that came from one reply of a model: reasoning, words and calls of one run, up
// to the first row of another kind. Words after words are a new reply.
func replyLength(rows []history.Message) int {
	n, words := 0, false
	for _, row := range rows {
		if row.RunID != rows[0].RunID || row.Agent != rows[0].Agent {
			break
		}
		isWords := row.Type == history.TypeMessage && row.Role == history.RoleAssistant
		if !isWords && row.Type != history.TypeCall && row.Type != history.TypeReason {
			break
		}
		if isWords && isWoven(row) {
			if words {
				break
			}
			words = true
		}
		n++
	}
	return n
}

// isWoven tells whether a row is sent at all: completed, and words that were cut off. A call that was cut off was never carried out.
func isWoven(row history.Message) bool {
	switch row.Status {
	case history.StatusCompleted:
		return true
	case history.StatusInterrupted, history.StatusStreaming:
		return row.Type == history.TypeMessage
	default:
		return false
	}
}

// plain is a message of the user or the program, or of the agent that asks.
func plain(row history.Message, view View) (llm.Message, bool) {
	if row.Type != history.TypeMessage || !isWoven(row) || strings.TrimSpace(row.Content) == "" {
		return llm.Message{}, false
	}
	switch {
	case row.Role == history.RoleUser && row.Extra.ByUser && row.Agent == view.Agent:
		return llm.Message{Role: llm.RoleUser, Content: byUser + row.Content}, true
	case row.Role == history.RoleUser && row.Extra.ByUser:
		return llm.Message{Role: llm.RoleSystem, Content: fmt.Sprintf("The user himself said to %s: %s", row.Agent, row.Content)}, true
	case row.Role == history.RoleUser:
		return llm.Message{Role: llm.RoleUser, Content: row.Content}, true
	case row.Role == history.RoleSystem:
		return llm.Message{Role: llm.RoleSystem, Content: row.Content}, true
	default:
		return llm.Message{}, false
	}
}

// reply makes the units of one reply: its words with the calls that the receiver could make itself and their outputs, then
// a note for each call of another agent that it could not.
func reply(rows []history.Message, outputs map[int64]history.Message, view View) []unit {
	said := llm.Message{Role: llm.RoleAssistant}
	var answers, notes []llm.Message
	partly := false
	for _, row := range rows {
		sameProvider := row.Extra.Model != "" && strings.HasPrefix(row.Extra.Model, view.Provider+"/")
		var wire map[string]json.RawMessage
		if sameProvider && row.Protocol == view.Protocol && (row.Agent == view.Agent || row.Protocol != history.ProtocolResponses) {
			wire = row.Extra.Wire // over the Responses API it holds reasoning, which is the agent's own
		}
		switch {
		case !isWoven(row):
		case row.Type == history.TypeReason:
			if row.Agent == view.Agent && sameProvider {
				said.Reasoning = row.Content
				if wire != nil {
					said.Wire = wire
				}
			}
		case row.Type == history.TypeMessage:
			said.Content = row.Content
			if said.Wire == nil && row.Agent == view.Agent {
				said.Wire = wire
			}
		case view.InFlight != nil && view.InFlight(row.CallID):
			partly = true
		case row.Agent == view.Agent || offers(view.Tools, row.Name):
			call := sound(row, view.ids)
			call.Wire = wire
			said.Calls = append(said.Calls, call)
			answers = append(answers, llm.Message{
				Role: llm.RoleTool, CallID: call.ID, Name: call.Name, Content: outcome(outputs, row.ID),
			})
		default:
			notes = append(notes, llm.Message{Role: llm.RoleSystem, Content: note(row, outcome(outputs, row.ID))})
		}
	}
	var units []unit
	if strings.TrimSpace(said.Content) != "" || len(said.Calls) > 0 {
		switch {
		case view.Protocol != history.ProtocolResponses && len(said.Calls) == 0:
			said.Reasoning, said.Wire = "", nil
		case view.Protocol == history.ProtocolResponses && partly:
			// The items of one reply belong together: without all of them none goes back as it came.
			said.Wire = nil
			for i := range said.Calls {
				said.Calls[i].Wire = nil
			}
		}
		units = append(units, newUnit(append([]llm.Message{said}, answers...)...))
	}
	for _, n := range notes {
		units = append(units, newUnit(n))
	}
	return units
}

// sound is a row's call as any server takes it. Rows of this program are sound already; imported ones may be anything.
func sound(row history.Message, ids map[string]bool) llm.Call {
	call := llm.Call{ID: asText(row.CallID), Name: legal(row.Name), Arguments: asText(row.Arguments)}
	for n := 2; call.ID == "" || ids[call.ID]; n++ {
		call.ID = fmt.Sprintf("%s_%d", cmp.Or(asText(row.CallID), "call"), n)
	}
	ids[call.ID] = true
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(call.Arguments), &object) != nil || object == nil {
		call.Arguments = "{}"
	}
	return call
}

// legal makes a tool name match ^[a-zA-Z0-9_-]{1,64}$.
func legal(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, name)
	return cmp.Or(name[:min(len(name), 64)], "unknown_tool")
}

func offers(tools []llm.Tool, name string) bool {
	return slices.ContainsFunc(tools, func(t llm.Tool) bool { return t.Name == name })
}

func outcome(outputs map[int64]history.Message, call int64) string {
	output, ok := outputs[call]
	switch {
	case !ok:
		return Interrupted
	case output.Content == "":
		return "(no output)"
	default:
		return output.Content
	}
}

// note tells a receiver of another agent's call. It stands in a system message and looks like nothing that a model would
// write, so that no model takes it up as a way to call.
func note(call history.Message, outcome string) string {
	if len(outcome) > maxNote {
		outcome = strings.ToValidUTF8(outcome[:maxNote], "") + " … (cut)"
	}
	return fmt.Sprintf("For your information: the agent %q used its own tool %q, which you do not have. The outcome was: %s",
		call.Agent, call.Name, outcome)
}

func newUnit(messages ...llm.Message) unit {
	return unit{messages: messages, user: messages[0].Role == llm.RoleUser, tokens: Tokens(messages)}
}
