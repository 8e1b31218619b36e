-- fragment: project_columns
p.workspace, w.workspace_id, w.class, w.trashed_run, w.trashed_at, p.place, p.remote, p.root_commit, p.is_linked, p.declared,
       p.related, p.related_by, p.looked_at, w.person

-- What a person said comes first, then the workspace that knew the place first.
-- name: at_places
SELECT {{project_columns}}
FROM projects p JOIN workspaces w ON w.workspace = p.workspace
WHERE p.place IN (SELECT value FROM text_list(?1))
ORDER BY p.is_linked DESC, p.workspace, p.place;

-- name: with_remote
SELECT {{project_columns}}
FROM projects p JOIN workspaces w ON w.workspace = p.workspace
WHERE p.remote = ?1
ORDER BY p.workspace, p.place;

-- name: with_root_commit
SELECT {{project_columns}}
FROM projects p JOIN workspaces w ON w.workspace = p.workspace
WHERE p.root_commit = ?1
ORDER BY p.workspace, p.place;

-- name: of_workspace
-- scans: a workspace has few folders
SELECT place FROM projects WHERE workspace = ?1 ORDER BY place;

-- name: paths
-- scans: a workspace has few folders
SELECT path FROM projects WHERE workspace = ?1 AND place <> '-' ORDER BY path;

-- name: note
INSERT INTO projects (workspace, place, path, remote, root_commit, is_linked, declared, related, related_by, looked_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
ON CONFLICT (workspace, place) DO UPDATE
SET path = excluded.path, remote = excluded.remote, root_commit = excluded.root_commit, is_linked = excluded.is_linked,
    declared = excluded.declared, related = excluded.related, related_by = excluded.related_by,
    looked_at = excluded.looked_at;

-- name: forget_place
DELETE FROM projects WHERE workspace = ?1 AND place = ?2;

-- name: settle_related
UPDATE projects SET related = NULL, related_by = NULL WHERE workspace = ?1 AND place = ?2;
