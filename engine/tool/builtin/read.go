package builtin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"bureau/engine/llm"
	"bureau/engine/tool"
)

// maxCounted is how much of a file is read to count the lines behind those that are shown.
const maxCounted = 64 << 20

type readArgs struct {
	Path   string `json:"path"`
	Offset *int   `json:"offset"`
	Limit  *int   `json:"limit"`
}

func readFileTool(dir *folder, maxOutput int) tool.Tool {
	return function[readArgs]{
		definition: llm.Tool{
			Name: "read_file",
			Description: "Reads a text file of the working folder. A file that is too long is cut; the first line then says which lines " +
				"follow and which offset goes on from there.",
			Parameters: json.RawMessage(`{
				"type": "object",
				"properties": {
					"path": {"type": "string", "description": "The file, relative to the working folder"},
					"offset": {"type": "integer", "minimum": 1, "description": "The first line to read, counted from 1. Default: 1"},
					"limit": {"type": "integer", "minimum": 1, "description": "How many lines to read. Default: as many as fit"}
				},
				"required": ["path"],
				"additionalProperties": false
			}`),
		},
		run: func(ctx context.Context, args readArgs) (string, error) { return readFile(ctx, dir, maxOutput, args) },
	}
}

func readFile(ctx context.Context, dir *folder, maxOutput int, args readArgs) (string, error) {
	first, limit := 1, 0
	if args.Offset != nil {
		first = *args.Offset
	}
	if args.Limit != nil {
		if limit = *args.Limit; limit < 1 {
			return "", fmt.Errorf("limit must be at least 1, not %d", limit)
		}
	}
	if first < 1 {
		return "", fmt.Errorf("offset must be at least 1, not %d: lines are counted from 1", first)
	}
	name, _, err := dir.find(args.Path)
	if err != nil {
		return "", err
	}
	file, before, err := dir.open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	source, encoding, kind, err := decode(file)
	if err != nil {
		return "", explain(name, err)
	}
	if kind != "" {
		return "", notText(name, kind, before.Size())
	}
	part := excerpt{first: first, limit: limit, room: maxOutput - headerRoom}
	if err := part.take(ctx, source); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", explain(name, err)
	}
	if part.isBinary {
		return "", notText(name, "unknown kind", before.Size())
	}
	if part.lines > 0 && first > part.lines && !part.uncounted {
		return "", fmt.Errorf("%s has %s; offset %d is past its end", quote(name), count(part.lines, "line", "lines"), first)
	}
	if part.wasLatin1 {
		encoding = "Latin-1"
	}
	after, err := file.Stat()
	changed := err != nil || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime())
	return part.header(name, before.Size(), encoding, changed) + part.text.String(), nil
}

func notText(name, kind string, bytes int64) error {
	return fmt.Errorf("%s is a binary file (%s, %s); read_file reads text only", quote(name), kind, size(bytes))
}

// headerRoom is kept free for the header, whatever it says.
const headerRoom = 800

// excerpt collects some lines of a text and counts all of them.
type excerpt struct {
	first, limit, room int

	text strings.Builder
	// last is the last line that was taken, whole or in part; 0 for none.
	last int
	// cutLine is the full length of the last line when a part of it was taken; else 0.
	cutLine int
	lines   int
	// uncounted tells that the text goes on behind what was counted.
	uncounted           bool
	wasLatin1, isBinary bool
	full                bool
}

// take reads the text to its end, or as far as lines are counted.
func (e *excerpt) take(ctx context.Context, source io.Reader) error {
	r := bufio.NewReaderSize(source, 64<<10)
	var line []byte
	length, read := 0, 0
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		piece, err := r.ReadSlice('\n')
		read += len(piece)
		length += len(piece)
		if e.wanted() && len(line) <= e.room {
			line = append(line, piece[:min(len(piece), e.room+1-len(line))]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			if read > maxCounted && e.full {
				e.lines++
				e.uncounted = true
				return nil
			}
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if length > 0 {
			e.endLine(line, length)
		}
		if err != nil || e.isBinary {
			return nil
		}
		line, length = line[:0], 0
		if read > maxCounted && e.full {
			_, err := r.Peek(1)
			e.uncounted = err == nil
			return nil
		}
	}
}

// wanted tells whether the line that comes next is one to take.
func (e *excerpt) wanted() bool { return !e.full && e.lines+1 >= e.first }

// endLine counts a line and takes it if it is wanted and there is room. Of a first line that is too long a part is taken.
func (e *excerpt) endLine(line []byte, length int) {
	wanted := e.wanted()
	e.lines++
	if !wanted {
		return
	}
	whole := length == len(line)
	if !whole {
		// The end of what was kept may lie inside a character.
		line = []byte(cut(string(line), len(line)-1))
	}
	text, wasLatin1 := toUTF8(line)
	switch {
	case strings.ContainsRune(text, 0):
		e.isBinary = true
		return
	case whole && len(text) <= e.room:
	case e.last == 0:
		text = cut(text, e.room)
		e.cutLine = length
	default:
		e.full = true
		return
	}
	e.wasLatin1 = e.wasLatin1 || wasLatin1
	e.text.WriteString(text)
	e.room -= len(text)
	e.last = e.lines
	e.full = e.cutLine > 0 || e.limit > 0 && e.last-e.first+1 >= e.limit
}

// header is the line above the text, for a text that is not the whole file as it stands; else nothing.
func (e *excerpt) header(name string, bytes int64, encoding string, changed bool) string {
	var facts []string
	total := fmt.Sprint(e.lines)
	if e.uncounted {
		total = "more than " + total
	}
	switch {
	case bytes == 0 && e.lines == 0:
		facts = append(facts, "the file is empty")
	case e.lines == 0:
		facts = append(facts, "the file holds no text")
	case e.first > 1 || e.last < e.lines || e.uncounted || e.cutLine > 0:
		facts = append(facts, fmt.Sprintf("lines %d-%d of %s, %s", e.first, e.last, total, size(bytes)))
	}
	if e.cutLine > 0 {
		facts = append(facts, fmt.Sprintf("read_file cut line %d, %s long, after %s: search_files finds what is in the rest of it",
			e.last, size(int64(e.cutLine)), size(int64(e.text.Len()))))
	}
	if e.last > 0 && (e.last < e.lines || e.uncounted) {
		rest := fmt.Sprintf("%d more", e.lines-e.last)
		if e.uncounted {
			rest = "the rest"
		}
		facts = append(facts, fmt.Sprintf("read_file left out %s: go on with offset %d", rest, e.last+1))
	}
	if encoding != "" {
		facts = append(facts, encoding+" text, shown as UTF-8")
	}
	if changed {
		facts = append(facts, "the file changed while it was read")
	}
	if len(facts) == 0 {
		return ""
	}
	return fmt.Sprintf("[%s: %s]\n", cut(display(name), 200), strings.Join(facts, "; "))
}
