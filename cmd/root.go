// Package cmd is the commands, and the only place where the parts of the program are joined. Each command reads its flags into
// options and then works on those; errors are returned, and told to a person once, in Main.
package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs the program and returns its exit code.
func Main() int {
	std := streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	p, err := newProgram(std)
	if err != nil {
		report(os.Stderr, err)
		return exitCode(err)
	}
	ctx, stop := p.withSignals(context.Background())
	defer stop()
	err = execute(ctx, p, os.Args[1:])
	if cause := context.Cause(ctx); cause != nil && err != nil {
		var bySignal *signalError
		if errors.As(cause, &bySignal) {
			return exitCode(bySignal)
		}
	}
	report(os.Stderr, err)
	return exitCode(err)
}

// execute runs one command line.
func execute(ctx context.Context, p *program, args []string) error {
	root := newRootCommand(p)
	root.SetArgs(args)
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.err)
	return root.ExecuteContext(ctx)
}

// withSignals ends the context at the first signal, with the signal as its cause; a second one ends the program at once.
func (p *program) withSignals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE) // a reader that went away is an error of the write
	done := make(chan struct{})
	go func() {
		for first := true; ; first = false {
			select {
			case <-done:
				return
			case s := <-signals:
				if p.ownSignals.Load() {
					continue
				}
				if !first {
					os.Exit(exitCode(&signalError{s}))
				}
				cancel(&signalError{s})
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

func newRootCommand(p *program) *cobra.Command {
	var o terminalOptions
	root := &cobra.Command{
		Use:   "bureau [AGENCY]",
		Short: "Runs agencies in a terminal: teams of LLM agents that delegate and hand over",
		Long: `Bureau runs agencies in a terminal: teams of LLM agents that delegate to one another and hand conversations over.

Without a command it opens the terminal on an agency: a name, or a file. Without an agency that is "tour", or the
configured one.`,
		Example: `  bureau                    the tour
  bureau newsroom           an agency by name
  bureau ./review.yaml      an agency by its file
  bureau ask "Hello"        one turn without a screen`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("unknown command %q of bureau%s", args[0], suggest(args[0], namesBelow(c)))
			}
			return nil
		},
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.agency = args[0]
			}
			return p.terminal(c.Context(), o)
		},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef(`"`+c.CommandPath()+` --help" shows what there is.`, "%v", err)
	})
	root.PersistentFlags().StringVar(&p.db, "db", "", "the database file (default: BUREAU_DB, else in the data folder)")
	f := root.Flags()
	f.StringVar(&o.to, "to", "", "the agent that is addressed first")
	f.StringVar(&o.session, "session", "", "open this session (its id, or how it begins)")
	f.BoolVar(&o.continued, "continue", false, "open the newest session of this agency and folder")
	f.StringVar(&o.model, "model", "", "provider/model for all agents")
	f.BoolVar(&o.plain, "plain", false, "the conversation as plain lines, without cursor movement")
	root.MarkFlagsMutuallyExclusive("session", "continue")
	root.AddCommand(
		newAskCommand(p), newAgencyCommand(p), newTestCommand(p), newSessionCommand(p), newModelCommand(p), newDoctorCommand(p), newVersionCommand(p),
	)
	root.InitDefaultCompletionCmd()
	if shells, _, err := root.Find([]string{"completion"}); err == nil {
		holdsOthers(shells)
	}
	usageArgs(root)
	return root
}

// usageArgs makes a wrong number of arguments, flags that exclude each other, and a flag with an empty value (the variable of a script
// that was not set) a usage error in all commands.
func usageArgs(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if err != nil && c.HasParent() {
				err = fmt.Errorf("wrong number of arguments (%d); it is used as %s", len(args), c.UseLine())
			}
			if err := cmp.Or(err, c.ValidateFlagGroups(), emptyFlag(c)); err != nil {
				return usagef(`"`+c.CommandPath()+` --help" shows what there is.`, "%v", err)
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		usageArgs(sub)
	}
}

// emptyFlag refuses those flags whose absence means something else: a new session, or all of one.
func emptyFlag(c *cobra.Command) error {
	for _, name := range []string{"agency", "between", "db", "model", "session", "to"} {
		if f := c.Flags().Lookup(name); f != nil && f.Changed && f.Value.String() == "" {
			return fmt.Errorf("--%s has an empty value: give it one, or leave the flag out", name)
		}
	}
	return nil
}

// group is a command that only holds others.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short}
	c.AddCommand(subs...)
	holdsOthers(c)
	return c
}

// holdsOthers makes a command one that shows its help, and refuses what is none of the commands below it.
func holdsOthers(c *cobra.Command) {
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		return usagef(`"`+c.CommandPath()+` --help" shows what there is.`, "unknown command %q of %s%s", args[0], c.CommandPath(), suggest(args[0], namesBelow(c)))
	}
}

// namesBelow are the names of the commands below one.
func namesBelow(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return names
}
