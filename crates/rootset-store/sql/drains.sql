-- fragment: drain_columns
d.drain, d.source, d.state, d.policies, d.found, d.total, d.announced_at, d.begins_at, d.ended_at,
(SELECT COUNT(*) FROM runs r WHERE r.workspace = d.workspace AND r.drain = d.drain AND r.undone_at IS NULL)

-- name: open
-- scans: at most one for each source
SELECT {{drain_columns}} FROM drains d WHERE d.workspace = ?1 AND d.state <> 'ended' ORDER BY d.source;

-- name: by_id
SELECT {{drain_columns}} FROM drains d WHERE d.workspace = ?1 AND d.drain = ?2;

-- name: insert
INSERT INTO drains (workspace, drain, source, state, policies, found, total, announced_at, begins_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9);

-- name: set_state
UPDATE drains SET state = ?3, total = COALESCE(?4, total), ended_at = ?5 WHERE workspace = ?1 AND drain = ?2;

-- The rounds of a drain that can be taken back, newest first.
-- name: rounds
SELECT run FROM runs WHERE workspace = ?1 AND drain = ?2 AND undone_at IS NULL ORDER BY started_at DESC, run DESC;
