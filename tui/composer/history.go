package composer

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"bureau/tui/text"
)

// SetHistory gives the earlier messages, newest first.
func (c *Composer) SetHistory(newestFirst []string) {
	c.history = newestFirst
	c.browsed = 0
}

// browse shows an earlier message, n steps from the one that is shown; beyond the newest the composer is empty.
func (c *Composer) browse(n int) {
	to := c.browsed + n
	if to < 0 || to > len(c.history) {
		return
	}
	c.browsed = to
	s := ""
	if to > 0 {
		s = c.history[to-1]
	}
	c.load(s)
}

// browsing tells whether the text is an earlier message as it was.
func (c *Composer) browsing() bool { return c.browsed > 0 }

// search looks for earlier messages while its words are typed.
type search struct {
	query    buffer
	found    []string
	selected int
}

func (c *Composer) startSearch() {
	c.search = &search{}
	c.search.run(c.history)
}

// run finds the messages that hold the words, whatever their case, newest first and each once.
func (s *search) run(history []string) {
	words := strings.ToLower(s.query.value())
	seen := map[string]bool{}
	s.found, s.selected = nil, 0
	for _, h := range history {
		if !seen[h] && strings.Contains(strings.ToLower(h), words) {
			seen[h] = true
			s.found = append(s.found, h)
		}
	}
}

func (s *search) step(n int) {
	s.selected = max(0, min(len(s.found)-1, s.selected+n))
}

func (s *search) rows(c *Composer) []string {
	if len(s.found) == 0 {
		return []string{c.styles.Dim.Render(text.Cut("  no earlier message has these words", c.width))}
	}
	first := window(s.selected, len(s.found))
	var rows []string
	for i := first; i < min(first+maxCandidates, len(s.found)); i++ {
		// A row shows the beginning, and no more of a long message than it has room for is made safe.
		beginning := strings.ToValidUTF8(s.found[i][:min(len(s.found[i]), 4*c.width+64)], "")
		rows = append(rows, c.offer(text.Line(beginning), "", i == s.selected))
	}
	return rows
}

// searchKey handles a key while the search is open. Enter and tab take the message into the composer, and never send it.
func (c *Composer) searchKey(msg tea.KeyPressMsg) {
	s := c.search
	q := &s.query
	switch {
	case key.Matches(msg, c.keys.Global.Back):
		c.search = nil
		return
	case key.Matches(msg, c.keys.Composer.Send, c.keys.Composer.Accept):
		c.search = nil
		if len(s.found) > 0 {
			c.load(s.found[s.selected])
			c.browsed = 0
		}
		return
	case key.Matches(msg, c.keys.Composer.Search, c.keys.Composer.Later):
		s.step(1)
		return
	case key.Matches(msg, c.keys.Composer.Earlier):
		s.step(-1)
		return
	case msg.Text != "":
		q.insert(clean(msg.Text))
	default:
		c.editKey(q, msg)
	}
	s.run(c.history)
}
