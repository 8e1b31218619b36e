-- name: observed
SELECT observed_ms, last_wall_ms, doubt_ends_ms, doubt_jump_ms FROM observed_time WHERE one = 1;

-- name: observe
UPDATE observed_time SET observed_ms = ?1, last_wall_ms = ?2, doubt_ends_ms = ?3, doubt_jump_ms = ?4 WHERE one = 1;

-- A person vouches for the time ?1: it is the measure of what follows, and a doubt is over.
-- name: believe
UPDATE observed_time
SET last_wall_ms = ?1,
    doubt_ends_ms = CASE WHEN doubt_ends_ms > observed_ms THEN observed_ms ELSE doubt_ends_ms END
WHERE one = 1;

-- All that was written during the doubt that ended at ?1 has been stamped anew.
-- name: forget_doubt
UPDATE observed_time SET doubt_ends_ms = NULL, doubt_jump_ms = NULL WHERE one = 1 AND doubt_ends_ms = ?1;

-- Counted back from ?2, the wall clock of now, by the time that was observed since (?3 is that of now). Times that were
-- written together with `ingested_at` are as wrong as it was.
-- fragment: stamped_anew
(?2 - (?3 - COALESCE(ingested_observed_ms, ?3)))

-- name: restamp_memories
-- scans: only what was written in doubt is in that index
UPDATE memories
SET created_at = CASE WHEN created_at = ingested_at THEN {{stamped_anew}} ELSE created_at END,
    updated_at = CASE WHEN updated_at = ingested_at THEN {{stamped_anew}} ELSE updated_at END,
    ingested_at = {{stamped_anew}},
    is_stamp_in_doubt = NULL
WHERE workspace = ?1 AND is_stamp_in_doubt = 1;

-- name: restamp_runs
-- scans: only what was written in doubt is in that index
UPDATE runs
SET undo_until = undo_until - started_at + (?2 - (?3 - observed_ms)),
    started_at = ?2 - (?3 - observed_ms),
    is_stamp_in_doubt = NULL
WHERE workspace = ?1 AND is_stamp_in_doubt = 1;

-- What was used by a clock that was ahead has been used by now: such a use would save its memory from every plan until then.
-- name: restamp_uses
-- scans: once after a doubt
UPDATE uses SET last_used_at = ?2 WHERE workspace = ?1 AND last_used_at > ?2;

-- What waits for its time to come was told it by the same clock.
-- name: restamp_jobs
UPDATE jobs SET due_at = ?2, lease_until = 0 WHERE workspace = ?1 AND kind IN ('complete', 'embed') AND due_at > ?2;

-- Whether anything in a workspace waits for a new stamp, now that it is ?2.
-- name: has_stamps_in_doubt
-- scans: only what was written in doubt is in those indexes, and uses are looked at once after a doubt
SELECT 1 WHERE EXISTS (SELECT 1 FROM memories WHERE workspace = ?1 AND is_stamp_in_doubt = 1)
            OR EXISTS (SELECT 1 FROM runs WHERE workspace = ?1 AND is_stamp_in_doubt = 1)
            OR EXISTS (SELECT 1 FROM uses WHERE workspace = ?1 AND last_used_at > ?2);
