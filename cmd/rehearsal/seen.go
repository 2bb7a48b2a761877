// Package rehearsal holds what happened in a rehearsal against what must happen, and reports it: as lines, as JSON and as
// JUnit XML. It knows events and expectations, and nothing of how a turn is run or where its rows are kept. A Seen takes
// events from one goroutine at a time; all else is plain data.
package rehearsal

import (
	"fmt"

	"bureau/agencies"
	"bureau/engine/history"
)

// Seen is what happened in one turn.
type Seen struct {
	Say string
	// To is the agent that was addressed, AnsweredBy the one that had control in the end.
	To, AnsweredBy string
	// Answer is the text of the answer; without one, Code and Error say why.
	Answer string
	Code   history.Code
	Error  string
	// Asked, Tools and Handoffs are in the order in which they began.
	Asked    []agencies.Pair
	Tools    []agencies.AgentTool
	Handoffs []agencies.Pair
	// Runs counts the top run too.
	Runs  int
	Usage history.Usage
	// Rows of the turn, in the order of the table.
	Rows []history.Message
}

// Take notes an event of the turn.
func (s *Seen) Take(e history.Event) {
	switch e.Type {
	case history.EventRunStarted:
		s.Runs++
	case history.EventSubagentStarted:
		s.Runs++
		s.Asked = append(s.Asked, agencies.Pair{From: e.CallerAgent, To: e.Agent})
	case history.EventCallEnd:
		if e.Status == history.StatusCompleted {
			s.Tools = append(s.Tools, agencies.AgentTool{Agent: e.Agent, Tool: e.Name})
		}
	case history.EventCustom:
		if value, ok := e.Value.(map[string]any); ok && e.Name == history.CustomHandoff {
			s.Handoffs = append(s.Handoffs, agencies.Pair{From: fmt.Sprint(value["from"]), To: fmt.Sprint(value["to"])})
		}
	case history.EventRunFinished:
		s.AnsweredBy, s.Answer = e.Agent, e.Result
		s.spent(e)
	case history.EventRunError:
		s.AnsweredBy, s.Code, s.Error = e.Agent, e.Code, e.Message
		s.spent(e)
	}
}

func (s *Seen) spent(e history.Event) {
	if e.Usage != nil {
		s.Usage = *e.Usage
	}
}
