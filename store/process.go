package store

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// process tells one process from all others, also from a later one with the same pid.
type process struct {
	// machine is where the pid means something: the host, its boot, and the namespace of pids within it.
	machine string
	pid     int
	// started is when it began, in the system's own terms; empty where the system does not tell.
	started string
}

func thisProcess() process {
	host, _ := os.Hostname() // an unknown host is told apart by the rest
	parts := []string{host}
	if boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		parts = append(parts, strings.TrimSpace(string(boot)))
	}
	if ns, err := os.Readlink("/proc/self/ns/pid"); err == nil {
		parts = append(parts, ns)
	}
	started, _ := processStart(os.Getpid())
	return process{machine: strings.Join(parts, " "), pid: os.Getpid(), started: started}
}

func (p process) sameProcess(q process) bool { return p == q }

// running tells whether the process is there. It is asked on the process's own machine.
func (p process) running() bool {
	if started, known := processStart(p.pid); known {
		return started != "" && started == p.started
	}
	proc, err := os.FindProcess(p.pid)
	if err != nil {
		return false
	}
	defer proc.Release()
	if runtime.GOOS == "windows" {
		return true // there, FindProcess has opened the process
	}
	err = proc.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}

// processStart returns when a process began, empty when it is gone; known is false where the system does not tell.
func processStart(pid int) (started string, known bool) {
	if runtime.GOOS != "linux" {
		return "", false
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return "", false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", true
	}
	// The name of the program stands in brackets and may hold anything; behind it come the state and, as field 22, the start.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const state, start = 0, 19
	if len(fields) <= start || fields[state] == "Z" || fields[state] == "X" {
		return "", true
	}
	return fields[start], true
}
