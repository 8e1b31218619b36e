-- Counts of one workspace at the time ?2.
-- name: counts
-- scans: counts
SELECT COUNT(CASE WHEN m.trashed_run IS NULL THEN 1 END),
       COUNT(CASE WHEN m.trashed_run IS NULL AND m.pinned = 1 THEN 1 END),
       COUNT(CASE WHEN m.trashed_run IS NULL AND (m.stale_at IS NOT NULL OR m.expires_at <= ?2
                       OR EXISTS (SELECT 1 FROM memories s
                                  WHERE s.workspace = m.workspace AND s.memory = m.superseded_by
                                    AND s.trashed_run IS NULL)) THEN 1 END),
       COUNT(CASE WHEN m.trashed_run IS NULL AND (m.ingested_at < 0 OR m.ingested_at > ?2 OR m.is_stamp_in_doubt = 1) THEN 1 END),
       COUNT(CASE WHEN m.trashed_run IS NOT NULL THEN 1 END),
       MIN(m.trashed_at)
FROM memories m WHERE m.workspace = ?1;

-- What is in the trash with its session is counted with it.
-- name: context_counts
-- scans: counts
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
SELECT {{each trash_bytes +}};

-- name: last_runs
SELECT run, operation, plan, actor, started_at, finished_at, cursor, counts, undo_until, undone_at, purged_at, erasure,
       receipt, drain, channel, trust
FROM runs WHERE workspace = ?1
ORDER BY started_at DESC, run DESC LIMIT ?2;

-- Runs whose undo ends before ?2.
-- name: undo_ends_soon
SELECT run, operation, plan, actor, started_at, finished_at, cursor, counts, undo_until, undone_at, purged_at, erasure,
       receipt, drain, channel, trust
FROM runs
WHERE workspace = ?1 AND undone_at IS NULL AND purged_at IS NULL AND finished_at IS NOT NULL AND undo_until IS NOT NULL
  AND undo_until <= ?2
ORDER BY undo_until, run LIMIT ?3;

-- What is in the trash by runs of agents that can still be undone at the time ?2. An erasing run has nothing to undo.
-- fragment: removed_by_agents
FROM runs r JOIN memories m ON m.workspace = r.workspace AND m.trashed_run = r.run
WHERE r.workspace = ?1 AND r.undone_at IS NULL AND r.purged_at IS NULL AND r.undo_until IS NOT NULL
  AND r.undo_until > ?2 AND r.trust IN ('agent', 'imported', 'untrusted')
  AND (m.repo IS NULL OR m.name IS NOT NULL)

-- name: removed_by_agents_count
SELECT COUNT(*) {{removed_by_agents}};

-- name: removed_by_agents
SELECT m.memory, m.name, r.undo_until, r.run {{removed_by_agents}}
ORDER BY r.undo_until, r.run, m.memory LIMIT ?3;

-- name: chunk_count
-- scans: counts
SELECT COUNT(*) FROM chunks WHERE workspace = ?1;

-- name: purged_chunks
SELECT value FROM counters WHERE name = 'purged_chunks';
