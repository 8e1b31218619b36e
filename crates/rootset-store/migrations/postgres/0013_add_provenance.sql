-- Where memories come from and who answers for them: the front end that took them, how far they are believed, and for whom
-- they are pinned. A revision has its own: who wrote which text. A run has its own, too: who removed what.

-- The defaults are those of nobody: every statement names its own.
ALTER TABLE memories ADD COLUMN channel TEXT COLLATE "C" NOT NULL DEFAULT 'import'
  CHECK (channel IN ('cli', 'mcp', 'http', 'hook', 'index', 'import'));
ALTER TABLE memories ADD COLUMN trust TEXT COLLATE "C" NOT NULL DEFAULT 'untrusted'
  CHECK (trust IN ('person', 'agent', 'imported', 'untrusted'));
-- NULL where it is not pinned.
ALTER TABLE memories ADD COLUMN pinned_by TEXT COLLATE "C" CHECK (pinned_by IN ('person', 'agent'));
-- NULL in rows that were pinned before this was noted.
ALTER TABLE memories ADD COLUMN pinned_actor TEXT COLLATE "C";

-- NULL in revisions that were written before this was noted.
ALTER TABLE revisions ADD COLUMN channel TEXT COLLATE "C" CHECK (channel IN ('cli', 'mcp', 'http', 'hook', 'index', 'import'));
ALTER TABLE revisions ADD COLUMN trust TEXT COLLATE "C" CHECK (trust IN ('person', 'agent', 'imported', 'untrusted'));
ALTER TABLE revisions ADD COLUMN written_by TEXT COLLATE "C";

-- NULL in runs of Rootset itself.
ALTER TABLE runs ADD COLUMN channel TEXT COLLATE "C" CHECK (channel IN ('cli', 'mcp', 'http', 'hook', 'index', 'import'));
ALTER TABLE runs ADD COLUMN trust TEXT COLLATE "C" CHECK (trust IN ('person', 'agent', 'imported', 'untrusted'));

-- In every workspace: the owner is bound by row-level security only as long as it is forced.
ALTER TABLE memories NO FORCE ROW LEVEL SECURITY;
ALTER TABLE runs NO FORCE ROW LEVEL SECURITY;
-- What is known of earlier rows; where two answers are possible, the less trusted one. A client could call itself `cli`, so
-- that only the source tells an agent then; a text that was changed since may be an agent's.
UPDATE memories SET channel = CASE
  WHEN source = 'code_indexer' THEN 'index'
  WHEN written_by = 'cli' AND source = 'server-memory' THEN 'import'
  WHEN written_by = 'cli' AND source <> 'agent' THEN 'cli'
  WHEN source = 'user' THEN 'http'
  ELSE 'mcp' END;
UPDATE memories SET
  trust = CASE
    WHEN channel IN ('index', 'import') THEN 'imported'
    WHEN channel = 'cli' AND revision = 1 AND pending_revision IS NULL THEN 'person'
    ELSE 'agent' END,
  pinned_by = CASE WHEN pinned = 0 THEN NULL WHEN channel = 'cli' THEN 'person' ELSE 'agent' END;
UPDATE runs SET channel = CASE WHEN actor = 'cli' THEN 'cli' ELSE 'mcp' END,
                trust = CASE WHEN actor = 'cli' THEN 'person' ELSE 'agent' END
WHERE actor NOT IN ('housekeeping', 'rootset', 'scheduler', 'worker');
ALTER TABLE memories FORCE ROW LEVEL SECURITY;
ALTER TABLE runs FORCE ROW LEVEL SECURITY;
