package history

// Thread names a conversation of a session: a filter over the table, never a structure of its own. The zero Thread is
// the user thread, all rows whose caller is the user whichever agent they belong to; any other is the sub-conversation of
// two agents, in both directions. Threads are comparable and can be map keys.
type Thread struct {
	// A and B are the agents' exact names, A before B in byte order; both empty in the user thread.
	A, B string
}

// UserThread is the conversation with the user.
var UserThread = Thread{}

// Pair is the sub-conversation of two agents, in whichever order they are given.
func Pair(a, b string) Thread {
	if b < a {
		a, b = b, a
	}
	return Thread{A: a, B: b}
}

// IsUser tells whether this is the user thread.
func (t Thread) IsUser() bool { return t == UserThread }

// Holds tells whether a row belongs to the conversation.
func (t Thread) Holds(m Message) bool { return m.Thread() == t }
