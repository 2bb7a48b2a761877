package cmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"bureau/agencies"
	"bureau/engine"
	"bureau/engine/llm"
	"bureau/engine/llm/openai"
	"bureau/engine/llm/script"
	"bureau/engine/tool/builtin"
)

// defaultOpenAI is the model that a bare OPENAI_API_KEY stands for.
const defaultOpenAI = "gpt-5-mini"

// cloudWindow is the context window in tokens that is assumed of a service whose model is not configured: the smallest that
// the known services still offer for models that call tools.
const cloudWindow = 128_000

// findLimit is how long local servers may take to say that they are there.
const findLimit = 300 * time.Millisecond

// models decides which model runs for an agent, and makes it.
type models struct {
	config config
	env    environment
	// flag is --model, or the one that the session was begun with.
	flag   string
	agency *agencies.Agency
	// pace slows scripts down to be watched; 0 is full speed.
	pace float64
	// record, where it is set, gets all traffic with servers.
	record io.Writer
	// cassette, where it is set, stands in for every server: none is reached, and no key is needed.
	cassette http.RoundTripper

	mu       sync.Mutex
	made     map[string]llm.Model
	scripts  map[string]*script.Script // one for all agents: it counts what they rehearse
	fallback string                    // the reference that stands in where nothing is named; "" until it was looked for
}

// choice is a model reference, and why it was chosen.
type choice struct {
	ref     string
	offline bool
}

// named is what is said to run for an agent, without a look at any server; ok is false where nothing is.
func (m *models) named(agent agencies.Agent) (string, bool) {
	ref := cmp.Or(m.flag, agent.Model, m.agency.Model, m.config.Model)
	return ref, ref != ""
}

// choose decides for an agent. It may ask local servers, for at most findLimit, the first time.
func (m *models) choose(ctx context.Context, agent agencies.Agent) (choice, error) {
	ref, ok := m.named(agent)
	if !ok {
		var err error
		if ref, err = m.found(ctx); err != nil {
			return choice{}, err
		}
	}
	return choice{ref: ref, offline: strings.HasPrefix(ref, "script/")}, nil
}

// current is the choice for an agent as far as it is known by now; ok is false while it is not.
func (m *models) current(agent agencies.Agent) (choice, bool) {
	ref, ok := m.named(agent)
	if !ok {
		m.mu.Lock()
		ref = m.fallback
		m.mu.Unlock()
	}
	return choice{ref: ref, offline: strings.HasPrefix(ref, "script/")}, ref != ""
}

// found looks for a model where none is named: the one of OPENAI_API_KEY or OPENAI_BASE_URL, a local server, the script.
func (m *models) found(ctx context.Context) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fallback != "" {
		return m.fallback, nil
	}
	ref := m.fromVariables(ctx)
	if ref == "" {
		ref = firstLocal(ctx, m.providers())
	}
	if ref == "" && m.agency.Script != nil {
		ref = "script/" + m.agency.Name
	}
	if ref == "" {
		return "", usagef(waysToAModel, "no model is connected, and %s has no offline script", m.agency.Name)
	}
	m.fallback = ref
	return ref, nil
}

const waysToAModel = `Connect one: set OPENAI_API_KEY; or start a local server such as Ollama; or name one with --model, in the
agency file or in config.yaml. "bureau doctor" says what is reachable.`

func (m *models) fromVariables(ctx context.Context) string {
	base := m.env.get("OPENAI_BASE_URL")
	if base == "" && m.env.get("OPENAI_API_KEY") == "" {
		return ""
	}
	if base != "" {
		if c, err := m.connection(llm.Ref{Provider: "openai"}); err == nil {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			if list, err := openai.ListModels(ctx, c); err == nil && len(list) > 0 {
				if slices.ContainsFunc(list, func(i openai.ModelInfo) bool { return i.ID == defaultOpenAI }) {
					return "openai/" + defaultOpenAI
				}
				return "openai/" + talker(list)
			}
		}
	}
	return "openai/" + defaultOpenAI
}

// firstLocal asks the local servers at once, and takes the first in their order that answers and has a model.
func firstLocal(ctx context.Context, providers []openai.Provider) string {
	ctx, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	refs := make([]string, len(providers))
	var wait sync.WaitGroup
	for i, p := range providers {
		if p.Start == "" {
			continue
		}
		wait.Go(func() {
			list, err := openai.ListModels(ctx, openai.Config{Ref: llm.Ref{Provider: p.Name}, Provider: p})
			if err == nil && len(list) > 0 {
				refs[i] = p.Name + "/" + talker(list)
			}
		})
	}
	wait.Wait()
	return cmp.Or(refs...)
}

// noTalk matches names of models that make embeddings or rank texts.
var noTalk = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)embed|minilm|(^|[/-])(bge|gte|e5)-|rerank`) })

// talker is the first model of a list that can be expected to talk; where its names promise none, the first.
func talker(list []openai.ModelInfo) string {
	for _, model := range list {
		if !noTalk().MatchString(model.ID) {
			return model.ID
		}
	}
	return list[0].ID
}

// providers are those that are known by name and those of the configuration, the latter on top.
func (m *models) providers() []openai.Provider {
	all := openai.Providers()
	for i := range all {
		all[i] = m.configured(all[i])
	}
	for name, c := range m.config.Providers {
		if _, known := openai.Lookup(name); !known {
			all = append(all, m.configured(openai.Custom(name, c.BaseURL, c.APIKeyEnv)))
		}
	}
	slices.SortStableFunc(all[len(openai.Providers()):], func(a, b openai.Provider) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (m *models) configured(p openai.Provider) openai.Provider {
	c := m.config.Providers[p.Name]
	if base := cmp.Or(c.BaseURL, m.openAIBase(p.Name)); base != "" && base != p.BaseURL {
		custom := openai.Custom(p.Name, base, cmp.Or(c.APIKeyEnv, p.KeyEnv))
		custom.NeedsKey, custom.Start = c.APIKeyEnv != "", p.Start
		if p.Name != "openai" { // what is known by name keeps its ways at another address
			custom.Dialect, custom.Headers, custom.NeedsKey = p.Dialect, p.Headers, p.NeedsKey
		}
		p = custom
	}
	p.KeyEnv = cmp.Or(c.APIKeyEnv, p.KeyEnv)
	p.APIVersion = cmp.Or(c.APIVersion, p.APIVersion)
	return p
}

func (m *models) openAIBase(provider string) string {
	if provider != "openai" {
		return ""
	}
	return m.env.get("OPENAI_BASE_URL")
}

// key is a provider's key. An address that comes from a project's .env file gets only a key that the same file names.
func (m *models) key(p openai.Provider) string {
	if p.KeyEnv == "" {
		return ""
	}
	foreign := p.Name == "openai" && m.config.Providers["openai"].BaseURL == "" && m.env.fromFile("OPENAI_BASE_URL")
	if foreign {
		return m.env.file[p.KeyEnv]
	}
	return m.env.get(p.KeyEnv)
}

// provider finds a provider by its name.
func (m *models) provider(name string) (openai.Provider, error) {
	var names []string
	for _, p := range m.providers() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return openai.Provider{}, usagef(`Others are configured under providers in config.yaml, with a base_url.`,
		"there is no provider %q%s", name, suggest(name, names))
}

// connection says how a model is reached.
func (m *models) connection(ref llm.Ref) (openai.Config, error) {
	p, err := m.provider(ref.Provider)
	if err != nil {
		return openai.Config{}, err
	}
	c := m.config.Providers[ref.Provider]
	window := c.Models[ref.Model].Window
	if window == 0 && !p.IsLocal() {
		window = cloudWindow
	}
	timeouts := openai.Timeouts{
		Connect: time.Duration(c.Timeouts.Connect), FirstByte: time.Duration(c.Timeouts.FirstByte), Idle: time.Duration(c.Timeouts.Idle),
	}
	connection := openai.Config{
		Ref: ref, Provider: p, API: cmp.Or(c.Models[ref.Model].API, c.API), Key: func() string { return m.key(p) },
		Timeouts: timeouts, Window: window,
	}
	if m.cassette != nil {
		connection.Transport, connection.Key, connection.Provider.NeedsKey = m.cassette, nil, false
		connection.API = cmp.Or(script.Protocol(m.cassette), connection.API)
	}
	if m.record != nil {
		connection.Transport = script.Record(m.record, openai.NewTransport(p, timeouts))
	}
	return connection, nil
}

// forAgent makes the model that runs for an agent, once.
func (m *models) forAgent(ctx context.Context, agent agencies.Agent) (llm.Model, error) {
	c, err := m.choose(ctx, agent)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	key := agent.Name + "\x00" + c.ref
	if made, ok := m.made[key]; ok {
		return made, nil
	}
	model, err := m.make(agent.Name, c.ref)
	if err != nil {
		return nil, err
	}
	if m.made == nil {
		m.made = map[string]llm.Model{}
	}
	m.made[key] = model
	return model, nil
}

// parseRef reads provider/model.
func parseRef(ref string) (llm.Ref, error) {
	provider, model, ok := strings.Cut(ref, "/")
	if !ok || provider == "" || model == "" {
		return llm.Ref{}, usagef("", "a model is written provider/model, for example ollama/qwen3:8b, not %q", ref)
	}
	return llm.Ref{Provider: provider, Model: model}, nil
}

func (m *models) make(agent, reference string) (llm.Model, error) {
	ref, err := parseRef(reference)
	if err != nil {
		return nil, err
	}
	switch ref.Provider {
	case "script":
		s, ok := m.scripts[ref.Model]
		if !ok {
			if s, err = m.script(ref.Model); err != nil {
				return nil, err
			}
			if m.scripts == nil {
				m.scripts = map[string]*script.Script{}
			}
			m.scripts[ref.Model] = s
		}
		return s.Model(agent, ref, script.Pace(m.pace)), nil
	case "replay":
		transport, err := script.Replay(ref.Model)
		if err != nil {
			return nil, &usageError{message: err.Error(), hint: "A cassette is made with: bureau ask --record FILE"}
		}
		return m.replay(ref, transport)
	}
	c, err := m.connection(ref)
	if err != nil {
		return nil, err
	}
	return openai.New(c)
}

// replay is a recorded server; all agents share its cassette, in the order in which it was recorded.
func (m *models) replay(ref llm.Ref, transport http.RoundTripper) (llm.Model, error) {
	for key, made := range m.made {
		if strings.HasSuffix(key, "\x00"+ref.String()) {
			return made, nil
		}
	}
	return openai.New(openai.Config{
		Ref: ref, Provider: openai.Custom(ref.Provider, "http://localhost/v1", ""), API: script.Protocol(transport),
		Transport: transport, Window: cloudWindow,
	})
}

// script finds an offline script: a file, the one beside the agency, or one that ships.
func (m *models) script(name string) (*script.Script, error) {
	if m.agency.Script != nil && name == m.agency.Name {
		return parseScript(m.agency.ScriptPath, m.agency.Script)
	}
	data, err := os.ReadFile(name)
	if err == nil {
		return parseScript(name, data)
	}
	if shipped, findErr := agencies.Find(name, agencies.Places{}, knownNames(m.config)); findErr == nil && shipped.Script != nil {
		return parseScript(shipped.ScriptPath, shipped.Script)
	}
	return nil, usagef("script/NAME is a file, the script beside the agency, or that of an agency that ships.",
		"there is no script %q", name)
}

func parseScript(path string, data []byte) (*script.Script, error) {
	s, err := script.Parse(path, data)
	if err != nil {
		return nil, &usageError{message: err.Error()}
	}
	return s, nil
}

// knownNames are the tools and providers that an agency file may name.
func knownNames(c config) agencies.Known {
	known := agencies.Known{Tools: append(builtin.Names(), engine.ToolNames()...), Providers: []string{"script", "replay"}}
	for _, p := range openai.Providers() {
		known.Providers = append(known.Providers, p.Name)
	}
	for name := range c.Providers {
		known.Providers = append(known.Providers, name)
	}
	slices.Sort(known.Providers)
	known.Providers = slices.Compact(known.Providers) // the configuration names known ones again
	return known
}

func (c choice) String() string {
	if c.offline {
		return fmt.Sprintf("%s (offline script)", c.ref)
	}
	return c.ref
}
