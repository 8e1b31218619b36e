-- The code index: repositories, their files, the symbols and references of each.

-- One row per repository that was ever scanned. `run` counts completed scans; `scope` and `trusted_at` are the scanner's
-- own words to its next run: what it looked for, and up to which time of the file system its stamps can be believed.
CREATE TABLE repos (
  workspace INTEGER NOT NULL REFERENCES workspaces (workspace),
  repo TEXT NOT NULL,
  root TEXT NOT NULL,
  run INTEGER NOT NULL DEFAULT 0,
  run_id BLOB,
  run_at INTEGER,
  scope TEXT,
  trusted_at INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, repo)
) WITHOUT ROWID;
CREATE INDEX repos_root ON repos (workspace, root);

-- What a scan compares a file with, one row per file's memory, in the trash or not. Every scan reads all rows of its
-- repository in order, so they are narrow; whether the memory lives is asked of the few that do not, see
-- `memories_away`.
CREATE TABLE files (
  workspace INTEGER NOT NULL,
  repo TEXT NOT NULL,
  path TEXT NOT NULL,
  memory BLOB NOT NULL,
  size INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  changed_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  content_hash BLOB NOT NULL,
  extractor INTEGER NOT NULL,
  language TEXT NOT NULL,
  is_test INTEGER NOT NULL,
  is_mounted INTEGER NOT NULL,
  -- Counts that the answer to every scan gives of the whole tree.
  lines INTEGER NOT NULL,
  functions INTEGER NOT NULL,
  classes INTEGER NOT NULL,
  PRIMARY KEY (workspace, repo, path, memory),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
) WITHOUT ROWID;
CREATE INDEX files_memory ON files (workspace, memory);

-- What a file defines, in the order of its text; `parent` is an ordinal, `start` and `length` are bytes.
CREATE TABLE symbols (
  workspace INTEGER NOT NULL,
  memory BLOB NOT NULL,
  ordinal INTEGER NOT NULL,
  name TEXT NOT NULL,
  qualified_name TEXT NOT NULL,
  kind TEXT NOT NULL,
  parent INTEGER,
  first_line INTEGER NOT NULL,
  last_line INTEGER NOT NULL,
  start INTEGER NOT NULL,
  length INTEGER NOT NULL,
  signature TEXT NOT NULL,
  PRIMARY KEY (workspace, memory, ordinal),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
) WITHOUT ROWID;
CREATE INDEX symbols_name ON symbols (workspace, name);

-- Imports, calls and bases of a file as they were written: a version byte, then the packed lists.
CREATE TABLE code_references (
  workspace INTEGER NOT NULL,
  memory BLOB NOT NULL,
  packed BLOB NOT NULL,
  PRIMARY KEY (workspace, memory),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
) WITHOUT ROWID;

-- The symbol whose text a chunk is; NULL in notes and in files that are read as plain text.
ALTER TABLE chunks ADD COLUMN symbol INTEGER;

-- Symbols of code are found by `symbols`, not by the full text of names.
ALTER TABLE entities ADD COLUMN is_symbol INTEGER NOT NULL DEFAULT 0;

-- Files that are in the trash or stale, so that a scan need not look at the memories of all others.
CREATE INDEX memories_away ON memories (workspace, repo, trashed_run, stale_at)
  WHERE repo IS NOT NULL AND (trashed_run IS NOT NULL OR stale_at IS NOT NULL);

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('repos', 'repos', '100 10 1'),
  ('repos', 'repos_root', '100 10 1'),
  ('files', 'files', '100000 50000 5000 1 1'),
  ('files', 'files_memory', '100000 50000 1'),
  ('symbols', 'symbols', '1000000 500000 12 1'),
  ('symbols', 'symbols_name', '1000000 500000 4'),
  ('code_references', 'code_references', '100000 50000 1'),
  ('memories', 'memories_away', '5000 2500 500 50 10');
