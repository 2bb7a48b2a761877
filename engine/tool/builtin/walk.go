package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// maxWalkDepth ends a walk in a tree that is deeper than any that people make.
	maxWalkDepth = 100
	// maxShownLine is how many bytes of a line are shown, around the match.
	maxShownLine = 300
)

// errOutOfTime ends a walk that found what it could in its time.
var errOutOfTime = errors.New("out of time")

// search is one search under way: what is looked for, and what was found.
type search struct {
	dir     *folder
	pattern *regexp.Regexp
	// literal is in every line that matches; it may be empty.
	literal string
	inNames bool
	glob    func(path string) bool
	// base is the folder or file that is searched.
	base  string
	room  int
	now   func() time.Time
	until time.Time

	text                         strings.Builder
	found, shown, files          int
	searched                     int
	binary, tooLarge, unreadable int
	// notWalked counts entries and folders that a limit of the walk left out.
	notWalked int
}

// goOn tells whether there is time left: the context's error, or errOutOfTime.
func (s *search) goOn(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.now().After(s.until) {
		return errOutOfTime
	}
	return nil
}

// walk searches what is below a folder: its folders first, in the order of their names. The error is that of goOn, or of the
// folder itself.
func (s *search) walk(ctx context.Context, name string, depth int) error {
	entries, more, err := s.dir.entries(ctx, name)
	if err != nil {
		return err
	}
	s.notWalked += more
	for _, entry := range entries {
		if err := s.goOn(ctx); err != nil {
			return err
		}
		inside := filepath.Join(name, entry.Name())
		switch {
		case entry.IsDir():
			if entry.Name() == ".git" || entry.Name() == "node_modules" {
				continue
			}
			if s.inNames && s.glob == nil {
				s.matchName(inside, "/")
			}
			if depth == maxWalkDepth {
				s.notWalked++
				continue
			}
			if err := s.walk(ctx, inside, depth+1); errors.Is(err, errOutOfTime) || ctx.Err() != nil {
				return err
			} else if err != nil {
				s.unreadable++
			}
		case s.glob != nil && !s.isWanted(inside):
		case s.inNames:
			s.matchName(inside, "")
		case entry.Type().IsRegular():
			if err := s.matchFile(ctx, inside); errors.Is(err, errOutOfTime) || ctx.Err() != nil {
				return err
			} else if err != nil {
				s.unreadable++
			}
		}
	}
	return nil
}

// isWanted holds a file's path against the glob, as it is seen from the root and from the folder that is searched.
func (s *search) isWanted(name string) bool {
	if s.glob(filepath.ToSlash(name)) {
		return true
	}
	below, err := filepath.Rel(s.base, name)
	return err == nil && s.glob(filepath.ToSlash(below))
}

// matchName looks for the pattern in the whole path and in its last name.
func (s *search) matchName(name, suffix string) {
	s.searched++
	if s.pattern.MatchString(filepath.ToSlash(name)) || s.pattern.MatchString(filepath.Base(name)) {
		s.files++
		s.add(display(name + suffix))
	}
}

// matchFile looks for the pattern in every line of a file.
func (s *search) matchFile(ctx context.Context, name string) error {
	file, info, err := s.dir.open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if info.Size() > maxSearchFile {
		s.tooLarge++
		return nil
	}
	source, _, kind, err := decode(io.LimitReader(file, maxSearchFile))
	if err != nil {
		return err
	}
	if kind != "" {
		s.binary++
		return nil
	}
	text, err := io.ReadAll(source)
	if err != nil {
		return err
	}
	s.searched++
	literal := []byte(s.literal)
	if !bytes.Contains(text, literal) {
		return nil
	}
	before := s.found
	for number := 1; len(text) > 0; number++ {
		if number%16 == 0 {
			if err := s.goOn(ctx); err != nil {
				return err
			}
		}
		var raw []byte
		raw, text, _ = bytes.Cut(text, []byte("\n"))
		if !bytes.Contains(raw, literal) {
			continue
		}
		line, _ := toUTF8(bytes.TrimSuffix(raw, []byte("\r")))
		at, err := s.findInLine(ctx, line)
		if err != nil {
			return err
		}
		if at != nil {
			s.add(fmt.Sprintf("%s:%d: %s", display(name), number, around(line, at[0])))
		}
	}
	if s.found > before {
		s.files++
	}
	return nil
}

// maxPlainLine is the length up to which a line is matched at one go; the longest takes some milliseconds with the slowest pattern.
const maxPlainLine = 4 << 10

func (s *search) findInLine(ctx context.Context, line string) ([]int, error) {
	if len(line) <= maxPlainLine {
		return s.pattern.FindStringIndex(line), nil
	}
	r := &watchedReader{text: strings.NewReader(line), goOn: func() error { return s.goOn(ctx) }}
	at := s.pattern.FindReaderIndex(r)
	return at, r.err
}

// watchedReader ends a text early when there is no time left, which is the only way to end a match that is under way.
type watchedReader struct {
	text  *strings.Reader
	goOn  func() error
	err   error
	count int
}

func (r *watchedReader) ReadRune() (rune, int, error) {
	if r.count%1024 == 0 && r.err == nil {
		r.err = r.goOn()
	}
	r.count++
	if r.err != nil {
		return 0, 0, io.EOF
	}
	return r.text.ReadRune()
}

// add counts a result and shows it if there is room. Once one did not fit none is shown: there are no holes.
func (s *search) add(line string) {
	s.found++
	if s.shown < s.found-1 || s.shown == maxResults || len(line)+1 > s.room {
		return
	}
	s.text.WriteString(line + "\n")
	s.room -= len(line) + 1
	s.shown++
}

// report is the output: the results, and in a last line what there is to say about them.
func (s *search) report(pattern string, outOfTime bool) string {
	var facts []string
	say := func(n int, one, many string) {
		if n > 0 {
			facts = append(facts, count(n, one, many))
		}
	}
	if outOfTime {
		facts = append(facts, fmt.Sprintf("stopped after %s, before everything was searched", maxSearchTime))
	}
	say(s.unreadable, "file or folder could not be read", "files or folders could not be read")
	say(s.tooLarge, "file over 4 MiB was left out", "files over 4 MiB were left out")
	say(s.notWalked, "entry of a very large or deep folder was left out", "entries of very large or deep folders were left out")
	if s.found == 0 {
		say(s.binary, "binary file was left out", "binary files were left out")
		what := fmt.Sprintf("No line of %s", count(s.searched, "text file", "text files"))
		if s.inNames {
			what = fmt.Sprintf("None of %s", count(s.searched, "name", "names"))
		}
		text := fmt.Sprintf("%s in %s matches %s", what, quote(filepath.ToSlash(s.base)), quote(pattern))
		if len(facts) > 0 {
			return text + " (" + strings.Join(facts, "; ") + ")."
		}
		return text + "."
	}
	if s.shown < s.found {
		what := fmt.Sprintf("matching lines in %s", count(s.files, "file", "files"))
		if s.inNames {
			what = "matching names"
		}
		facts = append([]string{fmt.Sprintf("%d of %d %s are shown, search_files left out the others: narrow the pattern, path or glob to see them",
			s.shown, s.found, what)}, facts...)
	}
	if len(facts) > 0 {
		s.text.WriteString("[" + strings.Join(facts, "; ") + "]\n")
	}
	return s.text.String()
}

// around cuts a long line to the part in which the match begins.
func around(line string, from int) string {
	if len(line) <= maxShownLine {
		return line
	}
	start := max(0, min(from-maxShownLine/3, len(line)-maxShownLine))
	for start > 0 && !utf8.RuneStart(line[start]) {
		start--
	}
	part := cut(line[start:], maxShownLine)
	if start+len(part) < len(line) {
		part += "…"
	}
	if start > 0 {
		part = "…" + part
	}
	return part
}
