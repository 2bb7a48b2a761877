package script

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"bureau/engine/llm"
)

// patterns are regular expressions that must all match; none always do.
type patterns []*regexp.Regexp

func (p patterns) match(text string) bool {
	for _, re := range p {
		if !re.MatchString(text) {
			return false
		}
	}
	return true
}

// condition is what must hold for a rule to answer; what is not set always holds.
type condition struct {
	message, output, system patterns
	step, turn              *int
	after, tool             string
	handoff                 *bool
}

func (c condition) holds(v view) bool {
	switch {
	case !c.message.match(v.Message),
		!c.system.match(v.system),
		c.step != nil && *c.step != v.Step,
		c.turn != nil && *c.turn != v.Turn,
		c.handoff != nil && *c.handoff != v.handoff,
		c.after != "" && !v.newestOf(c.after),
		c.output != nil && !v.newestMatch(c.output):
		return false
	}
	if c.tool == "" {
		return true
	}
	for _, t := range v.tools {
		if t.Name == c.tool {
			return true
		}
	}
	return false
}

// view is a request as conditions and templates see it.
type view struct {
	scene
	system string
	tools  []llm.Tool
	// handoff tells that control came to the agent since the user's last message.
	handoff bool
}

// look reads a request. A system message after the user's last one is the reminder of a handoff, or a note of what another
// agent did: the agent's own steps count from there.
func look(req llm.Request) view {
	v := view{tools: req.Tools}
	var system strings.Builder
	for _, m := range req.Messages {
		switch m.Role {
		case llm.RoleUser:
			v.Message = m.Content
			v.Turn++
			v.Step, v.handoff, v.turn, v.newest = 0, false, nil, nil
		case llm.RoleSystem:
			system.WriteString(m.Content)
			system.WriteByte('\n')
			if v.Turn > 0 {
				v.Step, v.handoff, v.newest = 0, true, nil
			}
		case llm.RoleAssistant:
			v.Step++
			v.newest = nil
		case llm.RoleTool:
			o := output{tool: m.Name, text: m.Content}
			v.turn, v.newest = append(v.turn, o), append(v.newest, o)
		}
	}
	v.Message = strings.ToValidUTF8(v.Message, string(utf8.RuneError))
	v.system = system.String()
	return v
}

func (v view) newestOf(tool string) bool {
	for _, o := range v.newest {
		if o.tool == tool {
			return true
		}
	}
	return false
}

func (v view) newestMatch(p patterns) bool {
	for _, o := range v.newest {
		if p.match(o.text) {
			return true
		}
	}
	return false
}
