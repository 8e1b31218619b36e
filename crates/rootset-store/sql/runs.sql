-- name: insert
INSERT INTO runs (workspace, run, operation, plan, actor, started_at, counts, undo_until, observed_ms,
                  is_stamp_in_doubt, drain, channel, trust)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13);

-- name: extend_undo
UPDATE runs SET undo_until = ?3 WHERE workspace = ?1 AND drain = ?2 AND undo_until < ?3 AND purged_at IS NULL;

-- name: by_id
SELECT run, operation, plan, actor, started_at, finished_at, cursor, counts, undo_until, undone_at, purged_at, erasure,
       receipt, drain, channel, trust
FROM runs WHERE workspace = ?1 AND run = ?2;

-- A run whose last item was restored by its name has nothing left to undo. Undoing an import removes rows, and undoing the
-- removal of a workspace restores the workspace itself: neither has trash of its own.
-- name: recent_undoable
SELECT r.run, r.operation, r.plan, r.actor, r.started_at, r.finished_at, r.cursor, r.counts, r.undo_until, r.undone_at,
       r.purged_at, r.erasure, r.receipt, r.drain, r.channel, r.trust
FROM runs r
WHERE r.workspace = ?1 AND r.undone_at IS NULL AND r.purged_at IS NULL AND r.finished_at IS NOT NULL
  AND r.undo_until IS NOT NULL
  AND (r.operation IN ('import_graph', 'delete_workspace') OR {{each has_trash_of_run OR}})
ORDER BY r.started_at DESC, r.run DESC LIMIT ?2;

-- What plans of runs name first, of what is still in the trash.
-- name: names_taken
SELECT p.plan, COALESCE(m.name, m.file_path)
FROM plan_items p JOIN memories m ON m.workspace = p.workspace AND m.memory = p.object
WHERE p.workspace = ?1 AND p.plan IN (SELECT value FROM blob_list(?2)) AND p.position < ?3 AND p.kind = 'memory'
  AND m.trashed_run IS NOT NULL
ORDER BY p.plan, p.position;

-- The notes that went to the trash last, each with its run and text.
-- name: trashed_texts
SELECT m.trashed_run, m.name, r.topic, r.context
FROM memories m
JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory AND r.revision = m.revision
WHERE m.workspace = ?1 AND m.trashed_run IS NOT NULL AND m.repo IS NULL AND m.name IS NOT NULL
ORDER BY m.trashed_at DESC, m.memory LIMIT ?2;

-- Runs that stashed something, and may have done more.
-- name: recent_stashes
SELECT r.run, r.operation, r.plan, r.actor, r.started_at, r.finished_at, r.cursor, r.counts, r.undo_until, r.undone_at,
       r.purged_at, r.erasure, r.receipt, r.drain, r.channel, r.trust
FROM runs r
WHERE r.workspace = ?1 AND r.undone_at IS NULL AND r.purged_at IS NULL AND r.finished_at IS NOT NULL
  AND EXISTS (SELECT 1 FROM plan_items p
              WHERE p.workspace = r.workspace AND p.plan = r.plan AND p.action = 'stash' row_by_row())
ORDER BY r.started_at DESC, r.run DESC LIMIT ?2;

-- name: advance
UPDATE runs SET cursor = ?3, counts = ?4, finished_at = ?5, observed_ms = ?6 WHERE workspace = ?1 AND run = ?2;

-- Ends a run that was cut short: nobody goes on with it.
-- name: end
UPDATE runs SET finished_at = ?3 WHERE workspace = ?1 AND run = ?2 AND finished_at IS NULL;

-- name: set_undone
UPDATE runs SET undone_at = ?3 WHERE workspace = ?1 AND run = ?2;

-- name: set_purged
UPDATE runs SET purged_at = ?3 WHERE workspace = ?1 AND run = ?2;

-- name: clear_undo
UPDATE runs SET undo_until = NULL WHERE workspace = ?1 AND run = ?2;

-- name: set_erasure
UPDATE runs SET erasure = ?3 WHERE workspace = ?1 AND run = ?2;

-- name: set_receipt
UPDATE runs SET receipt = ?3 WHERE workspace = ?1 AND run = ?2;

-- name: insert_skip
INSERT INTO run_skips (workspace, run, position, kind, object, reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: skips
SELECT s.kind, s.object, s.reason, p.revision
FROM run_skips s JOIN plan_items p ON p.workspace = s.workspace AND p.plan = ?4 AND p.position = s.position
WHERE s.workspace = ?1 AND s.run = ?2
ORDER BY s.position LIMIT ?3;

-- name: skipped_positions
SELECT position FROM run_skips WHERE workspace = ?1 AND run = ?2 AND position >= ?3;

-- name: skips_by_reason
SELECT reason, COUNT(*) FROM run_skips WHERE workspace = ?1 AND run = ?2 GROUP BY reason ORDER BY reason;

-- name: skip_count
SELECT COUNT(*) FROM run_skips WHERE workspace = ?1 AND run = ?2;

-- The state of roots as the re-check wants it, at the time ?3. What the run ?4 itself has trashed still supersedes: a chain
-- of memories goes as a whole, in however many batches.
-- name: memory_states
SELECT m.memory, m.version, m.trashed_run IS NOT NULL, m.pinned, u.last_used_at,
       EXISTS (SELECT 1 FROM jobs j
               WHERE j.workspace = m.workspace AND j.kind = 'complete' AND j.subject = m.memory AND j.lease_until > ?3
               row_by_row()),
       m.stale_at IS NOT NULL, s.memory IS NOT NULL
FROM memories m
LEFT JOIN uses u ON u.workspace = m.workspace AND u.memory = m.memory
LEFT JOIN memories s ON s.workspace = m.workspace AND s.memory = m.superseded_by
                   AND (s.trashed_run IS NULL OR s.trashed_run = ?4)
WHERE m.workspace = ?1 AND m.memory IN (SELECT value FROM blob_list(?2));

-- name: untracked_states
SELECT object, MIN(CASE WHEN trashed_run IS NULL THEN 0 ELSE 1 END)
FROM untracked WHERE workspace = ?1 AND object IN (SELECT value FROM blob_list(?2))
GROUP BY object;

-- name: untracked_kinds
SELECT DISTINCT object, kind FROM untracked WHERE workspace = ?1 AND object IN (SELECT value FROM blob_list(?2));

-- name: trash_memories
UPDATE memories SET trashed_run = ?3, trashed_at = ?4
WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2)) AND trashed_run IS NULL;

-- name: chunk_count
SELECT COUNT(*) FROM chunks WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2));

-- name: trashed_memories_of
SELECT memory FROM memories WHERE workspace = ?1 AND trashed_run = ?2 AND memory > ?3 ORDER BY memory LIMIT ?4;

-- name: trashed_memory_count
SELECT COUNT(*) FROM memories WHERE workspace = ?1 AND trashed_run = ?2;

-- Trashed memories of a run that cannot come back because a living one took their name or content meanwhile.
-- name: undo_conflicts
SELECT m.memory, CASE WHEN n.memory IS NOT NULL THEN 'name' ELSE 'content' END, COALESCE(n.memory, d.memory)
FROM memories m
LEFT JOIN memories n ON n.workspace = m.workspace AND n.name = m.name AND n.trashed_run IS NULL
LEFT JOIN memories d ON d.workspace = m.workspace AND d.doc_hash = m.doc_hash AND d.trashed_run IS NULL
WHERE m.workspace = ?1 AND m.memory IN (SELECT value FROM blob_list(?2))
  AND (n.memory IS NOT NULL OR d.memory IS NOT NULL)
UNION ALL
SELECT t.memory, 'path', t.other
FROM (SELECT f.memory,
             (SELECT other.memory
              FROM files other
              JOIN memories m ON m.workspace = other.workspace AND m.memory = other.memory AND m.trashed_run IS NULL
              WHERE other.workspace = f.workspace AND other.repo = f.repo AND other.path = f.path
                AND other.memory <> f.memory
              ORDER BY other.memory LIMIT 1) AS other
      FROM files f
      WHERE f.workspace = ?1 AND f.memory IN (SELECT value FROM blob_list(?2))) t
WHERE t.other IS NOT NULL
ORDER BY 1;

-- Memories that a run took and that are gone for good.
-- name: purged_items
SELECT p.object FROM plan_items p
WHERE p.workspace = ?1 AND p.plan = ?2 AND p.kind = 'memory'
  AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.workspace = p.workspace AND m.memory = p.object)
  AND NOT EXISTS (SELECT 1 FROM run_skips s WHERE s.workspace = p.workspace AND s.run = ?3 AND s.position = p.position)
ORDER BY p.position;

-- By the time and not by the run: there are indexes of the trash alone, which a planner may take for empty and read as a whole.
-- name: restore_memories
UPDATE memories SET trashed_run = NULL, trashed_at = NULL
WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2)) AND trashed_at IS NOT NULL;

-- name: pending_among
SELECT memory FROM memories
WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2)) AND status = 'pending';

-- name: runs_with_trash_before
{{each runs_with_trash_before UNION}};

-- fragment: all_trash
FROM ({{each trash_rows UNION ALL}}) t
LEFT JOIN runs ON runs.workspace = ?1 AND runs.run = t.run

-- name: trash
SELECT t.kind, t.object, t.name, t.topic, t.trashed_at, t.run, runs.undo_until, t.revision {{all_trash}}
ORDER BY t.trashed_at DESC, t.kind, t.object, t.revision LIMIT ?2 OFFSET ?3;

-- name: trash_count
SELECT COUNT(*) {{all_trash}};

-- What a purge of these runs would remove.
-- name: trash_of_runs
SELECT t.kind, t.run, COUNT(*) {{all_trash}}
WHERE t.run IN (SELECT value FROM blob_list(?2))
GROUP BY t.kind, t.run ORDER BY t.kind, t.run;
