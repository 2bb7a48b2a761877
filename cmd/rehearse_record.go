package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"bureau/agencies"
	"bureau/cmd/rehearsal"
	"bureau/engine/history"
)

// recordingLimit is how long a rehearsal may take that sets no limit, with a real server.
const recordingLimit = 10 * time.Minute

// canRecord refuses beforehand what no cassette can come of.
func (p *program) canRecord(ctx context.Context, parts []part, flag string) error {
	cassettes := map[string]string{}
	for _, one := range parts {
		if one.Cassette == "" {
			continue
		}
		if one.agency.Path == "" {
			return usagef("Copy its file to .bureau/agencies first.", "%s ships with the program; nothing can be recorded beside it", one.agency.Name)
		}
		file := filepath.Join(filepath.Dir(one.agency.Path), one.Cassette)
		if other, twice := cassettes[file]; twice {
			return usagef("Give each a cassette of its own.", "the rehearsals %q and %q are recorded to the same cassette %s", other, one.Name, one.Cassette)
		}
		cassettes[file] = one.Name
		m, err := p.newModels(one.agency, cmp.Or(flag, one.Model), 0)
		if err != nil {
			return err
		}
		for _, agent := range one.agency.Agents {
			c, err := m.choose(ctx, agent)
			if err != nil {
				return err
			}
			if c.offline || strings.HasPrefix(c.ref, "replay/") {
				return usagef(waysToAModel, "a recording needs a model server, and %s would run on %s", agent.Name, c)
			}
		}
	}
	if len(cassettes) == 0 {
		return usagef("Write cassette: NAME.cassette.jsonl in the rehearsal that is to be recorded.", "none of the rehearsals has a cassette")
	}
	return nil
}

// record makes the cassette of a rehearsal anew. The one that was there is replaced once that all turns were answered; the
// result is that of the recording.
func (p *program) record(ctx context.Context, one part, flag string) (rehearsal.Result, error) {
	result := one.result()
	m, err := p.newModels(one.agency, cmp.Or(flag, one.Model), 0)
	if err != nil {
		return result, err
	}
	root, err := os.OpenRoot(filepath.Dir(one.agency.Path))
	if err != nil {
		return result, err
	}
	defer root.Close()
	name := filepath.FromSlash(one.Cassette)
	fresh := filepath.FromSlash(path.Join(path.Dir(one.Cassette), "."+path.Base(one.Cassette)+".new"))
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return result, err
	}
	file, err := root.OpenFile(fresh, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return result, err
	}
	defer func() { _ = root.Remove(fresh) }() // it is gone where it took its place
	tape := &counted{w: file}
	m.record = tape
	if one.Limit == 0 {
		one.Limit = recordingLimit
	}
	result = play(ctx, one, m.forAgent)
	result.Differences = nil // what counts is how it goes from the cassette
	if err := errors.Join(whole(result, one.Rehearsal), file.Sync(), file.Close()); err != nil {
		return result, err
	}
	if tape.written.Load() == 0 {
		return result, errors.New("no request reached a model server")
	}
	return result, root.Rename(fresh, name)
}

// whole says why a recording is none: it was cut short, or a server failed where it was not meant to.
func whole(r rehearsal.Result, rehearsed agencies.Rehearsal) error {
	if r.Fault != "" {
		return errors.New(r.Fault)
	}
	for i, turn := range r.Turns {
		if turn.Code == history.CodeModel && rehearsed.Turns[i].Expect.Outcome.Value != history.CodeModel {
			return fmt.Errorf("turn %d: %s", i+1, turn.Error)
		}
	}
	return nil
}

// counted tells whether anything was written.
type counted struct {
	w       io.Writer
	written atomic.Int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.written.Add(int64(n))
	return n, err
}
