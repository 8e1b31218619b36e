-- What the planner believes of a table before and after it was analysed. Every key begins with the workspace, and a plan is
-- kept for all of them: were a workspace taken for a small part of a table, reading all of it would look cheaper than a
-- thousand lookups by key. So each counts as the whole.
DO $$
DECLARE
  found RECORD;
BEGIN
  FOR found IN
    SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND c.relname <> 'workspaces'
      AND a.attname IN ('workspace', 'chain') AND NOT a.attisdropped
  LOOP
    EXECUTE format('ALTER TABLE %I ALTER COLUMN %I SET (n_distinct = 1)', found.relname, found.attname);
  END LOOP;
END
$$;

-- Analyses the tables that never were (`reltuples` is below 0) and have rows. The server would do so by itself, but up to a
-- minute later: a first load of many rows would be over, or slow, by then. Only the owner may; who else is at it already
-- does it for all, and nobody waits for a table that is taken.
CREATE FUNCTION analyse_new_tables() RETURNS VOID
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  name TEXT;
BEGIN
  -- The number below that of the schema's lock, see postgres/migrate.rs.
  IF NOT pg_try_advisory_xact_lock(5940088981826830334) THEN
    RETURN;
  END IF;
  FOR name IN
    SELECT c.relname FROM pg_class c
    WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
      AND c.reltuples < 0 AND pg_relation_size(c.oid) > 0
  LOOP
    EXECUTE format('ANALYZE (SKIP_LOCKED) %I', name);
  END LOOP;
END $$;
REVOKE ALL ON FUNCTION analyse_new_tables FROM PUBLIC;
GRANT EXECUTE ON FUNCTION analyse_new_tables TO rootset_application;

-- A session's temporary tables must not stand in for those of the owner, see 0006_2_create_search.sql.
DO $$
DECLARE
  path CONSTANT TEXT := (SELECT string_agg(quote_ident(name), ', ') FROM unnest(current_schemas(FALSE)) AS name);
BEGIN
  EXECUTE format('ALTER FUNCTION analyse_new_tables SET search_path = %s, pg_temp', path);
END
$$;
