//go:build unix

package builtin_test

import "syscall"

func makePipe(path string) error { return syscall.Mkfifo(path, 0o644) }
