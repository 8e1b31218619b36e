-- A run whose grace is over by the wall clock (?2, ?3), and by the time that the database has seen pass (?4, a grace of ?5).
-- What was stamped in doubt waits for its new stamp, and a round of a drain for the last one.
-- fragment: r_is_past_grace
r.started_at <= ?2 AND r.undo_until <= ?3
  AND r.is_stamp_in_doubt IS NULL AND r.observed_ms + greatest(?5, r.undo_until - r.started_at) <= ?4
  AND NOT EXISTS (SELECT 1 FROM drains d
                  WHERE d.workspace = r.workspace AND d.drain = r.drain AND d.state = 'draining' row_by_row())

-- Runs of a workspace whose grace is over and that still have something in the trash.
-- name: runs_past_grace
SELECT r.run FROM runs r
WHERE r.workspace = ?1 AND {{r_is_past_grace}}
  AND ({{each has_trash_of_run OR}})
ORDER BY r.started_at, r.run;

-- The same of the run that trashed a workspace.
-- name: is_run_past_grace
SELECT 1 FROM runs r
WHERE r.workspace = ?1 AND r.run = ?6 AND {{r_is_past_grace}};

-- What a final policy took is still in the trash: the plan knows which memories those are.
-- fragment: r_awaits_final_purge
r.undo_until >= ?3 AND r.purged_at IS NULL AND EXISTS (
    SELECT 1 FROM plan_items i
    WHERE i.workspace = p.workspace AND i.plan = p.plan AND i.reason = 'period_over' row_by_row())

-- Plans that nobody applied in time, and those that were carried out long ago.
-- name: old_plans
-- scans: plans are few: once a day they are all looked at
SELECT p.plan FROM plans p LEFT JOIN runs r ON r.workspace = p.workspace AND r.run = p.run
WHERE p.workspace = ?1
  AND ((p.run IS NULL AND p.expires_at < ?2) OR (r.finished_at IS NOT NULL AND r.finished_at < ?3 AND NOT ({{r_awaits_final_purge}})))
ORDER BY p.plan LIMIT ?4;

-- name: delete_items_of_plans
DELETE FROM plan_items WHERE workspace = ?1 AND plan IN (SELECT value FROM blob_list(?2));

-- name: delete_plans
DELETE FROM plans WHERE workspace = ?1 AND plan IN (SELECT value FROM blob_list(?2));

-- What a run took of the memories that a plan called expired, by source and repository.
-- name: expired_taken
SELECT m.source, m.repo, COUNT(*),
       CAST(SUM((SELECT COUNT(*) FROM chunks ch
                 WHERE ch.workspace = m.workspace AND ch.memory = m.memory)) AS BIGINT)
FROM plan_items p JOIN memories m ON m.workspace = p.workspace AND m.memory = p.object
WHERE p.workspace = ?1 AND p.plan = ?2 AND p.kind = 'memory' AND m.trashed_run = ?3
  AND p.reason IN (SELECT value FROM text_list(?4))
GROUP BY m.source, m.repo;
