-- Quotas also count what memories, segments and sessions hold beside their texts. Everything is counted anew: 0011 counted nothing
-- where the owner is bound by row-level security.

-- In every workspace: the owner is bound by row-level security only as long as it is forced.
DO $$
DECLARE
  name TEXT;
BEGIN
  FOREACH name IN ARRAY ARRAY['workspaces', 'memories', 'revisions', 'segments', 'sessions', 'untracked']
  LOOP
    EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', name);
  END LOOP;
END $$;
UPDATE workspaces AS w
SET content_bytes
  = (SELECT CAST(COALESCE(SUM(r.bytes), 0) AS BIGINT) FROM revisions r WHERE r.workspace = w.workspace)
  + (SELECT CAST(COALESCE(SUM(COALESCE(OCTET_LENGTH(m.metadata), 0) + COALESCE(OCTET_LENGTH(m.tags), 0)
                              + COALESCE(OCTET_LENGTH(m.pin_reason), 0)), 0) AS BIGINT)
     FROM memories m WHERE m.workspace = w.workspace)
  + (SELECT CAST(COALESCE(SUM(g.bytes + COALESCE(OCTET_LENGTH(g.tags), 0) + COALESCE(OCTET_LENGTH(g.refs), 0)), 0) AS BIGINT)
     FROM segments g WHERE g.workspace = w.workspace)
  + (SELECT CAST(COALESCE(SUM(OCTET_LENGTH(s.focus)), 0) AS BIGINT) FROM sessions s WHERE s.workspace = w.workspace)
  + (SELECT CAST(COALESCE(SUM(256 + COALESCE(OCTET_LENGTH(u.description), 0)), 0) AS BIGINT)
     FROM untracked u WHERE u.workspace = w.workspace);
DO $$
DECLARE
  name TEXT;
BEGIN
  FOREACH name IN ARRAY ARRAY['workspaces', 'memories', 'revisions', 'segments', 'sessions', 'untracked']
  LOOP
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
  END LOOP;
END $$;
