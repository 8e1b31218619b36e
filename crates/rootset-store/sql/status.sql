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

-- What is in the trash with its session is counted with it.
-- name: context_counts
SELECT (SELECT COUNT(*) FROM sessions WHERE workspace = ?1 AND trashed_run IS NULL),
       (SELECT COUNT(*) FROM segments WHERE workspace = ?1 AND trashed_run IS NULL AND session IN (
            SELECT session FROM sessions WHERE workspace = ?1 AND trashed_run IS NULL)),
       (SELECT COUNT(*) FROM sessions WHERE workspace = ?1 AND trashed_run IS NOT NULL),
       (SELECT COUNT(*) FROM segments WHERE workspace = ?1 AND trashed_run IS NOT NULL),
       (SELECT MIN(at) FROM (
            SELECT MIN(trashed_at) AS at FROM sessions WHERE workspace = ?1 AND trashed_run IS NOT NULL
            UNION ALL
            SELECT MIN(trashed_at) FROM segments WHERE workspace = ?1 AND trashed_run IS NOT NULL) t);

-- name: trash_bytes
SELECT (SELECT COALESCE(SUM(r.bytes), 0)
        FROM memories m JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory
        WHERE m.workspace = ?1 AND m.trashed_run IS NOT NULL)
     + (SELECT COALESCE(SUM(bytes), 0) FROM segments WHERE workspace = ?1 AND trashed_run IS NOT NULL)
     + (SELECT COALESCE(SUM(g.bytes), 0)
        FROM sessions s JOIN segments g ON g.workspace = s.workspace AND g.session = s.session
        WHERE s.workspace = ?1 AND s.trashed_run IS NOT NULL AND g.trashed_run IS NULL);

-- name: last_runs
SELECT run, operation, plan, actor, started_at, finished_at, cursor, counts, undo_until, undone_at, purged_at, erasure,
       receipt
FROM runs WHERE workspace = ?1
ORDER BY started_at DESC, run DESC LIMIT ?2;

-- name: dead
SELECT (SELECT COUNT(*) FROM chunks), (SELECT value FROM meta WHERE key = 'purged_chunks');
