-- A lease that nobody holds is taken; taking it raises its fence. One that lasts longer than any (until after ?6) was taken
-- by a clock that was wrong.
-- name: acquire
INSERT INTO jobs (workspace, kind, subject, created_at, due_at, lease_until, fence)
VALUES (?1, ?2, ?3, ?4, 9223372036854775807, ?5, 1)
ON CONFLICT (workspace, kind, subject) DO UPDATE
SET lease_until = excluded.lease_until, fence = jobs.fence + 1
WHERE jobs.lease_until <= ?4 OR jobs.lease_until > ?6
RETURNING fence;

-- name: held_until
SELECT lease_until FROM jobs WHERE workspace = ?1 AND kind = ?2 AND subject = ?3;

-- name: renew
UPDATE jobs SET lease_until = ?5 WHERE workspace = ?1 AND kind = ?2 AND subject = ?3 AND fence = ?4;

-- name: release
UPDATE jobs SET lease_until = 0 WHERE workspace = ?1 AND kind = ?2 AND subject = ?3 AND fence = ?4;

-- name: remove
DELETE FROM jobs WHERE workspace = ?1 AND kind = ?2 AND subject = ?3;

-- name: note
UPDATE jobs SET cursor = ?5 WHERE workspace = ?1 AND kind = ?2 AND subject = ?3 AND fence = ?4;

-- name: noted
SELECT cursor FROM jobs WHERE workspace = ?1 AND kind = ?2 AND subject = ?3;

-- name: notes
-- scans: one row per workspace, for an overview of all
SELECT workspace, cursor FROM jobs WHERE kind = ?1 AND workspace <> 0;
