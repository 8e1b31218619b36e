-- Time that the database has seen pass (`rootset-gc/src/observed.rs`), and classes of the erasure ledger.

-- One row. `observed_ms` only ever grows; `last_wall_ms` is the last reading of the wall clock, NULL before the first. While
-- `observed_ms` is below `doubt_ends_ms`, the wall clock is in doubt because it jumped by `doubt_jump_ms`.
CREATE TABLE observed_time (
  one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
  observed_ms INTEGER NOT NULL,
  last_wall_ms INTEGER,
  doubt_ends_ms INTEGER,
  doubt_jump_ms INTEGER
);
-- A clock that is far from the last write is doubted from the first moment on.
INSERT INTO observed_time (one, observed_ms, last_wall_ms) SELECT 1, 0, MAX(last_write_at) FROM workspaces;

-- The observed time at which a memory got its `ingested_at`; NULL where an import brought that time. What is here already
-- was written at an observed time of 0: it has to be seen for a while like everything else.
ALTER TABLE memories ADD COLUMN ingested_observed_ms INTEGER DEFAULT 0;
-- 1 where `ingested_at` was written while the clock was in doubt, until it is stamped anew.
ALTER TABLE memories ADD COLUMN is_stamp_in_doubt INTEGER;
CREATE INDEX memories_in_doubt ON memories (workspace, memory) WHERE is_stamp_in_doubt = 1;

-- The observed time at which a run last put something into the trash.
ALTER TABLE runs ADD COLUMN observed_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN is_stamp_in_doubt INTEGER;
CREATE INDEX runs_in_doubt ON runs (workspace, run) WHERE is_stamp_in_doubt = 1;

-- 'erased': never comes back. 'removed': somebody removed it and its grace was over; a restore puts it into the trash.
ALTER TABLE erasures ADD COLUMN class TEXT NOT NULL DEFAULT 'erased' CHECK (class IN ('erased', 'removed'));
UPDATE erasures SET class = 'removed' WHERE actor = 'housekeeping';
CREATE INDEX erasures_run ON erasures (workspace, run) WHERE run IS NOT NULL;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('memories', 'memories_in_doubt', '1000 100 1'),
  ('runs', 'runs_in_doubt', '100 10 1'),
  ('erasures', 'erasures_run', '10000 1000 1');
