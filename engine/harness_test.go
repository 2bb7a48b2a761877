package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"bureau/agencies"
	"bureau/engine"
	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/llm/llmtest"
	"bureau/engine/llm/openai"
	"bureau/engine/tool"
	"bureau/store"
)

// emptyDatabase is the file that every test begins with: making its tables takes longer than most tests.
var emptyDatabase []byte

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "engine")
	if err == nil {
		emptyDatabase, err = newDatabase(filepath.Join(dir, "empty.db"))
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func newDatabase(path string) ([]byte, error) {
	s, err := store.Open(context.Background(), path)
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// play says what an agent's model answers to a request. The model of an agent is called by the agent's name.
type play map[string]func(*llmtest.Request) llmtest.Response

// setup is what a bench may have otherwise than most.
type setup struct {
	tools   []tool.Tool
	server  []llmtest.Option
	dialect openai.Dialect
	window  int // of every model, in tokens; 0 is 100,000
	price   func(llm.Ref, history.Usage) *float64
	// decide answers for the user; nil is nobody.
	decide func(context.Context, engine.Question) engine.Answer
	// model gives each agent a model in memory, in place of one over HTTP.
	model func(agent string) llm.Model
	// log stands between the engine and the database.
	log func(*store.Store) engine.Log
	// rows are imported before the first turn.
	rows []history.Message
	// folder is where commands run; empty is that of the test.
	folder string
	// protocol is that of every model; empty is Chat Completions. A test may change it between turns.
	protocol history.Protocol
	// at is a server that another bench has begun.
	at *llmtest.Server
	// refusals says that the server is expected to refuse.
	refusals bool
}

// bench is an engine on a real database, whose agents' models are played by a strict server over HTTP.
type bench struct {
	t        testing.TB
	setup    setup
	agency   *agencies.Agency
	registry *tool.Registry
	store    *store.Store
	stores   []*store.Store // all that a test has opened
	server   *llmtest.Server
	engine   *engine.Engine
	session  string
	// abandoned says that a turn is left behind unfinished.
	abandoned bool

	mu     sync.Mutex
	events []history.Event
	// watching are called with every event, until they return true.
	watching []func(history.Event) bool
}

// newBench begins a session with the agency of a YAML text that holds all but its name.
func newBench(t testing.TB, yaml string, p play, tools ...tool.Tool) *bench {
	t.Helper()
	return setup{tools: tools}.bench(t, yaml, p)
}

func (s setup) bench(t testing.TB, yaml string, p play) *bench {
	t.Helper()
	b := &bench{t: t, setup: s, session: "s", registry: &tool.Registry{}}
	if b.server = s.at; s.model == nil && s.at == nil {
		b.server = llmtest.NewServer(t, func(r *llmtest.Request) llmtest.Response {
			if answer := p[r.Model]; answer != nil {
				return answer(r)
			}
			return llmtest.Response{Text: r.Model + " answers " + r.Last}
		}, s.server...)
	}
	if err := b.registry.Register(s.tools...); err != nil {
		t.Fatal(err)
	}
	b.agency = b.parse(yaml)
	var err error
	path := filepath.Join(t.TempDir(), "test.db")
	if err := os.WriteFile(path, emptyDatabase, 0o600); err != nil {
		t.Fatal(err)
	}
	b.store, err = store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	b.stores = append(b.stores, b.store)
	t.Cleanup(func() {
		for _, s := range b.stores {
			s.Close()
		}
	})
	if s.rows == nil {
		b.begin(b.session)
	} else if err := b.store.Import(t.Context(), b.newSession(b.session), s.rows); err != nil {
		t.Fatal(err)
	}
	b.engine = b.newEngine(b.agency)
	t.Cleanup(func() {
		if s.log == nil && !b.abandoned {
			b.audit()
		}
		if b.server == nil || s.refusals {
			return
		}
		if refused := b.server.Refused(); len(refused) > 0 {
			t.Errorf("the strict server refused: %s", strings.Join(refused, "\n"))
		}
	})
	return b
}

// parse reads an agency from a YAML text that holds all but its name.
func (b *bench) parse(yaml string) *agencies.Agency {
	b.t.Helper()
	agency, err := agencies.Parse("test.yaml", []byte("name: test\n"+yaml), nil, agencies.Known{Tools: append(b.registry.Names(), engine.ToolNames()...), Providers: []string{"strict"}})
	if err != nil {
		b.t.Fatal(err)
	}
	return agency
}

// newEngine is one more engine on the same database and the same models.
func (b *bench) newEngine(agency *agencies.Agency) *engine.Engine {
	b.t.Helper()
	window := b.setup.window
	if window == 0 {
		window = 100_000
	}
	var log engine.Log = b.store
	if b.setup.log != nil {
		log = b.setup.log(b.store)
	}
	e, err := engine.New(engine.Options{
		Agency: agency, Log: log, Tools: b.registry.Pick, Price: b.setup.price, Decide: b.setup.decide,
		MayRunCommands: true, Folder: b.setup.folder,
		Model: func(_ context.Context, a agencies.Agent) (llm.Model, error) {
			if b.setup.model != nil {
				return b.setup.model(a.Name), nil
			}
			return openai.New(openai.Config{
				Ref: llm.Ref{Provider: "strict", Model: a.Name}, Window: window, API: b.setup.protocol,
				Provider: openai.Provider{Name: "strict", BaseURL: b.server.URL, Dialect: b.setup.dialect},
			})
		},
		Publish: func(e history.Event) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.events = append(b.events, e)
			b.watching = slices.DeleteFunc(b.watching, func(w func(history.Event) bool) bool { return w(e) })
		},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return e
}

func (b *bench) newSession(id string) history.Session {
	return history.Session{ID: id, Agency: "test", Recipient: b.agency.EntryPoints[0]}
}

// begin stores a session.
func (b *bench) begin(id string) {
	b.t.Helper()
	if err := b.store.CreateSession(b.t.Context(), b.newSession(id)); err != nil {
		b.t.Fatal(err)
	}
}

// say carries a message to its answer.
func (b *bench) say(to, text string) (engine.Result, error) {
	return b.engine.Turn(b.t.Context(), engine.Input{SessionID: b.session, Recipient: to, Text: text})
}

// ok carries a message to its answer, which must come.
func (b *bench) ok(to, text string) engine.Result {
	b.t.Helper()
	result, err := b.say(to, text)
	if err != nil {
		b.t.Fatalf("turn %q to %s: %v", text, to, err)
	}
	return result
}

// rows are all rows of the session, in order.
func (b *bench) rows() []history.Message {
	b.t.Helper()
	rows, err := b.store.All(b.t.Context(), b.session, 0, 10_000)
	if err != nil {
		b.t.Fatal(err)
	}
	return rows
}

// told are the events so far.
func (b *bench) told() []history.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.events)
}

// when returns what is closed at the first event of the type and agent from now on, those of the task that it is given left out.
func (b *bench) when(agent string, kind history.EventType) <-chan struct{} {
	happened := make(chan struct{})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watching = append(b.watching, func(e history.Event) bool {
		if e.Agent != agent || e.Type != kind || e.Role == history.RoleUser {
			return false
		}
		close(happened)
		return true
	})
	return happened
}

// custom are the values of the custom events of a name.
func (b *bench) custom(name string) []map[string]any {
	var values []map[string]any
	for _, e := range b.told() {
		if e.Type == history.EventCustom && e.Name == name {
			values = append(values, e.Value.(map[string]any))
		}
	}
	return values
}

// outputs are the stored outputs of the calls of an agent, in order.
func (b *bench) outputs(agent string) []string {
	var texts []string
	for _, m := range b.rows() {
		if m.Type == history.TypeOutput && m.Agent == agent {
			texts = append(texts, m.Content)
		}
	}
	return texts
}

// lines are all rows in short: agent<caller kind: content.
func (b *bench) lines() []string {
	b.t.Helper()
	var lines []string
	for _, m := range b.rows() {
		lines = append(lines, line(m))
	}
	return lines
}

func line(m history.Message) string {
	kind, content := string(m.Role), m.Content
	switch m.Type {
	case history.TypeCall:
		kind, content = "call "+m.Name, ""
	case history.TypeOutput:
		kind = "output"
	case history.TypeReason:
		kind = "reasoning"
	}
	if m.Origin != "" {
		kind, content = string(m.Origin), ""
	}
	out := fmt.Sprintf("%s<%s %s", m.Agent, m.CallerAgent, kind)
	if content != "" {
		out += ": " + content
	}
	if m.Status != history.StatusCompleted {
		out += " (" + string(m.Status) + ")"
	}
	return out
}

// asked are the requests that an agent's model got, in order.
func (b *bench) asked(agent string) []*llmtest.Request {
	var list []*llmtest.Request
	for _, r := range b.server.Requests() {
		if r.Model == agent {
			list = append(list, r)
		}
	}
	return list
}

// heard is what a request holds beside the system prompt, in short: role: content.
func heard(r *llmtest.Request) []string {
	var lines []string
	for i, m := range r.Messages {
		if i == 0 && m.Role == "system" {
			continue
		}
		text := m.Role + ": " + m.Content
		for _, c := range m.Calls {
			text += " +" + c.Name
		}
		lines = append(lines, text)
	}
	return lines
}
