package builtin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

const maxPath = 4096

// folder is the root with the rules for paths that come from a model.
type folder struct {
	root *os.Root
	// bases are the absolute names of the root, as given and with its links followed, to make absolute paths relative.
	bases []string
}

func newFolder(root *os.Root) *folder {
	f := &folder{root: root}
	abs, err := filepath.Abs(root.Name())
	if err != nil {
		return f
	}
	f.bases = []string{abs}
	if real, err := filepath.EvalSymlinks(abs); err == nil && real != abs {
		f.bases = append(f.bases, real)
	}
	return f
}

// find turns a path that a model wrote into one relative to the root, and says what stands there. The path may be absolute
// when it lies inside, and may use \ where / gives nothing. Errors tell the model what to do.
func (f *folder) find(path string) (name string, info fs.FileInfo, err error) {
	name, err = f.relative(path)
	if err != nil {
		return "", nil, err
	}
	info, err = f.root.Stat(name)
	if err != nil && strings.Contains(path, `\`) && errors.Is(err, fs.ErrNotExist) {
		if slashed, err := f.relative(strings.ReplaceAll(path, `\`, "/")); err == nil {
			if info, err := f.root.Stat(slashed); err == nil {
				return slashed, info, nil
			}
		}
	}
	if err != nil {
		return "", nil, explain(path, err)
	}
	return name, info, nil
}

// relative refuses by its text alone what leads outside. The root checks again, links included, at every access.
func (f *folder) relative(path string) (string, error) {
	switch {
	case path == "":
		return "", errors.New("the path is empty; give one relative to the working folder, such as README.md")
	case strings.ContainsRune(path, 0):
		return "", fmt.Errorf("the path %s holds a NUL character", quote(path))
	case len(path) > maxPath:
		return "", fmt.Errorf("the path is %d bytes long; at most %d are accepted", len(path), maxPath)
	}
	outside := fmt.Errorf("%s is outside the working folder; only what is inside can be read, with paths relative to it", quote(path))
	name := filepath.Clean(filepath.FromSlash(path))
	if filepath.IsAbs(name) {
		for _, base := range f.bases {
			if inside, err := filepath.Rel(base, name); err == nil && filepath.IsLocal(inside) {
				return inside, nil
			}
		}
		return "", outside
	}
	if filepath.IsLocal(name) {
		return name, nil
	}
	if runtime.GOOS == "windows" && filepath.VolumeName(name) == "" && !strings.HasPrefix(name, "..") && !strings.HasPrefix(name, `\`) {
		return "", fmt.Errorf("%s is the name of a device, not of a file", quote(path))
	}
	return "", outside
}

// open opens a regular file. What is no regular file is never opened on purpose: a pipe would wait for its writer. Should it
// become one between the look and the opening, the opening does not wait and the second look refuses it.
func (f *folder) open(name string) (*os.File, fs.FileInfo, error) {
	info, err := f.root.Stat(name)
	if err != nil {
		return nil, nil, explain(name, err)
	}
	if err := mustBeRegular(name, info); err != nil {
		return nil, nil, err
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, explain(name, err)
	}
	info, err = file.Stat()
	if err == nil {
		err = mustBeRegular(name, info)
	} else {
		err = explain(name, err)
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

func mustBeRegular(name string, info fs.FileInfo) error {
	mode := info.Mode()
	kind := ""
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return fmt.Errorf("%s is a folder; list_directory shows what is in it", quote(name))
	case mode&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	default:
		kind = "not a regular file"
	}
	return fmt.Errorf("%s is %s; only regular files can be read", quote(name), kind)
}

// explain puts an error of the file system into words that name the path as it was given, and no other.
func explain(path string, err error) error {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %s; list_directory shows what there is", quote(path))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s cannot be read: permission denied", quote(path))
	case strings.Contains(err.Error(), "escapes from parent"):
		// The os package has no error value for it.
		return fmt.Errorf("%s is, or passes through, a link that is absolute or leads outside the working folder; such links are not followed", quote(path))
	}
	return fmt.Errorf("%s cannot be read: %w", quote(path), err)
}

// quote shows a path or a pattern inside a sentence, at most 160 bytes of it.
func quote(text string) string {
	if len(text) > 160 {
		return strconv.Quote(cut(text, 160)) + "…"
	}
	return strconv.Quote(text)
}

// display writes a path as list and search show it: with forward slashes, and quoted where its characters would break a line or are no UTF-8.
func display(name string) string {
	name = filepath.ToSlash(name)
	if needsQuotes(name) {
		return strconv.Quote(name)
	}
	return name
}
