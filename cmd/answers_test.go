package cmd_test

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"

	"bureau/engine/llm/llmtest"
)

// hostile is text that would take over a terminal: a title, the clipboard, colours, a cleared screen, C1 and a forged line.
const hostile = "a\x1b]0;owned\x07b\x1b]52;c;aGk=\x07c\x1b[31md\x1b[2Je\u009b31mf\rg\x00h"

// answers are the model servers of the scripts, by name.
var answers = map[string]func(*llmtest.Request) llmtest.Response{
	"echo":    func(r *llmtest.Request) llmtest.Response { return llmtest.Response{Text: "you said: " + r.Last} },
	"hostile": func(*llmtest.Request) llmtest.Response { return llmtest.Response{Text: hostile} },
	"refusing": func(*llmtest.Request) llmtest.Response {
		return llmtest.Response{Status: http.StatusUnauthorized, Body: `{"error":{"message":"no such key","type":"invalid_request_error","code":"invalid_api_key"}}`}
	},
	"team": team,
	// A model that thinks before it delegates.
	"thinking": func(r *llmtest.Request) llmtest.Response {
		switch results := r.Results(); {
		case strings.Contains(r.System, "You are the Clerk"):
			return llmtest.Response{Text: "Clerk noted: " + r.Last}
		case len(results) > 0:
			return llmtest.Response{Encrypted: "gAAAA+/==", Text: "Boss has heard: " + strings.Join(results, " / ")}
		case len(r.Tools) > 0 && r.Tools[0].Name == "ping":
			return llmtest.Response{Calls: []llmtest.Call{{ID: newCallID(), Name: "ping", Arguments: `{"word":"hello"}`}}}
		}
		arguments, err := json.Marshal(map[string]string{"recipient_agent": "Clerk", "message": r.Last, "additional_instructions": ""})
		if err != nil {
			panic(err)
		}
		return llmtest.Response{Reasoning: "I ask <the> Clerk.", Calls: []llmtest.Call{{ID: newCallID(), Name: "send_message", Arguments: string(arguments)}}}
	},
	// A model that calls the first tool that it is offered.
	"probed": func(r *llmtest.Request) llmtest.Response {
		if len(r.Tools) == 0 || len(r.Results()) > 0 {
			return llmtest.Response{Text: "ok"}
		}
		return llmtest.Response{Calls: []llmtest.Call{{ID: newCallID(), Name: r.Tools[0].Name, Arguments: `{"word":"hello"}`}}}
	},
	// A model that never comes to an end.
	"restless": func(*llmtest.Request) llmtest.Response {
		return llmtest.Response{Calls: []llmtest.Call{{ID: newCallID(), Name: "current_time", Arguments: "{}"}}}
	},
}

// deskFile is an agency for the answers of team.
const deskFile = `name: desk
agents:
  Boss:
    instructions: You are the Boss.
    tools: [current_time]
  Worker:
    instructions: You are the Worker.
    tools: [list_directory]
  Clerk:
    instructions: You are the Clerk.
  Front:
    instructions: You are the Front.
entry_points: [Boss, Front]
communication_flows:
  - Boss > Worker > Clerk
  - Boss > Clerk
  - Boss > Front: handoff
`

// team plays the agents of deskFile. Boss delegates to Worker and Clerk at once, Worker uses a tool and asks Clerk; "front"
// in a message makes Boss hand over.
func team(r *llmtest.Request) llmtest.Response {
	send := func(to, message string) llmtest.Call {
		arguments, err := json.Marshal(map[string]string{"recipient_agent": to, "message": message, "additional_instructions": ""})
		if err != nil {
			panic(err)
		}
		return llmtest.Call{ID: newCallID(), Name: "send_message", Arguments: string(arguments)}
	}
	results := r.Results()
	switch is := func(name string) bool { return strings.Contains(r.System, "You are the "+name) }; {
	case is("Boss") && len(results) > 0:
		return llmtest.Response{Text: "Boss has heard: " + strings.Join(results, " / ")}
	case is("Boss") && strings.Contains(r.Last, "front"):
		return llmtest.Response{Calls: []llmtest.Call{{ID: newCallID(), Name: "transfer_to_Front", Arguments: `{"recipient_agent":"Front"}`}}}
	case is("Boss"):
		return llmtest.Response{Text: "One moment. ", Calls: []llmtest.Call{send("Worker", "Look at the folder: "+r.Last), send("Clerk", "Note it: "+r.Last)}}
	case is("Worker") && len(results) == 0:
		return llmtest.Response{Calls: []llmtest.Call{{ID: newCallID(), Name: "list_directory", Arguments: `{"path":"."}`}, send("Clerk", "Who are you?")}}
	case is("Worker"):
		return llmtest.Response{Text: "Worker saw " + strings.Join(results, " and ")}
	case is("Front"):
		return llmtest.Response{Text: "Front speaking: " + r.Last}
	default:
		return llmtest.Response{Text: "Clerk noted: " + r.Last}
	}
}

func newCallID() string { return "call_" + rand.Text()[:12] }
