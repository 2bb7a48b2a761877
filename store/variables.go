package store

import "context"

const (
	selectVariables = `SELECT name, value FROM variables WHERE session_id = ?`
	saveVariable    = `INSERT INTO variables (session_id, name, value) VALUES (?, ?, ?)
		ON CONFLICT (session_id, name) DO UPDATE SET value = excluded.value`
	copyVariables = `INSERT INTO variables (session_id, name, value) SELECT ?2, name, value FROM variables WHERE session_id = ?1`
)

// Variables returns the variables that have been set in a session, by name; empty when there are none.
func (s *Store) Variables(ctx context.Context, session string) (map[string]string, error) {
	found := map[string]string{}
	err := s.view().query(ctx, selectVariables, []any{session}, func(scan func(...any) error) error {
		var name, value string
		err := scan(&name, &value)
		found[name] = value
		return err
	})
	if err != nil {
		return nil, s.explain("read variables", err)
	}
	return found, nil
}

// SetVariable sets a variable of a session that is stored.
func (s *Store) SetVariable(ctx context.Context, session, name, value string) error {
	_, err := s.exec(ctx, saveVariable, session, name, value)
	return s.explain("set variable", err)
}
