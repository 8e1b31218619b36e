-- name: insert
INSERT INTO tokens (token_id, name, secret_hash, scopes, workspaces, created_at, created_by, expires_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8);

-- fragment: token_columns
token_id, name, scopes, workspaces, created_at, created_by, expires_at, revoked_at

-- name: by_secret
SELECT {{token_columns}} FROM tokens WHERE secret_hash = ?1 AND revoked_at IS NULL;

-- name: by_name
SELECT {{token_columns}} FROM tokens WHERE name = ?1 AND revoked_at IS NULL;

-- name: by_id
SELECT {{token_columns}} FROM tokens WHERE token_id = ?1;

-- name: list
-- scans: tokens are few, newest first
SELECT {{token_columns}} FROM tokens WHERE revoked_at IS NULL OR ?1 = 1 ORDER BY token_id DESC LIMIT ?2 OFFSET ?3;

-- name: count
-- scans: a list counts what it pages through
SELECT COUNT(*) FROM tokens WHERE revoked_at IS NULL OR ?1 = 1;

-- name: any_living
-- scans: tokens are few; asked when a server starts
SELECT EXISTS (SELECT 1 FROM tokens WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?1));

-- name: revoke
UPDATE tokens SET revoked_at = ?2 WHERE token_id = ?1 AND revoked_at IS NULL;

-- A token that has run out no longer holds its name.
-- name: free_name
UPDATE tokens SET revoked_at = ?2 WHERE name = ?1 AND revoked_at IS NULL AND expires_at <= ?2;
