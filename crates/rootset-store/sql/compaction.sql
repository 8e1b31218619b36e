-- name: stored_memories
SELECT memory_count FROM workspaces WHERE workspace = ?1;

-- name: note
INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: noted
SELECT key FROM meta WHERE key >= 'compaction/' AND key < 'compaction0' ORDER BY key;

-- name: progress
SELECT value FROM meta WHERE key = ?1;

-- name: forget
DELETE FROM meta WHERE key = ?1;
