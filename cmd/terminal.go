package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"

	"bureau/store"
	"bureau/tui"
)

type terminalOptions struct {
	agency, to, session, model string
	continued, plain           bool
}

// terminal opens the terminal on an agency.
func (p *program) terminal(ctx context.Context, o terminalOptions) error {
	if err := p.configure(); err != nil {
		return err
	}
	s, err := p.openStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	b := &backend{program: p, store: s, feed: tui.NewFeed(), model: o.model}
	id, err := b.start(ctx, o)
	if err != nil {
		return err
	}
	logFile, err := openLog()
	if err != nil {
		return err
	}
	defer logFile.Close()
	b.log = slog.New(slog.NewJSONHandler(logFile, nil))
	p.ownSignals.Store(true)
	defer p.ownSignals.Store(false)
	exit, err := tui.Run(ctx, tui.Options{
		Backend: b, Feed: b.feed, SessionID: id, Recipient: o.to, Input: p.in, Output: p.out, Env: os.Environ(),
		Theme: p.config.Theme, Mouse: p.config.Mouse, Plain: o.plain, Resume: p.resumeCommand(), Log: b.log,
	})
	if exit.Signal != nil {
		return errors.Join(&signalError{exit.Signal}, err)
	}
	return err
}

// resumeCommand is what opens a session again, but for its id.
func (p *program) resumeCommand() string {
	if p.db != "" {
		return "bureau --db " + p.db + " --session"
	}
	return "bureau --session"
}

// start finds the agency and the session to open; an empty id is a new one.
func (b *backend) start(ctx context.Context, o terminalOptions) (id string, err error) {
	if o.session != "" {
		v, err := findSession(ctx, b.store, o.session)
		if err != nil {
			return "", err
		}
		if b.agency, err = b.program.findAgency(cmp.Or(o.agency, v.AgencyPath, v.Agency)); err != nil {
			return "", err
		}
		if b.agency.Name != v.Agency {
			return "", usagef("", "the session %s belongs to the agency %s, not to %s", v.ID, v.Agency, b.agency.Name)
		}
		return v.ID, b.checkRecipient(o.to)
	}
	if b.agency, err = b.program.findAgency(o.agency); err != nil {
		return "", err
	}
	if o.continued {
		v, err := b.store.LatestSession(ctx, b.agency.Name, b.program.folder)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return "", err
		}
		if err == nil && !v.Held {
			id = v.ID
		}
	}
	return id, b.checkRecipient(o.to)
}

func (b *backend) checkRecipient(to string) error {
	_, err := (&work{agency: b.agency}).recipient(to)
	return err
}

// maxLog is the size in bytes at which the log is begun anew; the one before is kept.
const maxLog = 5 << 20

// openLog opens the log of what goes wrong inside the terminal.
func openLog() (io.WriteCloser, error) {
	path := filepath.Join(xdg.StateHome, "bureau", "bureau.log")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the log: %w", err)
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".old") // a log that goes on growing is no reason not to start
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return file, nil
}
