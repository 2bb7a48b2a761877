package engine

import (
	"sync"

	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/tool"
	"bureau/engine/weave"
)

// notices are the warnings that were told of a model: each once, however often its cause comes back.
type notices struct {
	mu   sync.Mutex
	told map[notice]bool
}

type notice struct {
	about string
	model llm.Ref
}

func (n *notices) first(about string, model llm.Ref) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := notice{about, model}
	if n.told[key] {
		return false
	}
	if n.told == nil {
		n.told = map[notice]bool{}
	}
	n.told[key] = true
	return true
}

// A prompt is taken for cut where the server counted less than this share of what was sent, or exactly a usual window, and
// not so few tokens that it may have counted only what it had not read before.
const (
	cutShare    = 0.6
	windowShare = 0.9
	leastCount  = 1000
)

// noticeCut warns of a local server that silently leaves out the beginning of a prompt that is longer than its window:
// instructions and tools, of all things. Only its count of the prompt gives it away.
func (r *run) noticeCut(model llm.Model, request llm.Request, reply llm.Reply) {
	local, ok := model.(interface{ IsLocal() bool })
	if !ok || !local.IsLocal() || !reply.HasUsage || reply.Usage.InputTokens < leastCount {
		return
	}
	counted := float64(reply.Usage.InputTokens)
	sent := weave.Tokens(request.Messages) + weave.ToolTokens(request.Tools)
	if counted > cutShare*float64(sent) && !(isUsualWindow(reply.Usage.InputTokens) && float64(sent) > windowShare*counted) {
		return
	}
	if r.turn.engine.notices.first("cut", model.Ref()) {
		r.warn("%s was sent about %d tokens and read only %d: its server seems to cut prompts silently, beginning with the instructions. "+
			"Give the model a larger window (with Ollama num_ctx in the Modelfile, or OLLAMA_CONTEXT_LENGTH for the server), and name it as "+
			"window under the model in config.yaml.", model.Ref(), sent, reply.Usage.InputTokens)
	}
}

// isUsualWindow tells whether a count is 2,048 times a power of two, as servers set their windows.
func isUsualWindow(count int64) bool { return count >= 2048 && count&(count-1) == 0 }

// writtenCall takes a reply's text for the call that it is, where the model wrote down a call in place of making it. Words
// that only look like a call are an answer, with a warning.
func (r *run) writtenCall(model llm.Ref, reply llm.Reply) (llm.Call, bool) {
	if len(reply.Calls) > 0 || reply.Finish == llm.FinishLength {
		return llm.Call{}, false
	}
	call, written := llm.ReadWritten(reply.Text, r.role.offered)
	if written == llm.WrittenCall && r.fits(call) {
		return call, true
	}
	if written != llm.WrittenWords && r.turn.engine.notices.first("written", model) {
		r.warn("This model wrote a tool call as text: %s. Nothing was carried out. Its server may lack a template for tools, or the model may not be made for them.", model)
	}
	return llm.Call{}, false
}

// fits tells whether a call would be carried out: its arguments are sound, and those of its tool.
func (r *run) fits(call llm.Call) bool {
	object, err := tool.Arguments(call.Arguments)
	if err != nil {
		return false
	}
	if send, ok := r.role.sends[call.Name]; ok {
		_, err := send.read(call.Name, object)
		return err == nil
	}
	if own, ok := r.role.own.Get(call.Name); ok {
		_, unknown, err := tool.Clean(own.Definition(), object)
		return err == nil && len(unknown) == 0
	}
	_, isHandoff := r.role.handoffs[call.Name]
	return isHandoff
}

// replaceWords puts a call in the place of the words in which a model wrote it down: the words stay on record as failed, so
// that neither a reader nor a model takes them for an answer, and the call follows.
func (rec *recorder) replaceWords(call llm.Call) {
	rec.words.row.Status = history.StatusFailed
	rec.words.row.Extra.Hint = "The model wrote this call as text; it is carried out as the call that follows."
	o := rec.beginCall(llm.CallDelta{Name: call.Name})
	rec.add(o, history.EventCallArgs, call.Arguments)
}
