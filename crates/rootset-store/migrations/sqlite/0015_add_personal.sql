-- A personal workspace belongs to one person, and what was shown to a model without being asked for is no use of it.

-- Whose personal workspace it is: the owner of tokens, or `@local`, whoever opens the file; NULL in all others.
ALTER TABLE workspaces ADD COLUMN person TEXT;
CREATE UNIQUE INDEX workspaces_person ON workspaces (person) WHERE person IS NOT NULL;

CREATE TABLE shown (
  workspace INTEGER NOT NULL,
  memory BLOB NOT NULL,
  shown_count INTEGER NOT NULL,
  last_shown_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, memory),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
) WITHOUT ROWID;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('workspaces', 'workspaces_person', '1000 1'),
  ('shown', 'shown', '100000 10000 1');
