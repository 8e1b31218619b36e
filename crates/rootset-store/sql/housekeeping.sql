-- Runs of a workspace whose grace is over and that still have something in the trash.
-- name: runs_past_grace
SELECT r.run FROM runs r
WHERE r.workspace = ?1 AND r.started_at <= ?2 AND r.undo_until <= ?3
  AND (EXISTS (SELECT 1 FROM memories m WHERE m.workspace = r.workspace AND m.trashed_run = r.run)
       OR EXISTS (SELECT 1 FROM revisions v WHERE v.workspace = r.workspace AND v.trashed_run = r.run)
       OR EXISTS (SELECT 1 FROM untracked u WHERE u.workspace = r.workspace AND u.trashed_run = r.run)
       OR EXISTS (SELECT 1 FROM segments g WHERE g.workspace = r.workspace AND g.trashed_run = r.run)
       OR EXISTS (SELECT 1 FROM sessions s WHERE s.workspace = r.workspace AND s.trashed_run = r.run))
ORDER BY r.started_at, r.run;

-- name: workspaces
SELECT w.workspace, w.workspace_id, w.trashed_run, w.trashed_at, r.started_at, r.undo_until
FROM workspaces w LEFT JOIN runs r ON r.workspace = w.workspace AND r.run = w.trashed_run
ORDER BY w.workspace;

-- Plans that nobody applied in time, and those that were carried out long ago.
-- name: old_plans
SELECT p.plan FROM plans p LEFT JOIN runs r ON r.workspace = p.workspace AND r.run = p.run
WHERE p.workspace = ?1
  AND ((p.run IS NULL AND p.expires_at < ?2) OR (r.finished_at IS NOT NULL AND r.finished_at < ?3))
ORDER BY p.plan LIMIT ?4;

-- name: delete_items_of_plans
DELETE FROM plan_items WHERE workspace = ?1 AND plan IN (SELECT value FROM blob_list(?2));

-- name: delete_plans
DELETE FROM plans WHERE workspace = ?1 AND plan IN (SELECT value FROM blob_list(?2));

-- What a run took of the memories that a plan called expired, by source and repository.
-- name: expired_taken
SELECT m.source, m.repo, COUNT(*),
       SUM((SELECT COUNT(*) FROM chunks ch WHERE ch.workspace = m.workspace AND ch.memory = m.memory))
FROM plan_items p JOIN memories m ON m.workspace = p.workspace AND m.memory = p.object
WHERE p.workspace = ?1 AND p.plan = ?2 AND p.kind = 'memory' AND p.reason <> 'superseded' AND m.trashed_run = ?3
GROUP BY m.source, m.repo;
