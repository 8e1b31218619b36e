-- name: all
-- scans: one row per policy
SELECT scope, target, policy, shown FROM retention WHERE workspace = ?1 ORDER BY scope, target;

-- name: set
INSERT INTO retention (workspace, scope, target, policy, set_by, set_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (workspace, scope, target) DO UPDATE
SET policy = excluded.policy, shown = NULL, set_by = excluded.set_by, set_at = excluded.set_at;

-- What whoever set the policy at ?5 is told that it expires.
-- name: note_shown
UPDATE retention SET shown = ?4 WHERE workspace = ?1 AND scope = ?2 AND target = ?3 AND set_at = ?5;

-- name: delete_all
DELETE FROM retention WHERE workspace = ?1;
