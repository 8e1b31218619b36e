-- name: memories_by_source
SELECT source, COUNT(*), SUM(CASE WHEN trashed_run IS NULL THEN 0 ELSE 1 END),
       SUM(CASE WHEN status = 'pending' AND trashed_run IS NULL THEN 1 ELSE 0 END)
FROM memories WHERE workspace = ?1 GROUP BY source ORDER BY source;

-- name: row_counts
SELECT (SELECT COUNT(*) FROM chunks WHERE workspace = ?1),
       (SELECT COUNT(*) FROM entities WHERE workspace = ?1),
       (SELECT COUNT(*) FROM relations WHERE workspace = ?1),
       (SELECT COUNT(*) FROM revisions WHERE workspace = ?1),
       (SELECT COUNT(*) FROM vectors WHERE workspace = ?1),
       (SELECT content_bytes FROM workspaces WHERE workspace = ?1);
