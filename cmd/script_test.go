package cmd_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"bureau/engine/llm/llmtest"
)

var update = flag.Bool("update", false, "write what the program makes into the files that the tests compare with")

type serverKey struct{}

// TestScripts runs the program as people do. Beside the usual commands the scripts know:
//
//	code N COMMAND...   the command ends with this exit code
//	server NAME         starts a model server of answers, its address in $URL
//	sent                prints what that server was sent, a line a request; a refused request fails the script
//	events FILE         the file is one whole stream of events
//	lists               prints the keys with which that server was asked for its models
//	sql QUERY           prints rows of the database in $DB
//	first AGENCY        the id of the newest session of an agency, in $ID
//	id FILE             the id that a file holds, in $ID
//	expand FILE         puts variables into a file
//	same A B            two exports hold the same but for ids and times
//	bare A B            two chats of Agency Swarm hold the same but for the times of the file
//	safe                nothing of what the last command said would take over a terminal
//	newer FILE          makes a database one of a newer program
//	hostilename FOLDER  makes an agency file whose name would take over a terminal
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			for _, v := range surroundings(env.WorkDir) {
				name, value, _ := strings.Cut(v, "=")
				if name != "PATH" {
					env.Setenv(name, value)
				}
			}
			env.Setenv("DB", filepath.Join(env.WorkDir, "data", "bureau", "bureau.db"))
			env.Values[serverKey{}] = &starter{t: env.T().(testing.TB)}
			return writeConfig(env.WorkDir, noLocalServers)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": codeCommand, "server": serverCommand, "sent": sentCommand, "lists": listsCommand, "events": eventsCommand,
			"sql": sqlCommand, "first": firstCommand, "id": idCommand, "expand": expandCommand, "same": sameCommand, "bare": bareCommand, "safe": safeCommand,
			"newer": newerCommand, "hostilename": hostileNameCommand,
		},
	})
}

func codeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// starter starts the model servers of a script. In front of each stands a door that notes who asked for its models.
type starter struct {
	t    testing.TB
	last *llmtest.Server

	mu    sync.Mutex
	asked []string
}

func (s *starter) start(name string) (string, error) {
	answer, ok := answers[name]
	if !ok {
		return "", fmt.Errorf("there are no answers %q", name)
	}
	s.last = llmtest.NewServer(s.t, answer, llmtest.Models("test", "other"))
	behind, err := url.Parse(strings.TrimSuffix(s.last.URL, "/v1"))
	if err != nil {
		return "", err
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	// The default transport is shared, and its connections are closed whenever some test's server is.
	proxy.Transport = &http.Transport{DisableKeepAlives: true}
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			s.mu.Lock()
			s.asked = append(s.asked, r.Header.Get("Authorization"))
			s.mu.Unlock()
		}
		proxy.ServeHTTP(w, r)
	}))
	s.t.Cleanup(door.Close)
	return door.URL + "/v1", nil
}

// lists returns the authorization of each question for models since the last call.
func (s *starter) lists() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

func serverCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: server NAME")
	}
	address, err := ts.Value(serverKey{}).(*starter).start(args[0])
	ts.Check(err)
	ts.Setenv("URL", address)
}

func sentCommand(ts *testscript.TestScript, _ bool, _ []string) {
	s := ts.Value(serverKey{}).(*starter).last
	if s == nil {
		ts.Fatalf("no server was started")
	}
	if refused := s.Refused(); len(refused) > 0 {
		ts.Fatalf("the server refused: %s", strings.Join(refused, "\n"))
	}
	for _, r := range s.Requests() {
		fmt.Fprintf(ts.Stdout(), "authorization=%q model=%s messages=%d last=%q\n", r.Header.Get("Authorization"), r.Model, len(r.Messages), r.Last)
	}
}

func eventsCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: events FILE")
	}
	if _, err := readEvents(ts.ReadFile(args[0])); err != nil {
		ts.Fatalf("%v", err)
	}
}

func sqlCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: sql QUERY")
	}
	lines, err := query(context.Background(), ts.Getenv("DB"), args[0])
	ts.Check(err)
	for _, line := range lines {
		fmt.Fprintln(ts.Stdout(), line)
	}
}

// changing matches what two exports of one session may differ in.
var changing = regexp.MustCompile(`"(id|session_id|created_at|updated_at)": ("[^"]*"|\d+)`)

func sameCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: same A B")
	}
	a, b := changing.ReplaceAllString(ts.ReadFile(args[0]), "-"), changing.ReplaceAllString(ts.ReadFile(args[1]), "-")
	if a != b {
		ts.Fatalf("they differ:\n%s\n%s", a, b)
	}
}

// times matches when a chat was begun and changed.
var times = regexp.MustCompile(`"(created_at|modified_at)": "[^"]*"`)

func bareCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: bare A B")
	}
	a, b := times.ReplaceAllString(ts.ReadFile(args[0]), "-"), times.ReplaceAllString(ts.ReadFile(args[1]), "-")
	if a != b {
		ts.Fatalf("they differ:\n%s\n%s", a, b)
	}
}

func listsCommand(ts *testscript.TestScript, _ bool, _ []string) {
	for _, key := range ts.Value(serverKey{}).(*starter).lists() {
		fmt.Fprintf(ts.Stdout(), "authorization=%q\n", key)
	}
}

func firstCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: first AGENCY")
	}
	lines, err := query(context.Background(), ts.Getenv("DB"), "SELECT id FROM sessions WHERE agency = '"+args[0]+"' ORDER BY created_at DESC, id LIMIT 1")
	ts.Check(err)
	if len(lines) != 1 {
		ts.Fatalf("there is no session of %s", args[0])
	}
	ts.Setenv("ID", lines[0])
}

func idCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: id FILE")
	}
	ts.Setenv("ID", strings.TrimSpace(ts.ReadFile(args[0])))
}

func expandCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: expand FILE")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(os.Expand(ts.ReadFile(args[0]), ts.Getenv)), 0o600))
}

func safeCommand(ts *testscript.TestScript, _ bool, _ []string) {
	for _, name := range []string{"stdout", "stderr"} {
		if at := unsafeAt(ts.ReadFile(name)); at != "" {
			ts.Fatalf("%s would take over a terminal: %q", name, at)
		}
	}
}

// unsafeAt returns what in a text a terminal would obey, with what is around it.
func unsafeAt(s string) string {
	for i, r := range s {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || r == 0xfffd {
			return s[max(0, i-20):min(len(s), i+20)]
		}
	}
	return ""
}

func newerCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: newer FILE")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	_, err = db.Exec("PRAGMA journal_mode = DELETE; PRAGMA user_version = 9999")
	ts.Check(errors.Join(err, db.Close()))
}

func hostileNameCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: hostilename FOLDER")
	}
	ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(args[0]), "x\x1b]0;owned\x07\u009b31m.yaml"), []byte("name: x\n"), 0o600))
}
