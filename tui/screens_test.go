package tui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"bureau/engine/history"
)

var sizes = []struct{ w, h int }{{20, 5}, {60, 16}, {80, 24}, {120, 40}, {160, 50}}

// scenes are what a user may see. Each is drawn at every size.
var scenes = []struct {
	name string
	play func(*screen)
}{
	{"empty", func(*screen) {}},
	{"cited", func(sc *screen) {
		sc.stage.turn("Guide", "What do herrings eat?").answer().add("Plankton, mostly.").cite(
			history.Citation{URL: "https://example.org/herring", Title: "The \x1b[31mherring"},
			history.Citation{URL: "https://example.org/a/very/long/address/that/goes/on/and/on/for/more/than/a/row"})
	}},
	{"streaming", func(sc *screen) {
		g := sc.stage.turn("Guide", "What does main.go do?")
		g.think().add("I should look at the file first.").end(history.StatusCompleted)
		call := g.use("read_file", `{"path":"main.go"}`)
		time.Sleep(400 * time.Millisecond)
		g.result(call, "read_file", "package main\n", false)
		g.answer().add("It starts the program:\n\n```go\nfunc main() {\n\tos.Exit(cmd.Main())\n}\n```\n\nNothing el")
	}},
	{"two at work", func(sc *screen) { twoAtWork(sc.stage) }},
	{"pane expanded", func(sc *screen) {
		finishedTurn(sc.stage)
		sc.idle()
		sc.press("tab", "tab", "ctrl+o", "enter")
	}},
	{"zoomed", func(sc *screen) {
		finishedTurn(sc.stage)
		sc.idle()
		sc.press("tab", "tab", "z")
	}},
	{"picker", func(sc *screen) {
		finishedTurn(sc.stage)
		sc.idle()
		sc.press("ctrl+t")
	}},
	{"error", func(sc *screen) {
		g := sc.stage.turn("Guide", "Hello?")
		g.retry(2, 3, 4, "the server answered 429")
		time.Sleep(4 * time.Second)
		g.fail(history.CodeModel, "openai/gpt-5-mini answered 401: the key is not valid", "Set OPENAI_API_KEY to a key that is, or choose another model with --model.")
	}},
	{"retry", func(sc *screen) {
		sc.stage.turn("Guide", "Hello?").retry(2, 3, 12, "the server answered 429: too many requests")
	}},
	{"wide characters", func(sc *screen) {
		s := sc.stage
		s.agency.Agents[1].Name = "調査員👩‍🔬"
		g := s.turn("Guide", "这个文件夹里有什么？请详细说明。 👍🏽 ⚠️ é กำ")
		scout := g.ask("調査員👩‍🔬", "フォルダの中身を調べて、重要なファイルを一覧にしてください。")
		scout.finish("📁 README.md と go.mod があります。", history.Usage{InputTokens: 1200})
		g.finish("里面有 **两个文件** 🎉：\n\n| 文件 | 用途 |\n| --- | --- |\n| README.md | 说明 |\n| go.mod | 模块 |", history.Usage{})
	}},
	{"hostile", func(sc *screen) { hostileTurn(sc.stage) }},
	{"queue", func(sc *screen) {
		sc.stage.turn("Guide", "Take your time.")
		sc.idle()
		sc.press("and then the other one", "enter", "the third thing", "enter", "a dra")
	}},
}

// twoAtWork plays a turn in which two agents work at once.
func twoAtWork(s *stage) {
	g := s.turn("Guide", "What is in this folder, and is the README true?")
	g.say("I will ask **Scout** to look and **Checker** to verify.")
	scout := g.ask("Scout", "Look at the folder and tell me what is in it.")
	checker := g.ask("Checker", "Is what the README says true?")
	call := scout.use("list_directory", `{"path":"."}`)
	time.Sleep(1200 * time.Millisecond)
	scout.result(call, "list_directory", "README.md\ngo.mod\nmain.go", false)
	scout.answer().add("There are three files:\n\n- README.md\n- go.mod\n- mai")
	checker.think().add("The README names three commands. Let me see whether they are there")
	time.Sleep(1500 * time.Millisecond)
}

// finishedTurn plays a whole turn: two delegations, one of them with another below it, a failed tool, a handoff.
func finishedTurn(s *stage) {
	g := s.turn("Guide", "What is in this folder, and is the README true?")
	g.think().add("Two things at once.").end(history.StatusCompleted)
	time.Sleep(300 * time.Millisecond)
	g.say("I will ask **Scout** to look and **Checker** to verify.")
	scout := g.ask("Scout", "Look at the folder and tell me what is in it.")
	checker := g.ask("Checker", "Is what the README says true?")
	call := scout.use("list_directory", `{"path":".","depth":2}`)
	time.Sleep(1200 * time.Millisecond)
	scout.result(call, "list_directory", "README.md\ngo.mod\nmain.go", false)
	nested := scout.ask("Checker", "Does main.go build?")
	time.Sleep(500 * time.Millisecond)
	nested.finish("It does.", history.Usage{InputTokens: 300, OutputTokens: 12, Requests: 1})
	scout.finish("There are three files:\n\n- README.md\n- go.mod\n- main.go", history.Usage{InputTokens: 2100, OutputTokens: 240, Requests: 3})
	call = checker.use("read_file", `{"path":"REDME.md"}`)
	time.Sleep(100 * time.Millisecond)
	checker.result(call, "read_file", "Error: there is no file REDME.md; did you mean README.md?", true)
	checker.finish("It is true.", history.Usage{InputTokens: 800, OutputTokens: 60, Requests: 2})
	g.handover("Concierge")
	g.finish("Three files, and the README is **true**.", history.Usage{InputTokens: 5200, OutputTokens: 520, Requests: 9})
}

// escapes are sequences that must never reach a terminal from outside.
const escapes = "\x1b[2J\x1b]52;c;aGk=\x07\x1b]0;title\x1b\\\x1bP+q\x1b\\\x1b_G\x1b\\\u009b2J\u009d52;c;x\u009c\x9b31m\a\b\v\u202e\u200b\x1b[31mred\x1b]8;;http://x\x07"

// hostileTurn carries escape sequences in every field that comes from outside.
func hostileTurn(s *stage) {
	e := func(words string) string { return words + escapes + words }
	s.agency.Agents[1].Name = e("Scout")
	s.agency.Description, s.agency.Name = e("desc"), e("tour")
	s.model.Ref = e("ref")
	g := s.turn("Guide", e("question"))
	g.think().add(e("thought")).end(history.StatusCompleted)
	g.say(e("answer") + "\n\n```" + e("go") + "\n" + e("code") + "\n```\n\n[" + e("link") + "](" + "http://x/\x1b[2J" + ")")
	scout := g.ask(e("Scout"), e("task"))
	call := scout.use(e("tool"), `{"pa\u001b[2Jth":"v\u001b]0;t\u0007alue","raw":"`+strings.ReplaceAll(escapes, "\x1b", "")+`"}`)
	scout.result(call, e("tool"), e("output"), true)
	scout.fail(history.CodeModel, e("message"), e("hint"))
	g.event(history.Event{Type: history.EventCustom, Name: history.CustomWarning, Value: map[string]any{"message": e("warning")}})
	g.retry(2, 3, 9, e("reason"))
}

func TestScreens(t *testing.T) {
	t.Parallel()
	for _, scene := range scenes {
		for _, size := range sizes {
			name := fmt.Sprintf("%s %dx%d", scene.name, size.w, size.h)
			t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
				t.Parallel()
				play(t, size.w, size.h, newStage(), "", func(sc *screen) {
					if scene.name != "empty" {
						sc.stage.session.ID = "sessionid123"
					}
					scene.play(sc)
					sc.idle()
					golden.RequireEqual(t, []byte(sc.frame()))
				})
			})
		}
	}
}
