// Package script is models without a server: scripts that answer by rules, which is what runs offline and what tests stand
// on, and cassettes, which record the traffic of any server and answer from it later. It knows nothing of the engine or of
// agencies: a script names agents, and whoever asks for a model says for which of them. Scripts and the models made from
// them are safe for concurrent use; clocks are read to wait and to time a recording alone.
package script

import (
	"slices"
	"sync"
	"time"

	"bureau/engine/llm"
)

// Script is a checked script: for each agent the rules by which it answers. All that changes in it is the count of the
// failures that it rehearses.
type Script struct {
	name   string
	pace   time.Duration
	window int
	agents map[string][]*rule
	order  []string

	failures failures
}

// failures counts how often a rule has failed at a position of a conversation, where the rule bounds it.
type failures struct {
	mu    sync.Mutex
	times map[failureKey]int
}

type failureKey struct {
	rule     *rule
	position string
}

func (f *failures) add(r *rule, position string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.times == nil {
		f.times = map[failureKey]int{}
	}
	f.times[failureKey{r, position}]++
	return f.times[failureKey{r, position}]
}

// Name is the name that the script was parsed under.
func (s *Script) Name() string { return s.name }

// Agents lists the agents that the script has rules for, in its order.
func (s *Script) Agents() []string { return slices.Clone(s.order) }

// Option changes how a scripted model behaves.
type Option func(*model)

// Pace multiplies every wait of the script, the one between words included: 1 as written, 0 for no waiting at all.
func Pace(factor float64) Option {
	return func(m *model) { m.factor = max(0, factor) }
}

// Model returns the model that answers for an agent under the given reference. An agent without rules gets a model that
// says so, in words.
func (s *Script) Model(agent string, ref llm.Ref, options ...Option) llm.Model {
	m := &model{script: s, agent: agent, ref: ref, rules: s.agents[agent], factor: 1}
	for _, option := range options {
		option(m)
	}
	return m
}

// rule is one answer and the conditions under which it is given.
type rule struct {
	on     condition
	wait   time.Duration
	reason *text
	say    *text
	calls  []call
	fail   *failure
	finish llm.Finish
}

// call is one tool call of an answer. Arguments is an object, or, to rehearse a model that writes nonsense, the very text.
type call struct {
	tool      string
	arguments *value
	raw       *text
}

// failure is an error in place of an answer, or in the midst of one.
type failure struct {
	kind       llm.Kind
	status     int
	code       string
	message    string
	retryAfter time.Duration
	// afterWords of what is said come before it.
	afterWords int
	// times it happens at one position of a conversation before the answer is given whole; 0 for always.
	times int
}
