-- name: insert_entity
INSERT INTO entities (workspace, entity, number, name, type, normal_name, normaliser, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT DO NOTHING
RETURNING entity;

-- name: insert_relation
INSERT INTO relations (workspace, relation, source, verb, target, normaliser, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT DO NOTHING
RETURNING relation;

-- name: insert_contribution
INSERT INTO contributions (workspace, memory, object, kind, revision, text, weight)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (workspace, memory, object) DO UPDATE
SET revision = excluded.revision, text = excluded.text, weight = excluded.weight;

-- name: insert_untracked
INSERT INTO untracked (workspace, object, run, kind, description, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (workspace, object, run) DO NOTHING;

-- name: contributed_objects
SELECT object, kind FROM contributions WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2));

-- name: delete_contributions
DELETE FROM contributions WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2));

-- name: visible_objects
SELECT o.object FROM (SELECT CAST(?1 AS BIGINT) AS workspace, value AS object FROM blob_list(?2)) o WHERE {{o_is_visible}};

-- Objects that would be lost if every memory and every untracked row of the plan ?2 went. The plan's items are gathered once:
-- a look-up per contribution goes wrong where the planner does not know yet how many items a plan has.
-- name: objects_lost_by_plan
SELECT o.kind, COUNT(*)
FROM (SELECT c.workspace, c.object, c.kind
      FROM plan_items p JOIN contributions c ON c.workspace = p.workspace AND c.memory = p.object
      WHERE p.workspace = ?1 AND p.plan = ?2 AND p.kind = 'memory'
      UNION
      SELECT u.workspace, u.object, u.kind
      FROM plan_items p JOIN untracked u ON u.workspace = p.workspace AND u.object = p.object
      WHERE p.workspace = ?1 AND p.plan = ?2 AND p.kind IN ('entity', 'relation') AND u.trashed_run IS NULL) o
WHERE NOT EXISTS (
        SELECT 1 FROM untracked u
        WHERE u.workspace = o.workspace AND u.object = o.object AND u.trashed_run IS NULL
          AND u.object NOT IN (SELECT p.object FROM plan_items p
                               WHERE p.workspace = ?1 AND p.plan = ?2 AND p.kind IN ('entity', 'relation'))
        row_by_row())
  AND NOT EXISTS (
        SELECT 1 FROM contributions c
        JOIN memories m ON m.workspace = c.workspace AND m.memory = c.memory
        WHERE c.workspace = o.workspace AND c.object = o.object AND m.trashed_run IS NULL
          AND c.memory NOT IN (SELECT p.object FROM plan_items p
                               WHERE p.workspace = ?1 AND p.plan = ?2 AND p.kind = 'memory')
        row_by_row())
GROUP BY o.kind;

-- Objects that nobody vouches for since the run ?2 has trashed its memories.
-- name: objects_lost_by_run
SELECT o.kind, COUNT(*)
FROM (SELECT DISTINCT c.workspace, c.object, c.kind
      FROM memories m JOIN contributions c ON c.workspace = m.workspace AND c.memory = m.memory
      WHERE m.workspace = ?1 AND m.trashed_run = ?2) o
WHERE NOT ({{o_is_visible}})
GROUP BY o.kind;

-- fragment: entities_as_o
(SELECT workspace, entity AS object, entity, number, name, type, normal_name, created_at FROM entities) o

-- name: entity_by_id
SELECT o.entity, o.number, o.name, o.type, o.created_at, {{o_is_untracked}}
FROM {{entities_as_o}} WHERE o.workspace = ?1 AND o.entity = ?2 AND {{o_is_visible}};

-- name: entities_by_name
SELECT o.entity, o.number, o.name, o.type, o.created_at, {{o_is_untracked}}
FROM {{entities_as_o}} WHERE o.workspace = ?1 AND o.normal_name = ?2 AND {{o_is_visible}}
ORDER BY o.type;

-- name: entities_by_ids
SELECT o.entity, o.number, o.name, o.type, o.created_at, {{o_is_untracked}}
FROM {{entities_as_o}}
WHERE o.workspace = ?1 AND o.entity IN (SELECT value FROM blob_list(?2)) AND {{o_is_visible}};

-- Entities that a search may serve at the time ?2: untracked, or named by a memory that is current.
-- name: searchable_entities
SELECT o.entity, o.number, o.name, o.type, o.created_at, {{o_is_untracked}}
FROM {{entities_as_o}}
WHERE o.workspace = ?1 AND o.number IN (SELECT value FROM integer_list(?3))
  AND ({{o_is_untracked}} OR EXISTS (
        SELECT 1 FROM contributions c JOIN memories m ON m.workspace = c.workspace AND m.memory = c.memory
        WHERE c.workspace = o.workspace AND c.object = o.object AND {{m_is_current}} row_by_row()));

-- name: entity_numbers_by_names
SELECT number FROM entities
WHERE workspace = ?1 AND is_symbol = 0 AND normal_name IN (SELECT value FROM text_list(?2));

-- Memories that vouch for these entities, newest update first; one query for all of them.
-- name: contributors
SELECT c.object, c.memory, c.text, {{m_is_current}}, m.trust
FROM contributions c JOIN memories m ON m.workspace = c.workspace AND m.memory = c.memory
WHERE c.workspace = ?1 AND c.object IN (SELECT value FROM blob_list(?3)) AND m.trashed_run IS NULL
ORDER BY c.object, m.updated_at DESC, m.memory DESC;

-- name: untracked_descriptions
SELECT object, description FROM untracked
WHERE workspace = ?1 AND object IN (SELECT value FROM blob_list(?2)) AND trashed_run IS NULL AND description IS NOT NULL
ORDER BY object, created_at, run;

-- Visible relations that touch any of these entities.
-- name: relations_touching
SELECT o.object, o.source, o.verb, o.target, {{o_is_untracked}}
FROM (SELECT workspace, relation AS object, source, verb, target FROM relations
      WHERE workspace = ?1 AND source IN (SELECT value FROM blob_list(?2))
      UNION
      SELECT workspace, relation AS object, source, verb, target FROM relations
      WHERE workspace = ?1 AND target IN (SELECT value FROM blob_list(?2))) o
WHERE {{o_is_visible}}
ORDER BY o.object LIMIT ?3;

-- name: all_entities
-- scans: export
SELECT o.entity, o.number, o.name, o.type, o.created_at, {{o_is_untracked}}
FROM {{entities_as_o}} WHERE o.workspace = ?1 AND {{o_is_visible}} ORDER BY o.entity;

-- name: all_relations
-- scans: export
SELECT o.object, o.source, o.verb, o.target, {{o_is_untracked}}
FROM (SELECT workspace, relation AS object, source, verb, target FROM relations) o
WHERE o.workspace = ?1 AND {{o_is_visible}} ORDER BY o.object;

-- name: all_untracked_entities
-- scans: forget looks at every imported row
SELECT e.entity, e.name, e.type, u.description
FROM untracked u JOIN entities e ON e.workspace = u.workspace AND e.entity = u.object
WHERE u.workspace = ?1 AND u.kind = 0 AND (?2 = 1 OR u.trashed_run IS NULL)
ORDER BY e.entity, u.created_at;

-- name: untracked_relations_touching
SELECT DISTINCT r.relation FROM relations r
JOIN untracked u ON u.workspace = r.workspace AND u.object = r.relation
WHERE r.workspace = ?1 AND (?3 = 1 OR u.trashed_run IS NULL)
  AND (r.source IN (SELECT value FROM blob_list(?2)) OR r.target IN (SELECT value FROM blob_list(?2)))
ORDER BY r.relation;

-- name: trash_untracked
UPDATE untracked SET trashed_run = ?3, trashed_at = ?4
WHERE workspace = ?1 AND object IN (SELECT value FROM blob_list(?2)) AND trashed_run IS NULL;

-- For an erasure: also what another run put into the trash.
-- name: claim_untracked
UPDATE untracked SET trashed_run = ?3, trashed_at = ?4
WHERE workspace = ?1 AND object IN (SELECT value FROM blob_list(?2));

-- name: trash_import
UPDATE untracked SET trashed_run = ?2, trashed_at = ?3 WHERE workspace = ?1 AND run = ?2 AND trashed_run IS NULL;

-- name: restore_untracked
UPDATE untracked SET trashed_run = NULL, trashed_at = NULL WHERE workspace = ?1 AND trashed_run = ?2;

-- name: untracked_trashed_by
SELECT u.object, u.kind, u.run, {{u_bytes}} FROM untracked u WHERE u.workspace = ?1 AND u.trashed_run = ?2;

-- name: delete_untracked_row
DELETE FROM untracked WHERE workspace = ?1 AND object = ?2 AND run = ?3;

-- name: delete_untracked_trashed_by
DELETE FROM untracked WHERE workspace = ?1 AND trashed_run = ?2;

-- name: delete_orphan_relations
DELETE FROM relations
WHERE workspace = ?1 AND relation IN (SELECT value FROM blob_list(?2))
  AND NOT EXISTS (SELECT 1 FROM contributions c WHERE c.workspace = ?1 AND c.object = relation)
  AND NOT EXISTS (SELECT 1 FROM untracked u WHERE u.workspace = ?1 AND u.object = relation);

-- name: orphan_entities
SELECT entity, number FROM entities
WHERE workspace = ?1 AND entity IN (SELECT value FROM blob_list(?2))
  AND NOT EXISTS (SELECT 1 FROM contributions c WHERE c.workspace = ?1 AND c.object = entity)
  AND NOT EXISTS (SELECT 1 FROM untracked u WHERE u.workspace = ?1 AND u.object = entity)
  AND NOT EXISTS (SELECT 1 FROM relations r WHERE r.workspace = ?1 AND r.source = entity)
  AND NOT EXISTS (SELECT 1 FROM relations r WHERE r.workspace = ?1 AND r.target = entity);

-- name: delete_entities
DELETE FROM entities WHERE workspace = ?1 AND entity IN (SELECT value FROM blob_list(?2));

-- What follows are parts of statements that ask about every kind at once (`each`).

-- fragment: runs_with_trash_before.untracked
SELECT DISTINCT trashed_run FROM untracked
WHERE workspace = ?1 AND trashed_run IS NOT NULL AND trashed_at <= ?2

-- fragment: has_trash_of_run.untracked
EXISTS (SELECT 1 FROM untracked u WHERE u.workspace = r.workspace AND u.trashed_run = r.run row_by_row())

-- fragment: trash_without_run.untracked
(SELECT COUNT(*) FROM untracked u WHERE u.workspace = ?1 AND u.trashed_run IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM runs r WHERE r.workspace = u.workspace AND r.run = u.trashed_run))

-- fragment: trash_rows.untracked
SELECT DISTINCT 'entity' AS kind, u.object AS object, e.name AS name, e.type AS topic, u.trashed_at AS trashed_at,
       u.trashed_run AS run, 0 AS revision
FROM untracked u JOIN entities e ON e.workspace = u.workspace AND e.entity = u.object
WHERE u.workspace = ?1 AND u.trashed_run IS NOT NULL AND u.kind = 0
