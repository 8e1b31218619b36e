-- Which project's folders a workspace belongs to. A folder is never found by its name: see `projects.rs`.

CREATE TABLE projects (
  workspace BIGINT NOT NULL REFERENCES workspaces (workspace),
  -- The git common directory, or the folder of a project without one. `-`: the workspace is from before places were noted, and
  -- whose it is is not known.
  place TEXT COLLATE "C" NOT NULL,
  -- The folder of the project, as it was when the place was noted.
  path TEXT COLLATE "C" NOT NULL,
  remote TEXT COLLATE "C",
  root_commit TEXT COLLATE "C",
  -- Whether a person said so.
  is_linked BIGINT NOT NULL DEFAULT 0 CHECK (is_linked IN (0, 1)),
  -- The workspace that the project's own file names, where a person allowed it.
  declared TEXT COLLATE "C",
  -- The id of another workspace that the folder may belong to, and by what; until a person decides.
  related TEXT COLLATE "C",
  related_by TEXT COLLATE "C" CHECK (related_by IN ('name', 'remote', 'root_commit')),
  -- When the root commit was looked for.
  looked_at BIGINT NOT NULL,
  PRIMARY KEY (workspace, place)
);
CREATE INDEX projects_place ON projects (place);
CREATE INDEX projects_remote ON projects (remote) WHERE remote IS NOT NULL;
CREATE INDEX projects_root_commit ON projects (root_commit) WHERE root_commit IS NOT NULL;
ALTER TABLE projects ALTER COLUMN workspace SET (n_distinct = 1);

-- The owner is bound by row-level security only as long as it is forced.
ALTER TABLE workspaces NO FORCE ROW LEVEL SECURITY;
-- The workspace that always exists is called `home` now. One that has that name gives it up.
UPDATE workspaces
SET workspace_id = (
  SELECT 'home-' || n FROM generate_series(2, 10000) AS n
  WHERE NOT EXISTS (SELECT 1 FROM workspaces AS taken WHERE taken.workspace_id = 'home-' || n)
  ORDER BY n LIMIT 1)
WHERE workspace_id = 'home' AND EXISTS (SELECT 1 FROM workspaces AS old WHERE old.workspace_id = 'default');
UPDATE workspaces SET workspace_id = 'home' WHERE workspace_id = 'default';

-- Folders that were noted already.
INSERT INTO projects (workspace, place, path, looked_at)
SELECT w.workspace, substr(m.key, 8), substr(m.key, 8), 0
FROM meta AS m JOIN workspaces AS w ON w.workspace::TEXT = convert_from(m.value, 'UTF8')
WHERE m.key LIKE 'folder/%';
DELETE FROM meta WHERE key LIKE 'folder/%';

INSERT INTO projects (workspace, place, path, looked_at)
SELECT w.workspace, '-', '', 0 FROM workspaces AS w
WHERE w.workspace_id <> 'home' AND w.person IS NULL AND NOT EXISTS (SELECT 1 FROM projects AS p WHERE p.workspace = w.workspace);
ALTER TABLE workspaces FORCE ROW LEVEL SECURITY;

GRANT SELECT, INSERT, UPDATE, DELETE ON projects TO rootset_application;
CREATE POLICY tenancy ON projects
  USING (workspace = (SELECT NULLIF(current_setting('rootset.workspace', true), '')::bigint));
-- Whose a folder is, is asked of all workspaces: by the database's own number.
CREATE POLICY overview ON projects FOR SELECT
  USING ((SELECT NULLIF(current_setting('rootset.workspace', true), '')::bigint) = 0);
ALTER TABLE projects ENABLE ROW LEVEL SECURITY;
ALTER TABLE projects FORCE ROW LEVEL SECURITY;
