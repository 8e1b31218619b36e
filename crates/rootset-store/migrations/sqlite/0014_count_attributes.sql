-- Quotas also count what memories, segments and sessions hold beside their texts.
UPDATE workspaces
SET content_bytes = content_bytes
  + (SELECT COALESCE(SUM(COALESCE(OCTET_LENGTH(m.metadata), 0) + COALESCE(OCTET_LENGTH(m.tags), 0) + COALESCE(OCTET_LENGTH(m.pin_reason), 0)), 0)
     FROM memories m WHERE m.workspace = workspaces.workspace)
  + (SELECT COALESCE(SUM(COALESCE(OCTET_LENGTH(g.tags), 0) + COALESCE(OCTET_LENGTH(g.refs), 0)), 0)
     FROM segments g WHERE g.workspace = workspaces.workspace)
  + (SELECT COALESCE(SUM(OCTET_LENGTH(s.focus)), 0) FROM sessions s WHERE s.workspace = workspaces.workspace);
