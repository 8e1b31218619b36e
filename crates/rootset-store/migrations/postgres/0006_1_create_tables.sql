-- The first schema on PostgreSQL, equal to the sixth of SQLite. Once landed, never edited: changes are new migrations.
--
-- Every key begins with the workspace. Ids are 16 bytes, times are epoch milliseconds, flags are 0 or 1. Text is ordered by
-- its bytes, as everywhere. Roots carry trashed_run and trashed_at; derived rows stay until purge and are seen only through
-- living roots.
--
-- Names are not qualified: everything lives in the schema that the search path names first. It is run as a whole, in one
-- transaction.

-- The role under which every transaction of the program runs: it owns nothing and is not above row-level security. Roles
-- belong to the cluster: another database may have brought it, or be just about to.
DO $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'rootset_application') THEN
    CREATE ROLE rootset_application NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
  END IF;
EXCEPTION
  WHEN duplicate_object OR unique_violation THEN NULL;
  WHEN insufficient_privilege THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('`%s` may not create the role `rootset_application`', CURRENT_USER),
      HINT = 'as a superuser: CREATE ROLE rootset_application NOLOGIN';
END
$$;

-- Whoever migrates may become that role; a superuser may anyway.
DO $$
BEGIN
  IF NOT pg_has_role('rootset_application', 'SET') THEN
    GRANT rootset_application TO CURRENT_USER;
  END IF;
EXCEPTION
  WHEN unique_violation THEN NULL;
  WHEN insufficient_privilege THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('`%s` may not become the role `rootset_application`', CURRENT_USER),
      HINT = format('as a superuser: GRANT rootset_application TO %I', CURRENT_USER);
END
$$;

-- One row.
CREATE TABLE schema_version (
  version BIGINT NOT NULL
);
INSERT INTO schema_version (version) VALUES (6);

CREATE TABLE meta (
  key TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  value BYTEA NOT NULL
);

-- The key of the erasure ledger's hashes: without it, a hash of a short text could be guessed from outside. Two random
-- UUIDs are 244 random bits of the server's own source of strong ones.
INSERT INTO meta (key, value)
VALUES ('erasure_key', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));

-- Numbers of the database as a whole: chunks purged since the last defragmentation, over all workspaces; and the greatest
-- number that a workspace was ever given.
CREATE TABLE counters (
  name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  value BIGINT NOT NULL
) WITH (fillfactor = 70);
INSERT INTO counters (name, value) VALUES ('purged_chunks', 0), ('workspaces', 0);

CREATE TABLE workspaces (
  workspace BIGINT PRIMARY KEY,
  workspace_id TEXT COLLATE "C" NOT NULL UNIQUE,
  name TEXT COLLATE "C",
  description TEXT COLLATE "C",
  quota_memories BIGINT,
  quota_bytes BIGINT,
  -- The ingest order of memories, and the numbers of entities and vectors.
  next_number BIGINT NOT NULL DEFAULT 1,
  -- Chunks have a sequence of their own without holes: the neighbours of a chunk are the numbers beside it.
  next_chunk BIGINT NOT NULL DEFAULT 1,
  -- Numbers of sessions and segments are given once, like those of chunks: a purge does not free them.
  next_session BIGINT NOT NULL DEFAULT 1,
  next_segment BIGINT NOT NULL DEFAULT 1,
  -- What is stored, trash included; kept here so that a quota costs no counting.
  memory_count BIGINT NOT NULL DEFAULT 0,
  content_bytes BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  last_write_at BIGINT NOT NULL,
  trashed_run BYTEA,
  trashed_at BIGINT
) WITH (fillfactor = 70);

-- The counters of workspaces that are gone, for the day one comes back under its number: no number is given twice.
CREATE TABLE kept_counters (
  workspace BIGINT PRIMARY KEY,
  next_number BIGINT NOT NULL,
  next_chunk BIGINT NOT NULL,
  next_session BIGINT NOT NULL,
  next_segment BIGINT NOT NULL
);

-- Memories stored per source, trash included: statistics must not read every memory.
CREATE TABLE sources (
  workspace BIGINT NOT NULL,
  source TEXT COLLATE "C" NOT NULL,
  memories BIGINT NOT NULL,
  PRIMARY KEY (workspace, source)
);

CREATE TABLE memories (
  workspace BIGINT NOT NULL REFERENCES workspaces (workspace),
  memory BYTEA NOT NULL,
  sequence BIGINT NOT NULL,
  name TEXT COLLATE "C",
  source TEXT COLLATE "C" NOT NULL,
  repo TEXT COLLATE "C",
  file_path TEXT COLLATE "C",
  written_by TEXT COLLATE "C" NOT NULL,
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('pending', 'complete')),
  last_error TEXT COLLATE "C",
  attempts BIGINT NOT NULL DEFAULT 0,
  version BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  pending_revision BIGINT,
  source_version BIGINT,
  doc_hash BYTEA,
  metadata TEXT COLLATE "C",
  tags TEXT COLLATE "C",
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  ingested_at BIGINT NOT NULL,
  expires_at BIGINT,
  pinned BIGINT NOT NULL DEFAULT 0,
  pin_reason TEXT COLLATE "C",
  superseded_by BYTEA,
  superseded_at BIGINT,
  supersede_reason TEXT COLLATE "C",
  trashed_run BYTEA,
  trashed_at BIGINT,
  -- When a completed scan of the repository first no longer contained the file; NULL again when a scan sees it.
  stale_at BIGINT,
  PRIMARY KEY (workspace, memory)
) WITH (fillfactor = 80);

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
CREATE INDEX memories_stale ON memories (workspace, memory) WHERE stale_at IS NOT NULL;
CREATE INDEX memories_expires ON memories (workspace, expires_at) WHERE expires_at IS NOT NULL;
-- Files that are in the trash or stale, so that a scan need not look at the memories of all others.
CREATE INDEX memories_away ON memories (workspace, repo, trashed_run, stale_at)
  WHERE repo IS NOT NULL AND (trashed_run IS NOT NULL OR stale_at IS NOT NULL);

-- Content lives here and nowhere else. A row of its own per revision.
CREATE TABLE revisions (
  workspace BIGINT NOT NULL,
  memory BYTEA NOT NULL,
  revision BIGINT NOT NULL,
  topic TEXT COLLATE "C" NOT NULL,
  context TEXT COLLATE "C" NOT NULL,
  decisions TEXT COLLATE "C" NOT NULL,
  rationale TEXT COLLATE "C" NOT NULL,
  bytes BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  extractor TEXT COLLATE "C",
  extractor_version BIGINT,
  -- The validated result of a remote extractor; the built-in one is a pure function of the text and stores nothing.
  extraction TEXT COLLATE "C",
  trashed_run BYTEA,
  trashed_at BIGINT,
  PRIMARY KEY (workspace, memory, revision),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
);
CREATE INDEX revisions_trashed ON revisions (workspace, trashed_run) WHERE trashed_run IS NOT NULL;

-- A chunk is a range of a part of its revision: part 0 is the context, 1 the decisions, 2 the rationale.
CREATE TABLE chunks (
  workspace BIGINT NOT NULL,
  chunk BIGINT NOT NULL,
  memory BYTEA NOT NULL,
  ordinal BIGINT NOT NULL,
  part BIGINT NOT NULL,
  start BIGINT NOT NULL,
  length BIGINT NOT NULL,
  -- What follows a question is likely to answer it: ranking uses this.
  is_question BIGINT NOT NULL,
  -- The symbol whose text a chunk is; NULL in notes and in files that are read as plain text.
  symbol BIGINT,
  PRIMARY KEY (workspace, chunk),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
);
CREATE UNIQUE INDEX chunks_memory ON chunks (workspace, memory, ordinal);

CREATE TABLE memory_tags (
  workspace BIGINT NOT NULL,
  tag TEXT COLLATE "C" NOT NULL,
  memory BYTEA NOT NULL,
  PRIMARY KEY (workspace, tag, memory),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
);
CREATE INDEX memory_tags_memory ON memory_tags (workspace, memory);

CREATE TABLE uses (
  workspace BIGINT NOT NULL,
  memory BYTEA NOT NULL,
  use_count BIGINT NOT NULL,
  last_used_at BIGINT NOT NULL,
  PRIMARY KEY (workspace, memory),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
);

-- Here and below: what refers to a memory, an entity or a session refers to its workspace through it.
CREATE TABLE entities (
  workspace BIGINT NOT NULL REFERENCES workspaces (workspace),
  entity BYTEA NOT NULL,
  number BIGINT NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  type TEXT COLLATE "C" NOT NULL,
  normal_name TEXT COLLATE "C" NOT NULL,
  normaliser BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  -- Symbols of code are found by `symbols`, not by the full text of names.
  is_symbol BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace, entity)
);
CREATE UNIQUE INDEX entities_number ON entities (workspace, number);
CREATE INDEX entities_name ON entities (workspace, normal_name);

CREATE TABLE relations (
  workspace BIGINT NOT NULL,
  relation BYTEA NOT NULL,
  source BYTEA NOT NULL,
  verb TEXT COLLATE "C" NOT NULL,
  target BYTEA NOT NULL,
  normaliser BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (workspace, relation),
  FOREIGN KEY (workspace, source) REFERENCES entities (workspace, entity),
  FOREIGN KEY (workspace, target) REFERENCES entities (workspace, entity)
);
CREATE INDEX relations_source ON relations (workspace, source);
CREATE INDEX relations_target ON relations (workspace, target);

-- Which memory vouches for which entity (kind 0) or relation (kind 1), with its words about it.
CREATE TABLE contributions (
  workspace BIGINT NOT NULL,
  memory BYTEA NOT NULL,
  object BYTEA NOT NULL,
  kind BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  text TEXT COLLATE "C",
  weight DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (workspace, memory, object),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
);
CREATE INDEX contributions_object ON contributions (workspace, object, memory);

-- Graph rows that were brought in from elsewhere: roots of their own, one row per import that named the object.
CREATE TABLE untracked (
  workspace BIGINT NOT NULL,
  object BYTEA NOT NULL,
  run BYTEA NOT NULL,
  kind BIGINT NOT NULL,
  description TEXT COLLATE "C",
  created_at BIGINT NOT NULL,
  trashed_run BYTEA,
  trashed_at BIGINT,
  PRIMARY KEY (workspace, object, run)
);
CREATE INDEX untracked_run ON untracked (workspace, run);
CREATE INDEX untracked_trashed ON untracked (workspace, trashed_run) WHERE trashed_run IS NOT NULL;

-- One vector per chunk and vector space; `codes` is the int8 form that a search loads, `vector_originals` rescores.
CREATE TABLE vectors (
  workspace BIGINT NOT NULL,
  chunk BIGINT NOT NULL,
  space TEXT COLLATE "C" NOT NULL,
  number BIGINT NOT NULL,
  scale DOUBLE PRECISION NOT NULL,
  codes BYTEA NOT NULL,
  PRIMARY KEY (workspace, chunk),
  FOREIGN KEY (workspace, chunk) REFERENCES chunks (workspace, chunk)
);
CREATE INDEX vectors_number ON vectors (workspace, number);

CREATE TABLE vector_originals (
  workspace BIGINT NOT NULL,
  chunk BIGINT NOT NULL,
  vector BYTEA NOT NULL,
  PRIMARY KEY (workspace, chunk),
  FOREIGN KEY (workspace, chunk) REFERENCES chunks (workspace, chunk)
);

-- Work that outlives its process: one row per thing to do, claimed by lease, fenced by number.
CREATE TABLE jobs (
  workspace BIGINT NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  subject BYTEA NOT NULL,
  created_at BIGINT NOT NULL,
  due_at BIGINT NOT NULL,
  attempts BIGINT NOT NULL DEFAULT 0,
  lease_until BIGINT NOT NULL DEFAULT 0,
  fence BIGINT NOT NULL DEFAULT 0,
  cursor BYTEA,
  last_error TEXT COLLATE "C",
  PRIMARY KEY (workspace, kind, subject)
) WITH (fillfactor = 70);
-- Which workspaces have work that is due, and which of it comes first in one of them. Leases change often and are in
-- neither.
CREATE INDEX jobs_due ON jobs (kind, due_at, workspace);
CREATE INDEX jobs_next ON jobs (workspace, kind, due_at);

CREATE TABLE plans (
  workspace BIGINT NOT NULL,
  plan BYTEA NOT NULL,
  digest BYTEA NOT NULL,
  -- Codes and numbers only: never the words that were asked for.
  policy TEXT COLLATE "C" NOT NULL,
  erases BIGINT NOT NULL,
  include_pinned BIGINT NOT NULL,
  is_named BIGINT NOT NULL,
  created_by TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  totals TEXT COLLATE "C" NOT NULL,
  run BYTEA,
  PRIMARY KEY (workspace, plan)
);

CREATE TABLE plan_items (
  workspace BIGINT NOT NULL,
  plan BYTEA NOT NULL,
  position BIGINT NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  object BYTEA NOT NULL,
  revision BIGINT NOT NULL,
  version BIGINT NOT NULL,
  action TEXT COLLATE "C" NOT NULL,
  reason TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (workspace, plan, position),
  FOREIGN KEY (workspace, plan) REFERENCES plans (workspace, plan)
);
CREATE INDEX plan_items_object ON plan_items (workspace, plan, object);

CREATE TABLE runs (
  workspace BIGINT NOT NULL,
  run BYTEA NOT NULL,
  operation TEXT COLLATE "C" NOT NULL,
  plan BYTEA,
  actor TEXT COLLATE "C" NOT NULL,
  started_at BIGINT NOT NULL,
  finished_at BIGINT,
  -- Position of the next item: a batch and its cursor are one transaction.
  cursor BIGINT NOT NULL DEFAULT 0,
  counts TEXT COLLATE "C" NOT NULL,
  undo_until BIGINT,
  undone_at BIGINT,
  purged_at BIGINT,
  erasure BYTEA,
  -- Proof of an erasure, kept so that applying the plan again answers the same.
  receipt TEXT COLLATE "C",
  PRIMARY KEY (workspace, run)
);
CREATE INDEX runs_started ON runs (workspace, started_at);

CREATE TABLE run_skips (
  workspace BIGINT NOT NULL,
  run BYTEA NOT NULL,
  position BIGINT NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  object BYTEA NOT NULL,
  reason TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (workspace, run, position)
);

-- Append-only, hash-chained per workspace; chain 0 is the database's own. Never content, never query text.
CREATE TABLE audit (
  chain BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  at BIGINT NOT NULL,
  actor TEXT COLLATE "C" NOT NULL,
  operation TEXT COLLATE "C" NOT NULL,
  counts TEXT COLLATE "C" NOT NULL,
  plan BYTEA,
  run BYTEA,
  hash BYTEA NOT NULL,
  PRIMARY KEY (chain, seq)
);

-- What must never come back by itself: ids and keyed hashes, never text.
CREATE TABLE erasures (
  workspace BIGINT NOT NULL,
  erasure BYTEA NOT NULL,
  at BIGINT NOT NULL,
  actor TEXT COLLATE "C" NOT NULL,
  cause TEXT COLLATE "C" NOT NULL,
  run BYTEA,
  PRIMARY KEY (workspace, erasure)
);

CREATE TABLE erased_contents (
  workspace BIGINT NOT NULL,
  content_hash BYTEA NOT NULL,
  memory BYTEA NOT NULL,
  erasure BYTEA NOT NULL,
  PRIMARY KEY (workspace, content_hash, memory)
);
CREATE INDEX erased_contents_memory ON erased_contents (workspace, memory);

-- One row per target: the workspace (scope 'workspace', target ''), a source, or a repository. A row replaces whatever
-- the configuration file says; a policy without rules keeps everything.
CREATE TABLE retention (
  workspace BIGINT NOT NULL REFERENCES workspaces (workspace),
  scope TEXT COLLATE "C" NOT NULL CHECK (scope IN ('workspace', 'source', 'repo')),
  target TEXT COLLATE "C" NOT NULL,
  policy TEXT COLLATE "C" NOT NULL,
  set_by TEXT COLLATE "C" NOT NULL,
  set_at BIGINT NOT NULL,
  PRIMARY KEY (workspace, scope, target)
);

-- The code index: repositories, their files, the symbols and references of each.

-- One row per repository that was ever scanned. `run` counts completed scans; `scope` and `trusted_at` are the scanner's
-- own words to its next run: what it looked for, and up to which time of the file system its stamps can be believed.
CREATE TABLE repos (
  workspace BIGINT NOT NULL REFERENCES workspaces (workspace),
  repo TEXT COLLATE "C" NOT NULL,
  root TEXT COLLATE "C" NOT NULL,
  run BIGINT NOT NULL DEFAULT 0,
  run_id BYTEA,
  run_at BIGINT,
  scope TEXT COLLATE "C",
  trusted_at BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (workspace, repo)
);
CREATE INDEX repos_root ON repos (workspace, root);

-- What a scan compares a file with, one row per file's memory, in the trash or not. Every scan reads all rows of its
-- repository in order, so they are narrow; whether the memory lives is asked of the few that do not, see
-- `memories_away`.
CREATE TABLE files (
  workspace BIGINT NOT NULL,
  repo TEXT COLLATE "C" NOT NULL,
  path TEXT COLLATE "C" NOT NULL,
  memory BYTEA NOT NULL,
  size BIGINT NOT NULL,
  modified_ns BIGINT NOT NULL,
  changed_ns BIGINT NOT NULL,
  inode BIGINT NOT NULL,
  content_hash BYTEA NOT NULL,
  extractor BIGINT NOT NULL,
  language TEXT COLLATE "C" NOT NULL,
  is_test BIGINT NOT NULL,
  is_mounted BIGINT NOT NULL,
  -- Counts that the answer to every scan gives of the whole tree.
  lines BIGINT NOT NULL,
  functions BIGINT NOT NULL,
  classes BIGINT NOT NULL,
  PRIMARY KEY (workspace, repo, path, memory),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
);
CREATE INDEX files_memory ON files (workspace, memory);

-- What a file defines, in the order of its text; `parent` is an ordinal, `start` and `length` are bytes.
CREATE TABLE symbols (
  workspace BIGINT NOT NULL,
  memory BYTEA NOT NULL,
  ordinal BIGINT NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  qualified_name TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  parent BIGINT,
  first_line BIGINT NOT NULL,
  last_line BIGINT NOT NULL,
  start BIGINT NOT NULL,
  length BIGINT NOT NULL,
  signature TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (workspace, memory, ordinal),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
);
CREATE INDEX symbols_name ON symbols (workspace, name);

-- Imports, calls and bases of a file as they were written: a version byte, then the packed lists.
CREATE TABLE code_references (
  workspace BIGINT NOT NULL,
  memory BYTEA NOT NULL,
  packed BYTEA NOT NULL,
  PRIMARY KEY (workspace, memory),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
);

-- Context windows: sessions, their segments, and what was ever stashed, restored or deleted of them.

-- `version` rises with every change, `epoch` when rows vanished or came back: whoever knows a session of another epoch
-- has to read all of it. `settings` and `focus` are the service's own JSON.
CREATE TABLE sessions (
  workspace BIGINT NOT NULL REFERENCES workspaces (workspace),
  session BIGINT NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  version BIGINT NOT NULL,
  epoch BIGINT NOT NULL,
  settings TEXT COLLATE "C" NOT NULL,
  focus TEXT COLLATE "C" NOT NULL,
  collections BIGINT NOT NULL,
  next_step BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  created_by TEXT COLLATE "C" NOT NULL,
  trashed_run BYTEA,
  trashed_at BIGINT,
  PRIMARY KEY (workspace, session)
);
CREATE UNIQUE INDEX sessions_name ON sessions (workspace, session_id) WHERE trashed_run IS NULL;
CREATE INDEX sessions_name_trashed ON sessions (workspace, session_id) WHERE trashed_run IS NOT NULL;
CREATE INDEX sessions_updated ON sessions (workspace, updated_at, session) WHERE trashed_run IS NULL;
CREATE INDEX sessions_trashed ON sessions (workspace, trashed_run) WHERE trashed_run IS NOT NULL;

-- Everything about a segment but its words, side by side with the others of its session: a session is loaded by reading
-- one stretch of narrow rows. Numbers rise in the order of addition.
CREATE TABLE segments (
  workspace BIGINT NOT NULL,
  session BIGINT NOT NULL,
  segment BIGINT NOT NULL,
  segment_id TEXT COLLATE "C" NOT NULL,
  type TEXT COLLATE "C" NOT NULL,
  role TEXT COLLATE "C",
  tool_call_id TEXT COLLATE "C",
  tokens BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  created_step BIGINT NOT NULL,
  touched_at BIGINT NOT NULL,
  touched_step BIGINT NOT NULL,
  pinned BIGINT NOT NULL,
  pin_reason TEXT COLLATE "C",
  invariant BIGINT NOT NULL,
  file_path TEXT COLLATE "C",
  first_line BIGINT,
  last_line BIGINT,
  tags TEXT COLLATE "C",
  topic_id TEXT COLLATE "C",
  task_id TEXT COLLATE "C",
  refs TEXT COLLATE "C",
  reply_to TEXT COLLATE "C",
  derived_from TEXT COLLATE "C",
  -- Hashes of the names that the text holds, eight bytes each, little endian.
  names BYTEA NOT NULL,
  text_hash BYTEA NOT NULL,
  text_chars BIGINT NOT NULL,
  -- Of text and raw together.
  bytes BIGINT NOT NULL,
  state TEXT COLLATE "C" NOT NULL CHECK (state IN ('active', 'stashed')),
  stashed_at BIGINT,
  stash_reason TEXT COLLATE "C",
  -- Whether full text has it: from the first time that it was stashed on.
  is_indexed BIGINT NOT NULL,
  entered_collection BIGINT NOT NULL,
  -- The session's version when the row last changed.
  version BIGINT NOT NULL,
  written_by TEXT COLLATE "C" NOT NULL,
  trashed_run BYTEA,
  trashed_at BIGINT,
  PRIMARY KEY (workspace, session, segment),
  CHECK (state = 'active' OR stashed_at IS NOT NULL),
  FOREIGN KEY (workspace, session) REFERENCES sessions (workspace, session)
);
CREATE UNIQUE INDEX segments_number ON segments (workspace, segment);
CREATE UNIQUE INDEX segments_id ON segments (workspace, session, segment_id);
-- Also what a list of sessions counts, so that it need not read the rows.
CREATE INDEX segments_version ON segments (workspace, session, version, state, trashed_run, tokens);
CREATE INDEX segments_stashed ON segments (workspace, stashed_at, segment) WHERE state = 'stashed';
CREATE INDEX segments_trashed ON segments (workspace, trashed_run) WHERE trashed_run IS NOT NULL;

CREATE TABLE segment_texts (
  workspace BIGINT NOT NULL,
  segment BIGINT NOT NULL,
  text TEXT COLLATE "C" NOT NULL,
  -- The caller's own message block, as it was given.
  raw TEXT COLLATE "C",
  PRIMARY KEY (workspace, segment),
  FOREIGN KEY (workspace, segment) REFERENCES segments (workspace, segment)
);

-- What left a window, came back or went for good: numbers and codes, never content. Lines outlive their segment, not their
-- session.
CREATE TABLE ledger (
  workspace BIGINT NOT NULL,
  session BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  at BIGINT NOT NULL,
  actor TEXT COLLATE "C" NOT NULL,
  segment BIGINT NOT NULL,
  action TEXT COLLATE "C" NOT NULL,
  tokens BIGINT NOT NULL,
  reason TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (workspace, session, seq),
  FOREIGN KEY (workspace, session) REFERENCES sessions (workspace, session)
);

-- Tokens of the HTTP API: who may do what, and where.

-- Of a secret only its hash is stored: who reads the file cannot call with what is in it. Secrets are 32 random bytes, so
-- the hash needs no salt and no slowness, and a look-up by it tells nothing by its time. `scopes` and `workspaces` are words
-- with blanks between them; `*` in place of workspaces means all of them, also later ones.
CREATE TABLE tokens (
  token_id BYTEA NOT NULL PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL,
  secret_hash BYTEA NOT NULL,
  scopes TEXT COLLATE "C" NOT NULL,
  workspaces TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  created_by TEXT COLLATE "C" NOT NULL,
  expires_at BIGINT,
  revoked_at BIGINT
);
CREATE UNIQUE INDEX tokens_name ON tokens (name) WHERE revoked_at IS NULL;
CREATE UNIQUE INDEX tokens_secret ON tokens (secret_hash) WHERE revoked_at IS NULL;

-- What the application may do. Nobody rewrites an audit; the version of the schema changes with a migration only.
DO $$
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO rootset_application', current_schema());
END
$$;
GRANT SELECT ON schema_version TO rootset_application;
GRANT SELECT, INSERT ON audit TO rootset_application;
GRANT SELECT, INSERT, UPDATE, DELETE ON
  meta, counters, workspaces, kept_counters, sources, memories, revisions, chunks, memory_tags, uses, entities,
  relations, contributions, untracked, vectors, vector_originals, jobs, plans, plan_items, runs, run_skips, erasures,
  erased_contents, retention, repos, files, symbols, code_references, sessions, segments, segment_texts, ledger,
  tokens
TO rootset_application;

-- Tenants never see each other: a transaction sees the rows of the workspace that it has named, and none before it has
-- named one. The owner is no exception. The number 0 is the database's own: its audit, its leases, the list of workspaces.
-- The setting is read by a query of its own: the planner would otherwise look at its value, and plans that are kept for all
-- workspaces would be made for the size of one.
DO $$
DECLARE
  named CONSTANT TEXT := $named$(SELECT NULLIF(current_setting('rootset.workspace', true), '')::bigint)$named$;
  tenants CONSTANT TEXT[] := ARRAY[
    'kept_counters', 'sources', 'memories', 'revisions', 'chunks', 'memory_tags', 'uses', 'entities', 'relations',
    'contributions', 'untracked', 'vectors', 'vector_originals', 'jobs', 'plans', 'plan_items', 'runs', 'run_skips',
    'erasures', 'erased_contents', 'retention', 'repos', 'files', 'symbols', 'code_references', 'sessions',
    'segments', 'segment_texts', 'ledger'];
  name TEXT;
BEGIN
  FOREACH name IN ARRAY tenants
  LOOP
    EXECUTE format('CREATE POLICY tenancy ON %I USING (workspace = %s)', name, named);
  END LOOP;
  EXECUTE format('CREATE POLICY tenancy ON audit USING (chain = %s)', named);
  EXECUTE format('CREATE POLICY tenancy ON workspaces USING (workspace = %1$s OR %1$s = 0)', named);
  -- Who looks for work asks the database which workspaces have some; taking it is done in each of them.
  EXECUTE format('CREATE POLICY overview ON jobs FOR SELECT USING (%s = 0)', named);
  FOREACH name IN ARRAY tenants || ARRAY['audit', 'workspaces']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
  END LOOP;
END
$$;
