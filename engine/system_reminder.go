package engine

// reminders says which system reminders are due in a run: some with the first model call after the user's message, others after so
// many tool calls of an agent. It belongs to the run's goroutine.
type reminders struct {
	begun bool
	calls map[string]int // finished tool calls, by agent
	told  map[toldKey]int
}

type toldKey struct {
	agent string
	index int
}

// count notes a finished tool call.
func (m *reminders) count(agent string) {
	if m.calls == nil {
		m.calls = map[string]int{}
	}
	m.calls[agent]++
}

// take returns the texts that go with the next model call of an agent.
func (m *reminders) take(r *role, isTop bool) []string {
	first := isTop && !m.begun
	m.begun = true
	var due []string
	for i, reminder := range r.agent.Reminders {
		if reminder.EveryToolCalls == 0 {
			if first {
				due = append(due, reminder.Message)
			}
			continue
		}
		times, key := m.calls[r.agent.Name]/reminder.EveryToolCalls, toldKey{r.agent.Name, i}
		if times > m.told[key] {
			if m.told == nil {
				m.told = map[toldKey]int{}
			}
			m.told[key] = times
			due = append(due, reminder.Message)
		}
	}
	return due
}
