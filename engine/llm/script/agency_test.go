package script_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bureau/engine/llm"
	"bureau/engine/llm/script"
)

// cast is who may do what in an agency, as its file says.
type cast struct {
	tools    map[string][]string
	sends    map[string]map[string][]string // agent → tool → recipients
	handoffs map[string][]string
}

var tour = cast{
	tools: map[string][]string{
		"Guide": {"current_time"}, "Scout": {"list_directory", "search_files"}, "Reader": {"read_file"}, "Scribe": {"list_directory", "current_time"},
	},
	sends:    map[string]map[string][]string{"Guide": {"send_message": {"Scout", "Scribe"}}, "Scout": {"send_message": {"Reader"}}},
	handoffs: map[string][]string{"Guide": {"Concierge"}, "Concierge": {"Guide"}},
}

var newsroom = cast{
	tools: map[string][]string{
		"Reporter": {"read_file", "list_directory", "search_files"}, "Checker": {"read_file", "search_files"}, "Desk": {"current_time"},
	},
	sends: map[string]map[string][]string{
		"Editor": {"send_message": {"Reporter"}, "request_check": {"Checker"}}, "Reporter": {"send_message": {"Checker"}},
	},
	handoffs: map[string][]string{"Editor": {"Desk"}, "Desk": {"Editor"}},
}

// folder answers the tools, in the words of the real ones.
type folder struct {
	list, deep string
	files      map[string]string
	broken     bool
}

func (f folder) run(name string, args map[string]any) string {
	if f.broken {
		return "Error: permission denied"
	}
	switch name {
	case "current_time":
		return "2026-11-30T12:34:56+01:00\nMonday, local time (CET, UTC+01:00)"
	case "list_directory":
		if args["depth"] != nil && f.deep != "" {
			return f.deep
		}
		return f.list
	case "search_files":
		return fmt.Sprintf("main.go:3: found %v\n", args["pattern"])
	case "read_file":
		text, ok := f.files[fmt.Sprint(args["path"])]
		if !ok {
			return fmt.Sprintf("Error: there is no %q; list_directory shows what there is", args["path"])
		}
		return text
	}
	return "Error: there is no tool " + name
}

var (
	empty   = folder{list: `The folder "." is empty.`}
	project = folder{
		list:  "cmd/\ndocs/\n.env  20 bytes\n.gitignore  65 bytes\nREADME.md  4.5 KiB\ngo.mod  2.4 KiB\nmain.go  120 bytes\nold -> main.go\n",
		files: map[string]string{"README.md": "[README.md: lines 1-60 of 123, 4.5 KiB; read_file left out 63 more: go on with offset 61]\n# The project\n\nIt does things.\n", "main.go": "package main\n"},
	}
	nested  = folder{list: "a/\nb c/\npicture.png  2.0 KiB\n", deep: "a/\na/notes.txt  12 bytes\nb c/\npicture.png  2.0 KiB\n", files: map[string]string{"a/notes.txt": "remember the milk\n"}}
	sparse  = folder{list: "x/\n", deep: "x/\nx/y.bin  1 byte\n"}
	odd     = folder{list: "\"a\\nb.txt\"  3 bytes\nempty.md  0 bytes\n报告 2026.md  3 bytes\n", files: map[string]string{"报告 2026.md": "[\"x\": the file is empty]\n"}}
	blocked = folder{broken: true}
)

// loop runs turns of an agency with no engine: just enough of one to see what a script does.
type loop struct {
	t      *testing.T
	cast   cast
	script *script.Script
	folder folder
	// user is the user thread, with the agent that spoke; pairs are the sub-conversations.
	user    []spoken
	pairs   map[string][]llm.Message
	control string

	calls, handoffs int
	// trace is what happened in the turn, a word each.
	trace []string
}

type spoken struct {
	agent string
	llm.Message
}

// turn takes the user's message and returns all that was answered to it.
func (l *loop) turn(message string) string {
	l.calls, l.handoffs, l.trace = 0, 0, nil
	l.user = append(l.user, spoken{"", user(message)})
	var answer []string
	for {
		reply := l.ask(l.control, l.thread())
		answer = append(answer, reply.Text)
		l.user = append(l.user, spoken{l.control, llm.Message{Role: llm.RoleAssistant, Content: reply.Text, Calls: reply.Calls}})
		next := l.control
		for _, c := range reply.Calls {
			text, to := l.carryOut(l.control, c)
			l.user = append(l.user, spoken{l.control, llm.Message{Role: llm.RoleTool, CallID: c.ID, Name: c.Name, Content: text}})
			if to != "" {
				next = to
			}
		}
		if next != l.control {
			l.control = next
			l.handoffs++
			l.user = append(l.user, spoken{next, system("You are " + next + " now.")})
		}
		if len(reply.Calls) == 0 || l.t.Failed() {
			return strings.Join(answer, "\n")
		}
	}
}

// thread is the user thread as the agent in control is sent it: calls that it could not make itself are notes.
func (l *loop) thread() []llm.Message {
	messages := []llm.Message{system("instructions")}
	for _, s := range l.user {
		m := s.Message
		switch {
		case s.agent == l.control || m.Role == llm.RoleUser || m.Role == llm.RoleSystem:
		case m.Role == llm.RoleTool:
			if !slices.Contains(l.offered(l.control), m.Name) {
				m = system("For your information: another agent used " + m.Name)
			}
		default:
			calls := m.Calls
			m.Calls = nil
			for _, c := range calls {
				if slices.Contains(l.offered(l.control), c.Name) {
					m.Calls = append(m.Calls, c)
				}
			}
			if m.Content == "" && len(m.Calls) == 0 {
				continue
			}
		}
		messages = append(messages, m)
	}
	return messages
}

func (l *loop) offered(agent string) []string {
	names := slices.Clone(l.cast.tools[agent])
	for name := range l.cast.sends[agent] {
		names = append(names, name)
	}
	for _, to := range l.cast.handoffs[agent] {
		names = append(names, "transfer_to_"+to)
	}
	return names
}

func (l *loop) ask(agent string, messages []llm.Message) llm.Reply {
	l.t.Helper()
	l.calls++
	if l.calls > 40 || l.handoffs > 2 {
		l.t.Fatalf("the turn does not end: %v", l.trace)
	}
	reply, err := ask(l.t, l.script.Model(agent, ref, script.Pace(0)), llm.Request{Messages: messages})
	if err != nil {
		l.t.Fatalf("%s: %v", agent, err)
	}
	if reply.IsEmpty() || strings.Contains(reply.Text, "has no answer") || strings.Contains(reply.Text, "<no value>") {
		l.t.Errorf("%s says %q", agent, reply.Text)
	}
	return reply
}

// carryOut returns a call's output, and to whom it handed over.
func (l *loop) carryOut(agent string, c llm.Call) (out, to string) {
	l.t.Helper()
	l.trace = append(l.trace, agent+":"+c.Name)
	var args map[string]any
	if err := json.Unmarshal([]byte(c.Arguments), &args); err != nil {
		l.t.Errorf("%s calls %s with %s: %v", agent, c.Name, c.Arguments, err)
	}
	if recipient, ok := strings.CutPrefix(c.Name, "transfer_to_"); ok {
		if !slices.Contains(l.cast.handoffs[agent], recipient) || args["recipient_agent"] != recipient {
			l.t.Errorf("%s cannot hand over to %v", agent, args)
		}
		return `{"assistant":"` + recipient + `"}`, recipient
	}
	recipients, sends := l.cast.sends[agent][c.Name]
	if !sends {
		if !slices.Contains(l.cast.tools[agent], c.Name) {
			l.t.Errorf("%s has no tool %s", agent, c.Name)
		}
		return l.folder.run(c.Name, args), ""
	}
	recipient, message := fmt.Sprint(args["recipient_agent"]), fmt.Sprint(args["message"])
	if !slices.Contains(recipients, recipient) || strings.TrimSpace(message) == "" {
		l.t.Errorf("%s cannot send %v", agent, args)
		return "Error: no", ""
	}
	if priority, ok := args["priority"]; ok {
		message += fmt.Sprintf("\n\npriority: %v", priority)
	} else if c.Name == "request_check" {
		l.t.Errorf("%s leaves out the priority", agent)
	}
	l.trace = append(l.trace, agent+">"+recipient)
	return l.nested(agent, recipient, message), ""
}

func (l *loop) nested(from, to, message string) string {
	pair := from + ">" + to
	l.pairs[pair] = append(l.pairs[pair], user(message))
	for {
		reply := l.ask(to, append([]llm.Message{system("instructions")}, l.pairs[pair]...))
		l.pairs[pair] = append(l.pairs[pair], llm.Message{Role: llm.RoleAssistant, Content: reply.Text, Calls: reply.Calls})
		if len(reply.Calls) == 0 || l.t.Failed() {
			return reply.Text
		}
		for _, c := range reply.Calls {
			out, _ := l.carryOut(to, c)
			l.pairs[pair] = append(l.pairs[pair], llm.Message{Role: llm.RoleTool, CallID: c.ID, Name: c.Name, Content: out})
		}
	}
}
