//go:build unix

package cmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The peers are programs that others wrote. They are installed in the folder that BUREAU_PEERS names, with "npm ci".

// peers returns the folder of the peers; without one the test is left out.
func peers(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("BUREAU_PEERS")
	if folder == "" {
		t.Skip("BUREAU_PEERS does not name the folder of the peers")
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); err != nil {
		t.Fatalf("the peers are not installed: %v", err)
	}
	return folder
}

// startPeer starts a program of the peers that listens on a port, and ends it with all its children. It returns the address.
func startPeer(t *testing.T, program string, args func(port string) []string) string {
	t.Helper()
	folder := peers(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("node", append([]string{filepath.Join("node_modules", ".bin", program)}, args(port)...)...)
	c.Dir, c.Env = folder, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Wait() // it is killed
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // fails where all have ended
		<-ended
	})
	address := "127.0.0.1:" + port
	for deadline := time.Now().Add(30 * time.Second); ; {
		connection, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = connection.Close()
			return "http://" + address
		}
		select {
		case <-ended:
			t.Fatalf("%s ended: %s", program, said.String())
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not listen: %v", program, err)
		}
	}
}

// journal is what aimock was sent, in order, over whichever protocol as Chat Completions has it.
type journal []struct {
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Body    struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role      string `json:"role"`
			Content   string `json:"content"`
			CallID    string `json:"tool_call_id"`
			ToolCalls []struct {
				ID       string `json:"id"`
				Function struct {
					Name string `json:"name"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
	} `json:"body"`
	Response struct {
		Status int `json:"status"`
	} `json:"response"`
}

func readJournal(t *testing.T, address string) journal {
	t.Helper()
	var j journal
	resp, err := http.Get(address + "/__aimock/journal")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&j); err != nil {
		t.Fatal(err)
	}
	return j
}

// of tells who was asked, by the system message, in the order of the requests.
func (j journal) of() string {
	var who []string
	for _, e := range j {
		name := "?"
		for _, m := range e.Body.Messages {
			if _, after, ok := strings.Cut(m.Content, "You are the "); ok && m.Role == "system" {
				name, _, _ = strings.Cut(after, ".")
			}
		}
		who = append(who, name)
	}
	return strings.Join(who, " ")
}

const aimockFixtures = `{"fixtures": [
{"match": {"systemMessage": "You are the Boss", "userMessage": "please delegate", "hasToolResult": false}, "response": {"content": "One moment.", "toolCalls": [
  {"id": "call_a", "name": "send_message", "arguments": {"recipient_agent": "Worker", "message": "work", "additional_instructions": ""}}]}},
{"match": {"systemMessage": "You are the Boss", "userMessage": "please delegate", "hasToolResult": true}, "response": {"content": "Boss: it is done"}},
{"match": {"systemMessage": "You are the Boss", "userMessage": "both at once", "hasToolResult": false}, "response": {"reasoning": "Two can do it.", "toolCalls": [
  {"id": "call_b", "name": "send_message", "arguments": {"recipient_agent": "Worker", "message": "work", "additional_instructions": ""}},
  {"id": "call_c", "name": "send_message", "arguments": {"recipient_agent": "Clerk", "message": "note", "additional_instructions": ""}}]}},
{"match": {"systemMessage": "You are the Boss", "userMessage": "both at once", "hasToolResult": true}, "response": {"content": "Boss: both are done"}},
{"match": {"systemMessage": "You are the Boss", "userMessage": "to the front"}, "response": {"toolCalls": [{"id": "call_d", "name": "transfer_to_Front", "arguments": {"recipient_agent": "Front"}}]}},
{"match": {"systemMessage": "You are the Front"}, "response": {"content": "Front: at your service"}},
{"match": {"systemMessage": "You are the Boss", "userMessage": "busy", "sequenceIndex": 0}, "response": {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429, "retryAfter": 1}},
{"match": {"systemMessage": "You are the Boss", "userMessage": "busy"}, "response": {"content": "Boss: here I am"}},
{"match": {"systemMessage": "You are the Boss", "userMessage": "cut once", "sequenceIndex": 0}, "response": {"content": "A long text that never comes to its end because the line is cut before that, which happens"}, "latency": 50, "disconnectAfterMs": 180},
{"match": {"systemMessage": "You are the Boss", "userMessage": "cut once"}, "response": {"content": "Boss: whole"}},
{"match": {"systemMessage": "You are the Boss", "userMessage": "cut always"}, "response": {"content": "A long text that never comes to its end because the line is cut before that, which happens"}, "latency": 50, "disconnectAfterMs": 180},
{"match": {"systemMessage": "You are the Boss", "userMessage": "garbage"}, "response": {"content": "x"}, "chaos": {"malformedRate": 1}},
{"match": {"systemMessage": "You are the Worker"}, "response": {"content": "Worker: done"}},
{"match": {"systemMessage": "You are the Clerk"}, "response": {"content": "Clerk: noted"}}
]}`

// outcome is what a turn with a peer has to come to.
type outcome struct {
	message string
	code    int
	answer  string // the whole of it; empty for none
	stderr  string // a part of it
	asked   string // whose model was asked, in order; empty where the order is open
	status  []int  // what the peer answered with; nil for 200 throughout
	rows    []string
}

const outline = "SELECT agent, coalesce(caller_agent, 'user'), type, coalesce(name, role), status FROM messages ORDER BY id"

func TestPeerAimock(t *testing.T) {
	t.Parallel()
	peers(t)
	cases := []outcome{
		{message: "please delegate", answer: "Boss: it is done", asked: "Boss Worker Boss", rows: []string{
			"Boss|user|message|user|completed", "Boss|user|message|assistant|completed", "Boss|user|function_call|send_message|completed",
			"Worker|Boss|message|user|completed", "Worker|Boss|message|assistant|completed",
			"Boss|user|function_call_output|send_message|completed", "Boss|user|message|assistant|completed",
		}},
		{message: "both at once", answer: "Boss: both are done"},
		{message: "to the front", answer: "Front: at your service", asked: "Boss Front", rows: []string{
			"Boss|user|message|user|completed", "Boss|user|function_call|transfer_to_Front|completed",
			"Boss|user|function_call_output|transfer_to_Front|completed", "Front|user|message|system|completed",
			"Front|user|message|assistant|completed",
		}},
		{message: "busy?", answer: "Boss: here I am", stderr: "slow down", asked: "Boss Boss", status: []int{429, 200}, rows: []string{
			"Boss|user|message|user|completed", "Boss|user|message|assistant|completed",
		}},
		{message: "cut once", answer: "Boss: whole", stderr: "try 2 of 3", asked: "Boss Boss"},
		{message: "cut always", code: 3, stderr: "ended in the middle of the answer", asked: "Boss Boss Boss"},
		{message: "garbage", code: 3, stderr: "broken JSON", asked: "Boss"},
		{message: "nobody knows this", code: 3, stderr: "404", asked: "Boss", status: []int{404}},
	}
	for api, path := range map[string]string{"chat_completions": "/v1/chat/completions", "responses": "/v1/responses"} {
		for _, c := range cases {
			t.Run(api+" "+c.message, func(t *testing.T) {
				t.Parallel()
				fixtures := filepath.Join(t.TempDir(), "fixtures.json")
				if err := os.WriteFile(fixtures, []byte(aimockFixtures), 0o600); err != nil {
					t.Fatal(err)
				}
				address := startPeer(t, "llmock", func(port string) []string { return []string{"-p", port, "-f", fixtures} })
				u := newUser(t, map[string]string{"desk.yaml": deskFile})
				u.env = append(u.env, "OPENAI_BASE_URL="+address+"/v1", "OPENAI_API_KEY=peer-key")
				if err := writeConfig(filepath.Dir(u.folder), noLocalServers+"  openai: {api: "+api+"}\n"); err != nil {
					t.Fatal(err)
				}
				u.check(t, c)
				j := readJournal(t, address)
				if got := j.of(); c.asked != "" && got != c.asked {
					t.Errorf("asked %s, want %s", got, c.asked)
				}
				j.check(t, path, c.status)
			})
		}
	}
}

// check runs one turn and holds it against its outcome.
func (u *user) check(t *testing.T, c outcome) {
	t.Helper()
	out, errOut, code := u.run("ask", "-a", "desk.yaml", "--model", "openai/peer", c.message)
	want := ""
	if c.answer != "" {
		want = c.answer + "\n"
	}
	if out != want || code != c.code || !strings.Contains(errOut, c.stderr) {
		t.Errorf("exit %d, %q on standard output, on standard error:\n%s\nwant %d, %q and %q", code, out, errOut, c.code, want, c.stderr)
	}
	if rows := u.rows(outline); c.rows != nil && strings.Join(rows, "\n") != strings.Join(c.rows, "\n") {
		t.Errorf("the rows are\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(c.rows, "\n"))
	}
	if first := u.rows(outline)[0]; first != "Boss|user|message|user|completed" {
		t.Errorf("the user's message is kept as %s", first)
	}
	if open := u.rows("SELECT * FROM messages WHERE status = 'streaming'"); len(open) > 0 {
		t.Errorf("rows were left open: %q", open)
	}
	// Each call has one output, and outputs stand in the order of their calls.
	calls := u.rows("SELECT call_id FROM messages WHERE type = 'function_call' ORDER BY id")
	outputs := u.rows("SELECT call_id FROM messages WHERE type = 'function_call_output' ORDER BY id")
	if strings.Join(calls, " ") != strings.Join(outputs, " ") {
		t.Errorf("the calls %q have the outputs %q", calls, outputs)
	}
}

// check holds what was sent against what every request keeps.
func (j journal) check(t *testing.T, path string, status []int) {
	t.Helper()
	for i, e := range j {
		want := http.StatusOK
		if i < len(status) {
			want = status[i]
		}
		if e.Response.Status != want || e.Path != path || e.Body.Model != "peer" || !e.Body.Stream || e.Headers["authorization"] == "" {
			t.Errorf("request %d: %+v", i, e)
		}
		open := map[string]bool{}
		for _, m := range e.Body.Messages {
			for _, call := range m.ToolCalls {
				open[call.ID] = true
			}
			if m.Role == "tool" && !open[m.CallID] {
				t.Errorf("request %d answers the call %q that is not open", i, m.CallID)
			}
			delete(open, m.CallID)
		}
		if len(open) > 0 {
			t.Errorf("request %d leaves calls open: %v", i, open)
		}
	}
}

const mockAPIFlows = `apiKey: peer-key
port: %s
responses:
  - id: calls
    messages:
      - {role: system, content: You are the Boss, matcher: contains}
      - {role: user, content: both at once, matcher: contains}
      - role: assistant
        tool_calls: &calls
          - {id: call_1, type: function, function: {name: send_message, arguments: '{"recipient_agent":"Worker","message":"work","additional_instructions":""}'}}
          - {id: call_2, type: function, function: {name: send_message, arguments: '{"recipient_agent":"Clerk","message":"note","additional_instructions":""}'}}
  - id: results
    messages:
      - {role: system, content: You are the Boss, matcher: contains}
      - {role: user, content: both at once, matcher: contains}
      - {role: assistant, tool_calls: *calls}
      - {role: tool, matcher: any, tool_call_id: call_1}
      - {role: tool, matcher: any, tool_call_id: call_2}
      - {role: assistant, content: 'Boss: both are done'}
  - id: handover
    messages:
      - {role: system, content: You are the Boss, matcher: contains}
      - {role: user, content: to the front, matcher: contains}
      - role: assistant
        tool_calls:
          - {id: call_3, type: function, function: {name: transfer_to_Front, arguments: '{"recipient_agent":"Front"}'}}
  - id: worker
    messages: [{role: system, content: You are the Worker, matcher: contains}, {role: user, matcher: any}, {role: assistant, content: 'Worker: done'}]
  - id: clerk
    messages: [{role: system, content: You are the Clerk, matcher: contains}, {role: user, matcher: any}, {role: assistant, content: 'Clerk: noted'}]
`

// TestPeerMockAPI is a server that gives its calls no index, ends a message with calls as "stop" and its stream as plain text.
func TestPeerMockAPI(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	address := startPeer(t, "openai-mock-api", func(port string) []string {
		path := filepath.Join(folder, "flows.yaml")
		if err := os.WriteFile(path, fmt.Appendf(nil, mockAPIFlows, port), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{"--config", path, "--port", port}
	})
	ask := func(key string, c outcome) *user {
		u := newUser(t, map[string]string{"desk.yaml": deskFile})
		u.env = append(u.env, "OPENAI_BASE_URL="+address+"/v1", "OPENAI_API_KEY="+key)
		u.check(t, c)
		return u
	}
	u := ask("peer-key", outcome{message: "both at once", answer: "Boss: both are done"})
	if calls := u.rows("SELECT call_id, name, json_extract(arguments, '$.recipient_agent') FROM messages WHERE type = 'function_call' ORDER BY id"); strings.Join(calls, " ") != "call_1|send_message|Worker call_2|send_message|Clerk" {
		t.Errorf("the calls are %q", calls)
	}
	u = ask("peer-key", outcome{message: "to the front", code: 3, stderr: "400"}) // no flow fits what Front is sent
	if handed := u.rows("SELECT recipient FROM sessions"); len(handed) != 1 || handed[0] != "Front" {
		t.Errorf("control is with %q", handed)
	}
	ask("wrong-key", outcome{message: "both at once", code: 3, stderr: "401"})
}

// TestPeerAGUI holds the events against the schemas that the AG-UI protocol publishes.
func TestPeerAGUI(t *testing.T) {
	t.Parallel()
	folder := peers(t)
	u := newUser(t, map[string]string{"a.md": "# Hello\n", "desk.yaml": deskFile})
	var events strings.Builder
	for _, message := range []string{"what is here?", "to the concierge", "back to the guide please"} {
		events.WriteString(u.must("ask", "--json", "--continue", "--model", "script/tour", message))
	}
	out, _, code := u.run("ask", "--json", "-a", "desk.yaml", "--model", "openai/none", "hello") // no key
	if code == 0 {
		t.Error("a model without a key has answered")
	}
	events.WriteString(out)
	for _, kind := range []string{
		"RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "SUBAGENT_STARTED", "SUBAGENT_FINISHED", "TEXT_MESSAGE_CONTENT",
		"REASONING_MESSAGE_CONTENT", "TOOL_CALL_ARGS", "TOOL_CALL_RESULT", "CUSTOM",
	} {
		if !strings.Contains(events.String(), `"type":"`+kind+`"`) {
			t.Errorf("there is no %s among the events", kind)
		}
	}
	c := exec.CommandContext(t.Context(), "node", "agui.cjs")
	c.Dir, c.Env, c.Stdin = folder, []string{"PATH=" + os.Getenv("PATH")}, strings.NewReader(events.String())
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		t.Errorf("%v: %.2000s", err, stderr.String())
	}
	if checked := strings.TrimSpace(stdout.String()); checked != strconv.Itoa(strings.Count(events.String(), "\n")) {
		t.Errorf("%s of %d events were checked", checked, strings.Count(events.String(), "\n"))
	}
}
