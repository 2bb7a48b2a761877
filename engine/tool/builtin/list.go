package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"bureau/engine/llm"
	"bureau/engine/tool"
)

const (
	maxListDepth = 3
	// maxEntries of one folder are kept in memory; those beyond are only counted.
	maxEntries = 20_000
	readBatch  = 512
)

type listArgs struct {
	Path  string `json:"path"`
	Depth *int   `json:"depth"`
}

func listDirectoryTool(dir *folder, maxOutput int) tool.Tool {
	return function[listArgs]{
		definition: llm.Tool{
			Name:        "list_directory",
			Description: "Lists a folder of the working folder: folders first, each with a / at its end, then files with their sizes.",
			Parameters: json.RawMessage(`{
				"type": "object",
				"properties": {
					"path": {"type": "string", "description": "The folder, relative to the working folder. Default: the working folder"},
					"depth": {"type": "integer", "minimum": 1, "maximum": 3, "description": "How many levels to show. Default: 1"}
				},
				"required": [],
				"additionalProperties": false
			}`),
		},
		run: func(ctx context.Context, args listArgs) (string, error) {
			return listDirectory(ctx, dir, maxOutput, args)
		},
	}
}

func listDirectory(ctx context.Context, dir *folder, maxOutput int, args listArgs) (string, error) {
	depth := 1
	if args.Depth != nil {
		depth = *args.Depth
	}
	if depth < 1 || depth > maxListDepth {
		return "", fmt.Errorf("depth must be 1 to %d, not %d", maxListDepth, depth)
	}
	path := args.Path
	if path == "" {
		path = "."
	}
	name, info, err := dir.find(path)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a folder; read_file reads files", quote(name))
	}
	entries, more, err := dir.entries(ctx, name)
	if err != nil {
		return "", err
	}
	if len(entries) == 0 {
		return fmt.Sprintf("The folder %s is empty.", quote(filepath.ToSlash(name))), nil
	}
	l := listing{dir: dir, room: maxOutput - headerRoom}
	if err := l.add(ctx, name, "", depth, entries, more); err != nil {
		return "", err
	}
	if left := l.total - l.shown; left > 0 {
		number := count(left, "entry", "entries")
		if l.uncounted {
			number = "at least " + number
		}
		fmt.Fprintf(&l.text, "[list_directory left out %s: list one of these folders by its path, or find names with search_files, in: names]\n", number)
	}
	return l.text.String(), nil
}

// listing writes the entries of a folder and of those below it, and counts what there is no room for.
type listing struct {
	dir  *folder
	room int

	text         strings.Builder
	shown, total int
	// full tells that something did not fit: nothing is shown after it, so that what is shown has no holes.
	full bool
	// uncounted tells that folders were left out with all that is in them.
	uncounted bool
}

// add shows the entries of the folder name, and more that were only counted. The error is the context's.
func (l *listing) add(ctx context.Context, name, prefix string, depth int, entries []fs.DirEntry, more int) error {
	for _, entry := range entries {
		inside := filepath.Join(name, entry.Name())
		shown := prefix + entry.Name()
		if !entry.IsDir() {
			l.write(display(shown) + l.describe(inside, entry))
			continue
		}
		shown += "/"
		if depth == 1 || entry.Name() == ".git" || l.full {
			l.uncounted = l.uncounted || l.full
			l.write(display(shown))
			continue
		}
		below, uncountedBelow, err := l.dir.entries(ctx, inside)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			l.write(display(shown) + "  (cannot be read)")
			continue
		case len(below) == 0:
			l.write(display(shown) + "  (empty)")
			continue
		}
		l.write(display(shown))
		if err := l.add(ctx, inside, shown, depth-1, below, uncountedBelow); err != nil {
			return err
		}
	}
	if more > 0 {
		l.total += more
		l.full = true
	}
	return ctx.Err()
}

func (l *listing) write(line string) {
	l.total++
	if l.full = l.full || len(line)+1 > l.room; l.full {
		return
	}
	l.text.WriteString(line + "\n")
	l.room -= len(line) + 1
	l.shown++
}

// describe tells what a file is: its size, where a link leads, or why it is none that can be read.
func (l *listing) describe(name string, entry fs.DirEntry) string {
	switch mode := entry.Type(); {
	case mode.IsRegular():
		info, err := l.dir.root.Lstat(name)
		if err != nil {
			return "  (cannot be read)"
		}
		return "  " + size(info.Size())
	case mode&fs.ModeSymlink != 0:
		target, err := l.dir.root.Readlink(name)
		if err != nil {
			return "  (link)"
		}
		return " -> " + cut(display(target), 200)
	case mode&fs.ModeNamedPipe != 0:
		return "  (pipe)"
	case mode&fs.ModeSocket != 0:
		return "  (socket)"
	default:
		return "  (device)"
	}
}

// entries reads a folder: folders first, each group by name. At most maxEntries are returned; more counts those beyond.
func (f *folder) entries(ctx context.Context, name string) (entries []fs.DirEntry, more int, err error) {
	dir, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, explain(name, err)
	}
	defer func() { _ = dir.Close() }()
	for {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		batch, err := dir.ReadDir(readBatch)
		if room := maxEntries - len(entries); len(batch) > room {
			more += len(batch) - room
			batch = batch[:room]
		}
		entries = append(entries, batch...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, explain(name, err)
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		if a.IsDir() != b.IsDir() {
			if a.IsDir() {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name(), b.Name())
	})
	return entries, more, nil
}
