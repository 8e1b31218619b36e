-- A personal workspace belongs to one person, and what was shown to a model without being asked for is no use of it.

-- Whose personal workspace it is: the owner of tokens, or the user at the command line; NULL in all others.
ALTER TABLE workspaces ADD COLUMN person TEXT COLLATE "C";
CREATE UNIQUE INDEX workspaces_person ON workspaces (person) WHERE person IS NOT NULL;

CREATE TABLE shown (
  workspace BIGINT NOT NULL,
  memory BYTEA NOT NULL,
  shown_count BIGINT NOT NULL,
  last_shown_at BIGINT NOT NULL,
  PRIMARY KEY (workspace, memory),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
);
ALTER TABLE shown ALTER COLUMN workspace SET (n_distinct = 1);

GRANT SELECT, INSERT, UPDATE, DELETE ON shown TO rootset_application;
CREATE POLICY tenancy ON shown
  USING (workspace = (SELECT NULLIF(current_setting('rootset.workspace', true), '')::bigint));
ALTER TABLE shown ENABLE ROW LEVEL SECURITY;
ALTER TABLE shown FORCE ROW LEVEL SECURITY;
