package list

// View lays out exactly h rows for a width of w cells, the last ones empty when the items do not fill them.
func (l *List) View(w, h int) []string {
	w, h = max(w, 0), max(h, 0)
	l.resize(w, h)
	l.tick++
	if l.Follow {
		l.seekEnd()
	}
	out := l.collect(make([]string, 0, h))
	if len(out) < h && (l.top > 0 || l.skip > 0) { // items became shorter
		l.seekEnd()
		out = l.collect(out[:0])
	}
	for len(out) < h {
		out = append(out, "")
	}
	l.evict()
	return out
}

// collect appends the rows in view, and notes where each comes from.
func (l *List) collect(out []string) []string {
	l.frame = l.frame[:0]
	if l.top < len(l.items) {
		l.skip = min(l.skip, len(l.rows(l.top)))
	}
	for i, skip := l.top, l.skip; i < len(l.items) && len(out) < l.h; i++ {
		rows := l.rows(i)
		for r := skip; r < len(rows) && len(out) < l.h; r++ {
			out = append(out, rows[r])
			l.frame = append(l.frame, position{i, r})
		}
		skip = 0
	}
	return out
}

// resize takes the size of the view. For another width the position keeps its share of the first item in view.
func (l *List) resize(w, h int) {
	if w != l.w && l.skip > 0 && l.top < len(l.items) {
		before := 0
		if c, ok := l.cache[l.items[l.top]]; ok && c.width == l.w {
			before = len(c.rows)
		}
		l.w = w
		if before > 0 {
			l.skip = l.skip * len(l.rows(l.top)) / before
		}
	}
	l.w, l.h = w, h
}

// ScrollBy moves the view by rows, up when n is negative. It stops at the ends, and asks all items on its way for their rows.
func (l *List) ScrollBy(n int) {
	if l.h == 0 || len(l.items) == 0 {
		return
	}
	if l.Follow {
		l.seekEnd()
	}
	l.skip += max(-1<<30, min(n, 1<<30))
	for l.skip < 0 && l.top > 0 {
		l.top--
		l.skip += len(l.rows(l.top))
	}
	l.skip = max(l.skip, 0)
	for l.top < len(l.items)-1 && l.skip >= len(l.rows(l.top)) {
		l.skip -= len(l.rows(l.top))
		l.top++
	}
	l.settle()
}

// ScrollPage moves the view by pages of the view's height less one row.
func (l *List) ScrollPage(pages int) { l.ScrollBy(pages * max(1, l.h-1)) }

// Home goes to the first row.
func (l *List) Home() {
	l.top, l.skip = 0, 0
	l.settle()
}

// End goes to the last row, and follows.
func (l *List) End() {
	l.Follow = true
	if l.h > 0 {
		l.seekEnd()
	}
}

// Reveal scrolls as little as brings an item into view, its first row if it is taller than the view.
func (l *List) Reveal(i int) {
	if i < 0 || i >= len(l.items) || l.h == 0 {
		return
	}
	if l.Follow {
		l.seekEnd()
	}
	if i < l.top || i == l.top && l.skip > 0 {
		l.top, l.skip = i, 0
		l.settle()
		return
	}
	// From the item's last row upwards: is the first row in view on the way?
	need := 0
	for j := i; j > l.top && need < l.h; j-- {
		need += len(l.rows(j))
	}
	if i > l.top && need+len(l.rows(l.top))-l.skip > l.h {
		l.top, l.skip = i, 0
		l.back(l.h - len(l.rows(i)))
	}
	l.settle()
}

// back moves the position up by n rows, not beyond the first.
func (l *List) back(n int) {
	l.skip -= max(n, 0)
	for l.skip < 0 && l.top > 0 {
		l.top--
		l.skip += len(l.rows(l.top))
	}
	l.skip = max(l.skip, 0)
}

// settle pulls a position beyond the end back to it, and follows exactly when the end is in view.
func (l *List) settle() {
	if l.h == 0 {
		l.Follow = false
		return
	}
	l.Follow = l.AtEnd()
	if l.Follow {
		l.seekEnd()
	}
}

// seekEnd puts the last row at the bottom of the view. It asks only the items that are then in view.
func (l *List) seekEnd() {
	l.top, l.skip = len(l.items), 0
	l.back(l.h)
}

// AtEnd tells whether the last row is in view.
func (l *List) AtEnd() bool {
	left := l.h + l.skip
	for i := l.top; i < len(l.items); i++ {
		if left -= len(l.rows(i)); left < 0 {
			return false
		}
	}
	return true
}

// Above and Below estimate the rows before and after the view: exactly for the items near it, from the mean height of those
// that are laid out for the others.
func (l *List) Above() int {
	return l.skip + l.estimate(l.top-1, -1)
}

// Below is to the end what [List.Above] is to the beginning.
func (l *List) Below() int {
	if len(l.frame) == 0 {
		return l.estimate(0, 1)
	}
	last := l.frame[len(l.frame)-1]
	return len(l.rows(last.item)) - last.row - 1 + l.estimate(last.item+1, 1)
}

// estimate adds up the heights of the items from i to an end of the list.
func (l *List) estimate(i, dir int) int {
	const ask, look = 8, 64
	rows := 0
	for n := 0; i >= 0 && i < len(l.items) && n < look; i, n = i+dir, n+1 {
		if c, ok := l.cache[l.items[i]]; n >= ask && (!ok || c.width != l.w) {
			break
		}
		rows += len(l.rows(i))
	}
	left := i + 1
	if dir > 0 {
		left = len(l.items) - i
	}
	if left > 0 {
		rows += max(left, left*l.rowsSeen/max(1, len(l.cache)))
	}
	return rows
}
