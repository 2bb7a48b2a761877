package llm

import "strings"

// thinkTags are the names of the tags between which models put their thinking.
var thinkTags = [...]string{"think", "thinking", "thought"}

// thinkSplitter parts thinking between tags from the text around it, wherever the chunks are cut. An opening tag counts
// at the start of the message alone; a closing one after it, or by itself when a template put the opening one into the
// prompt. Tags between backticks are text. It holds back no more than what may be the beginning of a tag.
type thinkSplitter struct {
	text, reasoning func(string)
	state           thinkState
	held            string
	closing         string // the tag that ends the thinking
	code            codeSpans
	texted          int  // bytes told as text so far
	fielded         bool // thinking comes in a field of its own
	literal         bool // a closing tag in the thinking stood between backticks
	// textWasReasoning counts the bytes of text that a lone closing tag made reasoning.
	textWasReasoning int
}

type thinkState int

const (
	thinkStart  thinkState = iota // nothing but white space yet
	thinkInside                   // between the tags
	thinkGap                      // behind the closing tag, before the answer
	thinkText                     // in the text, where a lone closing tag may still come
	thinkDone                     // in the text for good
)

// separate says that thinking comes in a field of its own, so that tags in the text are only text.
func (s *thinkSplitter) separate() {
	s.fielded = true
	if s.state == thinkText && s.held == "" {
		s.state = thinkDone
	}
}

func (s *thinkSplitter) holds() bool { return s.held != "" }

func (s *thinkSplitter) write(piece string) {
	if s.held != "" {
		piece, s.held = s.held+piece, ""
	}
	for piece != "" {
		piece = s.step(piece)
	}
}

// step deals with the beginning of what is there and returns the rest.
func (s *thinkSplitter) step(piece string) string {
	switch s.state {
	case thinkStart:
		return s.start(piece)
	case thinkInside:
		return s.scan(piece, s.reasoning)
	case thinkGap:
		piece = strings.TrimLeft(piece, " \t\r\n")
		if piece != "" {
			s.state = thinkDone
		}
		return piece
	case thinkText:
		return s.scan(piece, s.tellText)
	default:
		s.tellText(piece)
		return ""
	}
}

// start decides whether the message begins with an opening tag.
func (s *thinkSplitter) start(piece string) string {
	body := strings.TrimLeft(piece, " \t\r\n")
	if body == "" && len(piece) < 64 {
		s.held = piece
		return ""
	}
	for _, name := range thinkTags {
		tag := "<" + name + ">"
		if strings.HasPrefix(body, tag) {
			s.state, s.closing = thinkInside, "</"+name+">"
			return body[len(tag):]
		}
		if strings.HasPrefix(tag, body) && body != "" {
			s.held = piece
			return ""
		}
	}
	s.state = thinkText
	if s.fielded {
		s.state = thinkDone
	}
	return piece
}

// scan tells the piece up to a closing tag, or up to what may be the beginning of one.
func (s *thinkSplitter) scan(piece string, tell func(string)) string {
	for i := 0; i < len(piece); i++ {
		c := piece[i]
		literal := s.code.next(c)
		if c != '<' {
			continue
		}
		tag, partial := s.match(piece[i:])
		if partial {
			s.code.undo()
			if i > 0 {
				tell(piece[:i])
			}
			s.held = piece[i:]
			return ""
		}
		if tag == "" {
			continue
		}
		if literal {
			s.literal = s.literal || s.state == thinkInside
			continue
		}
		if i > 0 {
			tell(piece[:i])
		}
		if s.state == thinkText {
			s.textWasReasoning = s.texted
		}
		s.state = thinkGap
		return piece[i+len(tag):]
	}
	tell(piece)
	return ""
}

// match finds the closing tag at the start of text, or says that text may be the beginning of one.
func (s *thinkSplitter) match(text string) (tag string, partial bool) {
	if s.state == thinkInside {
		if strings.HasPrefix(text, s.closing) {
			return s.closing, false
		}
		return "", strings.HasPrefix(s.closing, text)
	}
	for _, name := range thinkTags {
		tag := "</" + name + ">"
		if strings.HasPrefix(text, tag) {
			return tag, false
		}
		partial = partial || strings.HasPrefix(tag, text)
	}
	return "", partial
}

func (s *thinkSplitter) tellText(piece string) {
	s.texted += len(piece)
	s.text(piece)
}

// flush tells what is held back: no tag came of it.
func (s *thinkSplitter) flush() {
	held := s.held
	s.held = ""
	switch {
	case held == "":
	case s.state == thinkInside:
		s.reasoning(held)
	default:
		s.tellText(held)
	}
}

// afterLiteralTag parts thinking that never ended at the last closing tag in it that was taken for a literal one: an odd
// backtick must not cost the answer.
func (s *thinkSplitter) afterLiteralTag(thinking string) (before, answer string, found bool) {
	if s.state != thinkInside || !s.literal {
		return "", "", false
	}
	at := strings.LastIndex(thinking, s.closing)
	if at < 0 {
		return "", "", false
	}
	answer = strings.TrimSpace(thinking[at+len(s.closing):])
	return thinking[:at], answer, answer != ""
}

// codeSpans follows backticks: a run of them opens a span that a run of the same length closes. A span of one or two ends
// with its line at the latest, for people and models leave single ones open.
type codeSpans struct {
	open, run int
	prev      struct{ open, run int }
}

// next takes one byte and tells whether it stands inside a span.
func (c *codeSpans) next(b byte) bool {
	c.prev.open, c.prev.run = c.open, c.run
	if b == '`' {
		c.run++
		return c.open > 0
	}
	if c.run > 0 {
		switch {
		case c.open == 0:
			c.open = c.run
		case c.open == c.run:
			c.open = 0
		}
		c.run = 0
	}
	if b == '\n' && c.open < 3 {
		c.open = 0
	}
	return c.open > 0
}

// undo takes back the last byte, which will come again.
func (c *codeSpans) undo() { c.open, c.run = c.prev.open, c.prev.run }
