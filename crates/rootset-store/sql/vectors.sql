-- name: insert
INSERT INTO vectors (workspace, chunk, space, number, scale, codes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (workspace, chunk) DO UPDATE
SET space = excluded.space, number = excluded.number, scale = excluded.scale, codes = excluded.codes;

-- name: insert_original
INSERT INTO vector_originals (workspace, chunk, vector) VALUES (?1, ?2, ?3)
ON CONFLICT (workspace, chunk) DO UPDATE SET vector = excluded.vector;

-- name: since
SELECT chunk, number, space, scale, codes FROM vectors WHERE workspace = ?1 AND number > ?2 ORDER BY number;

-- name: originals
SELECT chunk, vector FROM vector_originals
WHERE workspace = ?1 AND chunk IN (SELECT value FROM integer_list(?2));

-- name: delete
DELETE FROM vectors WHERE workspace = ?1 AND chunk IN (SELECT value FROM integer_list(?2));

-- name: delete_originals
DELETE FROM vector_originals WHERE workspace = ?1 AND chunk IN (SELECT value FROM integer_list(?2));

-- Memories with a chunk that has no vector in the space ?2.
-- name: memories_without
SELECT DISTINCT ch.memory
FROM chunks ch
JOIN memories m ON m.workspace = ch.workspace AND m.memory = ch.memory
LEFT JOIN vectors v ON v.workspace = ch.workspace AND v.chunk = ch.chunk AND v.space = ?2
WHERE ch.workspace = ?1 AND v.chunk IS NULL AND m.trashed_run IS NULL AND m.status = 'complete'
LIMIT ?3;

