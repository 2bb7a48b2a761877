package cmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestWithoutNetwork runs the program with no key, no configuration and no network at all, not even the loopback.
func TestWithoutNetwork(t *testing.T) {
	t.Parallel()
	u := newUser(t, map[string]string{"marvellous-notes.md": "# Notes\n\nThe whale is blue.\n"})
	if err := os.RemoveAll(filepath.Join(filepath.Dir(u.folder), "config")); err != nil {
		t.Fatal(err)
	}
	c := u.command("ask", "what is here?")
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	var out, errOut bytes.Buffer
	c.Stdout, c.Stderr = &out, &errOut
	if err := c.Start(); err != nil {
		t.Skipf("this machine does not let a test cut off the network: %v", err)
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %s", err, errOut.String())
	}
	if !strings.Contains(out.String(), "marvellous-notes.md") || !strings.Contains(out.String(), "The whale is blue.") {
		t.Errorf("the answer does not come from the folder: %s", out.String())
	}
	if n := u.rows("SELECT count(DISTINCT agent) > 2, count(*) FILTER (WHERE name = 'read_file') > 0, count(*) FILTER (WHERE parent_run_id IS NOT NULL) > 0 FROM messages"); n[0] != "1|1|1" {
		t.Errorf("there was no delegation, or no tool: %q", n)
	}
}
