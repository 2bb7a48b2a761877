package agencies

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Known are the names that a file may refer to and that this package cannot know. An empty list knows none.
type Known struct {
	// Tools that an agent can be given.
	Tools []string
	// Providers of models. Those of the offline models, script and replay, are known always.
	Providers []string
}

// The keys of the format. The schema has the same.
var (
	agencyKeys = []string{"name", "description", "shared_instructions", "model", "variables", "send_message", "agents",
		"entry_points", "communication_flows", "limits", "session_limits"}
	agentKeys = append([]string{"description", "instructions", "model", "model_settings", "tools", "handoff_reminder"},
		append(conductKeys, "max_silence")...)
	settingsKeys = []string{"temperature", "top_p", "max_output_tokens", "reasoning_effort", "parallel_tool_calls", "seed", "stop"}
	edgeKeys     = []string{"tool", "description", "parameters", "required"}
	limitKeys    = []string{"max_depth", "max_runs", "max_turn_calls", "max_calls", "max_handoffs", "max_tokens", "max_cost",
		"max_seconds", "max_silence"}
	sessionKeys = []string{"max_tokens", "max_cost"}
	fileKeys    = []string{"text", "file", "files"}
	sendKeys    = []string{"name", "description"}

	efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh"}
)

// Parse checks the text of an agency file. The name stands for it in errors; files is the folder that its instruction files
// are read from, nil for none. The error is a *FileError with every fault of the file.
func Parse(name string, data []byte, files fs.FS, known Known) (*Agency, error) {
	var agency *Agency
	err := decodeFile(name, data, files, known, agencyFile, func(d *decoder, root *yaml.Node) { agency = d.agency(root) })
	if err != nil {
		return nil, err
	}
	return agency, nil
}

// kind of a file is what is said of one that is not a single document.
type kind struct{ empty, second string }

var agencyFile = kind{"`bureau agency new` writes one to start from", "an agency file is one"}

// decodeFile takes the text of a file to its root and lets it be read. The error is a *FileError with every fault.
func decodeFile(name string, data []byte, files fs.FS, known Known, k kind, read func(*decoder, *yaml.Node)) error {
	src, fault := newSource(data)
	if fault != nil {
		return &FileError{name, []Fault{*fault}}
	}
	root, fault := src.document(k)
	if fault != nil {
		return &FileError{name, []Fault{*fault}}
	}
	d := &decoder{source: src, files: files, known: known}
	d.plain(root)
	read(d, root)
	if len(d.faults) == 0 {
		return nil
	}
	slices.SortStableFunc(d.faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return &FileError{name, d.faults}
}

func (d *decoder) agency(n *yaml.Node) *Agency {
	a := &Agency{Limits: DefaultLimits}
	keys := d.object(n, "the agency", agencyKeys)
	if n.Kind != yaml.MappingNode {
		return a
	}
	if e, ok := keys["name"]; !ok {
		d.fault(at(n), "the agency has no name; write name: my-agency")
	} else if name, ok := d.text(e.value, "name"); ok {
		a.Name = name
		if wrong := agencyNameFault(name); wrong != "" {
			d.fault(at(e.value), "the agency's name %s %s", quote(name), wrong)
		}
	}
	if e, ok := keys["description"]; ok {
		a.Description, _ = d.text(e.value, "description")
	}
	if e, ok := keys["shared_instructions"]; ok {
		a.SharedInstructions = d.instructions(e.value, "shared_instructions")
	}
	if e, ok := keys["model"]; ok {
		a.Model = d.model(e.value)
	}
	if e, ok := keys["variables"]; ok {
		a.Variables = d.variables(e.value)
	}
	if e, ok := keys["send_message"]; ok {
		d.sendMessage(e.value, a)
	}
	if e, ok := keys["agents"]; ok {
		a.Agents = d.agents(e.value)
	} else {
		d.fault(at(n), "the agency has no agents; write agents: and below it a name with its instructions")
	}
	names := &names{agents: a.Agents}
	if e, ok := keys["entry_points"]; ok {
		a.EntryPoints = d.entryPoints(e.value, names)
	} else if len(a.Agents) > 0 {
		a.EntryPoints = []string{a.Agents[0].Name}
	}
	if e, ok := keys["communication_flows"]; ok {
		a.Flows = d.flows(e.value, names)
	}
	if e, ok := keys["limits"]; ok {
		a.Limits = d.limits(e.value)
	}
	if e, ok := keys["session_limits"]; ok {
		a.SessionLimits = d.sessionLimits(e.value)
	}
	for _, check := range d.later {
		check(a)
	}
	return a
}

// sendMessage reads how the send tool of edges without one of their own is called and described.
func (d *decoder) sendMessage(n *yaml.Node, a *Agency) {
	keys := d.object(n, "send_message", sendKeys)
	if e, ok := keys["name"]; ok {
		if name, ok := d.text(e.value, "name"); ok {
			a.SendName, d.sendName = name, name
			switch {
			case !isToolName(name):
				d.fault(at(e.value), "the tool name %s; at most %d of a-z, A-Z, 0-9, _ and -", quote(name), maxNameLength)
			case slices.Contains(d.known.Tools, name):
				d.fault(at(e.value), "the name %s is that of another tool", quote(name))
			case strings.HasPrefix(strings.ToLower(name), transferPrefix):
				d.fault(at(e.value), "the tool name %s; names that begin with transfer_to_ are those of handoffs", quote(name))
			}
		}
	}
	if e, ok := keys["description"]; ok {
		a.SendDescription, _ = d.phrase(e.value, "description")
	}
}

func (d *decoder) agents(n *yaml.Node) []Agent {
	entries := d.entries(n, "agents")
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		d.fault(at(n), "the agency has no agents; write a name with its instructions")
	}
	if len(entries) > maxAgents {
		d.fault(at(entries[maxAgents].key), "more than %d agents", maxAgents)
		entries = entries[:maxAgents]
	}
	agents := make([]Agent, 0, len(entries))
	first := make(map[string]entry, len(entries))
	for _, e := range entries {
		if wrong := agentNameFault(e.name); wrong != "" {
			d.fault(at(e.key), "the agent's name %s %s", quote(e.name), wrong)
		} else if other, ok := first[nameKey(e.name)]; ok {
			d.fault(at(e.key), "the names %s and %s (line %d) differ in case, quotes or Unicode form only",
				quote(e.name), quote(other.name), other.key.Line)
		} else {
			first[nameKey(e.name)] = e
		}
		agents = append(agents, d.agent(e))
	}
	return agents
}

func (d *decoder) agent(e entry) Agent {
	agent := Agent{Name: e.name}
	what := "agent " + quote(e.name)
	keys := d.object(e.value, what, agentKeys)
	if e.value.Kind != yaml.MappingNode {
		return agent
	}
	if k, ok := keys["description"]; ok {
		agent.Description, _ = d.text(k.value, "description")
	}
	if k, ok := keys["instructions"]; !ok {
		d.fault(at(e.key), "%s has no instructions", what)
	} else {
		before := len(d.faults)
		agent.Instructions = d.instructions(k.value, "instructions")
		if strings.TrimSpace(agent.Instructions) == "" && len(d.faults) == before && k.value.Kind != yaml.AliasNode {
			d.fault(at(k.value), "the instructions of %s are empty", what)
		}
	}
	if k, ok := keys["model"]; ok {
		agent.Model = d.model(k.value)
	}
	if k, ok := keys["model_settings"]; ok {
		agent.Settings = d.settings(k.value)
	}
	if k, ok := keys["tools"]; ok {
		d.words(k.value, "tools", func(tool string, n *yaml.Node) {
			agent.Tools = append(agent.Tools, tool)
			if !slices.Contains(d.known.Tools, tool) {
				d.unknown(at(n), "tool", tool, d.known.Tools)
			}
		})
	}
	if k, ok := keys["handoff_reminder"]; ok {
		reminder := ""
		if k.value.Tag != "!!null" { // a key with nothing after it is as empty as ""
			reminder, _ = d.text(k.value, "handoff_reminder")
		}
		agent.HandoffReminder = &reminder
	}
	d.numbers(keys, []bounded{{"max_silence", &agent.MaxSilence, day}})
	d.conduct(keys, &agent)
	return agent
}

// model reads a reference to a model: provider/model, where the model may hold more slashes.
func (d *decoder) model(n *yaml.Node) string {
	ref, ok := d.word(n, "model")
	if !ok {
		return ""
	}
	provider, model, slash := strings.Cut(ref, "/")
	providers := append(slices.Clone(d.known.Providers), "script", "replay")
	switch {
	case !slash || provider == "" || model == "" || strings.ContainsRune(provider, ' ') || model != strings.TrimSpace(model):
		d.fault(at(n), "a model is written provider/model, not %s; the providers are: %s", quote(ref), listing(providers))
	case !slices.Contains(providers, provider):
		d.unknown(at(n), "provider", provider, providers)
	}
	return ref
}

func (d *decoder) entryPoints(n *yaml.Node, names *names) []string {
	var points []string
	if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		d.fault(at(n), "no entry points; without this key the first agent is one")
	}
	lines := map[string]int{}
	d.words(n, "entry_points", func(word string, n *yaml.Node) {
		name, ok := names.find(word)
		if !ok {
			d.unknownAgent(at(n), word, names)
			return
		}
		if line, ok := lines[name]; ok {
			d.fault(at(n), "%s stands twice in entry_points; the first is in line %d", quote(name), line)
			return
		}
		lines[name] = n.Line
		points = append(points, name)
	})
	return points
}

func (d *decoder) settings(n *yaml.Node) ModelSettings {
	var s ModelSettings
	keys := d.object(n, "model_settings", settingsKeys)
	if e, ok := keys["temperature"]; ok {
		s.Temperature = d.number(e.value, "temperature", 0, 2)
	}
	if e, ok := keys["top_p"]; ok {
		s.TopP = d.number(e.value, "top_p", 0, 1)
	}
	if e, ok := keys["max_output_tokens"]; ok {
		if i := d.integer(e.value, "max_output_tokens", 1, 10_000_000); i != nil {
			s.MaxOutputTokens = *i
		}
	}
	if e, ok := keys["reasoning_effort"]; ok {
		effort, ok := d.word(e.value, "reasoning_effort")
		if ok && !slices.Contains(efforts, effort) {
			d.unknown(at(e.value), "reasoning_effort", effort, efforts)
		}
		s.ReasoningEffort = effort
	}
	if e, ok := keys["parallel_tool_calls"]; ok {
		s.ParallelToolCalls = d.boolean(e.value, "parallel_tool_calls")
	}
	if e, ok := keys["seed"]; ok {
		s.Seed = d.integer(e.value, "seed", 0, 1<<53)
	}
	if e, ok := keys["stop"]; ok {
		s.Stop = d.stop(e.value)
	}
	return s
}

// stop reads one sequence or a list of some; a line break is a common one.
func (d *decoder) stop(n *yaml.Node) []string {
	const most = 16
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	if len(items) > most {
		d.fault(at(n), "stop has %d sequences; at most %d", len(items), most)
		return nil
	}
	var sequences []string
	for _, item := range items {
		s, ok := d.text(item, "stop")
		if ok && s == "" {
			d.fault(at(item), "an empty text in stop would end every answer at once")
		}
		sequences = append(sequences, s)
	}
	return sequences
}

// names finds agents as they are written in the rest of the file: exactly, or in another Unicode form.
type names struct {
	agents []Agent
	index  map[string]string
}

func (n *names) find(written string) (string, bool) {
	if n.index == nil {
		n.index = make(map[string]string, len(n.agents))
		for _, agent := range n.agents {
			n.index[composed(agent.Name)] = agent.Name
		}
	}
	name, ok := n.index[composed(written)]
	return name, ok
}

func (n *names) list() []string {
	list := make([]string, len(n.agents))
	for i, agent := range n.agents {
		list[i] = agent.Name
	}
	return list
}

func (d *decoder) unknownAgent(where place, written string, names *names) {
	if d.full() {
		return
	}
	for _, name := range names.list() {
		if bare := strings.TrimRight(written, "-=– "); nameKey(name) == nameKey(bare) {
			d.suggest(where, name, "unknown agent: %s", quote(written))
			return
		}
	}
	d.unknown(where, "agent", written, names.list())
}
