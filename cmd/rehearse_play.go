package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bureau/agencies"
	"bureau/cmd/rehearsal"
	"bureau/engine"
	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/llm/script"
	"bureau/store"
)

// rehearsalLimit is how long a rehearsal may take that sets no limit, offline.
const rehearsalLimit = 30 * time.Second

// maxConversation bounds what a report quotes of a rehearsal, in bytes.
const maxConversation = 256 << 10

// answers are what stands in for models.
type answers func(context.Context, agencies.Agent) (llm.Model, error)

// answersOf are those of a rehearsal: its cassette, its script, or the script beside the agency. They reach no server.
func (p *program) answersOf(one part) (answers, error) {
	if one.Cassette == "" {
		return scripted(one)
	}
	files, closeFolder, err := one.agency.OpenFolder()
	if err != nil {
		return nil, err
	}
	defer closeFolder()
	player, err := openCassette(files, one.Cassette)
	if err != nil {
		return nil, err
	}
	m, err := p.newModels(one.agency, one.Model, 0)
	if err != nil {
		return nil, err
	}
	m.cassette = player
	if one.Model == "" {
		ref := llm.Ref{Provider: "replay", Model: one.Cassette}
		model, err := m.replay(ref, player)
		return func(context.Context, agencies.Agent) (llm.Model, error) { return model, err }, err
	}
	return m.forAgent, nil
}

func openCassette(files fs.FS, name string) (http.RoundTripper, error) {
	info, err := fs.Stat(files, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no cassette %s yet; make it with: bureau test --record", name)
	case err != nil:
		return nil, fmt.Errorf("the cassette: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("the cassette %s is not a file", name)
	}
	file, err := files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("the cassette: %w", err)
	}
	defer file.Close()
	return script.ReplayFrom(name, file)
}

func scripted(one part) (answers, error) {
	path, data := one.agency.ScriptPath, one.agency.Script
	ref := llm.Ref{Provider: "script", Model: one.agency.Name}
	if one.Script != "" {
		files, closeFolder, err := one.agency.OpenFolder()
		if err != nil {
			return nil, err
		}
		defer closeFolder()
		path, ref.Model = one.Script, one.Script
		if data, err = fs.ReadFile(files, path); err != nil {
			return nil, fmt.Errorf("the script: %w", err)
		}
	}
	s, err := parseScript(path, data)
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, agent agencies.Agent) (llm.Model, error) {
		return s.Model(agent.Name, ref, script.Pace(0)), nil
	}, nil
}

// play carries a rehearsal through its turns, in a folder and a database of its own, and holds them against what must happen.
// All that goes wrong is in the result.
func play(ctx context.Context, one part, models answers) rehearsal.Result {
	start := time.Now()
	result := one.result()
	limit := one.Limit
	if limit == 0 {
		limit = rehearsalLimit
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := playIn(timed, one, models, &result)
	result.Took = time.Since(start)
	switch {
	case ctx.Err() != nil:
		result.Fault = "it was interrupted"
	case timed.Err() != nil:
		result.Fault = fmt.Sprintf("it took longer than %s and was stopped; if it needs that, write a longer limit, up to 10m", limit)
	case err != nil:
		result.Fault = err.Error()
	}
	return result
}

func playIn(ctx context.Context, one part, models answers, result *rehearsal.Result) (err error) {
	place, err := os.MkdirTemp("", "bureau-test-")
	if err != nil {
		return fmt.Errorf("make a folder for it: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(place)) }()
	folder := filepath.Join(place, "folder")
	if err := furnish(one, folder); err != nil {
		return err
	}
	s, err := store.Open(ctx, filepath.Join(place, "bureau.db"))
	if err != nil {
		return err
	}
	defer s.Close()
	session := history.Session{
		ID: history.NewSessionID(), Agency: one.agency.Name, AgencyPath: one.agency.Path, Folder: folder,
		Title: one.Name, Recipient: one.agency.EntryPoints[0], CreatedAt: time.Now().UnixMicro(), UpdatedAt: time.Now().UnixMicro(),
	}
	if err := s.CreateSession(ctx, session); err != nil {
		return err
	}
	var seen *rehearsal.Seen
	e, letGo, err := stage{
		folder: folder, now: func() time.Time { return one.Clock }, log: s, model: models,
		price:   func(llm.Ref, history.Usage) *float64 { return nil },
		publish: func(e history.Event) { seen.Take(e) },
		// An agency that may not is refused before anything is played.
		mayRunCommands: true,
	}.engine(one.agency)
	if err != nil {
		return err
	}
	defer letGo()
	talk := &conversation{}
	defer func() { result.Conversation = talk.String() }()
	last := int64(0)
	for i, turn := range one.Turns {
		if session, err = s.Session(ctx, session.ID); err != nil {
			return err
		}
		seen = &rehearsal.Seen{Say: turn.Say, To: turn.To}
		if turn.To == "" {
			seen.To = session.Recipient
		}
		// Why a turn fails is in the events.
		_, _ = e.Turn(ctx, engine.Input{SessionID: session.ID, Recipient: seen.To, Text: turn.Say})
		if seen.Rows, err = rowsAfter(context.WithoutCancel(ctx), s, session.ID, last); err != nil {
			return err
		}
		for _, m := range seen.Rows {
			last = m.ID
			talk.add(m)
		}
		result.Turns = append(result.Turns, *seen)
		if ctx.Err() != nil {
			return nil
		}
		result.Differences = append(result.Differences, rehearsal.Check(i+1, turn, *seen)...)
	}
	return nil
}

// rowsAfter reads all rows of a session after one.
func rowsAfter(ctx context.Context, s *store.Store, session string, after int64) ([]history.Message, error) {
	var rows []history.Message
	for {
		page, err := s.All(ctx, session, after, exportPage)
		if err != nil {
			return nil, err
		}
		rows = append(rows, page...)
		if len(page) < exportPage {
			return rows, nil
		}
		after = page[len(page)-1].ID
	}
}

// conversation is rows in words, up to a bound.
type conversation struct {
	strings.Builder
	full bool
}

func (c *conversation) add(m history.Message) {
	words := rowText(m) + "\n\n"
	switch {
	case c.full:
	case c.Len()+len(words) > maxConversation:
		c.full = true
		c.WriteString("(the rest is left out)\n")
	default:
		c.WriteString(words)
	}
}
