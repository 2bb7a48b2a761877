package engine

import (
	"context"
	"fmt"
	"strings"

	"bureau/engine/history"
)

// recipientReminder is what an agent is told that the user turns to after control was elsewhere; empty is nothing. It is due
// when the user's last message was followed or preceded by a handoff or another such reminder, and the answer came from an
// agent other than the one that is addressed now, or never came.
func (t *turn) recipientReminder(ctx context.Context, to *role) (string, error) {
	last, err := t.lastUserCall(ctx)
	if err != nil || len(last) == 0 {
		return "", err
	}
	runs := map[string]bool{}
	for _, row := range last {
		if row.RunID != "" {
			runs[row.RunID] = true
		}
	}
	moved := false
	answeredBy := ""
	for _, row := range last { // newest first
		if isControl(row) && (row.RunID == "" || runs[row.RunID]) {
			moved = true
		}
		if answeredBy == "" && row.Type == history.TypeMessage && row.Role == history.RoleAssistant && row.Status != history.StatusFailed {
			answeredBy = row.Agent
		}
	}
	if !moved || answeredBy == to.agent.Name {
		return "", nil
	}
	text := fmt.Sprintf("The user has turned to you. You are %q now.", to.agent.Name)
	if role := strings.TrimSpace(to.agent.Description); role != "" {
		if !strings.ContainsAny(role[len(role)-1:], ".!?") {
			role += "."
		}
		text += " Role: " + role
	}
	return text + " Go on with the task from where it stands.", nil
}

// lastUserCall returns, newest first, the rows of the user thread from its newest back to the last message of the user, and
// those before it that belong to it: further messages of its run, and reminders of control. Empty where the user has said nothing.
func (t *turn) lastUserCall(ctx context.Context) ([]history.Message, error) {
	var rows []history.Message
	run, found := "", false
	for row, err := range t.engine.rows(ctx, t.input.SessionID, history.UserThread) {
		if err != nil {
			return nil, fmt.Errorf("read the session: %w", err)
		}
		if found && !isControl(row) && (row.RunID != run || row.Role != history.RoleUser) {
			return rows, nil
		}
		rows = append(rows, row)
		if !found && row.Type == history.TypeMessage && row.Role == history.RoleUser {
			run, found = row.RunID, true
		}
	}
	if !found {
		return nil, nil
	}
	return rows, nil
}

func isControl(row history.Message) bool {
	return row.Origin == history.OriginHandoffReminder || row.Origin == history.OriginRecipientReminder
}
