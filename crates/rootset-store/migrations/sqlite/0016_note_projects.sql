-- Which project's folders a workspace belongs to. A folder is never found by its name: see `projects.rs`.

CREATE TABLE projects (
  workspace INTEGER NOT NULL REFERENCES workspaces (workspace),
  -- The git common directory, or the folder of a project without one. `-`: the workspace is from before places were noted, and
  -- whose it is is not known.
  place TEXT NOT NULL,
  -- The folder of the project, as it was when the place was noted.
  path TEXT NOT NULL,
  remote TEXT,
  root_commit TEXT,
  -- Whether a person said so.
  is_linked INTEGER NOT NULL DEFAULT 0 CHECK (is_linked IN (0, 1)),
  -- The workspace that the project's own file names, where a person allowed it.
  declared TEXT,
  -- The id of another workspace that the folder may belong to, and by what; until a person decides.
  related TEXT,
  related_by TEXT CHECK (related_by IN ('name', 'remote', 'root_commit')),
  -- When the root commit was looked for.
  looked_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, place)
) WITHOUT ROWID;
CREATE INDEX projects_place ON projects (place);
CREATE INDEX projects_remote ON projects (remote) WHERE remote IS NOT NULL;
CREATE INDEX projects_root_commit ON projects (root_commit) WHERE root_commit IS NOT NULL;

-- The workspace that always exists is called `home` now. One that has that name gives it up.
UPDATE workspaces
SET workspace_id = (
  SELECT candidate.name FROM (
    WITH RECURSIVE numbers (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000)
    SELECT 'home-' || n AS name, n FROM numbers
  ) AS candidate
  WHERE NOT EXISTS (SELECT 1 FROM workspaces AS taken WHERE taken.workspace_id = candidate.name)
  ORDER BY candidate.n LIMIT 1)
WHERE workspace_id = 'home' AND EXISTS (SELECT 1 FROM workspaces AS old WHERE old.workspace_id = 'default');
UPDATE workspaces SET workspace_id = 'home' WHERE workspace_id = 'default';

-- Folders that were noted already.
INSERT INTO projects (workspace, place, path, looked_at)
SELECT w.workspace, substr(m.key, 8), substr(m.key, 8), 0
FROM meta AS m JOIN workspaces AS w ON w.workspace = CAST(CAST(m.value AS TEXT) AS INTEGER)
WHERE m.key LIKE 'folder/%';
DELETE FROM meta WHERE key LIKE 'folder/%';

INSERT INTO projects (workspace, place, path, looked_at)
SELECT w.workspace, '-', '', 0 FROM workspaces AS w
WHERE w.workspace_id <> 'home' AND w.person IS NULL AND NOT EXISTS (SELECT 1 FROM projects AS p WHERE p.workspace = w.workspace);

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('projects', 'projects', '1000 2 1'),
  ('projects', 'projects_place', '1000 1'),
  ('projects', 'projects_remote', '1000 2'),
  ('projects', 'projects_root_commit', '1000 2');
