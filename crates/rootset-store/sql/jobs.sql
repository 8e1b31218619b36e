-- name: enqueue
INSERT INTO jobs (workspace, kind, subject, created_at, due_at, cursor) VALUES (?1, ?2, ?3, ?4, ?4, ?5)
ON CONFLICT (workspace, kind, subject) DO UPDATE
SET due_at = excluded.due_at, attempts = 0, cursor = COALESCE(excluded.cursor, jobs.cursor), last_error = NULL;

-- Workspaces with jobs that are due and that nobody holds, the one with the oldest first.
-- name: due_workspaces
SELECT j.workspace
FROM jobs j JOIN workspaces w ON w.workspace = j.workspace
WHERE j.kind = ?1 AND j.due_at <= ?2 AND j.lease_until <= ?2 AND w.trashed_run IS NULL
GROUP BY j.workspace ORDER BY MIN(j.due_at), j.workspace;

-- The oldest job of a workspace that is due and that nobody holds; taking it raises its fence. Whoever takes one at the
-- same time gets the next.
-- name: claim
UPDATE jobs SET lease_until = ?4, fence = fence + 1, attempts = attempts + 1
WHERE workspace = ?1 AND kind = ?2 AND subject = (
    SELECT j.subject FROM jobs j
    WHERE j.workspace = ?1 AND j.kind = ?2 AND j.due_at <= ?3 AND j.lease_until <= ?3
      AND EXISTS (SELECT 1 FROM workspaces w WHERE w.workspace = ?1 AND w.trashed_run IS NULL)
    ORDER BY j.due_at LIMIT 1 skip_locked())
RETURNING workspace, subject, fence, attempts, cursor;

-- name: claim_one
UPDATE jobs SET lease_until = ?5, fence = fence + 1, attempts = attempts + 1
WHERE workspace = ?1 AND kind = ?2 AND subject = ?3 AND lease_until <= ?4
RETURNING workspace, subject, fence, attempts, cursor;

-- The lease must not change hands between this and the commit.
-- name: has_fence
SELECT 1 FROM jobs WHERE workspace = ?1 AND kind = ?2 AND subject = ?3 AND fence = ?4 for_update();

-- name: fail
UPDATE jobs SET lease_until = 0, due_at = ?5, last_error = ?6
WHERE workspace = ?1 AND kind = ?2 AND subject = ?3 AND fence = ?4;

-- name: finish
DELETE FROM jobs WHERE workspace = ?1 AND kind = ?2 AND subject = ?3;

-- Never due, and out of the hands of whoever works on it; enqueuing again makes it due with what it was told to do.
-- name: park_many
UPDATE jobs SET due_at = 9223372036854775807, lease_until = 0, fence = fence + 1
WHERE workspace = ?1 AND kind = ?2 AND subject IN (SELECT value FROM blob_list(?3));

-- name: cancel_many
DELETE FROM jobs WHERE workspace = ?1 AND kind IN (?2, ?3, ?4) AND subject IN (SELECT value FROM blob_list(?5));

-- name: settle_many
DELETE FROM jobs WHERE workspace = ?1 AND kind = ?2 AND subject IN (SELECT value FROM blob_list(?3));

-- The oldest jobs of a workspace that are due and that nobody holds.
-- name: due_among
SELECT j.subject FROM jobs j
WHERE j.workspace = ?1 AND j.kind = ?2 AND j.due_at <= ?3 AND j.lease_until <= ?3
ORDER BY j.due_at LIMIT ?4 skip_locked();

-- Taking them raises their fences.
-- name: claim_many
UPDATE jobs SET lease_until = ?4, fence = fence + 1, attempts = attempts + 1
WHERE workspace = ?1 AND kind = ?2 AND subject IN (SELECT value FROM blob_list(?3))
RETURNING subject, fence;

-- The leases must not change hands between this and the commit.
-- name: fences
SELECT subject, fence FROM jobs
WHERE workspace = ?1 AND kind = ?2 AND subject IN (SELECT value FROM blob_list(?3)) for_update();

-- name: release_many
UPDATE jobs SET lease_until = 0, due_at = ?4, last_error = ?5
WHERE workspace = ?1 AND kind = ?2 AND subject IN (SELECT value FROM blob_list(?3));

-- name: last_error
SELECT last_error FROM jobs
WHERE workspace = ?1 AND kind = ?2 AND last_error IS NOT NULL ORDER BY due_at DESC LIMIT 1;
