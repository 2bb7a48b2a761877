package script

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode"

	"bureau/engine/history"
	"bureau/engine/llm"
)

// model answers for one agent.
type model struct {
	script *Script
	agent  string
	ref    llm.Ref
	rules  []*rule
	factor float64
}

var _ llm.Model = (*model)(nil)

func (m *model) Ref() llm.Ref               { return m.ref }
func (m *model) Protocol() history.Protocol { return history.ProtocolChatCompletions }
func (m *model) Window() int                { return m.script.window }

// Stream answers by the first rule whose conditions all hold.
func (m *model) Stream(ctx context.Context, req llm.Request, on func(llm.Delta)) (llm.Reply, error) {
	view := look(req)
	s := view.scene
	s.Agent = m.agent
	r := m.choose(view)
	out := &stream{ctx: ctx, on: on, pace: m.scale(m.script.pace), left: -1}
	if err := out.pause(m.scale(r.wait)); err != nil {
		return out.reply, err
	}

	// A block of YAML ends with a line break that nobody says.
	say, reason := strings.TrimRight(r.say.render(s), " \t\n"), strings.TrimRight(r.reason.render(s), " \t\n")
	position := fingerprint(m.agent, req)
	fails := r.fail != nil && m.failsNow(r, position)
	if !fails && len(r.calls) == 0 && say == "" {
		say = m.silence()
	}
	if fails {
		out.left = r.fail.afterWords
	}
	if err := out.words(reason, true); err != nil {
		return m.finish(out.reply, req), err
	}
	if err := out.words(say, false); err != nil {
		return m.finish(out.reply, req), err
	}
	if fails {
		return m.finish(out.reply, req), m.failure(r.fail)
	}
	for i, c := range r.calls {
		if err := out.call(i, callID(position, i), c, s); err != nil {
			return m.finish(out.reply, req), err
		}
	}
	out.reply.Finish = r.finish
	if out.reply.Finish == "" && len(r.calls) > 0 {
		out.reply.Finish = llm.FinishToolCalls
	} else if out.reply.Finish == "" {
		out.reply.Finish = llm.FinishStop
	}
	return m.finish(out.reply, req), nil
}

// choose finds the rule; where none holds, one that says so.
func (m *model) choose(v view) *rule {
	for _, r := range m.rules {
		if r.on.holds(v) {
			return r
		}
	}
	return &rule{}
}

// silence is what is said when the script has no answer.
func (m *model) silence() string {
	return fmt.Sprintf("The script %s has no answer for %s here. Connect a model, or give %s a last rule without conditions.",
		m.script.name, m.agent, m.agent)
}

func (m *model) scale(d time.Duration) time.Duration { return time.Duration(float64(d) * m.factor) }

func (m *model) failsNow(r *rule, position string) bool {
	if r.fail.times == 0 {
		return true
	}
	return m.script.failures.add(r, position) <= r.fail.times
}

func (m *model) failure(f *failure) error {
	message := f.message
	if message == "" {
		message = fmt.Sprintf("the script %s makes this request fail (%s)", m.script.name, f.kind)
	}
	return &llm.Error{Kind: f.kind, Ref: m.ref, Status: f.status, Code: f.code, Message: message, RetryAfter: f.retryAfter}
}

// finish adds the usage: four bytes count as a token, which is near enough for English and the same on every machine.
func (m *model) finish(r llm.Reply, req llm.Request) llm.Reply {
	in, out := 0, len(r.Text)+len(r.Reasoning)
	for _, message := range req.Messages {
		in += len(message.Content)
		for _, c := range message.Calls {
			in += len(c.Name) + len(c.Arguments)
		}
	}
	for _, t := range req.Tools {
		in += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	for _, c := range r.Calls {
		out += len(c.Name) + len(c.Arguments)
	}
	r.HasUsage = true
	r.Usage = history.Usage{InputTokens: tokens(in), OutputTokens: tokens(out), ReasoningTokens: tokens(len(r.Reasoning))}
	return r
}

func tokens(bytes int) int64 { return int64(bytes+3) / 4 }

// fingerprint names a position of a conversation: the same whenever the same request is sent again, and no other's.
func fingerprint(agent string, req llm.Request) string {
	h := sha256.New()
	write := func(parts ...string) {
		for _, part := range parts {
			fmt.Fprintf(h, "%d:%s", len(part), part)
		}
	}
	write(agent)
	for _, message := range req.Messages {
		write(string(message.Role), message.Content, message.CallID)
		for _, c := range message.Calls {
			write(c.ID, c.Name, c.Arguments)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:10])
}

func callID(position string, index int) string { return fmt.Sprintf("call_%s_%d", position, index) }

// stream hands a reply over piece by piece and keeps what it has handed over.
type stream struct {
	ctx   context.Context
	on    func(llm.Delta)
	pace  time.Duration
	reply llm.Reply
	// left is how many more words of what is said may go out; -1 for all.
	left int
}

func (s *stream) pause(d time.Duration) error {
	if err := s.ctx.Err(); err != nil || d <= 0 {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-s.ctx.Done():
		return s.ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (s *stream) words(text string, reasoning bool) error {
	for text != "" {
		if !reasoning && s.left == 0 {
			return nil
		}
		n := wordEnd(text)
		delta := text[:n]
		text = text[n:]
		if reasoning {
			s.reply.Reasoning += delta
			s.on(llm.Delta{Reasoning: delta})
		} else {
			s.reply.Text += delta
			s.on(llm.Delta{Text: delta})
			if s.left > 0 {
				s.left--
			}
		}
		if err := s.pause(s.pace); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) call(index int, id string, c call, sc scene) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	arguments := c.raw.render(sc)
	if c.arguments != nil {
		arguments = c.arguments.json(sc)
	}
	s.on(llm.Delta{Call: &llm.CallDelta{Index: index, ID: id, Name: c.tool}})
	s.on(llm.Delta{Call: &llm.CallDelta{Index: index, Arguments: arguments}})
	s.reply.Calls = append(s.reply.Calls, llm.Call{ID: id, Name: c.tool, Arguments: arguments})
	return nil
}

// wordEnd is where the first word of a text ends, the blanks after it included. Where words are not set apart by blanks,
// two characters go for one.
func wordEnd(text string) int {
	blank, wide := false, 0
	for i, r := range text {
		switch {
		case unicode.IsSpace(r):
			blank = true
		case blank || wide == 2:
			return i
		}
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
			wide++
		}
	}
	return len(text)
}
