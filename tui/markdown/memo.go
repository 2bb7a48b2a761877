package markdown

// maxMemo is how many bytes of styled text are kept.
const maxMemo = 1 << 20

// memo keeps what was styled by the text that it was made of: while a list or a table grows, all of it but its end is
// styled before. When it is full it begins anew.
type memo struct {
	styled map[string]string
	size   int
}

func (m *memo) get(key string) (string, bool) {
	s, ok := m.styled[key]
	return s, ok
}

// put keeps a text, unless its key is empty.
func (m *memo) put(key, s string) {
	if key == "" {
		return
	}
	if m.size += len(key) + len(s); m.styled == nil || m.size > maxMemo {
		m.styled, m.size = map[string]string{}, len(key)+len(s)
	}
	m.styled[key] = s
}
