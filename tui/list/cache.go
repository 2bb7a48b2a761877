package list

// keep is how many items beside those in view stay laid out.
const keep = 512

type laidOut struct {
	width   int
	version uint64
	rows    []string
	used    uint64 // the View that needed it last
}

// rows returns the rows of an item, laid out again only when its version or the width changed.
func (l *List) rows(i int) []string {
	it := l.items[i]
	c, ok := l.cache[it]
	if !ok {
		if l.cache == nil {
			l.cache = make(map[Item]*laidOut)
		}
		c = &laidOut{width: -1}
		l.cache[it] = c
	}
	if v := it.Version(); c.width != l.w || c.version != v {
		l.rowsSeen -= len(c.rows)
		c.width, c.version, c.rows = l.w, v, it.Rows(l.w)
		l.rowsSeen += len(c.rows)
	}
	c.used = l.tick
	return c.rows
}

func (l *List) forget(it Item) {
	if c, ok := l.cache[it]; ok {
		l.rowsSeen -= len(c.rows)
		delete(l.cache, it)
	}
}

// evict drops what the last View did not need once there is much of it.
func (l *List) evict() {
	if len(l.cache) <= keep+l.h {
		return
	}
	for it, c := range l.cache {
		if c.used != l.tick {
			l.rowsSeen -= len(c.rows)
			delete(l.cache, it)
		}
	}
}
