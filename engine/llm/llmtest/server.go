// Package llmtest is a fake server of Chat Completions and of the Responses API for tests. It answers what a test tells it to, in any shape and at any
// pace, and refuses with 400 whatever the strictest real server refuses, so that a test sees a request that some server
// would not take. It knows the wire format alone, and nothing of how Bureau builds a request. A Server is safe for
// concurrent use; the answer function is called from many goroutines at once.
package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Server is a fake model server on the loopback. It ends with its test.
type Server struct {
	// URL is the base URL, which ends in /v1.
	URL string

	answer func(*Request) Response
	rules  rules
	http   *httptest.Server

	mu        sync.Mutex
	requests  []*Request
	refused   []string
	open      int
	reasoning map[string]string // by call id, what was thought before it
	sent      map[string]sentItem
	models    []string
}

// Option makes a server stricter, or says what it offers.
type Option func(*Server)

// RefuseNullContent refuses a message whose content is null, as Ollama does.
func RefuseNullContent() Option { return func(s *Server) { s.rules.refuseNull = true } }

// RefuseEmptyContent refuses a message whose content is the empty text, as Bedrock does.
func RefuseEmptyContent() Option { return func(s *Server) { s.rules.refuseEmpty = true } }

// RequireContent refuses a message that has no content field at all, as some vLLM servers do.
func RequireContent() Option { return func(s *Server) { s.rules.requireContent = true } }

// StrictTemplate takes one system message, which must be the first, and then user and assistant in turn (tool messages
// belong to the assistant's side), as the chat templates of local models do.
func StrictTemplate() Option { return func(s *Server) { s.rules.strictTemplate = true } }

// ShortCallIDs takes call ids of nine letters and digits only, and no user message right after a tool's, as Mistral does.
func ShortCallIDs() Option { return func(s *Server) { s.rules.shortIDs = true } }

// RequireReasoning refuses an assistant message with calls that does not carry the reasoning_content that came with them,
// as DeepSeek does.
func RequireReasoning() Option { return func(s *Server) { s.rules.requireReasoning = true } }

// Window refuses a prompt of more than tokens, counted as a quarter of its bytes, with context_length_exceeded.
func Window(tokens int) Option { return func(s *Server) { s.rules.window = tokens } }

// Models is what the server lists; without it, one model named "test".
func Models(names ...string) Option { return func(s *Server) { s.models = names } }

// NewServer starts a server that answers each request that it does not refuse with what answer returns.
func NewServer(t testing.TB, answer func(*Request) Response, options ...Option) *Server {
	t.Helper()
	s := &Server{answer: answer, reasoning: map[string]string{}, sent: map[string]sentItem{}, models: []string{"test"}}
	for _, option := range options {
		option(s)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		s.complete(w, r, parse, func(req *Request) *refusal { return s.rules.check(req, s.reasoning) })
	})
	mux.HandleFunc("POST /v1/responses", func(w http.ResponseWriter, r *http.Request) {
		s.complete(w, r, parseResponses, func(req *Request) *refusal { return s.rules.checkResponses(req, s.sent) })
	})
	mux.HandleFunc("GET /v1/models", s.list)
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL + "/v1"
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// Requests returns all requests so far, the refused ones too, in the order of their arrival.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Request(nil), s.requests...)
}

// Refused returns why requests were refused by the server's own rules, one line for each refusal.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.refused...)
}

// Open counts the answers that are under way.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Sequence answers the requests in order of arrival with the given responses; one more request than responses fails the test.
func Sequence(t testing.TB, responses ...Response) func(*Request) Response {
	t.Helper()
	var mu sync.Mutex
	next := 0
	return func(r *Request) Response {
		mu.Lock()
		defer mu.Unlock()
		if next >= len(responses) {
			t.Errorf("llmtest: request %d, but only %d responses were given; the last user text is %q", next+1, len(responses), r.Last)
			return Response{Status: http.StatusBadRequest, Body: `{"error":{"message":"no response left"}}`}
		}
		next++
		return responses[next-1]
	}
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request, parse func([]byte) (*Request, *refusal), check func(*Request) *refusal) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	req, fault := parse(body)
	req.Header = r.Header.Clone()

	s.mu.Lock()
	s.requests = append(s.requests, req)
	req.number = len(s.requests)
	s.open++
	if fault == nil {
		fault = check(req)
	}
	if fault != nil {
		s.refused = append(s.refused, fault.message)
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.open--
		s.mu.Unlock()
	}()

	if fault != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		writeJSON(w, map[string]any{"error": map[string]any{
			"message": fault.message, "type": "invalid_request_error", "param": nil, "code": fault.code,
		}})
		return
	}
	resp := s.answer(req)
	if req.Responses {
		s.mu.Lock()
		resp.remember(req, s.sent)
		s.mu.Unlock()
	} else if resp.Reasoning != "" {
		s.mu.Lock()
		for i, call := range resp.Calls {
			s.reasoning[call.id(i)] = resp.Reasoning
		}
		s.mu.Unlock()
	}
	resp.write(w, r, req)
}

func (s *Server) list(w http.ResponseWriter, _ *http.Request) {
	data := []map[string]any{}
	for _, name := range s.models {
		data = append(data, map[string]any{"id": name, "object": "model", "created": 1700000000, "owned_by": "test"})
	}
	w.Header().Set("Content-Type", "application/json")
	writeJSON(w, map[string]any{"object": "list", "data": data})
}

func writeJSON(w io.Writer, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("llmtest: %v", err))
	}
	_, _ = w.Write(b) // the client may have gone
}
