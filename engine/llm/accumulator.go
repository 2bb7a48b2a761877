package llm

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"bureau/engine/history"
)

// Accumulator puts a streamed reply together from pieces as servers really send them: calls without an index or an id,
// with repeated ones, sent again from the start or summed up at the end; thinking between tags in the text. It tells each
// addition as a Delta at once. It belongs to one goroutine and one reply.
//
// The Reply is what counts. Its text is the text deltas joined, with one exception: when a closing think tag comes
// without an opening one, what was told as text before it turns out to have been reasoning, and is that in the Reply.
type Accumulator struct {
	on        func(Delta)
	tools     []string
	think     thinkSplitter
	text      []byte
	reasoning []byte
	slots     []*callSlot
	wire      map[string]json.RawMessage
	usage     history.Usage
	hasUsage  bool
}

// CallPart is a piece of a tool call as a server sent it.
type CallPart struct {
	// Index is the server's; HasIndex tells whether it gave one.
	Index    int
	HasIndex bool
	ID       string
	Name     string
	// Arguments is text to add; what came as an object is given as its compact JSON.
	Arguments string
	// Wire is the fields of the call that are none of the above, by name.
	Wire map[string]json.RawMessage
}

// callSlot is a call in the making.
type callSlot struct {
	index    int // the server's; -1 where it gave none
	id       string
	name     string
	args     []byte
	wire     map[string]json.RawMessage
	position int  // among the reply's calls
	empty    bool // an empty object came before anything else
	told     bool // its first delta has been told
	resent   bool // the server sends everything so far with every piece
}

// NewAccumulator returns an empty accumulator. It calls on for every addition; tools are the names on offer, by which a
// name that comes in pieces is known.
func NewAccumulator(tools []string, on func(Delta)) *Accumulator {
	a := &Accumulator{on: on, tools: tools}
	a.think.text = a.addText
	a.think.reasoning = a.addReasoning
	return a
}

// Text adds a piece of the answer's text, in which thinking may stand between tags.
func (a *Accumulator) Text(piece string) {
	if piece != "" {
		a.think.write(piece)
	}
}

// Reasoning adds a piece of reasoning that came in a field of its own.
func (a *Accumulator) Reasoning(piece string) {
	if piece != "" {
		a.think.separate()
		a.addReasoning(piece)
	}
}

// Wire keeps a field of the assistant message that the server wants back unchanged.
func (a *Accumulator) Wire(name string, value json.RawMessage) {
	if a.wire == nil {
		a.wire = map[string]json.RawMessage{}
	}
	a.wire[name] = value
}

// Usage notes what the request took so far; the last report counts, unless it is all zeros.
func (a *Accumulator) Usage(u history.Usage) {
	if a.hasUsage && u.Tokens() == 0 {
		return
	}
	a.usage, a.hasUsage = u, true
}

// Started tells whether any text, reasoning or call has come.
func (a *Accumulator) Started() bool {
	return len(a.text) > 0 || len(a.reasoning) > 0 || len(a.slots) > 0 || a.think.holds()
}

// Call adds a piece of a tool call.
func (a *Accumulator) Call(p CallPart) {
	slot := a.slotFor(p)
	if slot == nil {
		return
	}
	if slot.id == "" {
		slot.id = p.ID
	}
	a.addName(slot, p.Name)
	if len(p.Wire) > 0 {
		if slot.wire == nil {
			slot.wire = map[string]json.RawMessage{}
		}
		maps.Copy(slot.wire, p.Wire)
	}
	if piece := slot.addition(p.Arguments); piece != "" {
		a.tell(slot)
		slot.args = append(slot.args, piece...)
		a.on(Delta{Call: &CallDelta{Index: slot.position, Arguments: piece}})
	}
}

// Reply tells what was held back and returns the whole, but for its Finish. Calls stand in the order in which they were begun, with their
// arguments as they came; none at all are {}.
func (a *Accumulator) Reply() Reply {
	a.think.flush()
	r := Reply{
		Text: string(a.text), Reasoning: string(a.reasoning), Usage: a.usage, HasUsage: a.hasUsage, Wire: a.wire,
	}
	if thinking, answer, ok := a.think.afterLiteralTag(r.Reasoning); ok {
		a.addText(answer)
		r.Text, r.Reasoning = string(a.text), thinking
	}
	if cut := a.think.textWasReasoning; cut > 0 {
		r.Text, r.Reasoning = string(a.text[cut:]), string(a.reasoning)+string(a.text[:cut])
	}
	for _, slot := range a.slots {
		a.tell(slot)
		args := string(slot.args)
		if strings.TrimSpace(args) == "" {
			args = "{}"
		}
		r.Calls = append(r.Calls, Call{ID: slot.id, Name: slot.name, Arguments: args, Wire: slot.wire})
	}
	return r
}

func (a *Accumulator) addText(piece string) {
	a.text = append(a.text, piece...)
	a.on(Delta{Text: piece})
}

func (a *Accumulator) addReasoning(piece string) {
	a.reasoning = append(a.reasoning, piece...)
	a.on(Delta{Reasoning: piece})
}

// tell announces a call once, before anything else is told of it.
func (a *Accumulator) tell(slot *callSlot) {
	if slot.told {
		return
	}
	slot.told = true
	a.on(Delta{Call: &CallDelta{Index: slot.position, ID: slot.id, Name: slot.name}})
}

// slotFor decides which call a piece belongs to; nil means that it adds nothing.
func (a *Accumulator) slotFor(p CallPart) *callSlot {
	if looksComplete(p.Arguments) && a.repeats(p) {
		return nil
	}
	if p.ID != "" {
		return a.slotByID(p)
	}
	var slot *callSlot
	if p.HasIndex {
		slot = a.byIndex(p.Index)
	} else if n := len(a.slots); n > 0 {
		slot = a.slots[n-1]
	}
	switch {
	case slot == nil:
		if p.Name == "" && p.Arguments == "" {
			return nil
		}
		return a.open(p)
	case p.Name == "" && !looksComplete(p.Arguments):
		return slot
	case len(slot.args) == 0 && !slot.empty && a.isOther(slot, p.Name):
		return a.open(p)
	case !slot.complete():
		return slot
	case p.Name == "":
		return nil // what is whole is summed up again, in other words
	case !p.HasIndex || p.Name != slot.name || strings.HasPrefix(strings.TrimSpace(p.Arguments), "{"):
		return a.open(p)
	default:
		return slot
	}
}

// slotByID decides for a piece that has an id: a new id is a new call, whatever its index is.
func (a *Accumulator) slotByID(p CallPart) *callSlot {
	slot := a.byID(p.ID)
	if slot == nil {
		if p.HasIndex {
			if slot = a.byIndex(p.Index); slot != nil && slot.id == "" && (p.Name == "" || !slot.complete()) {
				return slot
			}
		}
		return a.open(p)
	}
	moved := p.HasIndex && slot.index >= 0 && slot.index != p.Index && p.Name != "" && a.byIndex(p.Index) == nil
	switch {
	case moved && slot.complete():
		return a.open(p) // one id for two calls
	case isComplete(p.Arguments) && isObject(slot.args):
		return nil
	default:
		return slot
	}
}

// isOther tells whether a name is that of another tool than the call's, and no further piece of the call's own.
func (a *Accumulator) isOther(slot *callSlot, name string) bool {
	return name != "" && name != slot.name && slices.Contains(a.tools, slot.name) && slices.Contains(a.tools, name) &&
		!a.beginsTool(slot.name+name)
}

func (a *Accumulator) beginsTool(name string) bool {
	return slices.ContainsFunc(a.tools, func(tool string) bool { return strings.HasPrefix(tool, name) })
}

// repeats tells whether the arguments are those of a call that is there already: a server's summary at the end.
func (a *Accumulator) repeats(p CallPart) bool {
	if len(a.slots) == 0 {
		return false
	}
	whole := compact([]byte(p.Arguments))
	var text string
	if json.Unmarshal(whole, &text) == nil {
		whole = compact([]byte(text))
	}
	if whole == nil {
		return false
	}
	for _, slot := range a.slots {
		switch {
		case p.ID != "" && slot.id != p.ID:
		case p.Name != "" && slot.name != p.Name:
		case p.ID == "" && p.HasIndex && slot.index >= 0 && slot.index != p.Index:
		case slot.empty && string(whole) == "{}", bytes.Equal(compact(slot.args), whole):
			return true
		}
	}
	return false
}

// open begins a new call.
func (a *Accumulator) open(p CallPart) *callSlot {
	slot := &callSlot{index: -1, position: len(a.slots)}
	if p.HasIndex {
		slot.index = p.Index
	}
	if n := len(a.slots); n > 0 {
		a.tell(a.slots[n-1])
	}
	a.slots = append(a.slots, slot)
	return slot
}

func (a *Accumulator) byID(id string) *callSlot {
	for i := len(a.slots) - 1; i >= 0; i-- {
		if a.slots[i].id == id {
			return a.slots[i]
		}
	}
	return nil
}

// byIndex finds the latest call of an index: a server that gives all the same one means the last by it.
func (a *Accumulator) byIndex(index int) *callSlot {
	for i := len(a.slots) - 1; i >= 0; i-- {
		if a.slots[i].index == index {
			return a.slots[i]
		}
	}
	return nil
}

// addName sets the name of a call; a further piece counts only while the call has no arguments and together they begin a
// tool's name.
func (a *Accumulator) addName(slot *callSlot, name string) {
	switch {
	case name == "" || slot.told || name == slot.name:
	case slot.name == "":
		slot.name = name
	case len(slot.args) == 0 && a.beginsTool(slot.name+name):
		slot.name += name
	}
}

// addition is what a piece of arguments adds: all of it, or what is new when the server sends everything so far again.
// An empty object at first is held back, for some servers put it before the real one.
func (s *callSlot) addition(piece string) string {
	have := len(s.args)
	if have == 0 && strings.TrimSpace(piece) == "{}" {
		s.empty = true
		return ""
	}
	if have == 0 || piece == "" || s.args[0] != '{' || piece[0] != '{' {
		return piece
	}
	if len(piece) > have && piece[:have] == string(s.args) {
		s.resent = true
		return piece[have:]
	}
	if s.resent && len(piece) <= have && string(s.args[:len(piece)]) == piece {
		return ""
	}
	return piece
}

// complete tells whether the arguments are a whole object.
func (s *callSlot) complete() bool {
	if len(s.args) == 0 {
		return s.empty
	}
	return isObject(s.args)
}

// looksComplete tells at little cost whether text can be a JSON object or a JSON text of one.
func looksComplete(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) >= 2 && (text[0] == '{' && text[len(text)-1] == '}' || text[0] == '"' && text[len(text)-1] == '"')
}

// isComplete tells whether text is an object in JSON, or a JSON text that holds one.
func isComplete(text string) bool {
	if !looksComplete(text) {
		return false
	}
	if text = strings.TrimSpace(text); text[0] == '{' {
		return json.Valid([]byte(text))
	}
	var inner string
	return json.Unmarshal([]byte(text), &inner) == nil && strings.HasPrefix(strings.TrimSpace(inner), "{") && json.Valid([]byte(inner))
}

func isObject(args []byte) bool {
	args = bytes.TrimSpace(args)
	return len(args) >= 2 && args[0] == '{' && args[len(args)-1] == '}' && json.Valid(args)
}

func compact(text []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return nil
	}
	return b.Bytes()
}
