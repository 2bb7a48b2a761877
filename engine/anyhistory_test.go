package engine_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"bureau/engine/history"
	"bureau/engine/llm/llmtest"
	"bureau/engine/llm/openai"
)

// isAboutItems tells whether a server refused what it is said to have sent, which is then sent without.
var isAboutItems = regexp.MustCompile(`encrypted content|not persisted|required (following|'reasoning')|^(invalid|unknown|duplicate).*(input\[|item)`)

// anyRow is a row as a killed, cancelled, failed or foreign program may have left it.
func anyRow(r *rand.Rand) history.Message {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	long := strings.Repeat("long ", 400)
	m := history.Message{
		Agent: pick("A", "A", "B", "C", "Gone 🦊"), CallerAgent: pick("", "", "", "A", "B"),
		Type:    history.Type(pick("message", "message", "function_call", "function_call", "function_call_output", "function_call_output", "reasoning", "other")),
		Content: pick("", " \n", "text", "text", "Grüße 世界", "\xff\xfe half", "\x00\x1b[31m", long), RunID: pick("r1", "r1", "r2", ""),
		ParentRunID: pick("", "r1"), ParentCallID: pick("", "", "c1", "c2"), TraceID: "t",
		Protocol: history.Protocol(pick("chat_completions", "responses")),
		Status:   history.Status(pick("completed", "completed", "completed", "interrupted", "failed", "streaming")),
		Origin:   history.Origin(pick("", "", "", "handoff_reminder", "recipient_reminder", "error", "other")),
	}
	switch m.Type {
	case history.TypeMessage:
		m.Role = history.Role(pick("user", "assistant", "assistant", "system", "system", "tool", ""))
	case history.TypeCall, history.TypeOutput:
		m.CallID = pick("c1", "c1", "c2", "c3", "", "\xff", "\xfe", "call ü "+strings.Repeat("x", 80), "c1_2", "call_2")
		m.Name = pick("look", "send_message", "transfer_to_B", "", "no such tool", "名前", strings.Repeat("n", 100), "bad\xffname")
	}
	if m.Type == history.TypeCall {
		m.Arguments = pick("{}", `{"x":1}`, "", "null", "[1]", `"text"`, `{"x":`, `{"x":1,"x":2}`, "{\"x\":\"\xff\"}", `{"x":"\ud800"}`, `{"recipient_agent":"B","message":"m"}`)
	}
	if r.IntN(3) == 0 {
		m.Extra.Model = pick("strict/A", "other/A", "strict")
		m.Extra.IsError = r.IntN(2) == 0
		m.Extra.Wire = map[string]json.RawMessage{
			"extra_content": json.RawMessage(`{"google":{"thought_signature":"x"}}`),
			"items": json.RawMessage("[" + pick("", "null", "1", encryptedItem, encryptedItem+","+secondItem, bareItem, wordsItem, encryptedItem+","+wordsItem,
				lookItem, secondItem+","+lookItem, lookItem+","+wordsItem, `{"type":"web_search_call","id":"ws_1"}`, `{"type":"function_call","id":7,"call_id":null,"name":"look","arguments":{}}`,
				`{"type":"message","role":"user","content":[{"type":"input_text","text":"text"}]}`, `{"type":"message","role":"assistant","id":"x","extra":1,"content":[{"type":"output_text","text":"text"}]}`) + "]"),
		}
	}
	return m
}

// Whatever is on record, the next request is one that the strictest server accepts.
func TestNextRequestIsValidWhateverIsOnRecord(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]setup{
		"plain":    {server: []llmtest.Option{llmtest.RefuseEmptyContent()}},
		"template": {server: []llmtest.Option{llmtest.StrictTemplate(), llmtest.RefuseEmptyContent()}, dialect: openai.Dialect{OneSystemFirst: true}},
		"short ids": {
			server:  []llmtest.Option{llmtest.StrictTemplate(), llmtest.ShortCallIDs()},
			dialect: openai.Dialect{OneSystemFirst: true, ShortCallIDs: true},
		},
		"small window": {window: 600},
		"responses":    {protocol: history.ProtocolResponses, refusals: true}, // of items that the server never sent
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.tools = gives("look", "seen").(fake).alone()
			b := s.bench(t, "agents:\n  A: {instructions: x, tools: [look]}\n  B: {instructions: x}\n  C: {instructions: x}\n"+
				"communication_flows: [A > B > C, A > B: handoff, B > A]\n", play{
				"A": func(r *llmtest.Request) llmtest.Response {
					results := strings.Join(r.Results(), "\n")
					switch {
					case strings.HasPrefix(r.Last, "again"), strings.Contains(results, "assistant"):
						return text("f")
					case strings.Contains(results, "B says"):
						return calls(handoff("", "B"))
					default:
						return calls(send("c1", "B", "now"), call("c2", "look", "{}"))
					}
				}, "B": says("B says"),
			})
			for seed := range uint64(8) {
				r := rand.New(rand.NewPCG(seed, 0))
				rows := make([]history.Message, r.IntN(40))
				for i := range rows {
					rows[i] = anyRow(r)
				}
				session := fmt.Sprint(seed)
				if err := b.store.Import(t.Context(), b.newSession(session), rows); err != nil {
					t.Fatal(err)
				}
				for _, message := range []string{"now", "again"} {
					if _, err := b.engine.Turn(t.Context(), turnOf(session, "A", message)); err != nil {
						t.Fatalf("seed %d, message %q: %v\n%s", seed, message, err, strings.Join(b.server.Refused(), "\n"))
					}
				}
				after, err := b.store.All(t.Context(), session, 0, 100)
				if err != nil {
					t.Fatal(err)
				}
				for _, reason := range b.server.Refused() {
					if !isAboutItems.MatchString(reason) {
						t.Fatalf("seed %d: refused: %s", seed, reason)
					}
				}
				for i, m := range rows {
					if after[i].Content != m.Content || after[i].Arguments != m.Arguments || after[i].Name != m.Name {
						t.Fatalf("seed %d: row %d has changed from %+v to %+v", seed, i, m, after[i])
					}
				}
			}
		})
	}
}
