package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"bureau/cmd/swarm"
	"bureau/engine/history"
	"bureau/store"
)

// maxImport bounds a file that is taken in, in bytes.
const maxImport = 1 << 30

type importOptions struct {
	file    string
	agency  string
	convert bool
}

func newSessionImportCommand(p *program) *cobra.Command {
	var o importOptions
	c := &cobra.Command{
		Use: "import FILE", Short: `Take in an exported session, or a chat of Agency Swarm; "-" is standard input`,
		Long: `Takes in a session that "session export --format json" wrote, or a chat file of Agency Swarm (messages_*.json, or its
list of items alone). Which it is shows in the file. The id of the new session is printed.`,
		Example: "  bureau session import session.json\n  bureau session import .agency_swarm/messages_run_demo_chat_1.json --agency newsroom",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.file = args[0]
			return p.importSession(c.Context(), o)
		},
	}
	c.Flags().StringVarP(&o.agency, "agency", "a", "", "of an Agency Swarm chat: the agency that it belongs to, a name or a file (default: the only one that has all its agents)")
	c.Flags().BoolVar(&o.convert, "convert", false, "of an Agency Swarm chat: turn what is of Chat Completions into items like the others")
	return c
}

// importSession stores what is in the file as a new session, all of it or nothing.
func (p *program) importSession(ctx context.Context, o importOptions) error {
	if err := p.configure(); err != nil {
		return err
	}
	data, err := p.readImport(o.file)
	if err != nil {
		return err
	}
	var v history.Session
	var rows []history.Message
	if swarm.Looks(data) {
		if v, rows, err = p.readSwarm(data, o); err != nil {
			return err
		}
	} else {
		if v, rows, err = readExport(data); err != nil {
			return usagef("", "%s: %v", o.file, err)
		}
		if o.agency != "" || o.convert {
			return usagef("", "%s is an export of this program: it names its agency and needs no conversion; --agency and --convert are for chats of Agency Swarm", o.file)
		}
	}
	uniqueCalls(rows)
	return p.withStore(ctx, func(ctx context.Context, s *store.Store) error {
		if _, err := s.Session(ctx, v.ID); err == nil || v.ID == "" {
			v.ID = history.NewSessionID()
		}
		if err := s.Import(ctx, v, rows); err != nil {
			return err
		}
		_, err := fmt.Fprintf(p.out, "%s\n", v.ID)
		return err
	})
}

func (p *program) readImport(path string) ([]byte, error) {
	in := io.Reader(p.in)
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, usagef("", "the file cannot be read: %v", err)
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxImport+1))
	if err != nil {
		return nil, usagef("", "%s cannot be read: %v", path, err)
	}
	if len(data) > maxImport {
		return nil, usagef("", "%s: larger than 1 GiB", path)
	}
	return bytes.TrimPrefix(data, []byte("\ufeff")), nil // a mark that some editors and shells begin a file with
}

// readExport reads what the JSON export writes, and refuses what could not be a session.
func readExport(data []byte) (history.Session, []history.Message, error) {
	var e exported
	if err := json.Unmarshal(data, &e); err != nil {
		return history.Session{}, nil, fmt.Errorf("this is no export of a session: %w", err)
	}
	switch {
	case e.Bureau == 0:
		return history.Session{}, nil, errors.New(`this is no export of a session, which has a "bureau" version, and no chat of Agency Swarm, which has "items" or is a list`)
	case e.Bureau > exportVersion:
		return history.Session{}, nil, fmt.Errorf("it was written by a newer version of the program (form %d, this one reads %d)", e.Bureau, exportVersion)
	case !agencyName.MatchString(e.Session.Agency):
		return history.Session{}, nil, fmt.Errorf("an agency cannot be called %q: a name is a-z, 0-9 and -", e.Session.Agency)
	}
	if !sessionID.MatchString(e.Session.ID) {
		e.Session.ID = "" // it becomes part of file names and of lines in a terminal
	}
	for i := range e.Messages {
		if err := checkImported(&e.Messages[i]); err != nil {
			return history.Session{}, nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	e.Session.Held = false
	return e.Session, e.Messages, nil
}

// checkImported refuses a row that the table could not have, and settles one that was still streaming.
func checkImported(m *history.Message) error {
	if m.Agent == "" {
		return errors.New("it has no agent")
	}
	switch m.Type {
	case history.TypeMessage:
		if m.Role != history.RoleUser && m.Role != history.RoleAssistant && m.Role != history.RoleSystem {
			return fmt.Errorf("a message has no role %q", m.Role)
		}
	case history.TypeCall, history.TypeOutput:
		if m.CallID == "" {
			return errors.New("a call needs a call_id")
		}
		var object map[string]json.RawMessage
		if m.Type == history.TypeCall && (json.Unmarshal([]byte(m.Arguments), &object) != nil || object == nil) {
			return errors.New("the arguments of a call are a JSON object, as text")
		}
	case history.TypeReason:
	default:
		return fmt.Errorf("there is no type %q", m.Type)
	}
	switch m.Status {
	case history.StatusStreaming:
		m.Status = history.StatusInterrupted
	case history.StatusCompleted, history.StatusInterrupted, history.StatusFailed:
	default:
		return fmt.Errorf("there is no status %q", m.Status)
	}
	switch m.Protocol {
	case "":
		m.Protocol = history.ProtocolChatCompletions
	case history.ProtocolChatCompletions, history.ProtocolResponses:
	default:
		return fmt.Errorf("there is no protocol %q", m.Protocol)
	}
	if m.RunID == "" || m.TraceID == "" {
		return errors.New("it has no run_id or no trace_id")
	}
	if (m.ParentRunID == "") != (m.ParentCallID == "") {
		return errors.New("parent_run_id and parent_call_id go together")
	}
	maps.DeleteFunc(m.Extra.Wire, func(name string, _ json.RawMessage) bool { return !slices.Contains(importedWire, name) })
	return nil
}

// importedWire are the fields of a reply that a server may be sent back from a file. One that no server knows would have every
// later request of the session refused.
var importedWire = []string{"extra_content", "reasoning_details", "reasoning_field", "items"}
