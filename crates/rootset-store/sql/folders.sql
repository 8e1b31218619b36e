-- Which folder of this machine stands for which workspace, kept beside the database's other notes.

-- name: find
SELECT value FROM meta WHERE key = ?1;

-- name: all
SELECT key, value FROM meta WHERE key >= 'folder/' AND key < 'folder0' ORDER BY key;

-- name: link
INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value;
