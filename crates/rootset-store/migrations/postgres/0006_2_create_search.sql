-- Full text. Terms come split, folded and stemmed, so PostgreSQL only has to find rows that hold them: a tsvector without
-- places and a GIN index. What BM25 needs to know of an index is counted beside it, per workspace: statistics never mix.

-- A row of an index: kind 0 are chunks of memories, 1 names of entities, 2 chunks of code, 3 segments. Every lexeme of
-- `terms` begins with `workspace/kind/`, so that one index over all of them finds rows of one workspace only.
CREATE TABLE search_rows (
  workspace BIGINT NOT NULL,
  kind BIGINT NOT NULL,
  key BIGINT NOT NULL,
  head TEXT COLLATE "C" NOT NULL,
  body TEXT COLLATE "C" NOT NULL,
  terms TSVECTOR NOT NULL,
  PRIMARY KEY (workspace, kind, key)
);
-- A short list of rows that wait: inserting stays cheap, and a search does not read megabytes of them.
CREATE INDEX search_rows_terms ON search_rows USING gin (terms) WITH (fastupdate = on, gin_pending_list_limit = 256);

-- In how many rows each term occurs.
CREATE TABLE search_terms (
  workspace BIGINT NOT NULL,
  kind BIGINT NOT NULL,
  term TEXT COLLATE "C" NOT NULL,
  rows BIGINT NOT NULL,
  PRIMARY KEY (workspace, kind, term)
) WITH (fillfactor = 70);

CREATE TABLE search_totals (
  workspace BIGINT NOT NULL,
  kind BIGINT NOT NULL,
  rows BIGINT NOT NULL,
  body_terms BIGINT NOT NULL,
  PRIMARY KEY (workspace, kind)
) WITH (fillfactor = 50);

-- The terms of all rows together and how many of the rows hold each come as `terms` and `counts`.
CREATE FUNCTION search_insert(
  of_kind BIGINT, keys BIGINT[], heads TEXT[], bodies TEXT[], lexemes TEXT[], terms TEXT[], counts BIGINT[],
  new_body_terms BIGINT
) RETURNS VOID LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  own BIGINT := current_setting('rootset.workspace')::BIGINT;
BEGIN
  INSERT INTO search_rows (workspace, kind, key, head, body, terms)
  SELECT own, of_kind, given.key, given.head, given.body, array_to_tsvector(string_to_array(given.lexemes, ' '))
  FROM unnest(keys, heads, bodies, lexemes) AS given (key, head, body, lexemes);
  INSERT INTO search_terms AS known (workspace, kind, term, rows)
  SELECT own, of_kind, given.term, given.count FROM unnest(terms, counts) AS given (term, count)
  ON CONFLICT (workspace, kind, term) DO UPDATE SET rows = known.rows + excluded.rows;
  INSERT INTO search_totals AS known (workspace, kind, rows, body_terms)
  VALUES (own, of_kind, cardinality(keys), new_body_terms)
  ON CONFLICT (workspace, kind) DO UPDATE
  SET rows = known.rows + excluded.rows, body_terms = known.body_terms + excluded.body_terms;
END $$;

-- What nobody holds any more leaves the list of terms too.
CREATE FUNCTION search_delete(of_kind BIGINT, keys BIGINT[]) RETURNS VOID
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  own BIGINT := current_setting('rootset.workspace')::BIGINT;
  prefix_length BIGINT := length(own || '/' || of_kind || '/');
  gone_terms TEXT[];
  gone_counts BIGINT[];
  gone_rows BIGINT;
  gone_body_terms BIGINT;
BEGIN
  WITH gone AS (
    DELETE FROM search_rows AS s WHERE s.workspace = own AND s.kind = of_kind AND s.key = ANY (keys)
    RETURNING s.terms, s.body
  ), totals AS (
    SELECT count(*) AS rows,
           COALESCE(sum(CASE WHEN body = '' THEN 0 ELSE cardinality(string_to_array(body, ' ')) END), 0) AS body_terms
    FROM gone
  ), fewer AS (
    SELECT substr(lexeme, prefix_length::INTEGER + 1) AS term, count(*) AS count
    FROM gone, unnest(tsvector_to_array(gone.terms)) AS lexeme GROUP BY 1
  )
  SELECT totals.rows, totals.body_terms, array_agg(fewer.term), array_agg(fewer.count)
  INTO gone_rows, gone_body_terms, gone_terms, gone_counts
  FROM totals LEFT JOIN fewer ON TRUE GROUP BY totals.rows, totals.body_terms;
  IF gone_rows = 0 THEN
    RETURN;
  END IF;
  UPDATE search_terms AS t SET rows = t.rows - given.count
  FROM unnest(gone_terms, gone_counts) AS given (term, count)
  WHERE t.workspace = own AND t.kind = of_kind AND t.term = given.term;
  DELETE FROM search_terms AS t
  WHERE t.workspace = own AND t.kind = of_kind AND t.term = ANY (gone_terms) AND t.rows <= 0;
  UPDATE search_totals AS t SET rows = t.rows - gone_rows, body_terms = t.body_terms - gone_body_terms
  WHERE t.workspace = own AND t.kind = of_kind;
END $$;

-- A term as a query of its own: quoted, nothing in it is syntax.
CREATE FUNCTION search_lexeme(lexeme TEXT) RETURNS TSQUERY LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''')::TSQUERY
$$;

-- Rows that hold any of the terms, by the summed rarity of those they hold, newest first among equals: sums are rounded, so
-- that the order in which they are added up makes no difference. The owner asks, not the caller: a condition on a tsvector
-- is not "leakproof" in PostgreSQL's sense, so under row-level security it could not use its index. The workspace is the
-- transaction's, as everywhere; no argument names another.
CREATE FUNCTION search_any(of_kind BIGINT, terms TEXT[], rows_per_term_max BIGINT, rows_max BIGINT)
RETURNS TABLE (key BIGINT, score DOUBLE PRECISION)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT SET enable_seqscan = off AS $$
DECLARE
  own BIGINT := current_setting('rootset.workspace')::BIGINT;
  total BIGINT := (SELECT t.rows FROM search_totals AS t WHERE t.workspace = own AND t.kind = of_kind);
BEGIN
  RETURN QUERY
  WITH wanted AS MATERIALIZED (
    SELECT t.term, ln(1 + greatest(total - t.rows + 0.5, 0)::DOUBLE PRECISION / (t.rows + 0.5)) AS rarity
    FROM search_terms AS t
    WHERE t.workspace = own AND t.kind = of_kind AND t.term = ANY (terms) AND t.rows <= rows_per_term_max)
  SELECT s.key, sum(w.rarity) AS score
  FROM wanted AS w JOIN search_rows AS s ON s.terms @@ search_lexeme(own || '/' || of_kind || '/' || w.term)
  WHERE s.workspace = own AND s.kind = of_kind
  GROUP BY s.key ORDER BY round(sum(w.rarity)::NUMERIC, 9) DESC, s.key DESC LIMIT rows_max;
END $$;

-- Rows that hold all of the terms, in any order.
CREATE FUNCTION search_all(of_kind BIGINT, terms TEXT[], rows_max BIGINT) RETURNS TABLE (key BIGINT)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT SET enable_seqscan = off AS $$
DECLARE
  own BIGINT := current_setting('rootset.workspace')::BIGINT;
  query TSQUERY;
  term TEXT;
BEGIN
  FOREACH term IN ARRAY terms LOOP
    query := CASE WHEN query IS NULL THEN search_lexeme(own || '/' || of_kind || '/' || term)
                  ELSE query && search_lexeme(own || '/' || of_kind || '/' || term) END;
  END LOOP;
  RETURN QUERY
  SELECT s.key FROM search_rows AS s
  WHERE s.workspace = own AND s.kind = of_kind AND s.terms @@ query LIMIT rows_max;
END $$;

ALTER TABLE search_rows ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY search_rows_of_workspace ON search_rows
  USING (workspace = NULLIF(current_setting('rootset.workspace', TRUE), '')::BIGINT);
-- The two functions above; they ask for the workspace themselves.
CREATE POLICY search_rows_of_functions ON search_rows FOR SELECT TO CURRENT_USER USING (TRUE);
ALTER TABLE search_terms ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY search_terms_of_workspace ON search_terms
  USING (workspace = NULLIF(current_setting('rootset.workspace', TRUE), '')::BIGINT);
ALTER TABLE search_totals ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY search_totals_of_workspace ON search_totals
  USING (workspace = NULLIF(current_setting('rootset.workspace', TRUE), '')::BIGINT);

GRANT SELECT, INSERT, UPDATE, DELETE ON search_rows, search_terms, search_totals TO rootset_application;
REVOKE ALL ON FUNCTION search_any, search_all FROM PUBLIC;
GRANT EXECUTE ON FUNCTION search_any, search_all TO rootset_application;

-- Where a path does not name them, a session's temporary tables are found before all others: whoever may make one could put
-- it in the place of a table that these functions read with the rights of their owner. So they come last.
DO $$
DECLARE
  path CONSTANT TEXT := (SELECT string_agg(quote_ident(name), ', ') FROM unnest(current_schemas(FALSE)) AS name);
BEGIN
  EXECUTE format('ALTER FUNCTION search_any SET search_path = %s, pg_temp', path);
  EXECUTE format('ALTER FUNCTION search_all SET search_path = %s, pg_temp', path);
END
$$;
