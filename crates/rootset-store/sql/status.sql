-- Counts of one workspace at the time ?2.
-- name: counts
SELECT COALESCE(SUM(trashed_run IS NULL), 0),
       COALESCE(SUM(trashed_run IS NULL AND pinned = 1), 0),
       COALESCE(SUM(trashed_run IS NULL AND (stale_at IS NOT NULL OR COALESCE(expires_at <= ?2, 0)
                    OR EXISTS (SELECT 1 FROM memories s
                               WHERE s.workspace = m.workspace AND s.memory = m.superseded_by
                                 AND s.trashed_run IS NULL))), 0),
       COALESCE(SUM(trashed_run IS NULL
                    AND (typeof(ingested_at) <> 'integer' OR ingested_at < 0 OR ingested_at > ?2)), 0),
       COALESCE(SUM(trashed_run IS NOT NULL), 0),
       MIN(trashed_at)
FROM memories m WHERE workspace = ?1;

-- name: trash_bytes
SELECT COALESCE(SUM(r.bytes), 0)
FROM memories m JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory
WHERE m.workspace = ?1 AND m.trashed_run IS NOT NULL;

-- name: last_runs
SELECT run, operation, plan, actor, started_at, finished_at, cursor, counts, undo_until, undone_at, purged_at, erasure,
       receipt
FROM runs WHERE workspace = ?1
ORDER BY started_at DESC, run DESC LIMIT ?2;

-- name: dead
SELECT (SELECT COUNT(*) FROM chunks), (SELECT value FROM meta WHERE key = 'purged_chunks');
