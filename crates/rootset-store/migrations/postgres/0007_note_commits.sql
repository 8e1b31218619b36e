-- A token for every transaction that writes. Whoever lost the answer to a commit inserts the same token once more: a conflict
-- means that the commit went through, and no conflict that it never will. The number of a transaction cannot tell: a server
-- that crashed, or a standby in its place, hands out again the numbers whose log it does not have.
--
-- Tokens belong to no workspace and say nothing about one. The application may add them and not read them, so that no tenant
-- can count what others write; old ones go by the function below.
CREATE TABLE commits (
  token BYTEA NOT NULL PRIMARY KEY,
  -- By the server's clock: clients have clocks of their own.
  at BIGINT NOT NULL DEFAULT (EXTRACT(EPOCH FROM now()) * 1000)::BIGINT
);
CREATE INDEX commits_at ON commits (at);
GRANT INSERT ON commits TO rootset_application;

-- Deletes the oldest tokens of more than a day ago, at most so many; answers how many there were. Nobody asks for one after
-- half a day, see postgres/commits.rs.
CREATE FUNCTION delete_old_commits(most BIGINT) RETURNS BIGINT
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT SET enable_seqscan = off AS $$
  WITH deleted AS (
    DELETE FROM commits WHERE token IN (
      SELECT old.token FROM commits AS old
      WHERE old.at < (EXTRACT(EPOCH FROM now()) * 1000)::BIGINT - 86400000
      ORDER BY old.at LIMIT most)
    RETURNING 1)
  SELECT COUNT(*) FROM deleted
$$;
REVOKE ALL ON FUNCTION delete_old_commits FROM PUBLIC;
GRANT EXECUTE ON FUNCTION delete_old_commits TO rootset_application;

-- A session's temporary tables must not stand in for those of the owner, see 0006_2_create_search.sql.
DO $$
DECLARE
  path CONSTANT TEXT := (SELECT string_agg(quote_ident(name), ', ') FROM unnest(current_schemas(FALSE)) AS name);
BEGIN
  EXECUTE format('ALTER FUNCTION delete_old_commits SET search_path = %s, pg_temp', path);
END
$$;
