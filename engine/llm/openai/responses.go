package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"bureau/engine/llm"
)

// askResponses sends the request over the Responses API.
func (m *Model) askResponses(ctx context.Context, x *exchange, to *llm.Accumulator, req llm.Request, h habits) (incoming, rawStream, error) {
	wire, edits, err := m.buildResponse(req, h)
	if err != nil {
		return nil, nil, err
	}
	x.at, x.edits = m.responsesURL(), edits
	stream, err := m.client(x).CreateResponseStream(ctx, wire)
	err = adviseOtherAPI(err)
	return &response{exchange: x, accumulator: to}, stream, err
}

// response is an answer of the Responses API on its way in: items, each told in pieces, told again when it is done, and all
// of them once more at the end. What is missing in one telling is taken from the next.
type response struct {
	*exchange
	accumulator *llm.Accumulator
	items       []*incomingItem
	sources     sources
	// known: some frame was one of a response; begun: one had a token in it.
	known, begun bool
	// status is how the answer ended, and reason why, where it is incomplete; empty until it did.
	status, reason string
	// spoke and thought are where words and reasoning came last.
	spoke, thought place
}

// place is a part of an item.
type place struct {
	item *incomingItem
	part int64
}

// incomingItem is an item on its way in.
type incomingItem struct {
	kind, id, callID, name string
	index                  int // the server's; -1 where it gave none
	position               int // among the items
	// raw is the whole item as it came; nil until it is done.
	raw json.RawMessage
	// told tells which parts have come as deltas, by index.
	told map[int64]bool
	// source is the one of its two kinds of reasoning that is told.
	source string
	// pending is arguments that came before the name; began tells that some were given out.
	pending string
	began   bool
}

func (r *response) whole() bool { return r.status != "" }

func (r *response) take(raw []byte) error {
	var e event
	if err := decodeLeniently(raw, &e); err != nil {
		return err
	}
	kind := string(e.Type)
	switch {
	case kind == "error":
		return r.failure(raw)
	case strings.HasPrefix(kind, "response."):
		r.known = true
	case e.Object == "response":
		r.known = true
		return r.end("", raw, raw)
	case kind == "":
		// Frames without a type are many things, errors among them.
		if f, ok := parseFault(raw); ok {
			return r.exchange.fault(f, nil)
		}
		return nil
	default:
		return nil
	}
	err := r.takeEvent(strings.TrimPrefix(kind, "response."), &e, raw)
	if !r.begun && r.accumulator.Started() {
		r.begun = true
		r.watch.first()
	}
	return err
}

// takeEvent takes an event by its name, without the prefix that all have.
func (r *response) takeEvent(kind string, e *event, frame []byte) error {
	switch kind {
	case "output_text.delta", "refusal.delta":
		r.say(r.about(e, itemMessage), e.ContentIndex.value, e.deltaText())
	case "output_text.done":
		r.complete(r.about(e, itemMessage), e.ContentIndex.value, e.Text.text)
	case "refusal.done":
		r.complete(r.about(e, itemMessage), e.ContentIndex.value, e.Refusal.text)
	case "reasoning_summary_text.delta", "reasoning_summary.delta":
		r.think(r.about(e, itemReasoning), "summary", e.SummaryIndex.value, e.deltaText())
	case "reasoning_text.delta", "reasoning.delta":
		r.think(r.about(e, itemReasoning), "content", e.ContentIndex.value, e.deltaText())
	case "function_call_arguments.delta":
		r.call(r.about(e, itemCall), e.deltaArguments())
	case "function_call_arguments.done":
		item := r.about(e, itemCall)
		item.name = cmp.Or(item.name, string(e.Name))
		switch {
		case item.began:
		case item.pending == "":
			r.call(item, string(e.Arguments))
		default:
			r.call(item, "")
		}
	case "output_item.added":
		return r.item(e.Item, e, false)
	case "output_item.done":
		return r.item(e.Item, e, true)
	case "completed", "done", "incomplete", "failed", "cancelled", "canceled":
		return r.end(kind, e.Response, frame)
	}
	return nil
}

// about finds the item that an event is about, or begins it. Servers exist whose ids differ from event to event, and others
// that give every item the same index: the id counts where it is known, else the index, else the latest item.
func (r *response) about(e *event, kind string) *incomingItem {
	index := -1
	if e.OutputIndex.ok {
		index = int(e.OutputIndex.value)
	}
	return r.find(kind, string(e.ItemID), index)
}

func (r *response) find(kind, id string, index int) *incomingItem {
	for i := len(r.items) - 1; i >= 0; i-- {
		if it := r.items[i]; it.kind == kind && id != "" && it.id == id {
			return it
		}
	}
	for i := len(r.items) - 1; i >= 0; i-- {
		if it := r.items[i]; it.kind == kind && it.raw == nil && (index < 0 || it.index < 0 || it.index == index) {
			return it
		}
	}
	return r.begin(kind, id, index)
}

func (r *response) begin(kind, id string, index int) *incomingItem {
	it := &incomingItem{kind: kind, id: id, index: index, position: len(r.items), told: map[int64]bool{}}
	r.items = append(r.items, it)
	return it
}

// item takes an item as a whole: as it begins, or as it is in the end.
func (r *response) item(raw json.RawMessage, e *event, done bool) error {
	var o outputItem
	if len(raw) == 0 {
		return nil
	}
	if err := decodeLeniently(raw, &o); err != nil {
		return err
	}
	index := -1
	if e != nil && e.OutputIndex.ok {
		index = int(e.OutputIndex.value)
	}
	var it *incomingItem
	if done {
		it = r.find(string(o.Type), string(o.ID), index)
	}
	if it == nil || it.callID != "" && o.CallID != "" && it.callID != string(o.CallID) {
		it = r.begin(string(o.Type), string(o.ID), index)
	}
	it.id, it.callID, it.name = cmp.Or(it.id, string(o.ID)), cmp.Or(it.callID, string(o.CallID)), cmp.Or(it.name, string(o.Name))
	if it.kind == itemCall {
		r.call(it, "")
	}
	if done {
		it.raw = raw
		r.fill(it, &o)
	}
	return nil
}

// fill says what of a whole item no delta has told.
func (r *response) fill(it *incomingItem, o *outputItem) {
	switch it.kind {
	case itemMessage:
		for i := range o.Content {
			r.complete(it, int64(i), o.Content[i].said())
			r.sources.add(o.Content[i].Annotations)
		}
	case itemReasoning:
		if it.source != "" {
			return
		}
		said := saidIn(o.Content)
		if said == "" {
			said = saidIn(o.Summary)
		}
		r.think(it, "whole", 0, said)
	case itemCall:
		if !it.began {
			r.call(it, string(o.Arguments))
		}
	}
}

// end takes the response object at the end of an answer, and the frame that it came in.
func (r *response) end(kind string, raw json.RawMessage, frame []byte) error {
	var o outcome
	if len(raw) > 0 {
		if err := decodeLeniently(raw, &o); err != nil {
			return err
		}
	}
	status := string(o.Status)
	if kind != "" && kind != "done" {
		status = kind
	}
	if o.Usage != nil {
		r.accumulator.Usage(o.Usage.counts())
	}
	if err := r.summary(o.Output); err != nil {
		return err
	}
	switch {
	case status == "failed", isFault(o.Error):
		if isFault(o.Error) {
			frame = raw
		}
		return r.failure(frame)
	case status == "cancelled", status == "canceled":
		return &llm.Error{Kind: llm.KindServer, Ref: r.ref, Message: "the server cancelled the answer"}
	case status == "in_progress", status == "queued":
		return nil // the object of an answer that is not there yet
	}
	r.status, r.reason = cmp.Or(status, "completed"), strings.ToLower(string(o.Incomplete.Reason))
	r.watch.finishing()
	return nil
}

// summary takes the items that the end of the answer lists: those that came already in their order, and those that did not.
func (r *response) summary(output []json.RawMessage) error {
	matched := make([]bool, len(r.items))
	for i, raw := range output {
		var o outputItem
		if err := decodeLeniently(raw, &o); err != nil {
			return err
		}
		at := r.match(&o, i, matched)
		if at < 0 {
			if err := r.item(raw, nil, true); err != nil {
				return err
			}
			continue
		}
		matched[at] = true
		if it := r.items[at]; it.raw == nil {
			it.callID, it.name, it.raw = cmp.Or(it.callID, string(o.CallID)), cmp.Or(it.name, string(o.Name)), raw
			r.fill(it, &o)
		}
	}
	return nil
}

// match finds the item that has come already among those that nothing was matched with; -1 where there is none.
func (r *response) match(o *outputItem, index int, matched []bool) int {
	for i, taken := range matched {
		it := r.items[i]
		if !taken && it.kind == string(o.Type) && (it.id != "" && it.id == string(o.ID) || it.callID != "" && it.callID == string(o.CallID)) {
			return i
		}
	}
	for i, taken := range matched {
		it := r.items[i]
		if !taken && it.kind == string(o.Type) && (it.index == index || it.index < 0) && (it.callID == "" || o.CallID == "") {
			return i
		}
	}
	return -1
}

// say tells words of a message. Several messages of one answer stand apart.
func (r *response) say(it *incomingItem, part int64, words string) {
	if words == "" {
		return
	}
	it.told[part] = true
	at := place{it, 0}
	if r.spoke.item != nil && r.spoke != at {
		r.accumulator.Text(betweenText)
	}
	r.spoke = at
	r.accumulator.Text(words)
}

// complete tells a part of a message that no delta has told.
func (r *response) complete(it *incomingItem, part int64, words string) {
	if !it.told[part] {
		r.say(it, part, words)
	}
}

// think tells reasoning, of which an item may have a summary and the thing itself: the one that comes first is told.
func (r *response) think(it *incomingItem, source string, part int64, words string) {
	if words == "" || it.source != "" && it.source != source {
		return
	}
	it.source = source
	at := place{it, part}
	if r.thought.item != nil && r.thought != at {
		r.accumulator.Reasoning(betweenText)
	}
	r.thought = at
	r.accumulator.Reasoning(words)
}

// call tells a piece of a call, once its name is known.
func (r *response) call(it *incomingItem, arguments string) {
	if it.name == "" {
		it.pending += arguments
		return
	}
	arguments, it.pending = it.pending+arguments, ""
	it.began = it.began || arguments != ""
	r.accumulator.Call(llm.CallPart{Index: it.position, HasIndex: true, ID: it.callID, Name: it.name, Arguments: arguments})
}

// failure is the error that an event tells, wherever in it.
func (r *response) failure(raw []byte) error {
	f, ok := parseFault(raw)
	if !ok {
		f = fault{message: "the server could not finish the answer, and does not say why"}
	}
	return r.exchange.fault(f, nil)
}

func (r *response) finish(reply llm.Reply) (llm.Reply, error) {
	where := shown(r.exchange.at)
	reply.Citations = r.sources
	switch {
	case !r.known && !r.frames.done && reply.IsEmpty():
		return reply, &llm.Error{
			Kind: llm.KindProtocol, Ref: r.ref, Message: where + " answered with something that is no response", Hint: r.baseHint() + otherAPI,
		}
	case r.status == "" && !r.frames.done:
		return reply, r.truncated(where)
	case r.status == "completed":
		reply.Wire = r.keep(reply.Calls)
	}
	return r.judge(reply, r.reason)
}

// otherAPI goes on after what else can be wrong.
const otherAPI = "; if the server has no Responses API, set `api: chat_completions` for it in the configuration"

// adviseOtherAPI says what else a refusal can mean.
func adviseOtherAPI(err error) error {
	var e *llm.Error
	if errors.As(err, &e) && e.Kind == llm.KindNotFound && !noModelText.MatchString(e.Message) {
		e.Hint += otherAPI
	}
	return err
}
