package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/joho/godotenv"
)

// environment is the process's variables, and below them those of a .env file in the working folder. What came from the file
// is a project's word and not the user's: it says where from, so that an address of the one is never given a key of the other.
type environment struct {
	process func(string) (string, bool)
	file    map[string]string
}

// maxDotEnv bounds the .env file, in bytes.
const maxDotEnv = 1 << 20

// readEnvironment reads the .env file of a folder, where there is one.
func readEnvironment(folder string, process func(string) (string, bool)) (environment, error) {
	env := environment{process: process}
	path := filepath.Join(folder, ".env")
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular():
		return env, nil
	case err != nil:
		return env, fmt.Errorf("read %s: %w", path, err)
	case info.Size() > maxDotEnv:
		return env, &usageError{fmt.Sprintf("%s is larger than 1 MiB", path), "Is it the right file? It should hold lines like NAME=value."}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return env, fmt.Errorf("read the .env file: %w", err)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // a mark that some editors begin a file with
	if env.file, err = godotenv.UnmarshalBytes(data); err != nil {
		// The parser's own error repeats what is in the file, which may be a key.
		return env, &usageError{fmt.Sprintf("%s:%d: this is no line like NAME=value", path, faultyLine(data)), "Correct the line, or put # in front of it."}
	}
	return env, nil
}

// faultyLine is the first line that cannot be read by itself.
func faultyLine(data []byte) int {
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		if _, err := godotenv.Unmarshal(line + "\n"); err != nil {
			return i + 1
		}
	}
	return len(lines)
}

// get is a variable's value: the process's own before the file's. Empty is not set.
func (e environment) get(name string) string {
	if v := e.own(name); v != "" {
		return v
	}
	return e.file[name]
}

// own is the process's own value, whatever a file says.
func (e environment) own(name string) string {
	v, _ := e.process(name)
	return v
}

// fromFile tells that a variable's value comes from the file.
func (e environment) fromFile(name string) bool { return e.own(name) == "" && e.file[name] != "" }
