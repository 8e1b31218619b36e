-- On PostgreSQL the application may not touch the table: functions of the owner do it, see 0012_bind_tokens.sql.

-- name: insert
INSERT INTO tokens (token_id, name, secret_hash, scopes, workspaces, created_at, created_by, expires_at, owner, roots, trust)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11);
-- on postgres:
SELECT COUNT(*) FROM insert_token(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11);

-- fragment: token_columns
token_id, name, scopes, workspaces, created_at, created_by, expires_at, revoked_at, owner, roots, trust, last_used_at

-- The last column is when this secret ends before its token does.
-- name: by_secret
SELECT {{token_columns}}, CAST(NULL AS BIGINT) FROM tokens WHERE secret_hash = ?1 AND revoked_at IS NULL
UNION ALL
SELECT {{token_columns}}, previous_until FROM tokens WHERE previous_hash = ?1 AND revoked_at IS NULL;
-- on postgres:
SELECT {{token_columns}}, previous_until FROM token_of_secret(?1);

-- name: by_name
SELECT {{token_columns}} FROM tokens WHERE name = ?1 AND revoked_at IS NULL;
-- on postgres:
SELECT {{token_columns}} FROM known_tokens() WHERE name = ?1 AND revoked_at IS NULL;

-- name: by_id
SELECT {{token_columns}} FROM tokens WHERE token_id = ?1;
-- on postgres:
SELECT {{token_columns}} FROM known_tokens() WHERE token_id = ?1;

-- name: holder_of_name
SELECT token_id FROM tokens WHERE name = ?1 AND revoked_at IS NULL;
-- on postgres:
SELECT token_id FROM is_token_named(?1);

-- name: list
-- scans: tokens are few, newest first
SELECT {{token_columns}} FROM tokens WHERE revoked_at IS NULL OR ?1 = 1 ORDER BY token_id DESC LIMIT ?2 OFFSET ?3;
-- on postgres:
SELECT {{token_columns}} FROM known_tokens() WHERE revoked_at IS NULL OR ?1 = 1 ORDER BY token_id DESC LIMIT ?2 OFFSET ?3;

-- name: count
-- scans: a list counts what it pages through
SELECT COUNT(*) FROM tokens WHERE revoked_at IS NULL OR ?1 = 1;
-- on postgres:
SELECT COUNT(*) FROM known_tokens() WHERE revoked_at IS NULL OR ?1 = 1;

-- name: any_living
-- scans: tokens are few; asked when a server starts
SELECT EXISTS (SELECT 1 FROM tokens WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?1));
-- on postgres:
SELECT is_any_token_accepted(?1);

-- name: revoke
UPDATE tokens SET revoked_at = ?2 WHERE token_id = ?1 AND revoked_at IS NULL;
-- on postgres:
SELECT COUNT(*) FROM end_token(?1, ?2);

-- A token that has run out no longer holds its name.
-- name: free_name
UPDATE tokens SET revoked_at = ?2 WHERE name = ?1 AND revoked_at IS NULL AND expires_at <= ?2;
-- on postgres:
SELECT COUNT(*) FROM free_token_name(?1, ?2);

-- A new secret; the one before is accepted until ?3. What was said about the old end is forgotten.
-- name: rotate
UPDATE tokens SET previous_hash = secret_hash, previous_until = ?3, secret_hash = ?2, expires_at = ?4, warned_at = NULL
WHERE token_id = ?1 AND revoked_at IS NULL;
-- on postgres:
SELECT renewed FROM renew_token(?1, ?2, ?3, ?4) AS renewed;

-- name: used
UPDATE tokens SET last_used_at = ?2 WHERE token_id = ?1 AND (last_used_at IS NULL OR last_used_at < ?2);
-- on postgres:
SELECT COUNT(*) FROM note_token_used(?1, ?2);

-- Takes a workspace that is gone from every token; a token that has no other left is revoked.
-- name: unbind
-- scans: tokens are few; asked when a whole workspace is purged
UPDATE tokens
SET workspaces = REPLACE(workspaces, ' ' || CAST(?1 AS TEXT) || ' ', ' '),
    revoked_at = CASE WHEN revoked_at IS NULL AND workspaces = ' ' || CAST(?1 AS TEXT) || ' ' THEN ?2 ELSE revoked_at END
WHERE workspaces LIKE '% ' || CAST(?1 AS TEXT) || ' %';
-- on postgres:
SELECT token FROM unbind_tokens(?1, ?2) AS token;

-- name: soonest_end
-- scans: tokens are few; asked for metrics
SELECT MIN(expires_at) FROM tokens WHERE revoked_at IS NULL AND expires_at > ?1;
-- on postgres:
SELECT soonest_token_end(?1);

-- Those that end by ?2 and are still accepted at ?1; with ?3, also those whose end was told already.
-- name: ending
-- scans: tokens are few; asked once a day
SELECT {{token_columns}} FROM tokens
WHERE revoked_at IS NULL AND expires_at > ?1 AND expires_at <= ?2 AND (warned_at IS NULL OR ?3 = 1)
ORDER BY expires_at, token_id;
-- on postgres:
SELECT {{token_columns}} FROM ending_tokens(?1, ?2, ?3);

-- name: warned
UPDATE tokens SET warned_at = ?2 WHERE token_id = ?1;
-- on postgres:
SELECT COUNT(*) FROM note_token_warned(?1, ?2);
