-- Where a memory stands in its thread (a conversation, a session, a document), and when what it tells of happened.
-- The thread's number is in the upper 32 bits of `place`, the position in the thread in the lower ones.
ALTER TABLE memories ADD COLUMN place INTEGER;
ALTER TABLE memories ADD COLUMN occurred_from INTEGER;
ALTER TABLE memories ADD COLUMN occurred_until INTEGER;
CREATE INDEX memories_place ON memories (workspace, place) WHERE place IS NOT NULL;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('memories', 'memories_place', '1000000 500000 1');

-- Until now, neighbours were of the same source.
UPDATE memories SET place = numbered.place
FROM (SELECT workspace, memory,
             DENSE_RANK() OVER (PARTITION BY workspace ORDER BY source) * 4294967296
             + ROW_NUMBER() OVER (PARTITION BY workspace, source ORDER BY sequence) AS place
      FROM memories WHERE repo IS NULL) AS numbered
WHERE memories.workspace = numbered.workspace AND memories.memory = numbered.memory;
