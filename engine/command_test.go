package engine_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"bureau/agencies"
	"bureau/engine"
	"bureau/engine/history"
	"bureau/engine/tool"
)

// judged says hi to an agent whose message is judged by a program of a shell.
func judged(t *testing.T, script, more string) (*bench, engine.Result, error) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are written for a shell of Unix")
	}
	folder := t.TempDir()
	program := filepath.Join(folder, "check.sh")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	b := setup{folder: folder}.bench(t, guarded(", input_guardrails: [{command: ["+program+", one, 'two $HOME']"+more+"}]", ""), nil)
	result, err := b.say("A", `hi "you"`)
	return b, result, err
}

func TestCommandThatJudges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script, more string
		answer             string
		fault              string
	}{
		{"silent", "exit 0", "", `A answers hi "you"`, ""},
		{"does not read", "true", "", `A answers hi "you"`, ""},
		{"words and 0", "echo checked", "", `A answers hi "you"`, ""},
		{"allows", `echo '{"allow": true}'`, "", `A answers hi "you"`, ""},
		{"forbids", `echo '{"allow": false, "message": "Not now."}'`, "", "Not now.", ""},
		{"forbids without a word", `echo '{"allow": false}'`, ", message: Not so.", "Not so.", ""},
		{"1", "exit 1", "", "This message was not accepted: the check", ""},
		{"1 with a message of the file", "exit 1", ", message: Not so.", "Not so.", ""},
		{"1 with words", "echo Too late.; exit 1", "", "Too late.", ""},
		{"its input", `grep -q '"text":"hi \\"you\\""' && grep -c . /dev/null; test "$1 $2" = 'one two $HOME' && echo '{"allow": true}' || exit 1`, "", `A answers hi "you"`, ""},
		{"2", "echo broken >&2; exit 2", "", "", "could not be judged: "},
		{"half an object", `echo '{"allow": '`, "", "", "answered with something other than"},
		{"an object without a verdict", `echo '{}'`, "", "", "answered with something other than"},
		{"too slow", "sleep 60", ", timeout: 1s", "", "had not ended after 1s"},
		{"more than is read", `head -c 300000 /dev/zero | tr '\0' x; exit 0`, "", `A answers hi "you"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, result, err := judged(t, c.script, c.more)
			if c.fault != "" {
				if code(err) != history.CodeFailed || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("error %v", err)
				}
				if n := len(b.server.Requests()); n != 0 {
					t.Errorf("a model was asked %d times", n)
				}
				return
			}
			if err != nil || !strings.HasPrefix(result.Text, c.answer) {
				t.Errorf("answer %q, %v", result.Text, err)
			}
		})
	}
}

// A command stands in the folder of the program, and sees none of its keys.
func TestCommandHasACleanEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	t.Setenv("HOME", "/home/somebody")
	b, result, err := judged(t, `echo "$(pwd) $OPENAI_API_KEY $HOME $(env | grep -c secret)"; exit 1`, "")
	if err != nil {
		t.Fatal(err)
	}
	folder, err := filepath.EvalSymlinks(b.setup.folder)
	if err != nil || result.Text != folder+"  /home/somebody 0" {
		t.Errorf("it says %q, %v", result.Text, err)
	}
}

func TestCommandsOfAnAgencyThatIsNotTrusted(t *testing.T) {
	t.Parallel()
	agency, err := agencies.Parse("f", []byte("name: t\nagents: {A: {instructions: x, output_guardrails: [{command: [touch, x]}]}}"), nil, agencies.Known{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.New(engine.Options{Agency: agency, Tools: (&tool.Registry{}).Pick}); err == nil || !strings.Contains(err.Error(), "not trusted") {
		t.Errorf("error %v", err)
	}
}
