-- The index over vectors, where pgvector is installed: made when a server first starts that may make it.
CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE embeddings (
  workspace BIGINT NOT NULL,
  chunk BIGINT NOT NULL,
  space TEXT COLLATE "C" NOT NULL,
  dimension BIGINT NOT NULL,
  embedding vector NOT NULL,
  PRIMARY KEY (workspace, chunk),
  FOREIGN KEY (workspace, chunk) REFERENCES vectors (workspace, chunk) ON DELETE CASCADE
);
ALTER TABLE embeddings ALTER COLUMN workspace SET (n_distinct = 1); -- See 0006_3_create_statistics.sql.

-- Models differ in their dimensions, and an index has one: each gets its own with its first vector. Only the owner may
-- make it.
CREATE FUNCTION index_embeddings(dimension BIGINT) RETURNS VOID
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF dimension NOT BETWEEN 1 AND 2000 THEN
    RETURN; -- pgvector indexes no more; they are compared one by one.
  END IF;
  IF to_regclass('embeddings_' || dimension) IS NOT NULL THEN
    RETURN; -- Even to find that there is nothing to make, making waits for all who write.
  END IF;
  EXECUTE format(
    'CREATE INDEX IF NOT EXISTS embeddings_%s ON embeddings '
    'USING hnsw ((embedding::vector(%s)) vector_cosine_ops) WHERE dimension = %s', dimension, dimension, dimension);
END $$;

ALTER TABLE embeddings ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY embeddings_of_workspace ON embeddings
  USING (workspace = NULLIF(current_setting('rootset.workspace', TRUE), '')::BIGINT);
GRANT SELECT, INSERT, UPDATE, DELETE ON embeddings TO rootset_application;
REVOKE ALL ON FUNCTION index_embeddings FROM PUBLIC;
GRANT EXECUTE ON FUNCTION index_embeddings TO rootset_application;

-- A session's temporary tables must not stand in for those of the owner, see 0006_2_create_search.sql.
DO $$
DECLARE
  path CONSTANT TEXT := (SELECT string_agg(quote_ident(name), ', ') FROM unnest(current_schemas(FALSE)) AS name);
BEGIN
  EXECUTE format('ALTER FUNCTION index_embeddings SET search_path = %s, pg_temp', path);
END
$$;

-- There may be vectors from before. The mark stands until all of them are here.
INSERT INTO meta (key, value) VALUES ('embeddings_to_fill', '');
