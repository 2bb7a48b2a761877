package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"bureau/agencies"
	"bureau/cmd/swarm"
	"bureau/engine/history"
	"bureau/tui/text"
)

// readSwarm makes a session of a chat of Agency Swarm, and tells on standard error what became otherwise than it was.
func (p *program) readSwarm(data []byte, o importOptions) (history.Session, []history.Message, error) {
	fail := func(err error) (history.Session, []history.Message, error) { return history.Session{}, nil, err }
	chat, err := swarm.Read(data)
	if err != nil {
		return fail(usagef("", "%s: %v", o.file, err))
	}
	var mixed *swarm.ProtocolError
	if err := chat.Check(); !o.convert && errors.As(err, &mixed) {
		return fail(usagef(mixed.Hint(), "%s: %v", o.file, mixed))
	}
	agency, err := p.agencyOfChat(chat.Agents(), o)
	if err != nil {
		return fail(err)
	}
	rows, summary, err := chat.Rows(agency.EntryPoints[0])
	if err != nil {
		return fail(usagef("", "%s: %v", o.file, err))
	}
	v := history.Session{
		Agency: agency.Name, AgencyPath: agency.Path, Folder: p.folder, Title: chatTitle(chat.Title, rows), Recipient: agency.EntryPoints[0],
		CreatedAt: cmp.Or(chat.CreatedAt, rows[0].CreatedAt), UpdatedAt: cmp.Or(chat.UpdatedAt, rows[len(rows)-1].CreatedAt),
	}
	for _, m := range slices.Backward(rows) {
		if _, ok := agency.Agent(m.Agent); ok && m.CallerAgent == "" {
			v.Recipient = m.Agent
			break
		}
	}
	p.tellImport(chat, summary, agency)
	return v, rows, nil
}

// tellImport says what a person should know of a chat that was taken in.
func (p *program) tellImport(chat *swarm.Chat, s swarm.Summary, agency *agencies.Agency) {
	tell := func(format string, args ...any) { fmt.Fprintln(p.err, text.Sanitise(fmt.Sprintf(format, args...))) }
	if s.Converted() {
		tell("Converted: %d calls in %d messages, and %d results of the role tool. All else is as it was: %d items.", s.Calls, s.Messages, s.Results, s.Plain)
	}
	if s.Notes > 0 {
		tell("%d items of other types (hosted tools and the like) are kept as notes.", s.Notes)
	}
	if chat.HasUsage {
		tell("What the chat has cost is not taken over: the file tells it of the whole, not of each request.")
	}
	if strangers := missing(chat.Agents(), agency); len(strangers) > 0 {
		tell("%s has no agent %s: what they said can be read, but they cannot be addressed.", agency.Name, strings.Join(strangers, ", "))
	}
}

// agencyOfChat finds the agency that a chat belongs to: the one that is named, else the only one that has all its agents.
func (p *program) agencyOfChat(names []string, o importOptions) (*agencies.Agency, error) {
	if o.agency != "" {
		return p.findAgency(o.agency)
	}
	var fitting []*agencies.Agency
	var known, shown []string
	for _, l := range agencies.List(p.places(), knownNames(p.config)) {
		if l.Shadowed || l.Err != nil {
			continue
		}
		agency, err := p.findAgency(l.Name)
		if err != nil {
			continue // it has gone since it was listed
		}
		known = append(known, l.Name)
		if len(names) > 0 && len(missing(names, agency)) == 0 {
			fitting = append(fitting, agency)
			shown = append(shown, l.Name)
		}
	}
	hint := "Name the agency with --agency NAME, or a file. There is: " + strings.Join(known, ", ")
	switch {
	case len(fitting) == 1:
		return fitting[0], nil
	case len(names) == 0:
		return nil, usagef(hint, "%s names no agents, so its agency cannot be known by them", o.file)
	case len(fitting) == 0:
		return nil, usagef(hint, "%s is a chat of the agents %s, and no agency has them all", o.file, strings.Join(names, ", "))
	default:
		return nil, usagef("Name one of them with --agency NAME.", "%s is a chat of the agents %s, and several agencies have them all: %s",
			o.file, strings.Join(names, ", "), strings.Join(shown, ", "))
	}
}

// missing are the names that are no agents of the agency.
func missing(names []string, agency *agencies.Agency) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, ok := agency.Agent(name)
		return ok
	})
}

// chatTitle is the chat's own title, else the first words of the user.
func chatTitle(title string, rows []history.Message) string {
	for _, m := range rows {
		if strings.TrimSpace(title) == "" && m.Type == history.TypeMessage && m.Role == history.RoleUser && m.CallerAgent == "" {
			title = m.Content
		}
	}
	return titleOf(title)
}
