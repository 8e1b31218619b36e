-- Tokens are bound to the numbers of their workspaces, act for somebody, can be renewed, and are known to the audit.

-- `workspaces` holds numbers from here on, each with a blank before and after it, so that one can be taken out; `*` still means
-- all of them. A number is given once: a workspace that is made later under the name of one that is gone is another. What a
-- token named and is gone already is left out.
UPDATE tokens SET workspaces = COALESCE(
  (SELECT ' ' || group_concat(w.workspace, ' ') || ' '
   FROM json_each('["' || replace(tokens.workspaces, ' ', '","') || '"]') AS named
   JOIN workspaces w ON w.workspace_id = named.value), ' ')
WHERE workspaces <> '*';

-- The person that a token acts for.
ALTER TABLE tokens ADD COLUMN owner TEXT;
-- A JSON list of folders that it may index; NULL: those that the server allows.
ALTER TABLE tokens ADD COLUMN roots TEXT;
ALTER TABLE tokens ADD COLUMN trust TEXT NOT NULL DEFAULT 'agent';
-- Written now and then, not with every request.
ALTER TABLE tokens ADD COLUMN last_used_at INTEGER;
-- The secret before the last rotation, which is accepted until then.
ALTER TABLE tokens ADD COLUMN previous_hash BLOB;
ALTER TABLE tokens ADD COLUMN previous_until INTEGER;
-- When it was told that the token ends soon.
ALTER TABLE tokens ADD COLUMN warned_at INTEGER;
CREATE UNIQUE INDEX tokens_previous ON tokens (previous_hash) WHERE previous_hash IS NOT NULL;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('tokens', 'tokens_previous', '1000 1');

-- Which token it was, and how it came: `http 192.0.2.7`. NULL in entries from before, and where there is none.
ALTER TABLE audit ADD COLUMN token BLOB;
ALTER TABLE audit ADD COLUMN origin TEXT;
