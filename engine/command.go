package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"bureau/agencies"
)

// maxVerdict bounds what is read of a command's output, in bytes; the rest is let go.
const maxVerdict = 64 << 10

// commandEnvironment names the variables that a command is given: where programs and the user's files are, and the language. No
// key is among them.
var commandEnvironment = []string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
	"SystemRoot", "PATHEXT", "TEMP", "TMP", "USERPROFILE"}

// judgeByCommand starts the rule's program, without a shell, and gives it the text as JSON. It answers by its exit code (0 lets the
// text pass, 1 refuses it, with what it printed as the reason), or by an object {"allow": …, "message": …} with exit code 0.
func (r *run) judgeByCommand(ctx context.Context, rule *agencies.Guardrail, kind, text string) (refused bool, message string, err error) {
	input, err := json.Marshal(map[string]string{"kind": kind, "agent": r.role.agent.Name, "caller": r.caller, "text": text})
	if err != nil {
		return false, "", err
	}
	ctx, stop := context.WithTimeout(ctx, rule.Timeout)
	defer stop()
	name := rule.Command[0]
	command := exec.CommandContext(ctx, name, rule.Command[1:]...)
	command.Dir = r.turn.engine.options.Folder
	command.Env = []string{}
	for _, name := range commandEnvironment {
		if value, ok := os.LookupEnv(name); ok {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	var output, complaint bounded
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(input), &output, &complaint
	command.WaitDelay = time.Second
	inOwnGroup(command)
	err = command.Run()
	endGroup(command)
	said := strings.TrimSpace(strings.ToValidUTF8(output.String(), "\ufffd"))
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return false, "", fmt.Errorf("%s had not ended after %s", name, rule.Timeout)
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return readVerdict(name, said)
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		return true, said, nil
	case errors.As(err, &exit):
		return false, "", fmt.Errorf("%s ended with %s%s", name, exit.ProcessState, complaintOf(complaint.String()))
	default:
		return false, "", fmt.Errorf("%s could not be started: %w", name, err)
	}
}

// readVerdict reads what a command printed that ended with exit code 0: nothing, words, or an object.
func readVerdict(name, said string) (refused bool, message string, err error) {
	if !strings.HasPrefix(said, "{") {
		return false, "", nil
	}
	var verdict struct {
		Allow   *bool  `json:"allow"`
		Message string `json:"message"`
	}
	decoder := json.NewDecoder(strings.NewReader(said))
	if err := decoder.Decode(&verdict); err != nil || verdict.Allow == nil {
		return false, "", fmt.Errorf(`%s answered with something other than {"allow": true or false, "message": "…"}`, name)
	}
	return !*verdict.Allow, verdict.Message, nil
}

func complaintOf(said string) string {
	said = strings.TrimSpace(strings.ToValidUTF8(said, "\ufffd"))
	if said == "" {
		return ""
	}
	const longest = 500
	if len(said) > longest {
		said = strings.ToValidUTF8(said[:longest], "") + " …"
	}
	return ": " + said
}

// bounded keeps the beginning of what is written to it.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if room := maxVerdict - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
