-- Other names that lead to a memory. `alias`: what it was called before its text changed; never given to another memory while this one
-- is there, and gone with the words that it was made from. `key`: what its writer finds it by. `given`: a name that reads like one
-- made from the text, although somebody gave it: it stays when the text changes.

CREATE TABLE memory_names (
  workspace BIGINT NOT NULL,
  memory BYTEA NOT NULL,
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('alias', 'key', 'given')),
  name TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (workspace, kind, name, memory),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
);
CREATE INDEX memory_names_memory ON memory_names (workspace, memory);
ALTER TABLE memory_names ALTER COLUMN workspace SET (n_distinct = 1);

GRANT SELECT, INSERT, UPDATE, DELETE ON memory_names TO rootset_application;
CREATE POLICY tenancy ON memory_names
  USING (workspace = (SELECT NULLIF(current_setting('rootset.workspace', true), '')::bigint));
ALTER TABLE memory_names ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_names FORCE ROW LEVEL SECURITY;
