package script

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

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

	mu sync.Mutex
	// failures counts how often a rule has failed at a position of a conversation, where the rule bounds it.
	failures map[failureKey]int
}

type failureKey struct {
	rule     *rule
	position string
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

	say, reason := r.say.render(s), r.reason.render(s)
	position := fingerprint(m.agent, req)
	fails := r.fail != nil && m.failsNow(r, position)
	if !fails && len(r.calls) == 0 && strings.TrimSpace(say) == "" {
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
	m.mu.Lock()
	defer m.mu.Unlock()
	key := failureKey{r, position}
	m.failures[key]++
	return m.failures[key] <= r.fail.times
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

// condition is what must hold for a rule to answer; what is not set always holds.
type condition struct {
	message, output, system *regexp.Regexp
	step, turn              *int
	after, tool             string
	handoff                 *bool
}

func (c condition) holds(v view) bool {
	switch {
	case c.message != nil && !c.message.MatchString(v.Message),
		c.system != nil && !c.system.MatchString(v.system),
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

func (v view) newestMatch(re *regexp.Regexp) bool {
	for _, o := range v.newest {
		if re.MatchString(o.text) {
			return true
		}
	}
	return false
}
