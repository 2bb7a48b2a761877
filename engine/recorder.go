package engine

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/tool"
)

// saveEvery is how long text that streams may stand on a screen and not on disk: below the second that is promised, with
// room for the write.
const saveEvery = 900 * time.Millisecond

// recorder writes down a reply while it streams: one row for the reasoning, one for the words, one for each call, in the
// order in which they begin. A row is inserted before anything of it is told, and brought up to date from a timer, so that a
// slow disk never holds up the stream.
type recorder struct {
	ctx   context.Context
	stop  context.CancelFunc
	run   *run
	model llm.Model

	mu        sync.Mutex
	open      []*openRow
	words     *openRow
	reasoning *openRow
	calls     map[int]*openRow
	blank     string // white space that came before the first word
	err       error  // the first failure to write
	timer     *time.Timer
	armed     bool
	saving    sync.WaitGroup
	done      bool
}

// openRow is a row that still grows; text is its content, or the arguments as the model writes them.
type openRow struct {
	row   history.Message
	text  []byte
	dirty bool
}

// newRecorder prepares to write down a reply; stop ends the stream when nothing can be written any more.
func newRecorder(ctx context.Context, stop context.CancelFunc, r *run, model llm.Model) *recorder {
	return &recorder{ctx: ctx, stop: stop, run: r, model: model, calls: map[int]*openRow{}}
}

// fail keeps the first failure to write; mu is held.
func (rec *recorder) fail(err error) {
	if rec.err == nil {
		rec.err = err
	}
	rec.stop()
}

// take writes down one delta.
func (rec *recorder) take(d llm.Delta) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if rec.err != nil {
		return
	}
	switch {
	case d.Text != "":
		if rec.words == nil {
			if strings.TrimSpace(d.Text) == "" {
				rec.blank += d.Text
				return
			}
			d.Text, rec.blank = rec.blank+d.Text, ""
			rec.words = rec.begin(history.Message{Type: history.TypeMessage, Role: history.RoleAssistant}, history.EventTextStart)
		}
		rec.add(rec.words, history.EventTextContent, d.Text)
	case d.Reasoning != "":
		if rec.reasoning == nil {
			rec.reasoning = rec.begin(history.Message{Type: history.TypeReason}, history.EventReasoningStart)
		}
		rec.add(rec.reasoning, history.EventReasoningContent, d.Reasoning)
	case d.Call != nil:
		call := rec.calls[d.Call.Index]
		if call == nil {
			call = rec.beginCall(*d.Call)
		}
		rec.add(call, history.EventCallArgs, d.Call.Arguments)
	}
}

// begin inserts a row and tells that it is there.
func (rec *recorder) begin(m history.Message, start history.EventType) *openRow {
	m.Status, m.Protocol, m.Extra.Model = history.StatusStreaming, rec.model.Protocol(), rec.model.Ref().String()
	o := &openRow{row: m}
	if err := rec.run.turn.append(rec.ctx, rec.run, &o.row); err != nil {
		rec.fail(err)
		return o
	}
	rec.open = append(rec.open, o)
	role := m.Role
	if role == "" {
		role = history.RoleAssistant
	}
	rec.emit(o, history.Event{Type: start, Role: role})
	return o
}

func (rec *recorder) beginCall(d llm.CallDelta) *openRow {
	m := history.Message{Type: history.TypeCall, Name: d.Name, Arguments: "{}"}
	if !tool.IsLegal(d.Name) {
		m.Name, m.Extra.RawName = tool.Legal(d.Name, nil), d.Name
	}
	id, err := rec.run.turn.claim(rec.ctx, d.ID)
	if err != nil {
		rec.fail(err)
	}
	m.CallID = id
	if id != d.ID {
		m.Extra.WireID = d.ID
	}
	o := rec.begin(m, history.EventCallStart)
	rec.calls[d.Index] = o
	return o
}

func (rec *recorder) add(o *openRow, kind history.EventType, delta string) {
	if delta == "" || rec.err != nil {
		return
	}
	offset := len(o.text)
	o.text = append(o.text, delta...)
	o.dirty = true
	rec.emit(o, history.Event{Type: kind, Delta: delta, Offset: offset})
	if !rec.armed && !rec.done {
		rec.armed = true
		rec.timer = time.AfterFunc(saveEvery, rec.save)
	}
}

func (rec *recorder) emit(o *openRow, e history.Event) {
	e.Agent, e.MessageID = o.row.Agent, o.row.ID
	if o.row.Type == history.TypeCall {
		e.CallID, e.Name = o.row.CallID, o.row.Name
	}
	rec.run.turn.emit(rec.run, e)
}

// save brings the rows up to date that have grown.
func (rec *recorder) save() {
	rec.mu.Lock()
	rec.armed = false
	if rec.done {
		rec.mu.Unlock()
		return
	}
	var rows []history.Message
	for _, o := range rec.open {
		if o.dirty {
			o.dirty = false
			rows = append(rows, o.snapshot())
		}
	}
	rec.saving.Add(1)
	rec.mu.Unlock()
	defer rec.saving.Done()
	for _, row := range rows {
		if err := rec.run.turn.engine.options.Log.Update(context.WithoutCancel(rec.ctx), row); err != nil {
			rec.mu.Lock()
			rec.fail(fmt.Errorf("write to the session: %w", err))
			rec.mu.Unlock()
			return
		}
	}
}

// snapshot is the row as it stands. Arguments are a JSON object at any time: what there is of them is kept beside.
func (o *openRow) snapshot() history.Message {
	m := o.row
	text := o.text
	if m.Type == history.TypeCall {
		m.Extra.RawArguments = string(text)
	} else {
		m.Content = string(wholeRunes(text))
	}
	return m
}

// wholeRunes leaves out a character at the end of which only a part has come.
func wholeRunes(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		b := text[len(text)-n]
		if utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(text[len(text)-n:]) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}

// close ends the timer and waits for a write that is under way.
func (rec *recorder) close() {
	rec.mu.Lock()
	rec.done = true
	if rec.timer != nil {
		rec.timer.Stop()
	}
	rec.mu.Unlock()
	rec.saving.Wait()
}

// finish writes the rows of a closed recorder as they are in the end, and tells so.
func (rec *recorder) finish(reply llm.Reply) (said, error) {
	s := said{cut: reply.Finish == llm.FinishLength}
	if reply.Reasoning != "" && rec.reasoning == nil {
		rec.reasoning = rec.begin(history.Message{Type: history.TypeReason}, history.EventReasoningStart)
		rec.add(rec.reasoning, history.EventReasoningContent, reply.Reasoning)
	}
	wire := reply.Wire // stands on the first row that is no call
	if call, ok := rec.run.writtenCall(rec.model.Ref(), reply); ok && rec.words != nil {
		rec.replaceWords(call)
	}
	for _, o := range rec.open {
		m := &o.row
		if m.Status == history.StatusStreaming {
			m.Status = history.StatusCompleted
		}
		if m.Type == history.TypeCall {
			o.settleArguments()
			s.calls = append(s.calls, m)
		} else {
			m.Extra.Wire, wire = wire, nil
			m.Content = reply.Text // what a server said as words may turn out to be reasoning in the end
			if o == rec.reasoning {
				m.Content = reply.Reasoning
			}
		}
		if o == rec.words && m.Status == history.StatusCompleted {
			m.Extra.Citations = history.RawCitations(reply.Citations)
			s.text = m.Content
			rec.run.note(m.Content)
		}
	}
	for i, call := range reply.Calls {
		if o := rec.calls[i]; o != nil {
			o.row.Extra.Wire = call.Wire
			if call.ID != o.row.CallID {
				o.row.Extra.WireID = call.ID
			}
		}
	}
	if rec.err != nil {
		return said{}, rec.err
	}
	return s, rec.end()
}

// settleArguments makes the arguments a JSON object, and keeps what the model wrote where that was none.
func (o *openRow) settleArguments() {
	object, err := tool.Arguments(string(o.text))
	if err != nil {
		o.row.Arguments, o.row.Extra.RawArguments, o.row.Extra.ArgumentsError = "{}", string(o.text), err.Error()
		return
	}
	o.row.Arguments = string(object)
}

// abandon ends the rows of a reply that failed or was stopped. A call in it was never carried out.
func (rec *recorder) abandon(status history.Status) {
	for _, o := range rec.open {
		o.row = o.snapshot()
		o.row.Status = status
		if o == rec.words {
			rec.run.note(o.row.Content)
		}
		if o.row.Type == history.TypeCall {
			rec.run.turn.release(o.row.CallID)
		}
	}
	if err := rec.end(); err != nil {
		rec.run.warn("%v", err)
	}
}

func (rec *recorder) end() error {
	for _, o := range rec.open {
		if err := rec.run.turn.engine.options.Log.Update(context.WithoutCancel(rec.ctx), o.row); err != nil {
			return fmt.Errorf("write to the session: %w", err)
		}
		kind := history.EventTextEnd
		switch o.row.Type {
		case history.TypeCall:
			kind = history.EventCallEnd
		case history.TypeReason:
			kind = history.EventReasoningEnd
		}
		rec.emit(o, history.Event{
			Type: kind, Role: o.row.Role, Status: o.row.Status, Content: o.row.Content, Hint: o.row.Extra.Hint, Citations: o.row.Extra.Sources(),
		})
	}
	return nil
}

// note remembers what the run has said, for a sender that gets no answer.
func (r *run) note(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, text)
}

// noted counts what the run has said.
func (r *run) noted() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.said)
}

// forget takes back what was said since, by a try that another one follows.
func (r *run) forget(since int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = r.said[:since]
}
