-- fragment: workspace_columns
workspace, workspace_id, trashed_run, trashed_at, class, person

-- name: find
SELECT {{workspace_columns}} FROM workspaces WHERE workspace_id = ?1;

-- The personal workspace of somebody.
-- name: of_person
SELECT {{workspace_columns}} FROM workspaces WHERE person = ?1;

-- Both at once, if they are there.
-- name: find_with_personal
SELECT {{workspace_columns}} FROM workspaces WHERE workspace_id = ?1
UNION
SELECT {{workspace_columns}} FROM workspaces WHERE person = ?2;

-- name: names
-- scans: suggests the nearest name
SELECT workspace_id FROM workspaces WHERE trashed_run IS NULL AND person IS NULL ORDER BY workspace_id;

-- name: names_of
SELECT workspace, workspace_id, CASE WHEN person IS NULL THEN 0 ELSE 1 END
FROM workspaces WHERE workspace IN (SELECT value FROM integer_list(?1));

-- name: draw_number
UPDATE counters SET value = value + 1 WHERE name = 'workspaces' RETURNING value;

-- The greatest number that this database ever gave to a workspace.
-- name: last_number
SELECT value FROM counters WHERE name = 'workspaces';

-- name: raise_last_number
UPDATE counters SET value = greatest(value, ?1) WHERE name = 'workspaces';

-- name: insert
INSERT INTO workspaces (workspace, workspace_id, name, description, quota_memories, quota_bytes, created_at,
                        last_write_at, class, person)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?9)
ON CONFLICT (workspace_id) DO NOTHING;

-- Draws numbers and chunk numbers, counts what is about to be stored, answers the first of both drawn.
-- name: draw_numbers
UPDATE workspaces
SET next_number = next_number + ?2,
    next_chunk = next_chunk + ?3,
    memory_count = memory_count + ?4,
    content_bytes = content_bytes + ?5,
    last_write_at = ?6
WHERE workspace = ?1
RETURNING next_number - ?2, next_chunk - ?3;

-- name: quota
SELECT quota_memories, quota_bytes, memory_count, content_bytes FROM workspaces WHERE workspace = ?1;

-- name: touch
UPDATE workspaces
SET memory_count = memory_count + ?2, content_bytes = content_bytes + ?3, last_write_at = ?4
WHERE workspace = ?1;

-- name: list
-- scans: lists every workspace
SELECT workspace, workspace_id, name, description, quota_memories, quota_bytes, memory_count, content_bytes, created_at,
       last_write_at, trashed_at, class, person
FROM workspaces
WHERE trashed_run IS NULL
ORDER BY workspace_id;

-- What a list says of each beside its row.
-- name: activity
-- scans: counts what is in the trash
SELECT (SELECT COUNT(*) FROM memories m WHERE m.workspace = ?1 AND m.trashed_run IS NOT NULL),
       (SELECT MAX(r.started_at) FROM runs r WHERE r.workspace = ?1);

-- name: all
-- scans: housekeeping visits every workspace
SELECT {{workspace_columns}} FROM workspaces ORDER BY workspace;

-- Those in which something may have become garbage by ?1, or that were written to since the last look; with ?2, all of them.
-- name: to_look_at
-- scans: one query for all workspaces, instead of one for each
SELECT {{workspace_columns}} FROM workspaces
WHERE trashed_run IS NULL
  AND (?2 = 1 OR look_at IS NULL OR look_at <= ?1 OR looked_at_write IS NULL OR looked_at_write <> last_write_at)
ORDER BY workspace;

-- name: looked
UPDATE workspaces SET look_at = ?2, looked_at_write = ?3 WHERE workspace = ?1;

-- name: look_again
UPDATE workspaces SET looked_at_write = NULL WHERE workspace = ?1;

-- name: last_write_at
-- scans: asked when a scheduler starts, and before a database is rebuilt
SELECT MAX(last_write_at) FROM workspaces WHERE trashed_run IS NULL;

-- name: keys
-- scans: doctor visits every workspace
SELECT workspace FROM workspaces ORDER BY workspace;

-- name: trash
UPDATE workspaces SET trashed_run = ?2, trashed_at = ?3 WHERE workspace = ?1 AND trashed_run IS NULL;

-- name: restore
UPDATE workspaces SET trashed_run = NULL, trashed_at = NULL WHERE workspace = ?1 AND trashed_run = ?2;

-- name: delete
DELETE FROM workspaces WHERE workspace = ?1;

-- name: set_class
UPDATE workspaces SET class = ?2 WHERE workspace = ?1;

-- name: set_quota
UPDATE workspaces SET quota_memories = ?2, quota_bytes = ?3 WHERE workspace = ?1;
