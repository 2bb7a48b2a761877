package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"bureau/agencies"
	"bureau/tui/text"
)

// finding is one thing that doctor looked at.
type finding struct {
	What string `json:"what"`
	// OK is ok, note (works without) or fault.
	State string `json:"state"`
	Found string `json:"found"`
	// Do says what to do about it; empty when there is nothing to do.
	Do string `json:"do,omitempty"`
}

func newDoctorCommand(p *program) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "doctor", Short: "What is configured, reachable and writable, and what to do about the rest", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			findings := p.examine(c.Context())
			if asJSON {
				if err := printJSON(p.out, findings); err != nil {
					return err
				}
			}
			faults := 0
			for _, f := range findings {
				if f.State == "fault" {
					faults++
				}
				if asJSON {
					continue
				}
				fmt.Fprintf(p.out, "%-5s  %-16s  %s\n", f.State, text.Line(f.What), text.Line(f.Found))
				if f.Do != "" {
					fmt.Fprintf(p.out, "%-23s  %s\n", "", text.Line(f.Do))
				}
			}
			if faults > 0 {
				return errors.New(plural(faults, "fault") + " found")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// examine looks at everything that the program stands on, each thing whatever came of the others.
func (p *program) examine(ctx context.Context) []finding {
	var all []finding
	if p.envFault != nil {
		all = append(all, finding{".env", "fault", p.envFault.Error(), hintOf(p.envFault)})
		p.envFault = nil // told; the rest is looked at without the file
	}
	all = append(all, p.examineConfig(), p.examineStore(ctx))
	all = append(all, p.examineAgencies()...)
	all = append(all, p.examineKeys())
	all = append(all, p.examineServers(ctx)...)
	return append(all, p.examineChoice(ctx), p.examineTerminal())
}

func (p *program) examineConfig() finding {
	path := configPath(p.env)
	if err := p.configure(); err != nil {
		return finding{"configuration", "fault", err.Error(), hintOf(err)}
	}
	if _, err := os.Stat(path); err != nil {
		return finding{"configuration", "ok", "none at " + path + " (none is needed)", ""}
	}
	return finding{"configuration", "ok", path, ""}
}

func (p *program) examineStore(ctx context.Context) finding {
	path := p.databasePath()
	s, err := p.openStore(ctx)
	if err != nil {
		return finding{"sessions", "fault", err.Error(), "Name another file with --db or BUREAU_DB, or make this one readable and writable."}
	}
	defer s.Close()
	if err := s.Check(ctx); err != nil {
		return finding{"sessions", "fault", err.Error(), "What can be read can be exported still: bureau session export."}
	}
	size, err := s.Size()
	if err != nil {
		return finding{"sessions", "fault", err.Error(), ""}
	}
	return finding{"sessions", "ok", fmt.Sprintf("%s (%s)", path, text.Bytes(size)), ""}
}

func (p *program) examineAgencies() []finding {
	var all []finding
	for _, a := range agencies.List(p.places(), knownNames(p.config)) {
		if a.Err != nil {
			all = append(all, finding{"agency " + a.Name, "fault", firstLine(a.Err.Error()), "bureau agency check " + a.Path})
		} else if !a.Shadowed {
			all = append(all, finding{"agency " + a.Name, "ok", string(a.Origin), ""})
		}
	}
	return all
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// examineKeys says which keys are set, never what they are.
func (p *program) examineKeys() finding {
	m := &models{config: p.config, env: p.env, agency: &agencies.Agency{}}
	var set []string
	for _, provider := range m.providers() {
		if m.key(provider) != "" {
			set = append(set, provider.KeyEnv)
		}
	}
	if len(set) == 0 {
		return finding{"keys", "note", "none is set", "Local models need none. For a service set its variable, such as OPENAI_API_KEY."}
	}
	return finding{"keys", "ok", strings.Join(set, ", "), ""}
}

func (p *program) examineServers(ctx context.Context) []finding {
	var all []finding
	for _, v := range p.askServers(ctx, "") {
		what := "server " + v.Provider
		switch {
		case v.Error == "" && len(v.Models) > 0:
			all = append(all, finding{what, "ok", v.Address + " offers " + plural(len(v.Models), "model"), ""})
		case v.Error == "":
			all = append(all, finding{what, "note", v.Address + " offers no model", "Load one there first."})
		default:
			all = append(all, finding{what, "note", v.Error, v.Hint})
		}
	}
	return all
}

func (p *program) examineChoice(ctx context.Context) finding {
	agency, err := p.findAgency("")
	if err != nil {
		return finding{"default agency", "fault", firstLine(err.Error()), hintOf(err)}
	}
	m, err := p.newModels(agency, "", 0)
	if err != nil {
		return finding{"model", "fault", err.Error(), hintOf(err)}
	}
	c, err := m.choose(ctx, agency.Agents[0])
	if err != nil {
		return finding{"model", "fault", err.Error(), hintOf(err)}
	}
	if c.offline {
		return finding{"model", "note", agency.Name + " runs on " + c.String(), waysToAModel}
	}
	return finding{"model", "ok", agency.Name + " runs on " + c.String(), `Try it with: bureau model check ` + c.ref}
}

func (p *program) examineTerminal() finding {
	term := p.env.get("TERM")
	if term == "" || term == "dumb" {
		return finding{"terminal", "note", "TERM is " + fmt.Sprintf("%q", term), "The conversation is shown as plain lines there."}
	}
	return finding{"terminal", "ok", term, ""}
}
