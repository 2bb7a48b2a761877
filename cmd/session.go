package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bureau/engine/history"
	"bureau/store"
	"bureau/tui/text"
)

func newSessionCommand(p *program) *cobra.Command {
	return group("session", "List, read, export, import and delete sessions",
		newSessionListCommand(p), newSessionShowCommand(p), newSessionExportCommand(p), newSessionImportCommand(p), newSessionDeleteCommand(p))
}

func newSessionListCommand(p *program) *cobra.Command {
	var filter store.SessionFilter
	var here, asJSON bool
	c := &cobra.Command{
		Use: "list [WORDS]", Short: "The sessions, the newest activity first", Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			return p.withStore(c.Context(), func(ctx context.Context, s *store.Store) error {
				filter.Query = strings.Join(args, " ")
				if here {
					filter.Folder = p.folder
				}
				sessions, err := s.Sessions(ctx, filter)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(p.out, append([]history.Session{}, sessions...))
				}
				t := newTable("ID", "AGENCY", "RECIPIENT", "ROWS", "WHEN", "TITLE")
				for _, v := range sessions {
					title := v.Title
					if v.Held {
						title = "(in use) " + title
					}
					t.add(v.ID, v.Agency, v.Recipient, fmt.Sprint(v.Messages), text.Ago(time.Since(time.UnixMicro(v.UpdatedAt))), title)
				}
				return t.print(p.out)
			})
		},
	}
	f := c.Flags()
	f.StringVarP(&filter.Agency, "agency", "a", "", "only sessions of this agency")
	f.BoolVar(&here, "here", false, "only sessions that were started in this folder")
	f.IntVar(&filter.Limit, "limit", 50, "how many at most")
	f.BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// withStore opens the sessions for a command that reads or changes them.
func (p *program) withStore(ctx context.Context, do func(context.Context, *store.Store) error) error {
	s, err := p.openStore(ctx)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, s), s.Close())
}

// withSession finds a session by its id, or how it begins.
func (p *program) withSession(ctx context.Context, id string, do func(context.Context, *store.Store, history.Session) error) error {
	return p.withStore(ctx, func(ctx context.Context, s *store.Store) error {
		v, err := findSession(ctx, s, id)
		if err != nil {
			return err
		}
		return do(ctx, s, v)
	})
}

// findSession finds a session by its id, or how it begins. An id that is none's, or that of several, is a usage error.
func findSession(ctx context.Context, s *store.Store, id string) (history.Session, error) {
	v, err := s.FindSession(ctx, id)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrAmbiguous) {
		return v, usagef(`"bureau session list" shows what there is.`, "%v", err)
	}
	return v, err
}

func newSessionShowCommand(p *program) *cobra.Command {
	var between string
	var asJSON bool
	c := &cobra.Command{
		Use: "show SESSION", Short: "Read a session, or one sub-conversation of it", Args: cobra.ExactArgs(1),
		Example: "  bureau session show 3kf2\n  bureau session show 3kf2 --between Editor,Reporter",
		RunE: func(c *cobra.Command, args []string) error {
			return p.withSession(c.Context(), args[0], func(ctx context.Context, s *store.Store, v history.Session) error {
				thread, err := threadOf(ctx, s, v.ID, between)
				if err != nil {
					return err
				}
				rows := func(yield func(history.Message, error) bool) {
					for after := int64(0); ; {
						page, err := s.After(ctx, v.ID, thread, after, exportPage)
						if err != nil {
							yield(history.Message{}, err)
							return
						}
						for _, m := range page {
							if !yield(m, nil) {
								return
							}
							after = m.ID
						}
						if len(page) < exportPage {
							return
						}
					}
				}
				if asJSON {
					return printRows(p.out, rows)
				}
				return printConversation(p.out, rows)
			})
		},
	}
	c.Flags().StringVar(&between, "between", "", "two agents, A,B: only their sub-conversation")
	c.Flags().BoolVar(&asJSON, "json", false, "the rows as JSON")
	return c
}

// threadOf reads --between.
func threadOf(ctx context.Context, s *store.Store, session, between string) (history.Thread, error) {
	if between == "" {
		return history.UserThread, nil
	}
	a, b, ok := strings.Cut(between, ",")
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	if !ok || a == "" || b == "" {
		return history.Thread{}, usagef("", "--between takes two agents, as in --between Editor,Reporter")
	}
	there, err := s.Conversations(ctx, session)
	if err != nil {
		return history.Thread{}, err
	}
	var pairs []string
	for _, c := range there {
		if c.Thread == history.Pair(a, b) {
			return c.Thread, nil
		}
		pairs = append(pairs, c.Thread.A+","+c.Thread.B)
	}
	if len(pairs) == 0 {
		return history.Thread{}, usagef("", "no agents have talked to one another in this session")
	}
	return history.Thread{}, usagef("These have: "+strings.Join(pairs, "; "), "%s and %s have not talked in this session", a, b)
}

func printRows(w io.Writer, rows iter.Seq2[history.Message, error]) error {
	list := []history.Message{}
	for m, err := range rows {
		if err != nil {
			return err
		}
		list = append(list, m)
	}
	return printJSON(w, list)
}

// printConversation prints rows for a person.
func printConversation(w io.Writer, rows iter.Seq2[history.Message, error]) error {
	for m, err := range rows {
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, text.Sanitise(rowText(m))+"\n\n"); err != nil {
			return err
		}
	}
	return nil
}

// rowText is a row in words.
func rowText(m history.Message) string {
	caller := m.CallerAgent
	if caller == "" || m.Extra.ByUser {
		caller = "You"
	}
	end := ""
	switch m.Status {
	case history.StatusInterrupted:
		end = " (interrupted)"
	case history.StatusFailed:
		end = " (" + strings.TrimSuffix("failed: "+m.Extra.Hint, ": ") + ")"
	}
	switch {
	case m.Origin == history.OriginError, m.Origin == history.OriginInputGuardrailError:
		return fmt.Sprintf("%s failed: %s", m.Agent, strings.TrimSpace(m.Content+"\n"+m.Extra.Hint))
	case m.Type == history.TypeCall:
		return fmt.Sprintf("%s calls %s %s%s", m.Agent, m.Name, m.Arguments, end)
	case m.Type == history.TypeOutput:
		return fmt.Sprintf("%s returned to %s:\n%s", m.Name, m.Agent, m.Content)
	case m.Type == history.TypeReason:
		return fmt.Sprintf("%s thinks:\n%s%s", m.Agent, m.Content, end)
	case m.Role == history.RoleUser:
		return fmt.Sprintf("%s to %s:\n%s", caller, m.Agent, m.Content)
	case m.Role == history.RoleSystem:
		return fmt.Sprintf("Note to %s: %s", m.Agent, m.Content)
	default:
		return fmt.Sprintf("%s:\n%s%s%s", m.Agent, m.Content, end, sourcesOf(m))
	}
}

// sourcesOf lists what a server named as the sources of a text, below it.
func sourcesOf(m history.Message) string {
	sources := m.Extra.Sources()
	if len(sources) == 0 {
		return ""
	}
	lines := "\n\nSources:"
	for i, c := range sources {
		lines += fmt.Sprintf("\n[%d] %s", i+1, strings.TrimSpace(text.Line(c.Title)+" "+c.URL))
	}
	return lines
}

func newSessionExportCommand(p *program) *cobra.Command {
	var format, output string
	c := &cobra.Command{
		Use: "export SESSION", Short: "Write a session to standard output, or to a file", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !slices.Contains(exportFormats, format) {
				return usagef("", "there is no format %q%s", format, suggest(format, exportFormats))
			}
			return p.withSession(c.Context(), args[0], func(ctx context.Context, s *store.Store, v history.Session) error {
				if output == "" {
					return export(ctx, s, v, format, p.out)
				}
				return exportFile(ctx, s, v, format, output)
			})
		},
	}
	c.Flags().StringVar(&format, "format", "markdown", strings.Join(exportFormats, ", "))
	c.Flags().StringVarP(&output, "output", "o", "", "the file; it must not be there yet")
	return c
}

func newSessionDeleteCommand(p *program) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "delete SESSION...", Short: "Delete sessions with all that belongs to them", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			for _, id := range args {
				err := p.withSession(c.Context(), id, func(ctx context.Context, s *store.Store, v history.Session) error {
					if !yes && !p.confirm(fmt.Sprintf("Delete %s, %q, %d rows, for good?", v.ID, text.Line(v.Title), v.Messages)) {
						return usagef("Say --yes where nobody can be asked.", "%s was not deleted", v.ID)
					}
					if err := s.DeleteSession(ctx, v.ID); err != nil {
						return err
					}
					_, err := fmt.Fprintf(p.out, "%s deleted\n", v.ID)
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "without asking")
	return c
}

// confirm asks on the terminal; without one the answer is no.
func (p *program) confirm(question string) bool {
	if !isTerminal(p.in) {
		return false
	}
	fmt.Fprintf(p.err, "%s [y/N] ", question)
	var answer string
	_, _ = fmt.Fscanln(p.in, &answer)
	return strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes")
}
