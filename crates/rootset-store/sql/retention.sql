-- name: all
-- scans: one row per policy
SELECT scope, target, policy FROM retention WHERE workspace = ?1 ORDER BY scope, target;

-- name: set
INSERT INTO retention (workspace, scope, target, policy, set_by, set_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (workspace, scope, target) DO UPDATE
SET policy = excluded.policy, set_by = excluded.set_by, set_at = excluded.set_at;

-- name: delete_all
DELETE FROM retention WHERE workspace = ?1;
