-- The first schema. Once landed, never edited: changes are new migrations.
--
-- Every key begins with the workspace. Ids are 16 bytes, times are epoch milliseconds, flags are 0 or 1.
-- Roots carry trashed_run and trashed_at; derived rows stay until purge and are seen only through living roots.

CREATE TABLE meta (
  key TEXT NOT NULL PRIMARY KEY,
  value BLOB NOT NULL
) WITHOUT ROWID;

-- The key of the erasure ledger's hashes: without it, a hash of a short text could be guessed from outside.
INSERT INTO meta (key, value) VALUES ('erasure_key', randomblob(32));

CREATE TABLE workspaces (
  workspace INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id TEXT NOT NULL UNIQUE,
  name TEXT,
  description TEXT,
  quota_memories INTEGER,
  quota_bytes INTEGER,
  -- The ingest order of memories, and the numbers of entities and vectors.
  next_number INTEGER NOT NULL DEFAULT 1,
  -- Chunks have a sequence of their own without holes: the neighbours of a chunk are the numbers beside it.
  next_chunk INTEGER NOT NULL DEFAULT 1,
  -- What is stored, trash included; kept here so that a quota costs no counting.
  memory_count INTEGER NOT NULL DEFAULT 0,
  content_bytes INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  last_write_at INTEGER NOT NULL,
  trashed_run BLOB,
  trashed_at INTEGER
);

-- Memories stored per source, trash included: statistics must not read every memory.
CREATE TABLE sources (
  workspace INTEGER NOT NULL,
  source TEXT NOT NULL,
  memories INTEGER NOT NULL,
  PRIMARY KEY (workspace, source)
) WITHOUT ROWID;

CREATE TABLE memories (
  workspace INTEGER NOT NULL REFERENCES workspaces (workspace),
  memory BLOB NOT NULL,
  sequence INTEGER NOT NULL,
  name TEXT,
  source TEXT NOT NULL,
  repo TEXT,
  file_path TEXT,
  written_by TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'complete')),
  last_error TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  version INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  pending_revision INTEGER,
  source_version INTEGER,
  doc_hash BLOB,
  metadata TEXT,
  tags TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  ingested_at INTEGER NOT NULL,
  expires_at INTEGER,
  pinned INTEGER NOT NULL DEFAULT 0,
  pin_reason TEXT,
  superseded_by BLOB,
  superseded_at INTEGER,
  supersede_reason TEXT,
  trashed_run BLOB,
  trashed_at INTEGER,
  PRIMARY KEY (workspace, memory)
) WITHOUT ROWID;

CREATE UNIQUE INDEX memories_name ON memories (workspace, name) WHERE trashed_run IS NULL AND name IS NOT NULL;
CREATE INDEX memories_name_trashed ON memories (workspace, name) WHERE trashed_run IS NOT NULL;
CREATE UNIQUE INDEX memories_doc_hash ON memories (workspace, doc_hash)
  WHERE trashed_run IS NULL AND doc_hash IS NOT NULL;
CREATE INDEX memories_doc_hash_trashed ON memories (workspace, doc_hash) WHERE trashed_run IS NOT NULL;
CREATE INDEX memories_updated ON memories (workspace, updated_at, memory);
CREATE INDEX memories_file ON memories (workspace, repo, file_path) WHERE repo IS NOT NULL;
CREATE INDEX memories_trashed ON memories (workspace, trashed_run) WHERE trashed_run IS NOT NULL;
CREATE INDEX memories_superseded ON memories (workspace, superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memories_pending ON memories (workspace, memory) WHERE status = 'pending';
CREATE INDEX memories_pinned ON memories (workspace, updated_at, memory) WHERE pinned = 1;

-- Content lives here and nowhere else. A row of its own per revision; the table has a rowid because rows are large.
CREATE TABLE revisions (
  workspace INTEGER NOT NULL,
  memory BLOB NOT NULL,
  revision INTEGER NOT NULL,
  topic TEXT NOT NULL,
  context TEXT NOT NULL,
  decisions TEXT NOT NULL,
  rationale TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  extractor TEXT,
  extractor_version INTEGER,
  -- The validated result of a remote extractor; the built-in one is a pure function of the text and stores nothing.
  extraction TEXT,
  trashed_run BLOB,
  trashed_at INTEGER,
  PRIMARY KEY (workspace, memory, revision),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
);
CREATE INDEX revisions_trashed ON revisions (workspace, trashed_run) WHERE trashed_run IS NOT NULL;

-- A chunk is a range of a part of its revision: part 0 is the context, 1 the decisions, 2 the rationale.
CREATE TABLE chunks (
  workspace INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  memory BLOB NOT NULL,
  ordinal INTEGER NOT NULL,
  part INTEGER NOT NULL,
  start INTEGER NOT NULL,
  length INTEGER NOT NULL,
  -- What follows a question is likely to answer it: ranking uses this.
  is_question INTEGER NOT NULL,
  PRIMARY KEY (workspace, chunk),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
) WITHOUT ROWID;
CREATE UNIQUE INDEX chunks_memory ON chunks (workspace, memory, ordinal);

CREATE TABLE memory_tags (
  workspace INTEGER NOT NULL,
  tag TEXT NOT NULL,
  memory BLOB NOT NULL,
  PRIMARY KEY (workspace, tag, memory),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
) WITHOUT ROWID;
CREATE INDEX memory_tags_memory ON memory_tags (workspace, memory);

CREATE TABLE uses (
  workspace INTEGER NOT NULL,
  memory BLOB NOT NULL,
  use_count INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, memory),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
) WITHOUT ROWID;

CREATE TABLE entities (
  workspace INTEGER NOT NULL,
  entity BLOB NOT NULL,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  normal_name TEXT NOT NULL,
  normaliser INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, entity)
) WITHOUT ROWID;
CREATE UNIQUE INDEX entities_number ON entities (workspace, number);
CREATE INDEX entities_name ON entities (workspace, normal_name);

CREATE TABLE relations (
  workspace INTEGER NOT NULL,
  relation BLOB NOT NULL,
  source BLOB NOT NULL,
  verb TEXT NOT NULL,
  target BLOB NOT NULL,
  normaliser INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, relation),
  FOREIGN KEY (workspace, source) REFERENCES entities (workspace, entity),
  FOREIGN KEY (workspace, target) REFERENCES entities (workspace, entity)
) WITHOUT ROWID;
CREATE INDEX relations_source ON relations (workspace, source);
CREATE INDEX relations_target ON relations (workspace, target);

-- Which memory vouches for which entity (kind 0) or relation (kind 1), with its words about it.
CREATE TABLE contributions (
  workspace INTEGER NOT NULL,
  memory BLOB NOT NULL,
  object BLOB NOT NULL,
  kind INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  text TEXT,
  weight REAL NOT NULL,
  PRIMARY KEY (workspace, memory, object),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
) WITHOUT ROWID;
CREATE INDEX contributions_object ON contributions (workspace, object, memory);

-- Graph rows that were brought in from elsewhere: roots of their own, one row per import that named the object.
CREATE TABLE untracked (
  workspace INTEGER NOT NULL,
  object BLOB NOT NULL,
  run BLOB NOT NULL,
  kind INTEGER NOT NULL,
  description TEXT,
  created_at INTEGER NOT NULL,
  trashed_run BLOB,
  trashed_at INTEGER,
  PRIMARY KEY (workspace, object, run)
) WITHOUT ROWID;
CREATE INDEX untracked_run ON untracked (workspace, run);
CREATE INDEX untracked_trashed ON untracked (workspace, trashed_run) WHERE trashed_run IS NOT NULL;

-- One vector per chunk and vector space; `codes` is the int8 form that a search loads, `vector_originals` rescores.
CREATE TABLE vectors (
  workspace INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  space TEXT NOT NULL,
  number INTEGER NOT NULL,
  scale REAL NOT NULL,
  codes BLOB NOT NULL,
  PRIMARY KEY (workspace, chunk),
  FOREIGN KEY (workspace, chunk) REFERENCES chunks (workspace, chunk)
) WITHOUT ROWID;
CREATE INDEX vectors_number ON vectors (workspace, number);

CREATE TABLE vector_originals (
  workspace INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (workspace, chunk),
  FOREIGN KEY (workspace, chunk) REFERENCES chunks (workspace, chunk)
);

-- Work that outlives its process: one row per thing to do, claimed by lease, fenced by number.
CREATE TABLE jobs (
  workspace INTEGER NOT NULL,
  kind TEXT NOT NULL,
  subject BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  lease_until INTEGER NOT NULL DEFAULT 0,
  fence INTEGER NOT NULL DEFAULT 0,
  cursor BLOB,
  last_error TEXT,
  PRIMARY KEY (workspace, kind, subject)
) WITHOUT ROWID;
CREATE INDEX jobs_due ON jobs (due_at, lease_until);

CREATE TABLE plans (
  workspace INTEGER NOT NULL,
  plan BLOB NOT NULL,
  digest BLOB NOT NULL,
  -- Codes and numbers only: never the words that were asked for.
  policy TEXT NOT NULL,
  erases INTEGER NOT NULL,
  include_pinned INTEGER NOT NULL,
  is_named INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  totals TEXT NOT NULL,
  run BLOB,
  PRIMARY KEY (workspace, plan)
) WITHOUT ROWID;

CREATE TABLE plan_items (
  workspace INTEGER NOT NULL,
  plan BLOB NOT NULL,
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  object BLOB NOT NULL,
  revision INTEGER NOT NULL,
  version INTEGER NOT NULL,
  action TEXT NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (workspace, plan, position),
  FOREIGN KEY (workspace, plan) REFERENCES plans (workspace, plan)
) WITHOUT ROWID;
CREATE INDEX plan_items_object ON plan_items (workspace, plan, object);

CREATE TABLE runs (
  workspace INTEGER NOT NULL,
  run BLOB NOT NULL,
  operation TEXT NOT NULL,
  plan BLOB,
  actor TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  -- Position of the next item: a batch and its cursor are one transaction.
  cursor INTEGER NOT NULL DEFAULT 0,
  counts TEXT NOT NULL,
  undo_until INTEGER,
  undone_at INTEGER,
  purged_at INTEGER,
  erasure BLOB,
  -- Proof of an erasure, kept so that applying the plan again answers the same.
  receipt TEXT,
  PRIMARY KEY (workspace, run)
) WITHOUT ROWID;
CREATE INDEX runs_started ON runs (workspace, started_at);

CREATE TABLE run_skips (
  workspace INTEGER NOT NULL,
  run BLOB NOT NULL,
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  object BLOB NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (workspace, run, position)
) WITHOUT ROWID;

-- Append-only, hash-chained per workspace; chain 0 is the database's own. Never content, never query text.
CREATE TABLE audit (
  chain INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  operation TEXT NOT NULL,
  counts TEXT NOT NULL,
  plan BLOB,
  run BLOB,
  hash BLOB NOT NULL,
  PRIMARY KEY (chain, seq)
) WITHOUT ROWID;

-- What must never come back by itself: ids and keyed hashes, never text.
CREATE TABLE erasures (
  workspace INTEGER NOT NULL,
  erasure BLOB NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  cause TEXT NOT NULL,
  run BLOB,
  PRIMARY KEY (workspace, erasure)
) WITHOUT ROWID;

CREATE TABLE erased_contents (
  workspace INTEGER NOT NULL,
  content_hash BLOB NOT NULL,
  memory BLOB NOT NULL,
  erasure BLOB NOT NULL,
  PRIMARY KEY (workspace, content_hash, memory)
) WITHOUT ROWID;
CREATE INDEX erased_contents_memory ON erased_contents (workspace, memory);

-- What the planner should believe about every database, however small: a workspace holds very many rows, so looking
-- up by workspace alone is never good enough. Without this, SQLite guesses ten rows per workspace and scans it.
ANALYZE;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('sources', 'sources', '1000 100 1'),
  ('memories', 'memories', '1000000 100000 1'),
  ('memories', 'memories_name', '1000000 100000 1'),
  ('memories', 'memories_name_trashed', '50000 5000 2'),
  ('memories', 'memories_doc_hash', '1000000 100000 1'),
  ('memories', 'memories_doc_hash_trashed', '50000 5000 2'),
  ('memories', 'memories_updated', '1000000 100000 2 1'),
  ('memories', 'memories_file', '100000 50000 5000 1'),
  ('memories', 'memories_trashed', '50000 5000 100'),
  ('memories', 'memories_superseded', '50000 5000 1'),
  ('memories', 'memories_pending', '1000 100 1'),
  ('memories', 'memories_pinned', '10000 1000 2 1'),
  ('revisions', 'sqlite_autoindex_revisions_1', '1200000 120000 2 1'),
  ('revisions', 'revisions_trashed', '1000 100 10'),
  ('chunks', 'chunks', '3000000 300000 1'),
  ('chunks', 'chunks_memory', '3000000 300000 3 1'),
  ('memory_tags', 'memory_tags', '1000000 100000 1000 1'),
  ('memory_tags', 'memory_tags_memory', '1000000 100000 2'),
  ('uses', 'uses', '500000 50000 1'),
  ('entities', 'entities', '2000000 200000 1'),
  ('entities', 'entities_number', '2000000 200000 1'),
  ('entities', 'entities_name', '2000000 200000 2'),
  ('relations', 'relations', '2000000 200000 1'),
  ('relations', 'relations_source', '2000000 200000 5'),
  ('relations', 'relations_target', '2000000 200000 5'),
  ('contributions', 'contributions', '5000000 500000 6 1'),
  ('contributions', 'contributions_object', '5000000 500000 3 1'),
  ('untracked', 'untracked', '100000 10000 1 1'),
  ('untracked', 'untracked_run', '100000 10000 100'),
  ('untracked', 'untracked_trashed', '1000 100 10'),
  ('vectors', 'vectors', '3000000 300000 1'),
  ('vectors', 'vectors_number', '3000000 300000 1'),
  ('vector_originals', 'sqlite_autoindex_vector_originals_1', '3000000 300000 1'),
  ('jobs', 'jobs', '10000 1000 500 1'),
  ('jobs', 'jobs_due', '10000 2 1'),
  ('plans', 'plans', '10000 1000 1'),
  ('plan_items', 'plan_items', '1000000 100000 1000 1'),
  ('plan_items', 'plan_items_object', '1000000 100000 1000 1'),
  ('runs', 'runs', '10000 1000 1'),
  ('runs', 'runs_started', '10000 1000 1'),
  ('run_skips', 'run_skips', '10000 1000 10 1'),
  ('audit', 'audit', '100000 10000 1'),
  ('erasures', 'erasures', '10000 1000 1'),
  ('erased_contents', 'erased_contents', '10000 1000 1 1'),
  ('erased_contents', 'erased_contents_memory', '10000 1000 1');
