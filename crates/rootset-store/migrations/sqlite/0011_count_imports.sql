-- Quotas also count what graph imports brought.
UPDATE workspaces
SET content_bytes = content_bytes + (
    SELECT COALESCE(SUM(256 + COALESCE(OCTET_LENGTH(u.description), 0)), 0)
    FROM untracked u WHERE u.workspace = workspaces.workspace);
