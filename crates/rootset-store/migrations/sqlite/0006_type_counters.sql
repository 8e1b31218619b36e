-- Numbers leave `meta`, whose values are bytes from here on: engines with strict types hold the same tables.

-- Numbers of the database as a whole: chunks purged since the last defragmentation, over all workspaces; and the greatest
-- number that a workspace was ever given.
CREATE TABLE counters (
  name TEXT NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;

INSERT INTO counters (name, value)
SELECT 'purged_chunks', COALESCE((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'purged_chunks'), 0);

INSERT INTO counters (name, value)
SELECT 'workspaces', COALESCE(MAX(number), 0) FROM (
    SELECT seq AS number FROM sqlite_sequence WHERE name = 'workspaces'
    UNION ALL SELECT MAX(workspace) FROM workspaces
    UNION ALL SELECT MAX(chain) FROM audit
    UNION ALL SELECT MAX(workspace) FROM erasures);

-- The counters of workspaces that are gone, for the day one comes back under its number: no number is given twice.
CREATE TABLE kept_counters (
  workspace INTEGER PRIMARY KEY,
  next_number INTEGER NOT NULL,
  next_chunk INTEGER NOT NULL,
  next_session INTEGER NOT NULL,
  next_segment INTEGER NOT NULL
);

-- They were words with blanks between them; a workspace that went before there were sessions has two.
INSERT INTO kept_counters (workspace, next_number, next_chunk, next_session, next_segment)
SELECT workspace, json_extract(counts, '$[0]'), json_extract(counts, '$[1]'),
       COALESCE(json_extract(counts, '$[2]'), 1), COALESCE(json_extract(counts, '$[3]'), 1)
FROM (SELECT CAST(SUBSTR(key, LENGTH('counters/') + 1) AS INTEGER) AS workspace,
             '[' || REPLACE(CAST(value AS TEXT), ' ', ',') || ']' AS counts
      FROM meta WHERE key >= 'counters/' AND key < 'counters0');

DELETE FROM meta WHERE key = 'purged_chunks' OR (key >= 'counters/' AND key < 'counters0');
UPDATE meta SET value = CAST(value AS BLOB) WHERE key >= 'compaction/' AND key < 'compaction0';

-- Which workspaces have work that is due, and which of it comes first in one of them. Leases change often and are in
-- neither.
DROP INDEX jobs_due;
CREATE INDEX jobs_due ON jobs (kind, due_at, workspace);
CREATE INDEX jobs_next ON jobs (workspace, kind, due_at);

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('counters', 'counters', '2 1'),
  ('jobs', 'jobs_due', '10000 500 2 1'),
  ('jobs', 'jobs_next', '10000 1000 500 1');
