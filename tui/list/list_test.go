package list_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bureau/tui/list"
)

// item is laid out as height rows, twice as many below ten cells.
type item struct {
	name    string
	height  int
	version uint64
	asked   *int
}

func (it *item) Version() uint64 { return it.version }

func (it *item) Rows(w int) []string {
	if it.asked != nil {
		*it.asked++
	}
	n := it.height
	if w < 10 {
		n *= 2
	}
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf("%s.%d", it.name, i)
	}
	return rows
}

func (it *item) resize(height int) { it.height = height; it.version++ }

// numbered returns n items of the given heights in turn, named a, b, …
func numbered(n int, heights ...int) []list.Item {
	items := make([]list.Item, n)
	for i := range items {
		items[i] = &item{name: fmt.Sprint(i), height: heights[i%len(heights)]}
	}
	return items
}

func want(t *testing.T, l *list.List, w, h int, rows string) {
	t.Helper()
	got := l.View(w, h)
	if len(got) != h {
		t.Fatalf("View has %d rows, want %d", len(got), h)
	}
	if s := strings.TrimRight(strings.Join(got, " "), " "); s != rows {
		t.Fatalf("View shows %q, want %q", s, rows)
	}
}

func TestShortListStandsAtTheTop(t *testing.T) {
	t.Parallel()
	l := list.New(numbered(2, 1)...)
	want(t, l, 20, 4, "0.0 1.0")
	if !l.AtEnd() || l.Above() != 0 || l.Below() != 0 {
		t.Error("all is in view, but the list says otherwise")
	}
	l.ScrollBy(-5)
	if !l.Follow {
		t.Error("nothing could scroll, but the list follows no more")
	}
	want(t, list.New(), 20, 3, "")
	want(t, l, 0, 0, "")
	want(t, l, -1, 0, "")
}

func TestFollow(t *testing.T) {
	t.Parallel()
	l := list.New(numbered(5, 2)...)
	want(t, l, 20, 3, "3.1 4.0 4.1")
	last := l.At(4).(*item)
	last.resize(4)
	want(t, l, 20, 3, "4.1 4.2 4.3")
	l.ScrollBy(-2)
	if l.Follow || l.AtEnd() {
		t.Error("still follows after scrolling up")
	}
	want(t, l, 20, 3, "3.1 4.0 4.1")
	last.resize(6)
	l.Append(&item{name: "new", height: 1})
	want(t, l, 20, 3, "3.1 4.0 4.1")
	if got := l.Below(); got != 5 {
		t.Errorf("Below = %d, want 5", got)
	}
	l.ScrollBy(100)
	if !l.Follow {
		t.Error("does not follow at the end")
	}
	want(t, l, 20, 3, "4.4 4.5 new.0")
	l.Home()
	want(t, l, 20, 3, "0.0 0.1 1.0")
	l.End()
	want(t, l, 20, 3, "4.4 4.5 new.0")
	l.ScrollPage(-1)
	want(t, l, 20, 3, "4.2 4.3 4.4")
	l.ScrollPage(1)
	want(t, l, 20, 3, "4.4 4.5 new.0")
}

func TestPositionStays(t *testing.T) {
	t.Parallel()
	l := list.New(numbered(6, 2)...)
	want(t, l, 20, 3, "4.1 5.0 5.1")
	l.ScrollBy(-4)
	want(t, l, 20, 3, "2.1 3.0 3.1")

	l.Prepend(&item{name: "old", height: 7})
	want(t, l, 20, 3, "2.1 3.0 3.1")
	l.At(0).(*item).resize(3)
	l.At(1).(*item).resize(9)
	want(t, l, 20, 3, "2.1 3.0 3.1")
	l.InsertBefore(2, &item{name: "mid", height: 5})
	want(t, l, 20, 3, "2.1 3.0 3.1")
	l.InsertBefore(6, &item{name: "later", height: 5})
	want(t, l, 20, 3, "2.1 3.0 3.1")
	l.Remove(0)
	want(t, l, 20, 3, "2.1 3.0 3.1")

	want(t, l, 5, 4, "2.2 2.3 3.0 3.1") // twice as many rows: the same share of the item is above
	want(t, l, 20, 4, "2.1 3.0 3.1 later.0")

	l.Remove(3)
	want(t, l, 20, 4, "3.0 3.1 later.0 later.1")
}

func TestNothingIsEmptyAboveTheEnd(t *testing.T) {
	t.Parallel()
	l := list.New(numbered(3, 10)...)
	l.View(20, 5)
	l.ScrollBy(-1)
	for i := range 3 {
		l.At(i).(*item).resize(2)
	}
	want(t, l, 20, 5, "0.1 1.0 1.1 2.0 2.1")
	l.At(0).(*item).resize(0)
	l.At(1).(*item).resize(0)
	want(t, l, 20, 5, "2.0 2.1")
}

func TestSelection(t *testing.T) {
	t.Parallel()
	l := list.New(numbered(6, 2)...)
	l.At(4).(*item).height = 0
	if l.Selected() != -1 {
		t.Fatal("something is selected from the start")
	}
	want(t, l, 20, 3, "3.1 5.0 5.1")
	steps := []struct {
		do       func() bool
		ok       bool
		selected int
		rows     string
	}{
		{l.SelectPrev, true, 5, "3.1 5.0 5.1"},
		{l.SelectNext, false, 5, "3.1 5.0 5.1"},
		{l.SelectPrev, true, 3, "3.0 3.1 5.0"}, // the one without rows is passed over
		{l.SelectPrev, true, 2, "2.0 2.1 3.0"},
		{l.SelectNext, true, 3, "2.1 3.0 3.1"},
		{l.SelectNext, true, 5, "3.1 5.0 5.1"},
	}
	for i, s := range steps {
		if ok := s.do(); ok != s.ok || l.Selected() != s.selected {
			t.Fatalf("step %d: %v, selected %d, want %v, %d", i, ok, l.Selected(), s.ok, s.selected)
		}
		want(t, l, 20, 3, s.rows)
	}
	if !l.Follow {
		t.Error("does not follow though the end is in view")
	}
	l.At(0).(*item).resize(9)
	l.Select(0)
	want(t, l, 20, 3, "0.0 0.1 0.2")
	l.Select(1)
	want(t, l, 20, 3, "0.8 1.0 1.1")
	l.Prepend(numbered(2, 1)...)
	if l.Selected() != 3 {
		t.Errorf("selected %d after two items came before, want 3", l.Selected())
	}
	l.Remove(0)
	l.Remove(2)
	if l.Selected() != 2 {
		t.Errorf("selected %d after it was removed, want the one after it", l.Selected())
	}
	l.Select(99)
	if l.Selected() != -1 {
		t.Error("selected what is not there")
	}
}

func TestItemAt(t *testing.T) {
	t.Parallel()
	l := list.New(numbered(3, 2)...)
	l.View(20, 8)
	for y, w := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {-1, 0}, {-1, 0}} {
		if i, r := l.ItemAt(y); i != w[0] || r != w[1] {
			t.Errorf("row %d is item %d row %d, want %v", y, i, r, w)
		}
	}
	if i, _ := l.ItemAt(-1); i != -1 {
		t.Error("an item above the view")
	}
	if l.Index(l.At(1)) != 1 || l.Index(&item{}) != -1 {
		t.Error("Index does not find")
	}
}

func TestOnlyWhatIsSeenIsLaidOut(t *testing.T) {
	t.Parallel()
	asked := 0
	items := make([]list.Item, 50_000)
	for i := range items {
		items[i] = &item{name: fmt.Sprint(i), height: 3, asked: &asked}
	}
	l := list.New(items...)
	l.View(80, 30)
	if asked > 12 {
		t.Errorf("the first View laid out %d items", asked)
	}
	l.View(80, 30)
	l.Above()
	l.Below()
	if asked > 20 {
		t.Errorf("a View that changed nothing laid out items: %d in all", asked)
	}
	asked = 0
	for range 100 {
		l.ScrollBy(-1)
		l.View(80, 30)
	}
	if asked > 35 {
		t.Errorf("scrolling up 100 rows laid out %d items", asked)
	}
	asked = 0
	l.View(70, 30)
	if asked > 12 {
		t.Errorf("another width laid out %d items", asked)
	}
	if got := l.Above(); got < 140_000 || got > 150_000 {
		t.Errorf("Above = %d, want nearly 150,000", got)
	}
}

// TestAgainstAPlainList holds random walks against the list as one slice of rows.
func TestAgainstAPlainList(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		l := list.New()
		next := 0
		fresh := func() list.Item {
			next++
			return &item{name: fmt.Sprint(next), height: r.IntN(5)}
		}
		w, h := 20, 1+r.IntN(8)
		for range 60 {
			before := slices.Clone(l.View(w, h))
			move := r.IntN(9)
			switch move {
			case 0, 1:
				l.Append(fresh())
			case 2:
				l.Prepend(fresh(), fresh())
			case 3:
				l.ScrollBy(r.IntN(21) - 10)
			case 4:
				l.SelectPrev()
			case 5:
				l.SelectNext()
			case 6:
				if l.Len() > 0 {
					l.Remove(r.IntN(l.Len()))
				}
			case 7:
				if l.Len() > 0 {
					l.At(r.IntN(l.Len())).(*item).resize(r.IntN(5))
				}
			case 8:
				w, h = 5+r.IntN(2)*15, 1+r.IntN(8)
			}
			var all []string
			for i := range l.Len() {
				all = append(all, l.At(i).Rows(w)...)
			}
			got := l.View(w, h)
			shown := min(h, len(all))
			at := -1
			for i := 0; i+shown <= len(all); i++ {
				if slices.Equal(all[i:i+shown], got[:shown]) {
					at = i
					break
				}
			}
			if at < 0 || len(got) != h {
				t.Fatalf("seed %d: View %q is no part of %q", seed, got, all)
			}
			if l.AtEnd() != (at+shown == len(all)) {
				t.Fatalf("seed %d, move %d: AtEnd %v at %d of %d: %q of %q", seed, move, l.AtEnd(), at, len(all), got, all)
			}
			if l.Follow && at+shown != len(all) {
				t.Fatalf("seed %d: follows, but is at %d of %d", seed, at, len(all))
			}
			if move == 2 && !l.Follow && before[len(before)-1] != "" && !slices.Equal(before, got) {
				t.Fatalf("seed %d: moved from %q to %q when items came before", seed, before, got)
			}
		}
	}
}

func BenchmarkView(b *testing.B) {
	for _, n := range []int{50, 50_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l := list.New(numbered(n, 1, 3, 12)...)
			l.View(100, 50)
			b.ReportAllocs()
			for b.Loop() {
				l.View(100, 50)
			}
		})
	}
}

func BenchmarkStreaming(b *testing.B) {
	l := list.New(numbered(50_000, 3)...)
	last := l.At(49_999).(*item)
	for b.Loop() {
		last.version++
		l.View(100, 50)
	}
}

func BenchmarkPrepend(b *testing.B) {
	l := list.New(numbered(50_000, 3)...)
	page := numbered(200, 3)
	for b.Loop() {
		l.Prepend(page...)
		l.View(100, 50)
		if l.Len() > 60_000 {
			l.Reset(numbered(50_000, 3)...)
		}
	}
}
