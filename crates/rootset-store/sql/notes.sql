-- Notes that no lease guards, in the table of leases: never due, so that nobody takes them for work.

-- name: many
SELECT subject, cursor FROM jobs
WHERE workspace = ?1 AND kind = ?2 AND subject IN (SELECT value FROM blob_list(?3));

-- name: newest
-- scans: notes of one kind, the last written first
SELECT subject, cursor FROM jobs
WHERE workspace = ?1 AND kind = ?2 ORDER BY created_at DESC, subject LIMIT ?3;

-- The note must not change between this and the commit.
-- name: held
SELECT cursor FROM jobs WHERE workspace = ?1 AND kind = ?2 AND subject = ?3 for_update();

-- name: keep
INSERT INTO jobs (workspace, kind, subject, created_at, due_at, cursor)
VALUES (?1, ?2, ?3, ?4, 9223372036854775807, ?5)
ON CONFLICT (workspace, kind, subject) DO UPDATE SET cursor = excluded.cursor, created_at = excluded.created_at;

-- name: drop
DELETE FROM jobs WHERE workspace = ?1 AND kind = ?2 AND subject = ?3;

-- name: drop_older
DELETE FROM jobs WHERE workspace = ?1 AND kind = ?2 AND created_at < ?3;
