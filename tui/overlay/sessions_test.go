package overlay_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"bureau/engine/history"
	"bureau/tui/overlay"
)

func someSessions() []history.Session {
	at := start.UnixMicro()
	const minute = 60 * 1_000_000
	return []history.Session{
		{ID: "a1", Agency: "newsroom", Folder: "/home/ada/src/paper", Title: "Write up the harbour plan", Recipient: "Editor", Messages: 42, UpdatedAt: at - 3*minute},
		{ID: "b2", Agency: "tour", Folder: "/home/ada", Title: "会議の議事録を英語にまとめてください", Recipient: "Guide", Messages: 7, UpdatedAt: at - 180*minute, Held: true},
		{ID: "c3", Agency: "newsroom", Folder: "/home/adalbert/a/very/long/way/down/to/the/project", Title: "", Recipient: "Desk", Messages: 12345, UpdatedAt: at - 80*24*60*minute},
	}
}

func hostileSessions() []history.Session {
	return []history.Session{{ID: "x", Agency: hostile, Folder: hostile, Title: hostile, Recipient: hostile, Held: true}, {ID: "y", Title: hostile}}
}

func filledSessions() *overlay.Sessions {
	s := overlay.NewSessions("a1", "/home/ada")
	s.SetSessions(someSessions(), nil)
	return s
}

func TestSessions(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string][]overlay.Result{
		"enter":                         {overlay.Open{ID: "a1"}},
		"end enter":                     {overlay.Open{ID: "c3"}},
		"esc":                           {overlay.Closed{ID: "sessions"}},
		"down enter r":                  {overlay.Open{ID: "b2"}},
		"down enter enter":              {overlay.Open{ID: "b2"}},
		"down enter f":                  {overlay.Fork{ID: "b2"}},
		"down enter x esc esc":          {overlay.Closed{ID: "sessions"}},
		"ctrl+f":                        {overlay.Fork{ID: "a1"}},
		"p l a n":                       {overlay.Query{Text: "p"}, overlay.Query{Text: "pl"}, overlay.Query{Text: "pla"}, overlay.Query{Text: "plan"}},
		"paste:harbour_plan":            {overlay.Query{Text: "harbour plan"}},
		"p left right backspace":        {overlay.Query{Text: "p"}, overlay.Query{Text: ""}},
		"ctrl+r ! enter":                {overlay.Rename{ID: "a1", Title: "Write up the harbour plan!"}},
		"ctrl+r ctrl+u paste:新しい enter": {overlay.Rename{ID: "a1", Title: "新しい"}},
		"ctrl+r home X enter":           {overlay.Rename{ID: "a1", Title: "XWrite up the harbour plan"}},
		"ctrl+r enter":                  nil,
		"ctrl+r ctrl+u enter":           nil,
		"ctrl+r x esc esc":              {overlay.Closed{ID: "sessions"}},
		"end ctrl+d y":                  {overlay.Delete{ID: "c3"}},
		"end ctrl+d enter":              nil,
		"end ctrl+d n":                  nil,
		"end ctrl+d esc":                nil,
		"end ctrl+d x y":                {overlay.Query{Text: "y"}},
		"end ctrl+d paste:y enter":      nil,
		"ctrl+d y":                      {overlay.Query{Text: "y"}},
		"down ctrl+d y":                 {overlay.Query{Text: "y"}},
	} {
		s, _ := newStack()
		s.Push(filledSessions())
		got := play(s, keys)
		if fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
			t.Errorf("%s: %#v, want %#v", keys, got, want)
		}
	}
}

func TestSessionsEmptyList(t *testing.T) {
	t.Parallel()
	d := overlay.NewSessions("", "")
	s, _ := newStack()
	s.Push(d)
	equal(t, play(s, "enter ctrl+r ctrl+d ctrl+f down"))
	if got := screen(t, s, 60, 16); !strings.Contains(got, "searching…") {
		t.Errorf("it does not say that it waits:\n%s", got)
	}
	d.SetSessions(nil, nil)
	if got := screen(t, s, 60, 16); !strings.Contains(got, "no sessions yet") {
		t.Errorf("it does not say that there are none:\n%s", got)
	}
	play(s, "z")
	d.SetSessions(nil, nil)
	if got := screen(t, s, 60, 16); d.Query() != "z" || !strings.Contains(got, "no session matches") {
		t.Errorf("it does not say that none matches %q:\n%s", d.Query(), got)
	}
}

func TestSessionsErrorKeepsTheList(t *testing.T) {
	t.Parallel()
	d := filledSessions()
	s, _ := newStack()
	s.Push(d)
	d.SetSessions(nil, errors.New("delete session c3: the disk is full"))
	got := screen(t, s, 80, 24)
	if !strings.Contains(got, "the disk is full") || !strings.Contains(got, "harbour plan") {
		t.Errorf("the error or the list is gone:\n%s", got)
	}
	d.SetSessions(someSessions(), nil)
	if got := screen(t, s, 80, 24); strings.Contains(got, "the disk is full") {
		t.Errorf("the error is still there:\n%s", got)
	}
}

func TestSessionsKeepTheSelection(t *testing.T) {
	t.Parallel()
	d := filledSessions()
	s, _ := newStack()
	s.Push(d)
	play(s, "end")
	list := someSessions()
	d.SetSessions([]history.Session{list[2], list[0]}, nil)
	equal(t, play(s, "enter"), overlay.Open{ID: "c3"})

	// A question is about the session that it was asked about, whatever the list does meanwhile.
	d = filledSessions()
	s.Push(d)
	play(s, "end ctrl+d")
	d.SetSessions(list[:1], nil)
	equal(t, play(s, "y"), overlay.Delete{ID: "c3"})
}

func TestSessionsModes(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"end ctrl+d":  "Delete “(no title)”?",
		"ctrl+d":      "This session is open.",
		"down ctrl+d": "Another process holds this session.",
		"down enter":  "Another process holds “会議",
		"ctrl+r":      "Title › Write up",
		"down":        "held by another process",
	} {
		s, _ := newStack()
		s.Push(filledSessions())
		play(s, keys)
		if got := screen(t, s, 80, 24); !strings.Contains(got, want) {
			t.Errorf("after %s there is no %q:\n%s", keys, want, got)
		}
	}
}

func manySessions(n int) []history.Session {
	list := make([]history.Session, n)
	for i := range list {
		list[i] = history.Session{ID: fmt.Sprint(i), Title: fmt.Sprintf("session %d 漢字", i), Agency: "tour", Folder: "/home/ada/src", Recipient: "Guide", UpdatedAt: start.UnixMicro()}
	}
	return list
}

func BenchmarkSessionsKeyAndFrame(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := overlay.NewSessions("", "/home/ada")
			d.SetSessions(manySessions(n), nil)
			s, _ := newStack()
			s.Push(d)
			b.ReportAllocs()
			for b.Loop() {
				s.HandleKey(press("down"))
				s.View(120, 40)
			}
		})
	}
}

func BenchmarkSetSessions(b *testing.B) {
	d := overlay.NewSessions("", "/home/ada")
	list := manySessions(10_000)
	b.ReportAllocs()
	for b.Loop() {
		d.SetSessions(list, nil)
	}
}
