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

-- name: originals_in_space
SELECT o.chunk, o.vector
FROM vector_originals o JOIN vectors v ON v.workspace = o.workspace AND v.chunk = o.chunk
WHERE o.workspace = ?1 AND o.chunk IN (SELECT value FROM integer_list(?2)) AND v.space = ?3;

-- name: spaces_of
SELECT chunk, space FROM vectors WHERE workspace = ?1 AND chunk IN (SELECT value FROM integer_list(?2));

-- name: delete
DELETE FROM vectors WHERE workspace = ?1 AND chunk IN (SELECT value FROM integer_list(?2));

-- name: delete_originals
DELETE FROM vector_originals WHERE workspace = ?1 AND chunk IN (SELECT value FROM integer_list(?2));

-- Of these chunks, those that exist.
-- name: chunks_among
SELECT chunk FROM chunks WHERE workspace = ?1 AND chunk IN (SELECT value FROM integer_list(?2));

-- Code is found by its words: its chunks have no vectors.
-- name: chunks_without
-- scans: a change of model visits every chunk once
SELECT ch.chunk FROM chunks ch
LEFT JOIN vectors v ON v.workspace = ch.workspace AND v.chunk = ch.chunk AND v.space = ?2
WHERE ch.workspace = ?1 AND ch.chunk > ?4 AND v.chunk IS NULL
  AND NOT EXISTS (SELECT 1 FROM files f WHERE f.workspace = ch.workspace AND f.memory = ch.memory)
ORDER BY ch.chunk LIMIT ?3;

-- Those of certain memories.
-- name: chunks_of_without
SELECT ch.memory, ch.chunk FROM chunks ch
LEFT JOIN vectors v ON v.workspace = ch.workspace AND v.chunk = ch.chunk AND v.space = ?2
WHERE ch.workspace = ?1 AND ch.memory IN (SELECT value FROM blob_list(?3)) AND v.chunk IS NULL
ORDER BY ch.chunk;

-- name: progress
-- scans: counted only when somebody asks how far it is
SELECT CAST(COUNT(*) AS BIGINT), CAST(COUNT(v.chunk) AS BIGINT) FROM chunks ch
LEFT JOIN vectors v ON v.workspace = ch.workspace AND v.chunk = ch.chunk AND v.space = ?2
WHERE ch.workspace = ?1
  AND NOT EXISTS (SELECT 1 FROM files f WHERE f.workspace = ch.workspace AND f.memory = ch.memory);

-- name: complete_space
SELECT value FROM meta WHERE key = 'vector_space';

-- name: set_complete_space
INSERT INTO meta (key, value) VALUES ('vector_space', ?1) ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: clear_complete_space
DELETE FROM meta WHERE key = 'vector_space';

-- name: chunks_after
SELECT chunk FROM vectors WHERE workspace = ?1 AND chunk > ?2 ORDER BY chunk LIMIT ?3;

-- Whether an engine's own index was made after there were vectors, and does not hold all of them yet.
-- name: index_to_fill
SELECT value FROM meta WHERE key = 'embeddings_to_fill';

-- name: set_index_filled
DELETE FROM meta WHERE key = 'embeddings_to_fill';
