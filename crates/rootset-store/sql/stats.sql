-- name: memories_by_source
-- scans: one row per source
SELECT source, memories FROM sources WHERE workspace = ?1 AND memories > 0;

-- name: trashed_by_source
-- scans: counts
SELECT source, COUNT(*) FROM memories WHERE workspace = ?1 AND trashed_run IS NOT NULL GROUP BY source;

-- name: pending_by_source
-- scans: counts
SELECT source, COUNT(*) FROM memories
WHERE workspace = ?1 AND status = 'pending' AND trashed_run IS NULL GROUP BY source;

-- name: row_counts
-- scans: counts
SELECT (SELECT COUNT(*) FROM chunks WHERE workspace = ?1),
       (SELECT COUNT(*) FROM entities WHERE workspace = ?1),
       (SELECT COUNT(*) FROM relations WHERE workspace = ?1),
       (SELECT COUNT(*) FROM vectors WHERE workspace = ?1),
       (SELECT content_bytes FROM workspaces WHERE workspace = ?1),
       (SELECT COUNT(*) FROM sessions WHERE workspace = ?1),
       (SELECT COUNT(*) FROM segments WHERE workspace = ?1),
       (SELECT COUNT(*) FROM segments WHERE workspace = ?1 AND state = 'stashed' AND trashed_run IS NULL);

-- name: tag_counts
-- scans: counts
SELECT t.tag, CAST(COUNT(*) AS BIGINT) AS memories
FROM memory_tags t JOIN memories m ON m.workspace = t.workspace AND m.memory = t.memory
WHERE t.workspace = ?1 AND m.trashed_run IS NULL
GROUP BY t.tag ORDER BY memories DESC, t.tag LIMIT ?2;
