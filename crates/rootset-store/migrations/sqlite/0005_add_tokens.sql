-- Tokens of the HTTP API: who may do what, and where.

-- Of a secret only its hash is stored: who reads the file cannot call with what is in it. Secrets are 32 random bytes, so
-- the hash needs no salt and no slowness, and a look-up by it tells nothing by its time. `scopes` and `workspaces` are words
-- with blanks between them; `*` in place of workspaces means all of them, also later ones.
CREATE TABLE tokens (
  token_id BLOB NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  secret_hash BLOB NOT NULL,
  scopes TEXT NOT NULL,
  workspaces TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) WITHOUT ROWID;
CREATE UNIQUE INDEX tokens_name ON tokens (name) WHERE revoked_at IS NULL;
CREATE UNIQUE INDEX tokens_secret ON tokens (secret_hash) WHERE revoked_at IS NULL;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('tokens', 'tokens', '1000 1'),
  ('tokens', 'tokens_name', '1000 1'),
  ('tokens', 'tokens_secret', '1000 1');
