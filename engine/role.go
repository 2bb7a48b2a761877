package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"bureau/agencies"
	"bureau/engine/llm"
	"bureau/engine/tool"
)

// role is one agent made ready to run: its own tools, those that carry messages, and those that hand over. It never changes.
type role struct {
	agent    agencies.Agent
	own      *tool.Set
	sends    map[string]sendTool
	handoffs map[string]string // tool name → recipient
	offered  []llm.Tool
}

func newRole(agency *agencies.Agency, agent agencies.Agent, pick func([]string) (*tool.Set, error)) (*role, error) {
	own, err := pick(agent.Tools)
	if err != nil {
		return nil, err
	}
	r := &role{agent: agent, own: own, sends: map[string]sendTool{}, handoffs: map[string]string{}}
	for _, definition := range own.Definitions() {
		r.offer(definition)
	}
	for _, send := range agency.SendTools(agent.Name) {
		t, err := newSendTool(agency, send)
		if err != nil {
			return nil, err
		}
		if r.knows(t.definition.Name) {
			return nil, fmt.Errorf("two tools are named %q", t.definition.Name)
		}
		r.sends[t.definition.Name] = t
		r.offer(t.definition)
	}
	for _, to := range agency.Handoffs(agent.Name) {
		recipient, _ := agency.Agent(to)
		definition := handoffTool(recipient, r.knows)
		r.handoffs[definition.Name] = to
		r.offered = append(r.offered, definition)
	}
	return r, nil
}

// offer adds a tool, with a word on it where it runs alone.
func (r *role) offer(t llm.Tool) {
	if r.runsAlone(t.Name) {
		t.Description += aloneNotice
	}
	r.offered = append(r.offered, t)
}

// runsAlone tells whether no other tool may run beside this one.
func (r *role) runsAlone(name string) bool { return slices.Contains(r.agent.OneCallAtATime, name) }

// answers tells whether the output of a tool, once it succeeds, is the answer of the run.
func (r *role) answers(name string) bool {
	return r.agent.ToolUse.StopOnFirst || slices.Contains(r.agent.ToolUse.StopAt, name)
}

func (r *role) knows(name string) bool {
	for _, t := range r.offered {
		if t.Name == name {
			return true
		}
	}
	return false
}

func (r *role) names() []string {
	names := make([]string, len(r.offered))
	for i, t := range r.offered {
		names[i] = t.Name
	}
	return names
}

// instructions composes the system prompt of a run: shared before own, then what the sender added.
func instructions(shared, own, additional string) string {
	core, separator := own, "\n\n"
	if shared != "" {
		core, separator = shared+"\n\n"+own, "\n\n---\n\n"
		if own == "" {
			core = shared
		}
	}
	if additional == "" {
		return core
	}
	if core == "" {
		return additional
	}
	return core + separator + additional
}

func settings(agent agencies.Agent) llm.Settings {
	s := agent.Settings
	out := llm.Settings{
		Temperature: s.Temperature, TopP: s.TopP, MaxOutputTokens: s.MaxOutputTokens, ReasoningEffort: s.ReasoningEffort,
		ParallelToolCalls: s.ParallelToolCalls, Seed: s.Seed, Stop: s.Stop,
	}
	if agent.OutputType != nil {
		out.Format = &llm.Format{Name: "answer", Schema: agent.OutputType}
	}
	return out
}

// handoffTool describes the transfer to a recipient. Its arguments are not looked at: the name says it all.
func handoffTool(recipient agencies.Agent, taken func(string) bool) llm.Tool {
	name := tool.LegalName("transfer_to_", recipient.Name, taken)
	text := fmt.Sprintf("Hand the conversation over to %s for good. Control does not come back by itself.", recipient.Name)
	if recipient.Description != "" {
		text += " " + recipient.Name + ": " + strings.TrimSpace(recipient.Description)
	}
	return llm.Tool{Name: name, Description: text, Parameters: mustJSON(map[string]any{
		"type": "object",
		"properties": map[string]any{
			"recipient_agent": map[string]any{"type": "string", "const": recipient.Name, "description": "The agent that takes over."},
		},
		"required":             []string{"recipient_agent"},
		"additionalProperties": false,
	})}
}

// handoffReminder is what an agent is told when control comes to it; empty is nothing.
func handoffReminder(agent agencies.Agent) string {
	if agent.HandoffReminder != nil {
		return *agent.HandoffReminder
	}
	return fmt.Sprintf("The conversation has been handed over to you. You are %q now. Go on with the task from where it stands.", agent.Name)
}

func mustJSON(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // only ever given maps, slices and strings
	}
	return data
}
