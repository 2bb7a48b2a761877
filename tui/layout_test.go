package tui

import (
	"fmt"
	"image"
	"strings"
	"testing"
)

// drawing draws a layout: each part by its letter (t thread, q queue, - rule, c composer, s status; of the panes h header, b
// transcript, w last words, | the area that none of them takes), one letter for each 4×1 cells so that it fits the page.
func drawing(l Layout) string {
	const scale = 4
	cells := make([][]byte, l.Height)
	for y := range cells {
		cells[y] = []byte(strings.Repeat(".", l.Width/scale))
	}
	fill := func(r image.Rectangle, c byte) {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X / scale; x < r.Max.X/scale; x++ {
				cells[y][x] = c
			}
		}
	}
	fill(l.Thread, 't')
	fill(l.Panes, '|')
	for _, p := range l.Stack {
		fill(p.Header, 'h')
		body := byte('w')
		if p.Expanded {
			body = 'b'
		}
		fill(p.Body, body)
	}
	fill(l.Queue, 'q')
	fill(l.Rule, '-')
	fill(l.Composer, 'c')
	fill(l.Status, 's')
	// Equal rows are told once, with their number.
	var b strings.Builder
	for y := 0; y < len(cells); {
		n := 1
		for y+n < len(cells) && string(cells[y+n]) == string(cells[y]) {
			n++
		}
		fmt.Fprintf(&b, "%s %d\n", cells[y], n)
		y += n
	}
	return b.String()
}

func panes(states ...paneState) []paneState { return states }

func TestCompute(t *testing.T) {
	t.Parallel()
	rest, busy := paneState{recent: 1}, paneState{wanted: true, working: true, recent: 9}
	folded, open := paneState{open: -1, wanted: true, working: true, recent: 10}, paneState{open: 1, recent: 2}
	for _, test := range []struct {
		name string
		w, h int
		s    layoutState
		want string
	}{
		{"tiny", 20, 5, layoutState{composer: 1, cursor: -1}, `
			ttttt 3
			ccccc 1
			sssss 1`},
		{"tiny, a pane, the composer has the focus", 20, 5, layoutState{composer: 1, cursor: -1, panes: panes(busy)}, `
			ttttt 3
			ccccc 1
			sssss 1`},
		{"tiny, the panes have the focus", 20, 5, layoutState{composer: 1, cursor: 0, panes: panes(busy, rest), focus: focusPanes}, `
			hhhhh 1
			bbbbb 2
			ccccc 1
			sssss 1`},
		{"two rows", 8, 2, layoutState{composer: 3, cursor: -1, panes: panes(busy)}, `
			tt 1
			cc 1`},
		{"one cell", 4, 1, layoutState{composer: 1, cursor: -1}, `
			c 1`},
		{"narrow, at rest", 60, 16, layoutState{composer: 1, cursor: -1, panes: panes(rest, rest)}, `
			ttttttttttttttt 11
			hhhhhhhhhhhhhhh 2
			--------------- 1
			ccccccccccccccc 1
			sssssssssssssss 1`},
		{"narrow, one works, a queue, a long draft", 60, 24, layoutState{composer: 20, queue: 9, cursor: -1, panes: panes(rest, busy)}, `
			ttttttttttttttt 7
			hhhhhhhhhhhhhhh 2
			bbbbbbbbbbbbbbb 2
			qqqqqqqqqqqqqqq 3
			--------------- 1
			ccccccccccccccc 8
			sssssssssssssss 1`},
		{"wide, two work, one rests", 120, 40, layoutState{composer: 1, cursor: -1, panes: panes(busy, rest, busy)}, `
			ttttttttttttttttthhhhhhhhhhhhh 1
			tttttttttttttttttbbbbbbbbbbbbb 16
			ttttttttttttttttthhhhhhhhhhhhh 1
			tttttttttttttttttwwwwwwwwwwwww 1
			ttttttttttttttttthhhhhhhhhhhhh 1
			tttttttttttttttttbbbbbbbbbbbbb 17
			------------------------------ 1
			cccccccccccccccccccccccccccccc 1
			ssssssssssssssssssssssssssssss 1`},
		{"wide, what the user folded stays so", 120, 20, layoutState{composer: 1, cursor: -1, panes: panes(folded, open)}, `
			ttttttttttttttttthhhhhhhhhhhhh 1
			tttttttttttttttttwwwwwwwwwwwww 1
			ttttttttttttttttthhhhhhhhhhhhh 1
			tttttttttttttttttbbbbbbbbbbbbb 14
			------------------------------ 1
			cccccccccccccccccccccccccccccc 1
			ssssssssssssssssssssssssssssss 1`},
		{"wide, more panes than rows: those round the cursor", 100, 12,
			layoutState{composer: 1, cursor: 7, focus: focusPanes, panes: panes(rest, rest, rest, rest, rest, rest, rest, open, rest, rest, rest, rest)}, `
			tttttttttttttthhhhhhhhhhh 4
			ttttttttttttttbbbbbbbbbbb 2
			tttttttttttttthhhhhhhhhhh 3
			------------------------- 1
			ccccccccccccccccccccccccc 1
			sssssssssssssssssssssssss 1`},
		{"zoomed pane", 160, 50, layoutState{composer: 1, cursor: 1, zoom: zoomPane, panes: panes(busy, rest)}, `
			hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh 1
			bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb 46
			---------------------------------------- 1
			cccccccccccccccccccccccccccccccccccccccc 1
			ssssssssssssssssssssssssssssssssssssssss 1`},
		{"zoomed thread", 160, 50, layoutState{composer: 2, cursor: -1, zoom: zoomThread, panes: panes(busy, rest)}, `
			tttttttttttttttttttttttttttttttttttttttt 46
			---------------------------------------- 1
			cccccccccccccccccccccccccccccccccccccccc 2
			ssssssssssssssssssssssssssssssssssssssss 1`},
	} {
		want := strings.ReplaceAll(strings.TrimPrefix(test.want, "\n"), "\t", "") + "\n"
		if got := drawing(Compute(test.w, test.h, test.s)); got != want {
			t.Errorf("%s: got\n%swant\n%s", test.name, got, want)
		}
	}
}

// TestComputeTiles lays out every size with every kind of content: no part may leave the screen or lie on another.
func TestComputeTiles(t *testing.T) {
	t.Parallel()
	for h := 0; h <= 60; h += 1 + h/12 { // every low one
		for _, w := range []int{0, 1, 20, 39, 40, 99, 100, 160} {
			for n := range 9 {
				for _, f := range []focus{focusComposer, focusThread, focusPanes} {
					for _, z := range []zoom{zoomNothing, zoomThread, zoomPane} {
						s := layoutState{composer: 1 + n*3, queue: n, cursor: n - 1, focus: f, zoom: z}
						for i := range n {
							s.panes = append(s.panes, paneState{open: i%3 - 1, wanted: i%2 == 0, working: i%4 == 0, recent: int64(i)})
						}
						checkTiles(t, Compute(w, h, s), w, h)
					}
				}
			}
		}
	}
}

func checkTiles(t *testing.T, l Layout, w, h int) {
	t.Helper()
	if w == 0 || h == 0 {
		return
	}
	parts := []image.Rectangle{l.Thread, l.Queue, l.Rule, l.Composer, l.Status}
	inPanes := 0
	for _, p := range l.Stack {
		parts = append(parts, p.Header, p.Body)
		inPanes += p.Header.Dy() + p.Body.Dy()
		if !p.Header.In(l.Panes) || !p.Body.In(l.Panes) {
			t.Fatalf("%d×%d: a pane at %v %v is not within %v", w, h, p.Header, p.Body, l.Panes)
		}
	}
	cells := 0
	for i, a := range parts {
		if !a.In(image.Rect(0, 0, w, h)) {
			t.Fatalf("%d×%d: %v is not on the screen", w, h, a)
		}
		cells += a.Dx() * a.Dy()
		for _, b := range parts[:i] {
			if a.Overlaps(b) {
				t.Fatalf("%d×%d: %v lies on %v", w, h, a, b)
			}
		}
	}
	cells += (l.Panes.Dy() - inPanes) * l.Panes.Dx()
	if cells != w*h {
		t.Fatalf("%d×%d: %d cells of %d are taken: %+v", w, h, cells, w*h, l)
	}
	if l.Composer.Empty() {
		t.Fatalf("%d×%d: no composer", w, h)
	}
}
