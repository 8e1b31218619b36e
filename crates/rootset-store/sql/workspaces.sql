-- name: find
SELECT workspace, workspace_id, trashed_run, trashed_at FROM workspaces WHERE workspace_id = ?1;

-- name: names
SELECT workspace_id FROM workspaces WHERE trashed_run IS NULL ORDER BY workspace_id;

-- name: insert
INSERT INTO workspaces (workspace_id, name, description, quota_memories, quota_bytes, created_at, last_write_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)
ON CONFLICT (workspace_id) DO NOTHING;

-- Draws numbers and chunk numbers, counts what is about to be stored, answers the first of both drawn.
-- name: draw_numbers
UPDATE workspaces
SET next_number = next_number + ?2,
    next_chunk = next_chunk + ?3,
    memory_count = memory_count + ?4,
    content_bytes = content_bytes + ?5,
    last_write_at = ?6
WHERE workspace = ?1
RETURNING next_number - ?2, next_chunk - ?3;

-- name: quota
SELECT quota_memories, quota_bytes, memory_count, content_bytes FROM workspaces WHERE workspace = ?1;

-- name: touch
UPDATE workspaces
SET memory_count = memory_count + ?2, content_bytes = content_bytes + ?3, last_write_at = ?4
WHERE workspace = ?1;

-- name: list
SELECT w.workspace_id, w.name, w.description, w.quota_memories, w.quota_bytes, w.memory_count, w.content_bytes,
       (SELECT COUNT(*) FROM memories m WHERE m.workspace = w.workspace AND m.trashed_run IS NOT NULL),
       w.created_at, w.last_write_at,
       (SELECT MAX(r.started_at) FROM runs r WHERE r.workspace = w.workspace),
       w.trashed_at
FROM workspaces w
WHERE w.trashed_run IS NULL OR ?1 = 1
ORDER BY w.workspace_id;

-- name: keys
SELECT workspace FROM workspaces ORDER BY workspace;

-- name: trash
UPDATE workspaces SET trashed_run = ?2, trashed_at = ?3 WHERE workspace = ?1 AND trashed_run IS NULL;

-- name: restore
UPDATE workspaces SET trashed_run = NULL, trashed_at = NULL WHERE workspace = ?1 AND trashed_run = ?2;

-- name: delete
DELETE FROM workspaces WHERE workspace = ?1;
