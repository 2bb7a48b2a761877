package script_test

import (
	"context"
	"fmt"

	"bureau/engine/llm"
	"bureau/engine/llm/script"
)

// The whole format: the first rule whose conditions all hold answers.
func ExampleParse() {
	s, err := script.Parse("example.script.yaml", []byte(`
pace: 8ms                                # between the words of an answer; default 0
window: 32000                            # tokens that the model claims to hold; default unknown
agents:
  Guide:
    - on:                                # all must hold; a list of patterns: each of them
        message: '(?i)\bfiles?\b'        # the last message that the agent was sent
        system: ['You are', Guide]       # the system messages
        step: 0                          # the agent's answers since that message, or since a handoff to it
        turn: 1                          # the messages that it was sent so far
        tool: send_message               # a tool that is offered
        handoff: false                   # whether control came by a handoff since that message
      wait: 300ms
      reason: Scout knows the folder.    # streamed as reasoning
      say: I ask **Scout** about "{{cut 40 .Message}}".
      call:                              # at the same time; arguments written as text are sent as they are
        - send_message: {recipient_agent: Scout, message: 'List {{find "in (\\w+)" .Message | default "."}}'}
    - on: {after: send_message, output: '^Error: '}   # the newest outputs, none of which the agent has answered
      say: That went wrong.
      finish: length                     # stop, tool_calls, length or content_filter
    - on: {after: send_message}
      say: |
        Scout found {{lines (output 0)}} things, first {{first 1 (output "send_message")}}.
    - on: {message: fail}
      say: One moment, please.
      fail: {status: 429, retry_after: 2s, after_words: 2, times: 1}
    - say: Ask me about files.
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	guide := s.Model("Guide", llm.Ref{Provider: "script", Model: "example"}, script.Pace(0))
	req := llm.Request{
		Messages: []llm.Message{{Role: llm.RoleSystem, Content: "You are Guide."}, {Role: llm.RoleUser, Content: "Which files are in docs?"}},
		Tools:    []llm.Tool{{Name: "send_message"}},
	}
	for range 2 {
		reply, err := guide.Stream(context.Background(), req, func(llm.Delta) {})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(reply.Text)
		req.Messages = append(req.Messages, llm.Message{Role: llm.RoleAssistant, Content: reply.Text, Calls: reply.Calls})
		for _, c := range reply.Calls {
			fmt.Println(c.Name, c.Arguments)
			req.Messages = append(req.Messages, llm.Message{Role: llm.RoleTool, CallID: c.ID, Name: c.Name, Content: "a.md\nb.md\n"})
		}
	}
	// Output:
	// I ask **Scout** about "Which files are in docs?".
	// send_message {"recipient_agent":"Scout","message":"List docs"}
	// Scout found 2 things, first a.md.
}
