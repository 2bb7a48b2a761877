package cmd_test

import (
	"encoding/json"
	"fmt"
	"strings"
)

// event is what the tests look at in a line of "ask --json".
type event struct {
	Type          string  `json:"type"`
	ThreadID      string  `json:"threadId"`
	RunID         string  `json:"runId"`
	SubagentRunID string  `json:"subagentRunId"`
	Agent         string  `json:"agent"`
	CallerAgent   *string `json:"callerAgent"`
	MessageID     string  `json:"messageId"`
	Role          string  `json:"role"`
	Delta         string  `json:"delta"`
	ToolCallID    string  `json:"toolCallId"`
	ToolCallName  string  `json:"toolCallName"`
	Content       string  `json:"content"`
	IsError       bool    `json:"isError"`
	Name          string  `json:"name"`
	Result        string  `json:"result"`
	Message       string  `json:"message"`
	Code          string  `json:"code"`
}

// readEvents reads one whole stream of events and holds it against what every stream keeps.
func readEvents(out string) ([]event, error) {
	if !strings.HasSuffix(out, "\n") {
		return nil, fmt.Errorf("the last line has no end: %q", out)
	}
	var all []event
	open := map[string]string{} // what has begun and not ended: the end that it waits for
	for i, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		e, err := readEvent(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		all = append(all, e)
		if err := follow(open, e); err != nil {
			return nil, fmt.Errorf("line %d: %w: %s", i+1, err, line)
		}
		if e.ThreadID != all[0].ThreadID || e.RunID != all[0].RunID {
			return nil, fmt.Errorf("line %d is of another run: %s", i+1, line)
		}
		last := e.Type == "RUN_FINISHED" || e.Type == "RUN_ERROR"
		if isLast := i == strings.Count(out, "\n")-1; last != isLast || (e.Type == "RUN_STARTED") != (i == 0) {
			return nil, fmt.Errorf("line %d of %d has no place there: %s", i+1, strings.Count(out, "\n"), line)
		}
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("these have not ended: %v", open)
	}
	return all, nil
}

// follow keeps account of what has begun. A message, a call and a nested run begin once, go on only while they are open, and end.
func follow(open map[string]string, e event) error {
	kind, part := e.Type, ""
	for _, p := range []string{"_START", "_CONTENT", "_ARGS", "_END", "_STARTED", "_FINISHED", "_ERROR"} {
		if k, ok := strings.CutSuffix(e.Type, p); ok {
			kind, part = k, p
		}
	}
	key := kind + " " + e.MessageID
	if kind == "SUBAGENT" {
		key = kind + " " + e.SubagentRunID
	}
	switch {
	case kind == "RUN" || e.Type == "CUSTOM" || e.Type == "TOOL_CALL_RESULT":
	case part == "_START" || part == "_STARTED":
		if _, ok := open[key]; ok {
			return fmt.Errorf("%s begins twice", key)
		}
		open[key] = e.Agent
	case open[key] == "":
		return fmt.Errorf("%s has not begun", key)
	case part == "_END" || part == "_FINISHED" || part == "_ERROR":
		delete(open, key)
	}
	return nil
}

func readEvent(line string) (event, error) {
	var e event
	var all map[string]any
	if err := json.Unmarshal([]byte(line), &all); err != nil {
		return e, fmt.Errorf("no JSON object: %w: %s", err, line)
	}
	for _, field := range []string{"type", "timestamp", "threadId", "runId", "agent", "callerAgent"} {
		if _, ok := all[field]; !ok {
			return e, fmt.Errorf("it has no %s: %s", field, line)
		}
	}
	err := json.Unmarshal([]byte(line), &e)
	return e, err
}
