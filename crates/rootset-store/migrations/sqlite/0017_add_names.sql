-- Other names that lead to a memory. `alias`: what it was called before its text changed; never given to another memory while this one
-- is there, and gone with the words that it was made from. `key`: what its writer finds it by. `given`: a name that reads like one
-- made from the text, although somebody gave it: it stays when the text changes.

CREATE TABLE memory_names (
  workspace INTEGER NOT NULL,
  memory BLOB NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('alias', 'key', 'given')),
  name TEXT NOT NULL,
  PRIMARY KEY (workspace, kind, name, memory),
  FOREIGN KEY (workspace, memory) REFERENCES memories (workspace, memory)
) WITHOUT ROWID;
CREATE INDEX memory_names_memory ON memory_names (workspace, memory);

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('memory_names', 'memory_names', '1000000 100000 50000 1 1'),
  ('memory_names', 'memory_names_memory', '1000000 100000 2');
