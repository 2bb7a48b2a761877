package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"bureau/agencies"
	"bureau/tui/text"
)

func newAgencyCommand(p *program) *cobra.Command {
	return group("agency", "Look at agencies, check them, begin one",
		newAgencyListCommand(p), newAgencyShowCommand(p), newAgencyCheckCommand(p), newAgencyNewCommand(p), newAgencySchemaCommand(p))
}

func newAgencyListCommand(p *program) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "The agencies that can be opened by name", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := p.configure(); err != nil {
				return err
			}
			type row struct {
				Name        string `json:"name"`
				Description string `json:"description"`
				Path        string `json:"path,omitempty"`
				Origin      string `json:"origin"`
				Shadowed    bool   `json:"shadowed,omitempty"`
				Error       string `json:"error,omitempty"`
			}
			rows := []row{}
			for _, a := range agencies.List(p.places(), knownNames(p.config)) {
				r := row{Name: a.Name, Description: a.Description, Path: a.Path, Origin: string(a.Origin), Shadowed: a.Shadowed}
				if a.Err != nil {
					r.Error = a.Err.Error()
				}
				rows = append(rows, r)
			}
			if asJSON {
				return printJSON(p.out, rows)
			}
			t := newTable("NAME", "FROM", "DESCRIPTION")
			for _, r := range rows {
				about := r.Description
				if r.Error != "" {
					about = "has faults: bureau agency check " + r.Path
				}
				if r.Shadowed {
					about = "(hidden by another of this name) " + about
				}
				t.add(r.Name, r.Origin, about)
			}
			return t.print(p.out)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func newAgencyShowCommand(p *program) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "show [AGENCY]", Short: "Draw who may message whom, and who hands over to whom", Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			a, err := p.agencyFrom(args)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(p.out, agencyJSON(a))
			}
			_, err = fmt.Fprint(p.out, agencies.Draw(a))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func (p *program) agencyFrom(args []string) (*agencies.Agency, error) {
	if err := p.configure(); err != nil {
		return nil, err
	}
	ref := ""
	if len(args) > 0 {
		ref = args[0]
	}
	return p.findAgency(ref)
}

func agencyJSON(a *agencies.Agency) any {
	type agent struct {
		Name        string   `json:"name"`
		Description string   `json:"description,omitempty"`
		Model       string   `json:"model,omitempty"`
		Tools       []string `json:"tools,omitempty"`
	}
	type flow struct {
		From    string `json:"from"`
		To      string `json:"to"`
		Handoff bool   `json:"handoff,omitempty"`
		Tool    string `json:"tool,omitempty"`
	}
	out := struct {
		Name        string   `json:"name"`
		Description string   `json:"description,omitempty"`
		Path        string   `json:"path,omitempty"`
		Model       string   `json:"model,omitempty"`
		EntryPoints []string `json:"entry_points"`
		Agents      []agent  `json:"agents"`
		Flows       []flow   `json:"communication_flows"`
	}{Name: a.Name, Description: a.Description, Path: a.Path, Model: a.Model, EntryPoints: a.EntryPoints, Flows: []flow{}}
	for _, g := range a.Agents {
		out.Agents = append(out.Agents, agent{g.Name, g.Description, g.Model, g.Tools})
	}
	for _, f := range a.Flows {
		out.Flows = append(out.Flows, flow{f.From, f.To, f.Handoff, f.Tool})
	}
	return out
}

func newAgencyCheckCommand(p *program) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "check [AGENCY...]", Short: "Check agencies, their scripts and their rehearsals; all faults at once, as file:line:column", Args: cobra.ArbitraryArgs,
		Long: `Checks agencies, and the scripts and rehearsals beside them. All faults are told at once, as file:line:column.

Without a name it checks those of the project, in .bureau/agencies; where there are none, the default agency.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = p.ofProject(func(string) bool { return true })
			}
			type fault struct {
				Line       int    `json:"line"`
				Column     int    `json:"column"`
				Message    string `json:"message"`
				Suggestion string `json:"suggestion,omitempty"`
			}
			type row struct {
				Agency string  `json:"agency"`
				Faults []fault `json:"faults"`
				// Error is what is wrong beside the file's own faults.
				Error string `json:"error,omitempty"`
			}
			var rows []row
			var faults []error
			for _, ref := range args {
				a, err := p.agencyFrom([]string{ref})
				if err == nil && a.Script != nil {
					_, err = parseScript(a.ScriptPath, a.Script)
				}
				if err == nil {
					_, err = a.Rehearsals(knownNames(p.config))
				}
				var file *agencies.FileError
				switch {
				case errors.As(err, &file):
					r := row{Agency: file.Path}
					for _, f := range file.Faults {
						r.Faults = append(r.Faults, fault{f.Line, f.Column, f.Message, f.Suggestion})
					}
					rows = append(rows, r)
				case err != nil:
					rows = append(rows, row{Agency: ref, Faults: []fault{}, Error: err.Error()})
				default:
					rows = append(rows, row{Agency: a.Name, Faults: []fault{}})
					if !asJSON {
						fmt.Fprintf(p.out, "%s: sound (%s, %s)\n", a.Name, plural(len(a.Agents), "agent"), plural(len(a.Flows), "flow"))
						if a.HasCommands() {
							fmt.Fprintf(p.out, "%s: its guardrails start programs: %s\n", a.Name, text.Line(commandsOf(a)))
						}
					}
				}
				if err != nil {
					faults = append(faults, err)
				}
			}
			if asJSON {
				if err := printJSON(p.out, rows); err != nil {
					return err
				}
			}
			return errors.Join(faults...)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func newAgencyNewCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "new NAME", Short: "Write a working starter: .bureau/agencies/NAME.yaml, its offline script and its rehearsals", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			starter, err := agencies.New(args[0])
			if err != nil {
				return usagef("", "%v", err)
			}
			path := filepath.Join(p.folder, ".bureau", "agencies", args[0])
			files := []starterFile{{path + ".yaml", starter.Agency}, {path + ".script.yaml", starter.Script}, {path + ".test.yaml", starter.Rehearsals}}
			if err := writeStarter(files); err != nil {
				return err
			}
			for _, file := range files {
				fmt.Fprintln(p.out, text.Line(file.path))
			}
			_, err = fmt.Fprintf(p.out, "Open it with: bureau %s\n", args[0])
			return err
		},
	}
}

type starterFile struct {
	path string
	data []byte
}

// writeStarter writes files of one folder, which it makes, or none where one is there already.
func writeStarter(files []starterFile) error {
	there := func(path string) error {
		return usagef("Choose another name, or move the file.", "%s is there already", path)
	}
	for _, file := range files {
		if _, err := os.Lstat(file.path); err == nil {
			return there(file.path)
		}
	}
	if err := os.MkdirAll(filepath.Dir(files[0].path), 0o755); err != nil {
		return fmt.Errorf("make the folder of agencies: %w", err)
	}
	for _, file := range files {
		f, err := os.OpenFile(file.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, os.ErrExist) {
			return there(file.path)
		}
		if err == nil {
			_, err = f.Write(file.data)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return fmt.Errorf("write the starter file: %w", err)
		}
	}
	return nil
}

func newAgencySchemaCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of the agency file, for editors", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := p.out.Write(agencies.Schema())
			return err
		},
	}
}
