-- name: insert
INSERT INTO plans (workspace, plan, digest, policy, erases, include_pinned, is_named, created_by, created_at,
                   expires_at, totals)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11);

-- Plans that nobody applied, but for the newest ?2. Their ids are in the order of their time.
-- name: surplus
-- scans: the plans of a workspace: those that wait are bounded by this, the others go with their runs
SELECT plan FROM plans WHERE workspace = ?1 AND run IS NULL ORDER BY plan DESC LIMIT 1000 OFFSET ?2;

-- name: set_totals
UPDATE plans SET totals = ?3 WHERE workspace = ?1 AND plan = ?2;

-- name: insert_item
INSERT INTO plan_items (workspace, plan, position, kind, object, revision, version, action, reason)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9);

-- name: by_id
SELECT digest, policy, erases, include_pinned, is_named, created_by, created_at, expires_at, totals, run
FROM plans WHERE workspace = ?1 AND plan = ?2;

-- name: set_run
UPDATE plans SET run = ?3 WHERE workspace = ?1 AND plan = ?2 AND run IS NULL;

-- name: item_count
SELECT COUNT(*) FROM plan_items WHERE workspace = ?1 AND plan = ?2;

-- name: items
SELECT position, kind, object, revision, version, action, reason
FROM plan_items WHERE workspace = ?1 AND plan = ?2 AND position >= ?3
ORDER BY position LIMIT ?4;

-- Memories and their bytes and chunks in a plan.
-- name: memory_totals
SELECT COUNT(*), CAST(COALESCE(SUM(t.bytes), 0) AS BIGINT), CAST(COALESCE(SUM(t.chunks), 0) AS BIGINT) FROM (
    SELECT (SELECT COALESCE(SUM(r.bytes), 0) FROM revisions r
            WHERE r.workspace = p.workspace AND r.memory = p.object) AS bytes,
           (SELECT COUNT(*) FROM chunks ch WHERE ch.workspace = p.workspace AND ch.memory = p.object) AS chunks
    FROM plan_items p WHERE p.workspace = ?1 AND p.plan = ?2 AND p.kind = 'memory') t;

-- Living memories of a plan, by source.
-- name: planned_by_source
SELECT m.source, COUNT(*)
FROM plan_items p JOIN memories m ON m.workspace = p.workspace AND m.memory = p.object
WHERE p.workspace = ?1 AND p.plan = ?2 AND p.kind = 'memory' AND m.trashed_run IS NULL
GROUP BY m.source;

-- name: living_by_source
SELECT source, COUNT(*) FROM memories
WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2)) AND trashed_run IS NULL
GROUP BY source;

-- What a preview shows of planned memories.
-- name: memory_descriptions
SELECT m.memory, m.name, r.topic, m.file_path, m.created_at,
       (SELECT COUNT(*) FROM chunks ch WHERE ch.workspace = m.workspace AND ch.memory = m.memory),
       f.lines
FROM memories m
JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory AND r.revision = m.revision
LEFT JOIN files f ON f.workspace = m.workspace AND f.memory = m.memory
WHERE m.workspace = ?1 AND m.memory IN (SELECT value FROM blob_list(?2));

-- name: entity_descriptions
SELECT entity, name, type, created_at FROM entities
WHERE workspace = ?1 AND entity IN (SELECT value FROM blob_list(?2));

-- name: relation_descriptions
SELECT r.relation, s.name, r.verb, t.name, r.created_at
FROM relations r
JOIN entities s ON s.workspace = r.workspace AND s.entity = r.source
JOIN entities t ON t.workspace = r.workspace AND t.entity = r.target
WHERE r.workspace = ?1 AND r.relation IN (SELECT value FROM blob_list(?2));

-- Memories of a plan that a person holds by a pin. Not `= 1`: a planner would take the index of all pins instead of the keys.
-- name: pinned_by_person
SELECT m.memory, m.name
FROM plan_items p JOIN memories m ON m.workspace = p.workspace AND m.memory = p.object
WHERE p.workspace = ?1 AND p.plan = ?2 AND (p.kind = 'memory' OR p.reason = 'redacted')
  AND m.pinned > 0 AND m.pinned_by = 'person'
ORDER BY p.position;

-- The whole texts of memories that a run cut, by the run's plan.
-- name: cut_by_run
SELECT r.memory, r.revision
FROM plan_items p
JOIN revisions r ON r.workspace = p.workspace AND r.memory = p.object AND r.revision = p.revision
WHERE p.workspace = ?1 AND p.plan = ?3 AND p.kind = 'revision' AND p.reason = 'redacted' AND r.trashed_run = ?2;
