//go:build !unix

package engine

import "os/exec"

// inOwnGroup has nothing to do where there are no process groups: the command itself is ended.
func inOwnGroup(*exec.Cmd) {}

func endGroup(*exec.Cmd) {}
