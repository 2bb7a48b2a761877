package overlay_test

import (
	"fmt"
	"strings"
	"testing"

	"bureau/tui/overlay"
)

func recipients() []overlay.Choice {
	return []overlay.Choice{
		{ID: "Editor", Label: "Editor", Detail: "Plans the piece, hands out research and checking, and assembles what comes back"},
		{ID: "Desk", Label: "Desk", Detail: "Talks style and publishing", Mark: "working"},
		{ID: "校正者", Label: "校正者", Detail: "日本語の原稿を読み、表記の揺れを直す"},
		{ID: "Checker", Label: "Checker", Detail: "Verifies claims", Disabled: "no entry point"},
	}
}

func TestPicker(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]overlay.Result{
		"enter":                                 overlay.Picked{Dialog: "to", ID: "Desk"},
		"up enter":                              overlay.Picked{Dialog: "to", ID: "Editor"},
		"down enter":                            overlay.Picked{Dialog: "to", ID: "校正者"},
		"home enter":                            overlay.Picked{Dialog: "to", ID: "Editor"},
		"up up up enter":                        overlay.Picked{Dialog: "to", ID: "Editor"},
		"e d i enter":                           overlay.Picked{Dialog: "to", ID: "Editor"},
		"D E S K enter":                         overlay.Picked{Dialog: "to", ID: "Desk"},
		"ｄ ｅ ｓ enter":                           overlay.Picked{Dialog: "to", ID: "Desk"},
		"校 enter":                               overlay.Picked{Dialog: "to", ID: "校正者"},
		"揺 れ enter":                             overlay.Picked{Dialog: "to", ID: "校正者"},
		"paste:publishing enter":                overlay.Picked{Dialog: "to", ID: "Desk"},
		"paste:style_desk enter":                overlay.Picked{Dialog: "to", ID: "Desk"},
		"d k enter":                             overlay.Picked{Dialog: "to", ID: "Desk"},
		"z z ctrl+u enter":                      overlay.Picked{Dialog: "to", ID: "Editor"},
		"z z backspace backspace enter":         overlay.Picked{Dialog: "to", ID: "Editor"},
		"z z enter esc":                         overlay.Closed{ID: "to"},
		"esc":                                   overlay.Closed{ID: "to"},
		"end enter esc":                         overlay.Closed{ID: "to"},
		"paste:verifies enter ctrl+u tab enter": overlay.Picked{Dialog: "to", ID: "Desk"},
	} {
		s, _ := newStack()
		s.Push(overlay.NewPicker("to", "To whom?", recipients(), "Desk"))
		equal(t, play(s, keys), want)
	}
}

func TestPickerSaysWhyAChoiceIsDisabled(t *testing.T) {
	t.Parallel()
	s, _ := newStack()
	s.Push(overlay.NewPicker("to", "To whom?", recipients(), ""))
	play(s, "end enter")
	if got := screen(t, s, 60, 16); !strings.Contains(got, "Checker: no entry point") {
		t.Errorf("it does not say why:\n%s", got)
	}
	play(s, "up")
	if got := screen(t, s, 60, 16); strings.Contains(got, "Checker: no entry point") {
		t.Errorf("it still says it:\n%s", got)
	}
}

func TestPickerRanks(t *testing.T) {
	t.Parallel()
	choices := []overlay.Choice{
		{ID: "rest", Label: "zz", Detail: "about gpt"},
		{ID: "spread", Label: "g-p-t"},
		{ID: "inside", Label: "xgpt"},
		{ID: "word", Label: "openai/gpt-5-mini"},
		{ID: "start", Label: "GPT-5"},
		{ID: "not", Label: "tpg"},
	}
	s, _ := newStack()
	s.Push(overlay.NewPicker("m", "Model", choices, ""))
	play(s, "g p t")
	var order []string
	for _, row := range strings.Split(screen(t, s, 60, 16), "\n") {
		for _, c := range choices {
			if strings.Contains(row, " "+c.Label+" ") {
				order = append(order, c.ID)
			}
		}
	}
	if got := strings.Join(order, " "); got != "start word inside rest spread" {
		t.Errorf("the order is %s", got)
	}
	if got := screen(t, s, 60, 16); !strings.Contains(got, "5 of 6") {
		t.Errorf("it does not say how many match:\n%s", got)
	}
}

func TestPickerMarksWhatMatches(t *testing.T) {
	t.Parallel()
	s, _ := newStack()
	s.Push(overlay.NewPicker("m", "Model", []overlay.Choice{{ID: "a", Label: "ＡＢカキ漢字"}, {ID: "b", Label: "other"}}, ""))
	for _, k := range []string{"b", "ｶ"} {
		s.HandleKey(press(k))
	}
	rows, _, _, _ := s.View(40, 12)
	marked := map[string]bool{}
	for _, row := range rows {
		for _, run := range strings.Split(row, "\x1b[m") {
			if style, s, ok := strings.Cut(strings.TrimLeft(run, " "), "m"); ok && strings.HasPrefix(style, "\x1b[") {
				marked[s] = strings.Contains(style+";", ";4;")
			}
		}
	}
	for s, want := range map[string]bool{"Ａ": false, "Ｂ": true, "カ": true, "キ漢字": false} {
		if got, shown := marked[s]; got != want || !shown {
			t.Errorf("%s is shown %t and marked %t: %q", s, shown, got, rows)
		}
	}
}

func TestPickerClick(t *testing.T) {
	t.Parallel()
	s, _ := newStack()
	s.Push(overlay.NewPicker("to", "To whom?", recipients(), ""))
	rows, x, y, _ := s.View(80, 24)
	at := -1
	for i, row := range rows {
		if strings.Contains(row, "校正者") {
			at = y + i
			break
		}
	}
	equal(t, []overlay.Result{s.HandleClick(x+4, at)}, nil)
	equal(t, []overlay.Result{s.HandleClick(0, 0)}, nil)
	equal(t, []overlay.Result{s.HandleClick(x+4, at)}, overlay.Picked{Dialog: "to", ID: "校正者"})
}

func TestPaletteFindsNamesAndTitles(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"paste:/exp enter": "export", "paste:new enter": "new", "paste:recipient enter": "to", "paste:json enter": "export",
		"paste:ctrl+s enter": "sessions", "paste:th enter": "theme", "paste:/th enter": "theme",
	} {
		s, _ := newStack()
		s.Push(overlay.NewPalette(commands()))
		equal(t, play(s, keys), overlay.Picked{Dialog: overlay.PaletteID, ID: want})
	}
}

func manyChoices(n int) []overlay.Choice {
	choices := make([]overlay.Choice, n)
	for i := range choices {
		choices[i] = overlay.Choice{ID: fmt.Sprint(i), Label: fmt.Sprintf("provider/model-%d", i), Detail: "a model among many, 漢字"}
	}
	return choices
}

func TestPickerReachesTheLastOfMany(t *testing.T) {
	t.Parallel()
	s, _ := newStack()
	s.Push(overlay.NewPicker("m", "Model", manyChoices(10_000), ""))
	screen(t, s, 80, 24)
	equal(t, play(s, "end up pgup pgdown up enter"), overlay.Picked{Dialog: "m", ID: "9997"})
}

func BenchmarkPickerKeyAndFrame(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, _ := newStack()
			s.Push(overlay.NewPicker("m", "Model", manyChoices(n), ""))
			b.ReportAllocs()
			for b.Loop() {
				s.HandleKey(press("down"))
				s.View(80, 24)
			}
		})
	}
}

func BenchmarkPickerFilter(b *testing.B) {
	s, _ := newStack()
	s.Push(overlay.NewPicker("m", "Model", manyChoices(10_000), ""))
	b.ReportAllocs()
	for b.Loop() {
		s.HandleKey(press("9"))
		s.HandleKey(press("backspace"))
	}
}
