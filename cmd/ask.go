package cmd

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"bureau/agencies"
	"bureau/engine"
	"bureau/engine/history"
	"bureau/store"
	"bureau/tui/text"
)

// maxMessage bounds a message from standard input, in bytes.
const maxMessage = 10 << 20

// stdinNotice is how long standard input may be silent before a word about it.
const stdinNotice = 3 * time.Second

type askOptions struct {
	agency, to, session, model, record string
	continued, json, quiet             bool
	message                            []string
}

func newAskCommand(p *program) *cobra.Command {
	var o askOptions
	c := &cobra.Command{
		Use:   "ask [MESSAGE]",
		Short: "One turn without a screen: the answer goes to standard output",
		Long: `Sends one message to an agency and prints the answer. The message comes from the argument, from standard input
(a pipe, or "-"), or from both: then the argument first.

Exit codes: 0 answered; 1 failed; 2 wrong usage or an invalid file; 3 the model or its server failed; 4 an action was
denied; 5 a limit was reached; 130 interrupted.`,
		Example: `  bureau ask "What is in this folder?"
  git diff | bureau ask -a review.yaml "Is anything wrong here?"
  bureau ask --continue --json "And the tests?"`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			o.message = args
			return p.ask(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVarP(&o.agency, "agency", "a", "", "the agency: a name or a file")
	f.StringVar(&o.to, "to", "", "the agent that is addressed")
	f.StringVar(&o.session, "session", "", "go on with this session (its id, or how it begins)")
	f.BoolVar(&o.continued, "continue", false, "go on with the newest session of this agency and folder")
	f.StringVar(&o.model, "model", "", "provider/model for all agents")
	f.StringVar(&o.record, "record", "", "write all traffic with model servers to this cassette, for replay/FILE")
	f.BoolVar(&o.json, "json", false, "print every event, a JSON object a line")
	f.BoolVar(&o.quiet, "quiet", false, "no progress on standard error")
	c.MarkFlagsMutuallyExclusive("session", "continue")
	return c
}

func (p *program) ask(ctx context.Context, o askOptions) error {
	if err := p.configure(); err != nil {
		return err
	}
	message, err := p.readMessage(ctx, o.message)
	if err != nil {
		return err
	}
	s, err := p.openStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	work, err := p.takeUp(ctx, s, o.agency, o.session, o.continued, o.model)
	if err != nil {
		return err
	}
	defer work.release()
	if work.newer != "" && !o.quiet {
		fmt.Fprintln(p.err, text.Line(work.newer))
	}
	recipient, err := work.recipient(o.to)
	if err != nil {
		return err
	}
	m, err := p.newModels(work.agency, cmp.Or(o.model, work.session.Model), 0)
	if err != nil {
		return err
	}
	if o.record != "" {
		file, err := os.OpenFile(o.record, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return usagef("", "the cassette cannot be written: %v", err)
		}
		defer file.Close()
		m.record = file
	}
	// What is wrong with the command is told before anything is stored.
	agent, _ := work.agency.Agent(recipient)
	var wrong *usageError
	if _, err := m.forAgent(ctx, agent); errors.As(err, &wrong) {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-ctx.Done():
		case <-work.hold.Lost():
			cancel(errors.New("another process has taken over the session"))
		}
	}()
	teller := p.teller(o, cancel)
	e, letGo, err := p.newEngine(work.agency, s, m, teller.tell, nil)
	if err != nil {
		return err
	}
	defer letGo()
	if err := work.begin(ctx, s, recipient, message); err != nil {
		return err
	}
	result, err := e.Turn(ctx, engine.Input{SessionID: work.session.ID, Recipient: recipient, Text: message})
	if flushErr := teller.flush(); flushErr != nil {
		return flushErr
	}
	if err != nil {
		return err
	}
	if !o.json {
		return p.printAnswer(result.Text)
	}
	return nil
}

// printAnswer writes the answer alone to standard output, made safe where that is a terminal.
func (p *program) printAnswer(answer string) error {
	if isTerminal(p.out) {
		answer = text.Sanitise(answer)
	}
	if !strings.HasSuffix(answer, "\n") {
		answer += "\n"
	}
	if _, err := io.WriteString(p.out, answer); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// readMessage joins the arguments and what is piped in, in this order, and makes text of what is none.
func (p *program) readMessage(ctx context.Context, args []string) (string, error) {
	var parts []string
	piped := p.in != nil && !isTerminal(p.in) && !isNullDevice(p.in)
	for _, arg := range args {
		if arg == "-" {
			piped = p.in != nil
			continue
		}
		parts = append(parts, arg)
	}
	message := strings.Join(parts, " ")
	if piped {
		input, err := p.readInput(ctx)
		if err != nil {
			return "", err
		}
		input = strings.TrimPrefix(input, "\ufeff") // some shells begin a pipe with a byte order mark
		if input = strings.TrimRight(input, "\r\n"); strings.TrimSpace(input) != "" {
			if message != "" {
				message += "\n\n"
			}
			message += input
		}
	}
	if strings.TrimSpace(message) == "" {
		return "", usagef(`Give it as an argument, bureau ask "What is in this folder?", or by a pipe.`, "there is no message")
	}
	return strings.ToValidUTF8(message, "\ufffd"), nil
}

// isNullDevice tells that nothing can come from a file: a device that is no terminal.
func isNullDevice(f *os.File) bool {
	info, err := f.Stat()
	return err != nil || info.Mode()&os.ModeCharDevice != 0
}

func (p *program) readInput(ctx context.Context) (string, error) {
	type input struct {
		data []byte
		err  error
	}
	done := make(chan input, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(p.in, maxMessage+1))
		done <- input{data, err}
	}()
	notice := time.NewTimer(stdinNotice)
	defer notice.Stop()
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-notice.C:
			fmt.Fprintln(p.err, "Waiting for the end of standard input (close it, or ctrl+c).")
		case in := <-done:
			switch {
			case in.err != nil:
				return "", fmt.Errorf("read standard input: %w", in.err)
			case len(in.data) > maxMessage:
				return "", usagef("Put it into a file in this folder and ask an agent to read that.", "the message is larger than 10 MiB")
			}
			return string(in.data), nil
		}
	}
}

// teller tells the events of a turn: as JSON lines on standard output, or as progress on standard error.
type teller struct {
	json     *bufio.Writer
	progress io.Writer
	cancel   context.CancelCauseFunc
	err      error
}

func (p *program) teller(o askOptions, cancel context.CancelCauseFunc) *teller {
	t := &teller{cancel: cancel}
	if o.json {
		t.json = bufio.NewWriter(p.out)
	} else if !o.quiet {
		t.progress = p.err
	}
	return t
}

// tell is called by one goroutine at a time.
func (t *teller) tell(e history.Event) {
	if t.progress != nil {
		if line := progressLine(e); line != "" {
			fmt.Fprintln(t.progress, line)
		}
	}
	if t.json == nil || t.err != nil {
		return
	}
	data, err := json.Marshal(e)
	if err == nil {
		data = append(escapeControls(data), '\n')
		if _, err = t.json.Write(data); err == nil {
			err = t.json.Flush()
		}
	}
	if err != nil { // nobody reads any more
		t.err = fmt.Errorf("write the events: %w", err)
		t.cancel(t.err)
	}
}

func (t *teller) flush() error { return t.err }

// progressLine is one line of progress, or nothing.
func progressLine(e history.Event) string {
	const widest = 100
	short := func(s string) string { return text.Cut(text.Line(s), widest) }
	switch e.Type {
	case history.EventSubagentStarted:
		return fmt.Sprintf("%s > %s ...", short(e.CallerAgent), short(e.Agent))
	case history.EventSubagentFinished:
		return fmt.Sprintf("%s > %s: answered", short(e.CallerAgent), short(e.Agent))
	case history.EventSubagentError:
		return fmt.Sprintf("%s > %s: failed: %s", short(e.CallerAgent), short(e.Agent), short(e.Message))
	case history.EventCallEnd:
		if e.Status == history.StatusCompleted {
			return fmt.Sprintf("%s: %s", short(e.Agent), short(e.Name))
		}
	case history.EventCustom:
		value, _ := e.Value.(map[string]any)
		switch e.Name {
		case history.CustomHandoff:
			return fmt.Sprintf("%v hands over to %v", short(fmt.Sprint(value["from"])), short(fmt.Sprint(value["to"])))
		case history.CustomRetry:
			return fmt.Sprintf("%s: try %v of %v in %.0f s: %s", short(e.Agent), value["attempt"], value["of"], value["wait"], short(fmt.Sprint(value["reason"])))
		case history.CustomWarning, history.CustomLimit:
			return short(fmt.Sprint(value["message"]))
		}
	}
	return ""
}

// work is a session that this process holds, and its agency.
type work struct {
	agency  *agencies.Agency
	session history.Session
	hold    *store.Hold
	isNew   bool
	// newer says why a new session was begun although another was asked for; empty otherwise.
	newer string
}

func (w *work) release() {
	if w.hold != nil {
		_ = w.hold.Release() // a hold that is left behind ends by itself
	}
}

// recipient is the agent that the message goes to: the named one, else the one that has control.
func (w *work) recipient(to string) (string, error) {
	if to == "" {
		if _, ok := w.agency.Agent(w.session.Recipient); ok {
			return w.session.Recipient, nil
		}
		return w.agency.EntryPoints[0], nil
	}
	if _, ok := w.agency.Agent(to); ok {
		return to, nil
	}
	var names []string
	for _, a := range w.agency.Agents {
		names = append(names, a.Name)
	}
	return "", usagef("", "there is no agent %q in %s%s", to, w.agency.Name, suggest(to, names))
}

// begin stores a new session right before its first message.
func (w *work) begin(ctx context.Context, s *store.Store, recipient, message string) error {
	if !w.isNew {
		return nil
	}
	w.session.Recipient, w.session.Title = recipient, titleOf(message)
	w.isNew = false
	return s.CreateSession(ctx, w.session)
}

// titleOf is the first words of a message.
func titleOf(message string) string {
	const widest = 64
	return text.Cut(text.Line(message), widest)
}

// takeUp finds or begins the session of a command and holds it.
func (p *program) takeUp(ctx context.Context, s *store.Store, agencyRef, id string, continued bool, model string) (*work, error) {
	if id != "" {
		session, err := findSession(ctx, s, id)
		if err != nil {
			return nil, err
		}
		agency, err := p.agencyOf(session)
		if agencyRef != "" {
			if agency, err = p.findAgency(agencyRef); err == nil && agency.Name != session.Agency {
				return nil, usagef("", "the session %s belongs to the agency %s, not to %s", session.ID, session.Agency, agency.Name)
			}
		}
		if err != nil {
			return nil, err
		}
		w := &work{agency: agency, session: session}
		w.hold, err = s.Hold(ctx, session.ID)
		if errors.Is(err, store.ErrHeld) {
			return nil, fmt.Errorf("%w; leave it there, or begin a new session", err)
		}
		return w, err
	}
	agency, err := p.findAgency(agencyRef)
	if err != nil {
		return nil, err
	}
	w := &work{agency: agency}
	if continued {
		session, err := s.LatestSession(ctx, agency.Name, p.folder)
		if err == nil {
			w.session = session
			w.hold, err = s.Hold(ctx, session.ID)
			if !errors.Is(err, store.ErrHeld) {
				return w, err
			}
			w.newer = fmt.Sprintf("The newest session is in use elsewhere (%v); this begins a new one.", err)
		} else if !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
	}
	w.isNew = true
	w.session = history.Session{
		ID: history.NewSessionID(), Agency: agency.Name, AgencyPath: agency.Path, Folder: p.folder, Model: model,
		Recipient: agency.EntryPoints[0], CreatedAt: time.Now().UnixMicro(), UpdatedAt: time.Now().UnixMicro(),
	}
	w.hold, err = s.Hold(ctx, w.session.ID)
	return w, err
}
