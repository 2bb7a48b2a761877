package store

import (
	"context"
	"database/sql"
)

// ReadQueries returns the text of every query that has been run on the store's readers.
func (s *Store) ReadQueries() []string {
	s.reader.mu.RLock()
	defer s.reader.mu.RUnlock()
	var texts []string
	for text := range s.reader.prepared {
		texts = append(texts, text)
	}
	return texts
}

// Writer is the connection that writes.
func (s *Store) Writer() *sql.DB { return s.writer.db }

// OpenWith opens a file with steps after those that the program has.
func OpenWith(ctx context.Context, path string, steps ...string) (*Store, error) {
	all := embeddedMigrations()
	for _, text := range steps {
		all = append(all, migration{"test.sql", text})
	}
	return open(ctx, path, all)
}

// Version is that of the files that the program writes.
var Version = len(embeddedMigrations())
