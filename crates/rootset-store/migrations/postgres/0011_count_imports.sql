-- Quotas also count what graph imports brought.
UPDATE workspaces
SET content_bytes = content_bytes + (
    SELECT CAST(COALESCE(SUM(256 + COALESCE(OCTET_LENGTH(u.description), 0)), 0) AS BIGINT)
    FROM untracked u WHERE u.workspace = workspaces.workspace);
