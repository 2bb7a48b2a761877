package script_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bureau/engine/llm"
	"bureau/engine/llm/script"
)

func read(t *testing.T, name string) *script.Script {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "agencies", "shipped", name))
	if err != nil {
		t.Fatal(err)
	}
	s, err := script.Parse(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// shipped is a fresh session with an agency that ships.
func shipped(t *testing.T, name string, c cast, f folder) *loop {
	t.Helper()
	return session(t, read(t, name), c, f)
}

func session(t *testing.T, s *script.Script, c cast, f folder) *loop {
	t.Helper()
	return &loop{t: t, cast: c, script: s, folder: f, pairs: map[string][]llm.Message{}, control: s.Agents()[0]}
}

func TestTourShowsAnAgencyAtWork(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		folder  folder
		message string
		says    []string
	}{
		{"project", project, "hello", []string{"README.md", "“The project”", "lines: 123", "It does things.", "main.go", "“hello”", "folders 2, files 5", "Monday, 2026-11-30 12:34", "desk"}},
		{"project in Chinese", project, "你好，这里有什么？", []string{"README.md", "行数 123", "2 个文件夹和 5 个文件", "“你好，这里有什么？”", "移交"}},
		{"named file", project, "what is in main.go?", []string{"`main.go` (lines: 1)", "package main"}},
		{"named file that is not there", project, "read nothing.md", []string{"`nothing.md` cannot be read: there is no \"nothing.md\""}},
		{"search", project, "please search for the Main function", []string{"The search for “Main”", "main.go:3: found Main", "README.md"}},
		{"search in Chinese", project, "搜索“main”", []string{"搜索“main”", "main.go:3: found main"}},
		{"nested files", nested, "hello", []string{"`a/notes.txt`", "remember the milk"}},
		{"no text", sparse, "hello", []string{"x/", "cannot be read"}},
		{"odd names", odd, "hello", []string{"`报告 2026.md` is there, and empty"}},
		{"empty folder", empty, "anything", []string{"The folder is empty", "a good place to begin"}},
		{"empty folder in Chinese", empty, "看看", []string{"文件夹是空的"}},
		{"unreadable folder", blocked, "hello", []string{"could not be looked at: permission denied", "Today"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := shipped(t, "tour.script.yaml", tour, test.folder)
			answer := l.turn(test.message)
			for _, must := range []string{"Guide>Scout", "Guide>Scribe", "Scout:list_directory", "Scout>Reader", "Reader:read_file", "Scribe:current_time"} {
				if !slices.Contains(l.trace, must) {
					t.Errorf("no %s in %v", must, l.trace)
				}
			}
			for _, words := range test.says {
				if !strings.Contains(answer, words) {
					t.Errorf("the answer does not hold %q:\n%s", words, answer)
				}
			}
			if l.control != "Guide" {
				t.Errorf("%s has control", l.control)
			}
		})
	}
}

func TestTourHandsOver(t *testing.T) {
	t.Parallel()
	type step struct{ message, control, says string }
	tests := map[string][]step{
		"on request":            {{"hello", "Guide", "desk"}, {"desk", "Concierge", "Hello, I am **Concierge**"}, {"keys?", "Concierge", "ctrl+t"}, {"back", "Guide", "**Guide** again"}},
		"at once":               {{"handoff please", "Concierge", "that was a handoff"}, {"how do I connect ollama?", "Concierge", "ollama/qwen3:8b"}, {"and write an agency?", "Concierge", "communication_flows"}},
		"by topic":              {{"how do I set my API key", "Concierge", "OPENAI_API_KEY"}, {"what time is it", "Guide", "12:34"}, {"search for main", "Guide", "found main"}},
		"to and fro in one":     {{"hand me to the concierge and then back to guide", "Concierge", "Concierge"}, {"back to the guide and then to the desk", "Guide", "Guide"}},
		"in Chinese":            {{"移交", "Concierge", "我是 **Concierge**"}, {"快捷键", "Concierge", "ctrl+t"}, {"怎样连接模型", "Concierge", "OPENAI_API_KEY"}, {"怎样写自己的智能体", "Concierge", "bureau agency new"}, {"返回", "Guide", "Guide"}, {"现在几点", "Guide", "12:34"}, {"有什么文件", "Guide", "Scout"}},
		"the folder from there": {{"desk", "Concierge", "Concierge"}, {"what is in README.md?", "Guide", "It does things."}},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := shipped(t, "tour.script.yaml", tour, project)
			for i, s := range steps {
				answer := l.turn(s.message)
				if l.control != s.control || !strings.Contains(answer, s.says) {
					t.Errorf("%q: %s has control, and says %s", s.message, l.control, answer)
				}
				if i == 0 && !slices.Contains(l.trace, "Guide>Scout") {
					t.Errorf("the first turn delegates nothing: %v", l.trace)
				}
			}
		})
	}
}

func TestConciergeComesFirst(t *testing.T) {
	t.Parallel()
	for _, message := range []string{"hello", "back", "desk", "search for x", "返回"} {
		l := shipped(t, "tour.script.yaml", tour, project)
		l.control = "Concierge"
		l.turn(message)
	}
}

func TestNewsroom(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]folder{"project": project, "empty": empty, "nested": nested, "blocked": blocked} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := shipped(t, "newsroom.script.yaml", newsroom, f)
			answer := l.turn("What does the project do?")
			for _, must := range []string{"Editor>Reporter", "Reporter:list_directory", "Reporter:search_files", "Editor>Checker"} {
				if !slices.Contains(l.trace, must) {
					t.Errorf("no %s in %v", must, l.trace)
				}
			}
			if name == "project" && !strings.Contains(answer, "It does things.") {
				t.Errorf("the answer uses nothing that was found:\n%s", answer)
			}
			if l.turn("a better headline, please"); l.control != "Desk" {
				t.Errorf("%s has control", l.control)
			}
			if l.turn("research it again"); l.control != "Editor" {
				t.Errorf("%s has control", l.control)
			}
		})
	}
}

// TestShippedScriptsAnswerWhateverTheyAreTold says two hundred things that nobody thought of.
func TestShippedScriptsAnswerWhateverTheyAreTold(t *testing.T) {
	t.Parallel()
	words := strings.Fields("hello desk back guide concierge handoff search for find read README.md main.go keys model agency time ollama " +
		"headline publish research check the a and please then 移交 返回 搜索 文件 模型 你好 こんにちは привет 🙂 “quoted” \"x\" `code` {{.Message}} %s <b> ../../etc/passwd -- \x1b[31m \x00 \xff ----")
	folders := []folder{empty, project, nested, sparse, odd, blocked}
	scripts := map[string]*script.Script{"tour": read(t, "tour.script.yaml"), "newsroom": read(t, "newsroom.script.yaml")}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		f := folders[i%len(folders)]
		loops := []*loop{session(t, scripts["tour"], tour, f), session(t, scripts["newsroom"], newsroom, f)}
		for range 3 {
			var message []string
			for range random.IntN(9) {
				message = append(message, words[random.IntN(len(words))])
			}
			for _, l := range loops {
				said := strings.Join(message, []string{" ", "\n", ""}[random.IntN(3)])
				if answer := l.turn(said); strings.TrimSpace(answer) == "" || t.Failed() {
					t.Fatalf("%q in folder %d is answered %q", said, i%len(folders), answer)
				}
			}
		}
	}
}
