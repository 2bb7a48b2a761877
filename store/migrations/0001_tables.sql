CREATE TABLE sessions (
  id           TEXT NOT NULL PRIMARY KEY,
  agency       TEXT NOT NULL,
  agency_path  TEXT,                        -- NULL for an agency that ships
  folder       TEXT NOT NULL,
  title        TEXT NOT NULL,
  recipient    TEXT NOT NULL,
  model        TEXT,
  created_at   INTEGER NOT NULL,            -- microseconds, as everywhere
  updated_at   INTEGER NOT NULL,            -- of the newest row
  messages     INTEGER NOT NULL DEFAULT 0,  -- how many rows
  rank         INTEGER NOT NULL             -- the order of last activity; no clock is trusted with it
) STRICT;
CREATE UNIQUE INDEX sessions_rank ON sessions (rank);
CREATE INDEX sessions_place ON sessions (agency, folder, rank);

CREATE TABLE messages (
  id             INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of the history
  session_id     TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  agent          TEXT NOT NULL,   -- whom an input addresses, who produced an output
  caller_agent   TEXT,            -- who started the run; NULL is the user
  type           TEXT NOT NULL,   -- message | function_call | function_call_output | reasoning
  role           TEXT,            -- user | assistant | system, for a message
  content        TEXT,            -- text of a message or of reasoning, output of a call, as it came
  call_id        TEXT,            -- of a call and of its output
  name           TEXT,
  arguments      TEXT,
  run_id         TEXT NOT NULL,
  parent_run_id  TEXT,            -- the run whose send_message started this one
  parent_call_id TEXT,            -- and the call
  trace_id       TEXT NOT NULL,   -- one per turn, nested runs included
  origin         TEXT,            -- why the program wrote it; NULL for people and models
  protocol       TEXT NOT NULL,   -- responses | chat_completions: what the item came as
  status         TEXT NOT NULL,   -- streaming | completed | interrupted | failed
  extra          TEXT,            -- JSON: what a server wants back unchanged, raw arguments, citations, attachments
  created_at     INTEGER NOT NULL,
  pad            BLOB             -- zeros that a streaming row grows into, so that bringing it up to date is cheap
) STRICT;
-- Every row stands in messages_session and messages_run, and in one of messages_user and messages_pair.
CREATE INDEX messages_session ON messages (session_id);
CREATE INDEX messages_user ON messages (session_id) WHERE caller_agent IS NULL;
CREATE INDEX messages_pair ON messages (session_id, min(agent, caller_agent), max(agent, caller_agent)) WHERE caller_agent IS NOT NULL;
CREATE INDEX messages_run ON messages (session_id, run_id);
CREATE INDEX messages_child ON messages (session_id, parent_run_id, run_id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX messages_call ON messages (session_id, call_id) WHERE call_id IS NOT NULL;

-- How many rows a pair has: the one thing about a thread that no index tells without a walk through all of it.
CREATE TABLE pair_counts (
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  a          TEXT NOT NULL,   -- the names in byte order
  b          TEXT NOT NULL,
  messages   INTEGER NOT NULL,
  PRIMARY KEY (session_id, a, b)
) STRICT, WITHOUT ROWID;

-- The rank moves only when the newest row of all is another session's, so that a session at work writes no index of sessions.
CREATE TRIGGER messages_insert AFTER INSERT ON messages BEGIN
  UPDATE sessions SET messages = messages + 1, updated_at = new.created_at WHERE id = new.session_id;
  UPDATE sessions SET rank = (SELECT max(rank) FROM sessions) + 1
    WHERE id = new.session_id AND rank < (SELECT max(rank) FROM sessions);
END;
CREATE TRIGGER messages_insert_pair AFTER INSERT ON messages WHEN new.caller_agent IS NOT NULL BEGIN
  INSERT INTO pair_counts VALUES (new.session_id, min(new.agent, new.caller_agent), max(new.agent, new.caller_agent), 1)
    ON CONFLICT DO UPDATE SET messages = messages + 1;
END;

CREATE TABLE requests (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id       TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  run_id           TEXT NOT NULL,
  trace_id         TEXT NOT NULL,
  agent            TEXT NOT NULL,
  provider         TEXT NOT NULL,
  model            TEXT NOT NULL,
  input_tokens     INTEGER NOT NULL,
  output_tokens    INTEGER NOT NULL,
  cached_tokens    INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cost             REAL,            -- US dollars; NULL when a price is unknown
  started_at       INTEGER NOT NULL,
  ended_at         INTEGER NOT NULL,
  outcome          TEXT NOT NULL    -- ok | failed | cancelled
) STRICT;
CREATE INDEX requests_run ON requests (session_id, run_id);
CREATE INDEX requests_agent ON requests (session_id, agent);

-- The sums of a session's requests, so that its total costs the same after ten requests and after a hundred thousand.
CREATE TABLE usage (
  session_id       TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  agent            TEXT NOT NULL,
  provider         TEXT NOT NULL,
  model            TEXT NOT NULL,
  first_id         INTEGER NOT NULL,
  input_tokens     INTEGER NOT NULL,
  output_tokens    INTEGER NOT NULL,
  cached_tokens    INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  requests         INTEGER NOT NULL,
  cost             REAL,            -- NULL as soon as one of the requests has none
  PRIMARY KEY (session_id, agent, provider, model)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER requests_insert AFTER INSERT ON requests BEGIN
  INSERT INTO usage VALUES (new.session_id, new.agent, new.provider, new.model, new.id, new.input_tokens, new.output_tokens,
      new.cached_tokens, new.reasoning_tokens, 1, new.cost)
    ON CONFLICT DO UPDATE SET input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
      cached_tokens = cached_tokens + excluded.cached_tokens, reasoning_tokens = reasoning_tokens + excluded.reasoning_tokens,
      requests = requests + 1, cost = cost + excluded.cost;
END;

-- Which process has a session open. A row whose beat is old, or whose process is gone, counts for nothing.
CREATE TABLE holds (
  session_id TEXT NOT NULL PRIMARY KEY,
  token      TEXT NOT NULL,
  machine    TEXT NOT NULL,   -- where the pid means something
  pid        INTEGER NOT NULL,
  started    TEXT NOT NULL,   -- when the process began, so that a pid that is used again is told apart; empty when unknown
  since      INTEGER NOT NULL,
  beat       INTEGER NOT NULL,
  after_row  INTEGER NOT NULL -- the newest row of all when it was taken: what streams up to there, another process left behind
) STRICT;

CREATE TABLE drafts (
  key   TEXT NOT NULL PRIMARY KEY,  -- a session's id, or what a session that has no row yet is known by
  text  TEXT NOT NULL,
  queue BLOB
) STRICT;

CREATE TABLE inputs (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  text       TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
