-- Tokens are bound to the numbers of their workspaces, act for somebody, can be renewed, and are known to the audit. The
-- application no longer reads or writes them itself, nor the keys in `meta`: functions of the owner do, see the end.

-- `workspaces` holds numbers from here on, each with a blank before and after it, so that one can be taken out; `*` still means
-- all of them. A number is given once: a workspace that is made later under the name of one that is gone is another. What a
-- token named and is gone already is left out. Row-level security shows all workspaces to who names none of them.
SELECT set_config('rootset.workspace', '0', true);
UPDATE tokens SET workspaces = COALESCE(
  (SELECT ' ' || string_agg(w.workspace::TEXT, ' ' ORDER BY w.workspace) || ' '
   FROM workspaces w WHERE w.workspace_id = ANY (string_to_array(tokens.workspaces, ' '))), ' ')
WHERE workspaces <> '*';

-- The person that a token acts for.
ALTER TABLE tokens ADD COLUMN owner TEXT COLLATE "C";
-- A JSON list of folders that it may index; NULL: those that the server allows.
ALTER TABLE tokens ADD COLUMN roots TEXT COLLATE "C";
ALTER TABLE tokens ADD COLUMN trust TEXT COLLATE "C" NOT NULL DEFAULT 'agent';
-- Written now and then, not with every request.
ALTER TABLE tokens ADD COLUMN last_used_at BIGINT;
-- The secret before the last rotation, which is accepted until then.
ALTER TABLE tokens ADD COLUMN previous_hash BYTEA;
ALTER TABLE tokens ADD COLUMN previous_until BIGINT;
-- When it was told that the token ends soon.
ALTER TABLE tokens ADD COLUMN warned_at BIGINT;
CREATE UNIQUE INDEX tokens_previous ON tokens (previous_hash) WHERE previous_hash IS NOT NULL;

-- Which token it was, and how it came: `http 192.0.2.7`. NULL in entries from before, and where there is none.
ALTER TABLE audit ADD COLUMN token BYTEA;
ALTER TABLE audit ADD COLUMN origin TEXT COLLATE "C";

-- A session of one tenant gives no names to workspaces: the refusal of a name that is taken would tell that it is.
CREATE POLICY named_by_the_database ON workspaces AS RESTRICTIVE FOR INSERT
  WITH CHECK ((SELECT NULLIF(current_setting('rootset.workspace', true), '')::bigint) = 0);
-- The name that a workspace had before the statement that asks.
CREATE FUNCTION name_of_workspace(wanted BIGINT) RETURNS TEXT LANGUAGE sql STABLE SECURITY DEFINER AS $$
  SELECT w.workspace_id FROM workspaces AS w WHERE w.workspace = wanted
$$;
CREATE POLICY renamed_by_the_database ON workspaces AS RESTRICTIVE FOR UPDATE USING (TRUE)
  WITH CHECK ((SELECT NULLIF(current_setting('rootset.workspace', true), '')::bigint) = 0
              OR workspace_id = name_of_workspace(workspace));

-- From here on, what the application may do with tokens and with the keys in `meta`. It acts for many tenants, so whoever gets
-- statements of their own into one of its sessions must not be able to read the hashes of tokens, to make a token, or to read
-- the key of the erasure ledger. These functions do it with the rights of the owner. They believe two things: a login that may
-- act as the owner of the tables (the first start, an upgrade, a person at the command line), and a token, shown by the hash
-- of its secret in the setting `rootset.token`. The hash is not stored anywhere that the application can read.
REVOKE ALL ON tokens FROM rootset_application;

-- All of `meta` but the keys. The owner is not bound by this.
ALTER TABLE meta ENABLE ROW LEVEL SECURITY;
CREATE POLICY no_keys ON meta TO rootset_application USING (key NOT IN ('erasure_key', 'signing_key'));

-- Whether somebody who may act as the owner logged in, whatever role the session has taken on since.
CREATE FUNCTION is_owners_login() RETURNS BOOLEAN LANGUAGE sql STABLE AS $$
  SELECT pg_has_role(session_user, c.relowner, 'MEMBER') FROM pg_class AS c WHERE c.oid = 'tokens'::regclass
$$;

CREATE FUNCTION server_ms() RETURNS BIGINT LANGUAGE sql STABLE AS $$
  SELECT (EXTRACT(EPOCH FROM now()) * 1000)::BIGINT
$$;

-- The token that this session shows, while it is accepted.
CREATE FUNCTION shown_token() RETURNS SETOF tokens LANGUAGE sql STABLE AS $$
  SELECT t.* FROM tokens AS t, decode(COALESCE(current_setting('rootset.token', TRUE), ''), 'hex') AS shown (hash)
  WHERE (t.secret_hash = shown.hash OR t.previous_hash = shown.hash AND t.previous_until > server_ms())
    AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > server_ms())
$$;

-- Refuses whoever may not do something with tokens that have these scopes: nobody hands on more than they have.
CREATE FUNCTION check_token_manager(handed_on TEXT) RETURNS VOID LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF is_owners_login() OR EXISTS (
    SELECT 1 FROM shown_token() AS own
    WHERE own.workspaces = '*' AND 'admin' = ANY (string_to_array(own.scopes, ' '))
      AND string_to_array(handed_on, ' ') <@ string_to_array(own.scopes, ' '))
  THEN
    RETURN;
  END IF;
  RAISE insufficient_privilege USING
    MESSAGE = 'tokens are managed with a token that has the scope `admin` in all workspaces, or with the login of the owner';
END $$;

CREATE FUNCTION is_any_token_accepted(at_ms BIGINT) RETURNS BOOLEAN LANGUAGE sql STABLE SECURITY DEFINER AS $$
  SELECT EXISTS (SELECT 1 FROM tokens AS t WHERE t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > at_ms))
$$;

-- What can be known about tokens: everything but the hashes.
CREATE FUNCTION token_of_secret(hash BYTEA)
RETURNS TABLE (token_id BYTEA, name TEXT, scopes TEXT, workspaces TEXT, created_at BIGINT, created_by TEXT,
               expires_at BIGINT, revoked_at BIGINT, owner TEXT, roots TEXT, trust TEXT, last_used_at BIGINT,
               previous_until BIGINT)
LANGUAGE sql STABLE SECURITY DEFINER AS $$
  SELECT t.token_id, t.name, t.scopes, t.workspaces, t.created_at, t.created_by, t.expires_at, t.revoked_at, t.owner,
         t.roots, t.trust, t.last_used_at, CASE WHEN t.secret_hash = hash THEN NULL ELSE t.previous_until END
  FROM tokens AS t WHERE (t.secret_hash = hash OR t.previous_hash = hash) AND t.revoked_at IS NULL
$$;

CREATE FUNCTION known_tokens()
RETURNS TABLE (token_id BYTEA, name TEXT, scopes TEXT, workspaces TEXT, created_at BIGINT, created_by TEXT,
               expires_at BIGINT, revoked_at BIGINT, owner TEXT, roots TEXT, trust TEXT, last_used_at BIGINT)
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
BEGIN
  PERFORM check_token_manager('');
  RETURN QUERY
  SELECT t.token_id, t.name, t.scopes, t.workspaces, t.created_at, t.created_by, t.expires_at, t.revoked_at, t.owner,
         t.roots, t.trust, t.last_used_at
  FROM tokens AS t;
END $$;

-- For warnings, which nobody asks for: names and ends of those that end by then, and nothing of what they may do.
CREATE FUNCTION ending_tokens(at_ms BIGINT, by_ms BIGINT, also_told BIGINT)
RETURNS TABLE (token_id BYTEA, name TEXT, scopes TEXT, workspaces TEXT, created_at BIGINT, created_by TEXT,
               expires_at BIGINT, revoked_at BIGINT, owner TEXT, roots TEXT, trust TEXT, last_used_at BIGINT)
LANGUAGE sql STABLE SECURITY DEFINER AS $$
  SELECT t.token_id, t.name, '', ' ', t.created_at, t.created_by, t.expires_at, t.revoked_at, t.owner, NULL, t.trust,
         t.last_used_at
  FROM tokens AS t
  WHERE t.revoked_at IS NULL AND t.expires_at > at_ms AND t.expires_at <= by_ms AND (t.warned_at IS NULL OR also_told = 1)
  ORDER BY t.expires_at, t.token_id
$$;

CREATE FUNCTION soonest_token_end(at_ms BIGINT) RETURNS BIGINT LANGUAGE sql STABLE SECURITY DEFINER AS $$
  SELECT MIN(t.expires_at) FROM tokens AS t WHERE t.revoked_at IS NULL AND t.expires_at > at_ms
$$;

-- The first token needs nobody's leave; while it is made, nobody makes another.
CREATE FUNCTION insert_token(
  new_id BYTEA, new_name TEXT, new_hash BYTEA, new_scopes TEXT, new_workspaces TEXT, at_ms BIGINT, by_actor TEXT,
  ends_ms BIGINT, new_owner TEXT, new_roots TEXT, new_trust TEXT
) RETURNS VOID LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  LOCK TABLE tokens IN SHARE ROW EXCLUSIVE MODE;
  IF is_any_token_accepted(server_ms()) THEN
    PERFORM check_token_manager(new_scopes);
  END IF;
  INSERT INTO tokens (token_id, name, secret_hash, scopes, workspaces, created_at, created_by, expires_at, owner, roots, trust)
  VALUES (new_id, new_name, new_hash, new_scopes, new_workspaces, at_ms, by_actor, ends_ms, new_owner, new_roots, new_trust);
END $$;

CREATE FUNCTION is_token_named(wanted TEXT) RETURNS TABLE (token_id BYTEA) LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
BEGIN
  IF is_any_token_accepted(server_ms()) THEN
    PERFORM check_token_manager('');
  END IF;
  RETURN QUERY SELECT t.token_id FROM tokens AS t WHERE t.name = wanted AND t.revoked_at IS NULL;
END $$;

CREATE FUNCTION free_token_name(wanted TEXT, at_ms BIGINT) RETURNS VOID LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF is_any_token_accepted(server_ms()) THEN
    PERFORM check_token_manager('');
  END IF;
  UPDATE tokens AS t SET revoked_at = at_ms WHERE t.name = wanted AND t.revoked_at IS NULL AND t.expires_at <= at_ms;
END $$;

CREATE FUNCTION end_token(wanted BYTEA, at_ms BIGINT) RETURNS VOID LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  PERFORM check_token_manager('');
  UPDATE tokens AS t SET revoked_at = at_ms WHERE t.token_id = wanted AND t.revoked_at IS NULL;
END $$;

-- Answers a row if the token lives.
CREATE FUNCTION renew_token(wanted BYTEA, new_hash BYTEA, old_until_ms BIGINT, ends_ms BIGINT)
RETURNS SETOF BIGINT LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  PERFORM check_token_manager(COALESCE((SELECT t.scopes FROM tokens AS t WHERE t.token_id = wanted), ''));
  RETURN QUERY
  UPDATE tokens AS t
  SET previous_hash = t.secret_hash, previous_until = old_until_ms, secret_hash = new_hash, expires_at = ends_ms,
      warned_at = NULL
  WHERE t.token_id = wanted AND t.revoked_at IS NULL RETURNING 1::BIGINT;
END $$;

-- Times that decide nothing.
CREATE FUNCTION note_token_used(wanted BYTEA, at_ms BIGINT) RETURNS VOID LANGUAGE sql SECURITY DEFINER AS $$
  UPDATE tokens AS t SET last_used_at = at_ms
  WHERE t.token_id = wanted AND (t.last_used_at IS NULL OR t.last_used_at < at_ms)
$$;

CREATE FUNCTION note_token_warned(wanted BYTEA, at_ms BIGINT) RETURNS VOID LANGUAGE sql SECURITY DEFINER AS $$
  UPDATE tokens AS t SET warned_at = at_ms WHERE t.token_id = wanted
$$;

-- Takes a workspace from every token, if it is gone; answers a row for each of them. It looks at the list of workspaces as
-- the database itself, because whoever names a workspace sees no other.
CREATE FUNCTION unbind_tokens(gone BIGINT, at_ms BIGINT) RETURNS SETOF BIGINT
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  word CONSTANT TEXT := ' ' || gone || ' ';
  entered CONSTANT TEXT := COALESCE(current_setting('rootset.workspace', TRUE), '');
  is_there BOOLEAN;
BEGIN
  PERFORM set_config('rootset.workspace', '0', TRUE);
  is_there := EXISTS (SELECT 1 FROM workspaces AS w WHERE w.workspace = gone);
  PERFORM set_config('rootset.workspace', entered, TRUE);
  IF is_there THEN
    RETURN;
  END IF;
  RETURN QUERY
  UPDATE tokens AS t
  SET workspaces = REPLACE(t.workspaces, word, ' '),
      revoked_at = CASE WHEN t.revoked_at IS NULL AND t.workspaces = word THEN at_ms ELSE t.revoked_at END
  WHERE t.workspaces LIKE '%' || word || '%' RETURNING 1::BIGINT;
END $$;

-- The keys of `meta`, for whoever may write: what was erased has to be known before anything is stored.
CREATE FUNCTION check_key_user(needed TEXT[]) RETURNS VOID LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF is_owners_login() OR EXISTS (
    SELECT 1 FROM shown_token() AS own WHERE string_to_array(own.scopes, ' ') && needed)
  THEN
    RETURN;
  END IF;
  RAISE insufficient_privilege USING
    MESSAGE = format('the keys of the database need a token with the scope `%s`, or the login of its owner', needed[1]);
END $$;

CREATE FUNCTION key_of_database(which TEXT) RETURNS SETOF BYTEA LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
BEGIN
  PERFORM check_key_user(ARRAY['write', 'destroy', 'purge', 'admin']);
  RETURN QUERY SELECT m.value FROM meta AS m WHERE m.key = which AND m.key IN ('erasure_key', 'signing_key');
END $$;

CREATE FUNCTION set_erasure_key(new_value BYTEA) RETURNS VOID LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  PERFORM check_key_user(ARRAY['purge', 'admin']);
  UPDATE meta AS m SET value = new_value WHERE m.key = 'erasure_key';
END $$;

CREATE FUNCTION keep_signing_key(fresh BYTEA) RETURNS VOID LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  PERFORM check_key_user(ARRAY['write', 'destroy', 'purge', 'admin']);
  INSERT INTO meta (key, value) VALUES ('signing_key', fresh) ON CONFLICT (key) DO NOTHING;
END $$;

-- A session's temporary tables must not stand in for those of the owner, see 0006_2_create_search.sql. Who may call what: the
-- helpers are called by the others alone.
DO $$
DECLARE
  path CONSTANT TEXT := (SELECT string_agg(quote_ident(name), ', ') FROM unnest(current_schemas(FALSE)) AS name);
  own RECORD;
BEGIN
  FOR own IN
    SELECT p.oid::regprocedure AS name, p.prosecdef AS is_called FROM pg_proc AS p
    WHERE p.pronamespace = current_schema()::regnamespace AND p.proname = ANY (ARRAY[
      'name_of_workspace', 'is_owners_login', 'server_ms', 'shown_token', 'check_token_manager', 'is_any_token_accepted', 'token_of_secret',
      'known_tokens', 'ending_tokens', 'soonest_token_end', 'insert_token', 'is_token_named', 'free_token_name', 'end_token',
      'renew_token', 'note_token_used', 'note_token_warned', 'unbind_tokens', 'check_key_user', 'key_of_database',
      'set_erasure_key', 'keep_signing_key'])
  LOOP
    EXECUTE format('ALTER FUNCTION %s SET search_path = %s, pg_temp', own.name, path);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', own.name);
    IF own.is_called THEN
      EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO rootset_application', own.name);
    END IF;
  END LOOP;
END
$$;
