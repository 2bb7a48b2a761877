package agencies

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Load reads and checks the agency file at path, with its instruction files and the script beside it. Those are read from
// the file's own folder and from below it only, whatever links say. The error is a *FileError when the file is there and
// something in it is wrong.
func Load(path string, known Known) (*Agency, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("open the folder of %s: %w", printable(path), err)
	}
	defer root.Close()
	agency, err := Parse(path, data, root.FS(), known)
	if err != nil {
		return nil, err
	}
	agency.Path = path
	name := scriptName(filepath.Base(path))
	agency.Script, err = readScript(root.FS(), name)
	if err != nil {
		return nil, fmt.Errorf("%s: the script beside the agency %w", printable(filepath.Join(filepath.Dir(path), name)), err)
	}
	if agency.Script != nil {
		agency.ScriptPath = filepath.Join(filepath.Dir(path), name)
	}
	return agency, nil
}

// readFile reads an agency file. One byte more than is allowed is enough to see that it is too large.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("no agency file %s: %w", printable(path), fs.ErrNotExist)
	case err != nil:
		return nil, fmt.Errorf("open the agency file: %w", err)
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder; an agency is a file in YAML", printable(path))
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", printable(path))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the agency file: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFileSize+1+int64(len("\ufeff"))))
	if err != nil {
		return nil, fmt.Errorf("read the agency file: %w", err)
	}
	return data, nil
}

// OpenFolder opens the folder that an agency stands in: what is in it and below it can be read, and nothing else, whatever
// links say. The returned function closes it.
func (a *Agency) OpenFolder() (files fs.FS, closeFolder func(), err error) {
	if a.Path == "" {
		files, err := shippedFiles()
		return files, func() {}, err
	}
	root, err := os.OpenRoot(filepath.Dir(a.Path))
	if err != nil {
		return nil, nil, fmt.Errorf("open the folder of %s: %w", printable(a.Path), err)
	}
	return root.FS(), func() { root.Close() }, nil
}

// scriptName is the file name of the script that belongs to the agency file of this name.
func scriptName(file string) string {
	return strings.TrimSuffix(file, filepath.Ext(file)) + scriptSuffix
}

const scriptSuffix = ".script.yaml"

// readScript is nil without an error when there is none.
func readScript(files fs.FS, name string) ([]byte, error) {
	data, err := readInside(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// inside is the path of a file as fs.FS wants it. Its errors go on after the file's name.
func inside(name string) (string, error) {
	clean := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	if path.IsAbs(clean) || filepath.IsAbs(name) || filepath.VolumeName(name) != "" {
		return "", errors.New("must be relative to the agency's folder")
	}
	if !fs.ValidPath(clean) {
		return "", errors.New("is outside the agency's folder")
	}
	return clean, nil
}

// readText reads an instruction file. Its errors go on after the file's name.
func readText(files fs.FS, name string) (string, error) {
	if files == nil {
		return "", errors.New("cannot be read: the agency has no folder; write the text itself")
	}
	clean, err := inside(name)
	if err != nil {
		return "", err
	}
	data, err := readInside(files, clean)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("does not exist in the agency's folder")
	}
	if err != nil {
		return "", err
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if where, what := badCharacter(data); what != "" {
		return "", fmt.Errorf("is not plain text: %d:%d: %s", where.line, where.column, what)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return "", errors.New("is empty")
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n"), nil
}

// readInside reads a regular file of bounded size. Only fs.ErrNotExist is worth a look at the error.
func readInside(files fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(files, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fs.ErrNotExist
	case err != nil:
		return nil, unreadable(err)
	case info.IsDir():
		return nil, errors.New("is a folder")
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	case info.Size() > maxFileSize:
		return nil, fmt.Errorf("has %d bytes; at most %d are read", info.Size(), maxFileSize)
	}
	file, err := files.Open(name)
	if err != nil {
		return nil, unreadable(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFileSize+1))
	if err != nil {
		return nil, unreadable(err)
	}
	if len(data) > maxFileSize {
		return nil, fmt.Errorf("has more than %d bytes", maxFileSize)
	}
	return data, nil
}

// unreadable leaves out the operation and the name, which the caller has told already.
func unreadable(err error) error {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathError.Err
	}
	return fmt.Errorf("cannot be read: %w", err)
}
