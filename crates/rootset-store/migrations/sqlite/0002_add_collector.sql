-- What the collector needs: policies of retention, files that left their repository, and what is purged between two
-- defragmentations.

-- When a completed scan of the repository first no longer contained the file; NULL again when a scan sees it.
ALTER TABLE memories ADD COLUMN stale_at INTEGER;

CREATE INDEX memories_stale ON memories (workspace, memory) WHERE stale_at IS NOT NULL;
CREATE INDEX memories_expires ON memories (workspace, expires_at) WHERE expires_at IS NOT NULL;

-- One row per target: the workspace (scope 'workspace', target ''), a source, or a repository. A row replaces whatever
-- the configuration file says; a policy without rules keeps everything.
CREATE TABLE retention (
  workspace INTEGER NOT NULL REFERENCES workspaces (workspace),
  scope TEXT NOT NULL CHECK (scope IN ('workspace', 'source', 'repo')),
  target TEXT NOT NULL,
  policy TEXT NOT NULL,
  set_by TEXT NOT NULL,
  set_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, scope, target)
) WITHOUT ROWID;

-- Chunks purged since the last defragmentation, over all workspaces.
INSERT INTO meta (key, value) VALUES ('purged_chunks', 0);

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('memories', 'memories_stale', '10000 5000 1'),
  ('memories', 'memories_expires', '50000 5000 2'),
  ('retention', 'retention', '1000 100 10 1');
