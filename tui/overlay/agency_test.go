package overlay_test

import (
	"fmt"
	"strings"
	"testing"

	"bureau/tui/overlay"
)

func newsroom() *overlay.Agency {
	a := overlay.NewAgency("newsroom", "Researches a question and writes it up", []overlay.Agent{
		{Name: "Editor", Description: "Plans the piece and assembles it", EntryPoint: true, Model: "openai/gpt-5-mini"},
		{Name: "Reporter", Description: "Finds material", Tools: []string{"read_file", "list_directory", "search_files"}, Model: "openai/gpt-5-mini"},
		{Name: "Checker", Description: "Verifies claims", Model: "ollama/qwen3:8b"},
		{Name: "Desk", Description: "Talks style and publishing", EntryPoint: true},
		{Name: "記録係", Description: "誰からも呼ばれない"},
	}, []overlay.Flow{
		{From: "Editor", To: "Reporter", Tool: "send_message"},
		{From: "Reporter", To: "Checker"},
		{From: "Editor", To: "Checker", Tool: "request_check"},
		{From: "Editor", To: "Desk", Handoff: true},
		{From: "Editor", To: "Desk"},
		{From: "Desk", To: "Editor", Handoff: true},
		{From: "Nobody", To: "Editor"},
	}, "Editor")
	a.SetWorking(map[string]string{"Reporter": "search_files", "Checker": ""})
	return a
}

func TestAgencyTree(t *testing.T) {
	t.Parallel()
	s, _ := newStack()
	s.Push(newsroom())
	got := screen(t, s, 80, 24)
	for _, want := range []string{
		"▌ Editor • recipient",
		"  ├─ → Reporter ",
		"  │  └─ → Checker ",
		"  ├─ → Checker (request_check)",
		"  └─ →⇒ Desk •",
		"     └─ ⇒ Editor • ↑",
		"  記録係",
		"▸ search_files",
		"▸ working",
		"5 agents, 2 working",
		"Plans the piece and assembles it",
		"openai/gpt-5-mini",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	play(s, "down")
	if got := screen(t, s, 80, 24); !strings.Contains(got, "read_file, list_directory, search_files") {
		t.Errorf("the selected agent's tools are not shown:\n%s", got)
	}
}

func TestAgency(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]overlay.Result{
		"enter":                     overlay.Picked{Dialog: "agency", ID: "Editor"},
		"down enter up enter":       overlay.Picked{Dialog: "agency", ID: "Editor"},
		"down down down down enter": overlay.Picked{Dialog: "agency", ID: "Desk"},
		"esc":                       overlay.Closed{ID: "agency"},
		"end enter esc":             overlay.Closed{ID: "agency"},
	} {
		s, _ := newStack()
		s.Push(newsroom())
		equal(t, play(s, keys), want)
	}
	s, _ := newStack()
	s.Push(newsroom())
	play(s, "end enter")
	if got := screen(t, s, 80, 24); !strings.Contains(got, "記録係 is no entry point") {
		t.Errorf("it does not say why:\n%s", got)
	}
}

// TestAgencyOfManyAgents draws a chain that is deeper than the screen is wide, and a mesh in which everybody may message
// everybody.
func TestAgencyOfManyAgents(t *testing.T) {
	t.Parallel()
	var agents []overlay.Agent
	var chain, mesh []overlay.Flow
	for i := range 60 {
		agents = append(agents, overlay.Agent{Name: fmt.Sprint("Agent ", i), EntryPoint: i == 0})
		chain = append(chain, overlay.Flow{From: fmt.Sprint("Agent ", i), To: fmt.Sprint("Agent ", i+1)})
		for j := range 60 {
			if i != j {
				mesh = append(mesh, overlay.Flow{From: fmt.Sprint("Agent ", i), To: fmt.Sprint("Agent ", j)})
			}
		}
	}
	for name, flows := range map[string][]overlay.Flow{"chain": chain, "mesh": mesh, "none": nil} {
		s, _ := newStack()
		s.Push(overlay.NewAgency(name, "", agents, flows, ""))
		play(s, "end")
		for _, size := range sizes {
			if got := screen(t, s, size[0], size[1]); !strings.Contains(got, "Agent") {
				t.Errorf("%s at %v: the selected agent's name is not shown:\n%s", name, size, got)
			}
		}
	}
	s, _ := newStack()
	s.Push(overlay.NewAgency("empty", "", nil, nil, ""))
	equal(t, play(s, "enter down"))
	screen(t, s, 80, 24)
}
