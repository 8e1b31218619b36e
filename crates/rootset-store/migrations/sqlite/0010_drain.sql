-- What retention needs to work unattended: classes of workspaces, policies for tags, drains, events on their way out, and when
-- a round has to look at a workspace again.

ALTER TABLE workspaces ADD COLUMN class TEXT NOT NULL DEFAULT 'standard';
-- By when something may have become garbage, although nobody has written anything; NULL: at any time.
ALTER TABLE workspaces ADD COLUMN look_at INTEGER;
-- `last_write_at` as the last look found it.
ALTER TABLE workspaces ADD COLUMN looked_at_write INTEGER;

-- A scope more. `shown` is how many memories the policy was said to expire when it was set: what somebody has seen.
CREATE TABLE retention_new (
  workspace INTEGER NOT NULL REFERENCES workspaces (workspace),
  scope TEXT NOT NULL CHECK (scope IN ('workspace', 'source', 'repo', 'tag')),
  target TEXT NOT NULL,
  policy TEXT NOT NULL,
  shown INTEGER,
  set_by TEXT NOT NULL,
  set_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, scope, target)
) WITHOUT ROWID;
INSERT INTO retention_new (workspace, scope, target, policy, set_by, set_at)
SELECT workspace, scope, target, policy, set_by, set_at FROM retention;
DROP TABLE retention;
ALTER TABLE retention_new RENAME TO retention;

-- A source with more garbage than a round may take: it goes in several rounds, each a run of its own.
CREATE TABLE drains (
  workspace INTEGER NOT NULL,
  drain BLOB NOT NULL,
  source TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('announced', 'draining', 'ended', 'stopped')),
  -- The policies that it follows, as a digest: others make another drain.
  policies TEXT NOT NULL,
  -- What was found when it was announced, and how many memories the source had when it began.
  found INTEGER NOT NULL,
  total INTEGER NOT NULL,
  announced_at INTEGER NOT NULL,
  begins_at INTEGER NOT NULL,
  ended_at INTEGER,
  PRIMARY KEY (workspace, drain)
) WITHOUT ROWID;
CREATE UNIQUE INDEX drains_open ON drains (workspace, source) WHERE state <> 'ended';

ALTER TABLE runs ADD COLUMN drain BLOB;
CREATE INDEX runs_drain ON runs (workspace, drain) WHERE drain IS NOT NULL;
-- Whose undo ends soon.
CREATE INDEX runs_undoable ON runs (workspace, undo_until)
  WHERE undone_at IS NULL AND purged_at IS NULL AND undo_until IS NOT NULL;

-- What happened, in words and numbers, where counts do not tell: strategies and policies, never content.
ALTER TABLE audit ADD COLUMN details TEXT;

-- Events that still have to be delivered, a row for each place that wants them.
CREATE TABLE outgoing (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  sink TEXT NOT NULL,
  at INTEGER NOT NULL,
  body TEXT NOT NULL
);
CREATE INDEX outgoing_sink ON outgoing (sink, number);

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('retention', 'retention', '1000 100 10 1'),
  ('drains', 'drains', '1000 100 1'),
  ('drains', 'drains_open', '100 10 1'),
  ('runs', 'runs_drain', '1000 100 5'),
  ('runs', 'runs_undoable', '5000 500 1'),
  ('outgoing', 'outgoing_sink', '10000 5000 1');
