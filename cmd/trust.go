package cmd

import (
	"os"
	"path/filepath"
	"strings"

	"bureau/agencies"
)

// trusts tells whether an agency may start programs: one that ships, one of the user's own, and one in a folder that the user's
// configuration names. Links do not make a file stand where it does not.
func (p *program) trusts(a *agencies.Agency) bool {
	if a.Path == "" {
		return true
	}
	path := a.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.folder, path)
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	for _, folder := range append([]string{filepath.Join(configFolder(), "agencies")}, p.config.TrustedFolders...) {
		real, err := filepath.EvalSymlinks(atHome(folder))
		if err != nil {
			continue
		}
		if below, err := filepath.Rel(real, path); err == nil && filepath.IsLocal(below) {
			return true
		}
	}
	return false
}

// checkTrust refuses to run an agency that would start programs and may not.
func (p *program) checkTrust(a *agencies.Agency) error {
	if !a.HasCommands() || p.trusts(a) {
		return nil
	}
	return usagef("Read the file. If you want it to run them, name its folder under trusted_folders in "+configPath(p.env)+
		", or move it to "+filepath.Join(configFolder(), "agencies")+".",
		"the guardrails of %s start programs (%s), and %s is not in a folder that you trust", a.Name, commandsOf(a), a.Path)
}

// commandsOf names the programs that the guardrails of an agency start, as they are written.
func commandsOf(a *agencies.Agency) string {
	var lines []string
	for _, agent := range a.Agents {
		for _, rules := range [][]agencies.Guardrail{agent.InputGuardrails, agent.OutputGuardrails} {
			for _, rule := range rules {
				if len(rule.Command) > 0 {
					lines = append(lines, strings.Join(rule.Command, " "))
				}
			}
		}
	}
	return strings.Join(lines, "; ")
}

// atHome is a folder with the user's own in the place of ~.
func atHome(folder string) string {
	rest, ok := strings.CutPrefix(folder, "~/")
	if home, err := os.UserHomeDir(); ok && err == nil {
		return filepath.Join(home, rest)
	}
	return folder
}
