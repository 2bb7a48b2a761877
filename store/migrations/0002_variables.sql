-- Texts that the tools and the instructions of a session share.
CREATE TABLE variables (
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  name       TEXT NOT NULL,
  value      TEXT NOT NULL,
  PRIMARY KEY (session_id, name)
) STRICT, WITHOUT ROWID;
