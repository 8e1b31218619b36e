-- Time that the database has seen pass (`rootset-gc/src/observed.rs`), and classes of the erasure ledger.

-- One row. `observed_ms` only ever grows; `last_wall_ms` is the last reading of the server's clock, NULL before the first.
-- While `observed_ms` is below `doubt_ends_ms`, the clock is in doubt because it jumped by `doubt_jump_ms`.
CREATE TABLE observed_time (
  one BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
  observed_ms BIGINT NOT NULL,
  last_wall_ms BIGINT,
  doubt_ends_ms BIGINT,
  doubt_jump_ms BIGINT
) WITH (fillfactor = 10);
GRANT SELECT, UPDATE ON observed_time TO rootset_application;

-- A clock that is far from the last write is doubted from the first moment on. Row-level security shows all workspaces to
-- who names none of them.
SELECT set_config('rootset.workspace', '0', true);
INSERT INTO observed_time (one, observed_ms, last_wall_ms) SELECT 1, 0, MAX(last_write_at) FROM workspaces;

-- The observed time at which a memory got its `ingested_at`; NULL where an import brought that time. What is here already
-- was written at an observed time of 0: it has to be seen for a while like everything else.
ALTER TABLE memories ADD COLUMN ingested_observed_ms BIGINT DEFAULT 0;
-- 1 where `ingested_at` was written while the clock was in doubt, until it is stamped anew.
ALTER TABLE memories ADD COLUMN is_stamp_in_doubt BIGINT;
CREATE INDEX memories_in_doubt ON memories (workspace, memory) WHERE is_stamp_in_doubt = 1;

-- The observed time at which a run last put something into the trash.
ALTER TABLE runs ADD COLUMN observed_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN is_stamp_in_doubt BIGINT;
CREATE INDEX runs_in_doubt ON runs (workspace, run) WHERE is_stamp_in_doubt = 1;

-- 'erased': never comes back. 'removed': somebody removed it and its grace was over; a restore puts it into the trash.
ALTER TABLE erasures ADD COLUMN class TEXT COLLATE "C" NOT NULL DEFAULT 'erased' CHECK (class IN ('erased', 'removed'));
-- Those of every workspace: the owner is bound by row-level security only as long as it is forced.
ALTER TABLE erasures NO FORCE ROW LEVEL SECURITY;
UPDATE erasures SET class = 'removed' WHERE actor = 'housekeeping';
ALTER TABLE erasures FORCE ROW LEVEL SECURITY;
CREATE INDEX erasures_run ON erasures (workspace, run) WHERE run IS NOT NULL;
