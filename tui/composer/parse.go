package composer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Action is what a key asks for beyond editing; nil for nothing.
type Action interface{ action() }

// Send is a message. Recipient is the agent that its mention names, empty without one.
type Send struct{ Recipient, Text string }

// Switch changes the recipient: a mention without a message.
type Switch struct{ Recipient string }

// Command is a slash command with what follows its name.
type Command struct{ Name, Args string }

// OpenEditor asks for the user's editor on the text.
type OpenEditor struct{}

func (Send) action()       {}
func (Switch) action()     {}
func (Command) action()    {}
func (OpenEditor) action() {}

// read finds out what a text asks for.
func (c *Composer) read(s string) Action {
	s = strings.TrimRight(strings.TrimLeft(s, "\n"), " \t\n")
	if strings.TrimSpace(s) == "" {
		return nil
	}
	if name, args, ok := command(s); ok {
		return Command{Name: name, Args: args}
	}
	name, length := c.mention(s)
	if length == 0 {
		return Send{Text: s}
	}
	rest := strings.TrimLeft(s[length:], ":, \t\n")
	if rest == "" {
		return Switch{Recipient: name}
	}
	return Send{Recipient: name, Text: rest}
}

// command reads "/name rest". A path is no command.
func command(s string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(s, "/")
	if !ok {
		return "", "", false
	}
	n := strings.IndexFunc(rest, unicode.IsSpace)
	if n < 0 {
		n = len(rest)
	}
	name = rest[:n]
	if name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return "", "", false
	}
	return name, strings.TrimSpace(rest[n:]), true
}

// mention reads "@Name" at the start, where a name may hold spaces: the longest that there is. It returns the name as the
// agency has it, and the length of the mention; 0 for none.
func (c *Composer) mention(s string) (name string, length int) {
	if !strings.HasPrefix(s, "@") || c.complete == nil {
		return "", 0
	}
	for _, candidate := range c.complete('@') {
		n := foldedPrefix(s[1:], candidate.Value)
		if n == 0 || n+1 <= length {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(s[1+n:]); s[1+n:] == "" || unicode.IsSpace(r) || r == ':' || r == ',' {
			name, length = candidate.Value, 1+n
		}
	}
	return name, length
}

// foldedPrefix returns the length of the prefix of s that is equal to name but for case, 0 if there is none.
func foldedPrefix(s, name string) int {
	end := 0
	for range name {
		_, size := utf8.DecodeRuneInString(s[end:])
		if size == 0 {
			return 0
		}
		end += size
	}
	if !strings.EqualFold(s[:end], name) {
		return 0
	}
	return end
}
