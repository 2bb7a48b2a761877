package markdown

import "strings"

// cutter finds where a growing text may be cut: at a line that begins a block of its own, whatever comes before and after
// it. That is a whole line after a blank one, not indented and no list item, outside fences. All paragraphs and containers
// before it are closed then, and none can be opened again.
type cutter struct {
	cut   int  // the last such place
	seen  int  // up to here lines were looked at
	blank bool // the line before was blank
	list  bool // a list may be open

	fence   string // opens the fence that the lines are in
	fenceAt int    // where
	// unsure tells that the fence may be one in a list, which ends with the list, or one after it, which does not.
	unsure bool
	// done tells that what follows is not worth understanding: the text is not cut any more.
	done bool
}

// advance looks at the whole lines that are new in src, and returns the last place to cut.
func (c *cutter) advance(src string) int {
	for !c.done {
		n := strings.IndexByte(src[c.seen:], '\n')
		if n < 0 {
			break
		}
		c.line(src[c.seen : c.seen+n])
		c.seen += n + 1
	}
	return c.cut
}

func (c *cutter) line(line string) {
	trimmed := strings.TrimLeft(line, " ")
	indent := len(line) - len(trimmed)
	if c.fence != "" {
		switch {
		case c.unsure && indent == 0 && trimmed != "":
			c.done = true
		case indent < 4 && strings.HasPrefix(trimmed, c.fence) && strings.Trim(trimmed, c.fence[:1]+" ") == "":
			c.fence = ""
		}
		c.blank = false
		return
	}
	if trimmed == "" {
		c.blank = true
		return
	}
	if c.blank && indent == 0 && !isItem(trimmed) {
		c.cut, c.list = c.seen, false
	}
	c.blank = false
	c.list = c.list || isItem(trimmed)
	if indent >= 4 { // part of a list, or code: the next place to cut is beyond either
		return
	}
	if c.fence = opensFence(trimmed); c.fence != "" {
		c.fenceAt, c.unsure = c.seen, c.list && indent > 0
	}
	c.done = holdsBlankLines(trimmed)
}

// opensFence returns the mark of the fence that a line opens.
func opensFence(line string) string {
	if !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
		return ""
	}
	info := strings.TrimLeft(line, line[:1])
	if line[0] == '`' && strings.Contains(info, "`") {
		return ""
	}
	return line[:len(line)-len(info)]
}

// isItem tells whether a line may begin a list item.
func isItem(line string) bool {
	rest := strings.TrimLeft(line, "0123456789")
	if len(rest) < len(line) {
		if rest == "" || rest[0] != '.' && rest[0] != ')' {
			return false
		}
	} else if line[0] != '-' && line[0] != '+' && line[0] != '*' {
		return false
	}
	return len(rest) == 1 || rest[1] == ' '
}

// holdsBlankLines tells of HTML that does not end at a blank line.
func holdsBlankLines(line string) bool {
	if line[0] != '<' {
		return false
	}
	lower := strings.ToLower(line[:min(len(line), 16)])
	for _, begin := range [...]string{"<!", "<?", "<script", "<pre", "<style", "<textarea"} {
		if strings.HasPrefix(lower, begin) {
			return true
		}
	}
	return false
}
