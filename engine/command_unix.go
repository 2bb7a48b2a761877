//go:build unix

package engine

import (
	"os/exec"
	"syscall"
)

// inOwnGroup makes a command end with all that it started.
func inOwnGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}

// endGroup ends what a command has left running behind it.
func endGroup(c *exec.Cmd) {
	if c.Process != nil {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // usually there is nothing left
	}
}
