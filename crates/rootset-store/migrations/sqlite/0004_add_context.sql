-- Context windows: sessions, their segments, and what was ever stashed, restored or deleted of them.

-- Numbers of sessions and segments are given once, like those of chunks: a purge does not free them.
ALTER TABLE workspaces ADD COLUMN next_session INTEGER NOT NULL DEFAULT 1;
ALTER TABLE workspaces ADD COLUMN next_segment INTEGER NOT NULL DEFAULT 1;

-- `version` rises with every change, `epoch` when rows vanished or came back: whoever knows a session of another epoch
-- has to read all of it. `settings` and `focus` are the service's own JSON.
CREATE TABLE sessions (
  workspace INTEGER NOT NULL REFERENCES workspaces (workspace),
  session INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  settings TEXT NOT NULL,
  focus TEXT NOT NULL,
  collections INTEGER NOT NULL,
  next_step INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  trashed_run BLOB,
  trashed_at INTEGER,
  PRIMARY KEY (workspace, session)
) WITHOUT ROWID;
CREATE UNIQUE INDEX sessions_name ON sessions (workspace, session_id) WHERE trashed_run IS NULL;
CREATE INDEX sessions_name_trashed ON sessions (workspace, session_id) WHERE trashed_run IS NOT NULL;
CREATE INDEX sessions_updated ON sessions (workspace, updated_at, session) WHERE trashed_run IS NULL;
CREATE INDEX sessions_trashed ON sessions (workspace, trashed_run) WHERE trashed_run IS NOT NULL;

-- Everything about a segment but its words, side by side with the others of its session: a session is loaded by reading
-- one stretch of narrow rows. Numbers rise in the order of addition.
CREATE TABLE segments (
  workspace INTEGER NOT NULL,
  session INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  segment_id TEXT NOT NULL,
  type TEXT NOT NULL,
  role TEXT,
  tool_call_id TEXT,
  tokens INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  created_step INTEGER NOT NULL,
  touched_at INTEGER NOT NULL,
  touched_step INTEGER NOT NULL,
  pinned INTEGER NOT NULL,
  pin_reason TEXT,
  invariant INTEGER NOT NULL,
  file_path TEXT,
  first_line INTEGER,
  last_line INTEGER,
  tags TEXT,
  topic_id TEXT,
  task_id TEXT,
  refs TEXT,
  reply_to TEXT,
  derived_from TEXT,
  -- Hashes of the names that the text holds, eight bytes each, little endian.
  names BLOB NOT NULL,
  text_hash BLOB NOT NULL,
  text_chars INTEGER NOT NULL,
  -- Of text and raw together.
  bytes INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('active', 'stashed')),
  stashed_at INTEGER,
  stash_reason TEXT,
  -- Whether full text has it: from the first time that it was stashed on.
  is_indexed INTEGER NOT NULL,
  entered_collection INTEGER NOT NULL,
  -- The session's version when the row last changed.
  version INTEGER NOT NULL,
  written_by TEXT NOT NULL,
  trashed_run BLOB,
  trashed_at INTEGER,
  PRIMARY KEY (workspace, session, segment),
  CHECK (state = 'active' OR stashed_at IS NOT NULL),
  FOREIGN KEY (workspace, session) REFERENCES sessions (workspace, session)
) WITHOUT ROWID;
CREATE UNIQUE INDEX segments_number ON segments (workspace, segment);
CREATE UNIQUE INDEX segments_id ON segments (workspace, session, segment_id);
-- Also what a list of sessions counts, so that it need not read the rows.
CREATE INDEX segments_version ON segments (workspace, session, version, state, trashed_run, tokens);
CREATE INDEX segments_stashed ON segments (workspace, stashed_at, segment) WHERE state = 'stashed';
CREATE INDEX segments_trashed ON segments (workspace, trashed_run) WHERE trashed_run IS NOT NULL;

CREATE TABLE segment_texts (
  workspace INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  text TEXT NOT NULL,
  -- The caller's own message block, as it was given.
  raw TEXT,
  PRIMARY KEY (workspace, segment),
  FOREIGN KEY (workspace, segment) REFERENCES segments (workspace, segment)
);

-- What left a window, came back or went for good: numbers and codes, never content. Lines outlive their segment, not their
-- session.
CREATE TABLE ledger (
  workspace INTEGER NOT NULL,
  session INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  segment INTEGER NOT NULL,
  action TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (workspace, session, seq),
  FOREIGN KEY (workspace, session) REFERENCES sessions (workspace, session)
) WITHOUT ROWID;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('sessions', 'sessions', '10000 1000 1'),
  ('sessions', 'sessions_name', '10000 1000 1'),
  ('sessions', 'sessions_name_trashed', '1000 100 1'),
  ('sessions', 'sessions_updated', '10000 1000 2 1'),
  ('sessions', 'sessions_trashed', '1000 100 1'),
  ('segments', 'segments', '5000000 500000 5000 1'),
  ('segments', 'segments_number', '5000000 500000 1'),
  ('segments', 'segments_id', '5000000 500000 5000 1'),
  ('segments', 'segments_version', '5000000 500000 5000 2 2 2 1'),
  ('segments', 'segments_stashed', '1000000 100000 10 1'),
  ('segments', 'segments_trashed', '50000 5000 100'),
  ('segment_texts', 'sqlite_autoindex_segment_texts_1', '5000000 500000 1'),
  ('ledger', 'ledger', '5000000 500000 5000 1');
