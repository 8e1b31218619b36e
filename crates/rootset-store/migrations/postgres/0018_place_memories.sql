-- Where a memory stands in its thread (a conversation, a session, a document), and when what it tells of happened.
-- The thread's number is in the upper 32 bits of `place`, the position in the thread in the lower ones.
ALTER TABLE memories ADD COLUMN place BIGINT;
ALTER TABLE memories ADD COLUMN occurred_from BIGINT;
ALTER TABLE memories ADD COLUMN occurred_until BIGINT;
CREATE INDEX memories_place ON memories (workspace, place) WHERE place IS NOT NULL;

-- In every workspace: the owner is bound by row-level security only as long as it is forced.
ALTER TABLE memories NO FORCE ROW LEVEL SECURITY;
-- Until now, neighbours were of the same source.
UPDATE memories SET place = numbered.place
FROM (SELECT workspace, memory,
             DENSE_RANK() OVER (PARTITION BY workspace ORDER BY source) * 4294967296
             + ROW_NUMBER() OVER (PARTITION BY workspace, source ORDER BY sequence) AS place
      FROM memories WHERE repo IS NULL) AS numbered
WHERE memories.workspace = numbered.workspace AND memories.memory = numbered.memory;
ALTER TABLE memories FORCE ROW LEVEL SECURITY;
