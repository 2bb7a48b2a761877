package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"

	"github.com/spf13/cobra"

	"bureau/agencies"
	"bureau/cmd/rehearsal"
	"bureau/tui/text"
)

type rehearseOptions struct {
	agencies           []string
	run, junit, model  string
	json, talk, record bool
}

func newTestCommand(p *program) *cobra.Command {
	var o rehearseOptions
	c := &cobra.Command{
		Use:   "test [AGENCY...]",
		Short: "Run the rehearsals that stand beside agencies, offline",
		Long: `Runs the rehearsals of agencies: NAME.test.yaml beside NAME.yaml says what the user says, and what must happen. Scripts
and cassettes answer in place of models, each rehearsal runs in a folder and a database of its own, and no server is reached.

Without a name it runs those of the project's agencies, in .bureau/agencies; where there are none, those of the default
agency.

Exit codes: 0 all went as expected; 1 something differed; 2 wrong usage, or a file with faults; 130 interrupted.`,
		Example: `  bureau test                          all of this project
  bureau test ./review.yaml -v         one agency, with what was said
  bureau test --run desk --junit report.xml
  bureau test --record --model ollama/qwen3:8b review`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			o.agencies = args
			return p.rehearse(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.run, "run", "", "only rehearsals whose name matches this regular expression")
	f.BoolVarP(&o.talk, "verbose", "v", false, "print the conversations")
	f.BoolVar(&o.json, "json", false, "as JSON")
	f.StringVar(&o.junit, "junit", "", "write the report to this file too, as JUnit XML")
	f.BoolVar(&o.record, "record", false, "first make the cassettes anew, from the configured model server")
	f.StringVar(&o.model, "model", "", "with --record: provider/model for all agents")
	c.MarkFlagsMutuallyExclusive("json", "verbose")
	return c
}

// part is one rehearsal of an agency.
type part struct {
	agency *agencies.Agency
	agencies.Rehearsal
	// file is where it stands, as reports show it.
	file string
}

// result is that of the part before it was played.
func (one part) result() rehearsal.Result {
	return rehearsal.Result{Agency: one.agency.Name, Path: one.file, Rehearsal: one.Rehearsal}
}

func (p *program) rehearse(ctx context.Context, o rehearseOptions) error {
	if err := p.configure(); err != nil {
		return err
	}
	if o.model != "" && !o.record {
		return usagef("A rehearsal is answered by its script or cassette.", "--model is for --record")
	}
	parts, err := p.parts(o)
	if err != nil {
		return err
	}
	if o.record {
		if err := p.canRecord(ctx, parts, o.model); err != nil {
			return err
		}
	}
	var junit *os.File
	if o.junit != "" {
		if junit, err = os.Create(o.junit); err != nil {
			return usagef("", "the report cannot be written: %v", err)
		}
		defer junit.Close()
	}
	results, err := p.playAll(ctx, parts, o)
	if junit != nil {
		err = errors.Join(err, rehearsal.WriteJUnit(junit, results), junit.Close())
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case o.json:
		err = rehearsal.WriteJSON(p.out, results)
	default:
		_, err = fmt.Fprintln(p.out, rehearsal.Summary(results))
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	for _, r := range results {
		if !r.OK() {
			return errDiffers
		}
	}
	return nil
}

// errDiffers ends the command with 1; what differed has been told.
var errDiffers = errors.New("not everything went as it was rehearsed")

// playAll plays rehearsals, as many at once as there are processors, and tells each in order as soon as it has ended.
// Recordings are made one after the other: servers bound how much they are asked at once.
func (p *program) playAll(ctx context.Context, parts []part, o rehearseOptions) ([]rehearsal.Result, error) {
	atOnce := runtime.NumCPU()
	if o.record {
		atOnce = 1
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	free := make(chan struct{}, atOnce)
	played := make([]chan rehearsal.Result, len(parts))
	for i, one := range parts {
		played[i] = make(chan rehearsal.Result, 1)
		go func() {
			free <- struct{}{}
			defer func() { <-free }()
			if ctx.Err() == nil {
				played[i] <- p.perform(ctx, one, o)
			}
			close(played[i])
		}()
	}
	var results []rehearsal.Result
	var failed error
	for _, c := range played { // all are waited for: each cleans up behind itself
		r, ok := <-c
		if !ok || ctx.Err() != nil {
			continue
		}
		results = append(results, r)
		if o.json {
			continue
		}
		if err := r.Print(p.out, o.talk); err != nil {
			failed = fmt.Errorf("write the report: %w", err)
			cancel()
		}
	}
	return results, failed
}

// perform plays one rehearsal; with --record after its cassette was made.
func (p *program) perform(ctx context.Context, one part, o rehearseOptions) rehearsal.Result {
	if o.record && one.Cassette != "" {
		if r, err := p.record(ctx, one, o.model); err != nil {
			r.Fault = "the cassette could not be recorded: " + err.Error()
			return r
		}
	}
	answers, err := p.answersOf(one)
	if err != nil {
		r := one.result()
		r.Fault = err.Error()
		return r
	}
	return play(ctx, one, answers)
}

// parts finds the rehearsals that are asked for. Files with faults are told together.
func (p *program) parts(o rehearseOptions) ([]part, error) {
	named, err := regexp.Compile(o.run)
	if err != nil {
		return nil, usagef("", "--run: %v", err)
	}
	refs, err := p.rehearsed(o.agencies)
	if err != nil {
		return nil, err
	}
	var parts []part
	var faults []error
	seen := map[string]bool{}
	all := 0
	for _, ref := range refs {
		agency, err := p.findAgency(ref)
		if err == nil {
			err = p.checkTrust(agency)
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		path := agency.RehearsalsPath()
		if seen[path] {
			continue
		}
		seen[path] = true
		rehearsals, err := agency.Rehearsals(knownNames(p.config))
		if err == nil && len(rehearsals) == 0 {
			err = usagef("\"bureau agency new NAME\" writes some to start from.", "%s has no rehearsals: there is no file %s", agency.Name, text.Line(path))
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		all += len(rehearsals)
		for _, r := range rehearsals {
			if named.MatchString(r.Name) {
				parts = append(parts, part{agency, r, p.relative(path)})
			}
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	if len(parts) == 0 {
		return nil, usagef(`"bureau test" without --run runs all of them.`, "no name of the %d rehearsals matches %q", all, o.run)
	}
	return parts, nil
}

// rehearsed are the agencies whose rehearsals are run: those that are named, else those of the project that have some, else
// the default one.
func (p *program) rehearsed(named []string) ([]string, error) {
	if len(named) > 0 {
		return named, nil
	}
	return p.ofProject(func(path string) bool {
		_, err := os.Lstat((&agencies.Agency{Path: path}).RehearsalsPath())
		return err == nil
	}), nil
}

// ofProject are the project's own agencies whose path is kept; where there are none, the default agency.
func (p *program) ofProject(keep func(path string) bool) []string {
	var refs []string
	for _, listed := range agencies.List(agencies.Places{Work: p.folder}, knownNames(p.config)) {
		if listed.Origin == agencies.OriginProject && !listed.Shadowed && keep(listed.Path) {
			refs = append(refs, listed.Path)
		}
	}
	if len(refs) == 0 {
		refs = []string{""}
	}
	return refs
}

// relative is a path as seen from the working folder, where it lies inside.
func (p *program) relative(path string) string {
	if inside, err := filepath.Rel(p.folder, path); err == nil && filepath.IsAbs(path) && filepath.IsLocal(inside) {
		return inside
	}
	return path
}
