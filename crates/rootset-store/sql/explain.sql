-- name: entity
SELECT name FROM entities WHERE workspace = ?1 AND entity = ?2;

-- name: relation
SELECT verb FROM relations WHERE workspace = ?1 AND relation = ?2;

-- name: chunk
SELECT memory FROM chunks WHERE workspace = ?1 AND chunk = ?2;

-- name: is_untracked
SELECT EXISTS (SELECT 1 FROM untracked WHERE workspace = ?1 AND object = ?2 AND trashed_run IS NULL);

-- name: contributors
SELECT c.memory, COALESCE(m.name, m.file_path), m.trashed_run IS NOT NULL
FROM contributions c JOIN memories m ON m.workspace = c.workspace AND m.memory = c.memory
WHERE c.workspace = ?1 AND c.object = ?2
ORDER BY m.updated_at DESC, m.memory DESC;
