package cmd_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite"

	"bureau/cmd"
)

// TestMain makes the program itself a command on the search path, so that every test runs it as a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"bureau": func() { os.Exit(cmd.Main()) }})
}

// noLocalServers keeps the search for a local model server away from what runs on the machine.
const noLocalServers = `providers:
  ollama: {base_url: "http://127.0.0.1:1/v1"}
  lmstudio: {base_url: "http://127.0.0.1:1/v1"}
  llamacpp: {base_url: "http://127.0.0.1:1/v1"}
  vllm: {base_url: "http://127.0.0.1:1/v1"}
`

// surroundings are the variables of a user who has nothing set, with all folders below one. Of the machine's own they hold
// what a process needs to start.
func surroundings(folder string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.Getenv("TMPDIR"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
		"HOME=" + filepath.Join(folder, "home"), "USERPROFILE=" + filepath.Join(folder, "home"),
		"XDG_CONFIG_HOME=" + filepath.Join(folder, "config"), "XDG_DATA_HOME=" + filepath.Join(folder, "data"),
		"XDG_STATE_HOME=" + filepath.Join(folder, "state"), "XDG_CACHE_HOME=" + filepath.Join(folder, "cache"),
		"APPDATA=" + filepath.Join(folder, "config"), "LOCALAPPDATA=" + filepath.Join(folder, "data"),
		"BUREAU_SCRIPT_PACE=0", "TERM=xterm-256color",
	}
	return env
}

// writeConfig writes the configuration of a user.
func writeConfig(folder, content string) error {
	path := filepath.Join(folder, "config", "bureau", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o600)
}

// user is somebody who runs the program in a folder of his own.
type user struct {
	t      testing.TB
	folder string // the working folder
	env    []string
	db     string
}

// newUser makes a user with the given files in the working folder.
func newUser(t testing.TB, files map[string]string) *user {
	t.Helper()
	home := t.TempDir()
	u := &user{t: t, folder: filepath.Join(home, "work"), env: surroundings(home), db: filepath.Join(home, "data", "bureau", "bureau.db")}
	if err := writeConfig(home, noLocalServers); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(u.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(u.folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

// command prepares the program; it ends with the test.
func (u *user) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(u.t.Context(), "bureau", args...)
	c.Dir, c.Env = u.folder, u.env
	return c
}

// run runs the program without any input and returns what it said, and its exit code.
func (u *user) run(args ...string) (out, errOut string, code int) {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "bureau", args...)
	c.Dir, c.Env = u.folder, u.env
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		u.t.Fatalf("bureau %q: %v\n%s", args, errors.Join(err, ctx.Err()), stderr.String())
	}
	return stdout.String(), stderr.String(), c.ProcessState.ExitCode()
}

// must runs the program, which has to succeed.
func (u *user) must(args ...string) string {
	u.t.Helper()
	out, errOut, code := u.run(args...)
	if code != 0 {
		u.t.Fatalf("bureau %q: exit %d\n%s\n%s", args, code, out, errOut)
	}
	return out
}

// query reads the database as any other program would: a line for each row, columns parted by "|".
func query(ctx context.Context, path, text string) ([]string, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?_pragma=busy_timeout(5000)&_pragma=query_only(1)")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var lines []string
	for rows.Next() {
		values, targets := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		cells := make([]string, len(values))
		for i, v := range values {
			cells[i] = v.String
			if !v.Valid {
				cells[i] = "NULL"
			}
		}
		lines = append(lines, strings.Join(cells, "|"))
	}
	return lines, rows.Err()
}

// rows reads the user's database.
func (u *user) rows(text string, args ...any) []string {
	u.t.Helper()
	lines, err := query(u.t.Context(), u.db, fmt.Sprintf(text, args...))
	if err != nil {
		u.t.Fatalf("%s: %v", text, err)
	}
	return lines
}
