-- name: contents
SELECT memory, revision, topic, context, decisions, rationale, bytes FROM revisions
WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2))
ORDER BY memory, revision;

-- name: chunk_keys
SELECT chunk FROM chunks WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2));

-- name: files_among
SELECT DISTINCT memory FROM files WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2));

-- name: delete_uses
DELETE FROM uses WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2));

-- name: delete_shown
DELETE FROM shown WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2));

-- name: delete_revisions
DELETE FROM revisions WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2));

-- name: forget_successors
UPDATE memories SET superseded_by = NULL, superseded_at = NULL, supersede_reason = NULL
WHERE workspace = ?1 AND superseded_by IN (SELECT value FROM blob_list(?2));

-- name: sources_of
SELECT m.source, COUNT(*), CAST(SUM({{m_bytes}}) AS BIGINT) FROM memories m
WHERE m.workspace = ?1 AND m.memory IN (SELECT value FROM blob_list(?2)) GROUP BY m.source;

-- name: delete_sources
DELETE FROM sources WHERE workspace = ?1;

-- name: delete_memories
DELETE FROM memories WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2));

-- name: insert_erasure
INSERT INTO erasures (workspace, erasure, at, actor, cause, run, class) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT DO NOTHING;

-- What was removed and came back may be erased after all; what is erased stays so.
-- fragment: on_noted_content
ON CONFLICT (workspace, content_hash, memory) DO UPDATE SET erasure = excluded.erasure
WHERE EXISTS (SELECT 1 FROM erasures e
              WHERE e.workspace = excluded.workspace AND e.erasure = excluded.erasure AND e.class = 'erased')

-- name: insert_erased_content
INSERT INTO erased_contents (workspace, content_hash, memory, erasure) VALUES (?1, ?2, ?3, ?4)
{{on_noted_content}};

-- name: erased_content
SELECT c.memory, e.at, e.class FROM erased_contents c
JOIN erasures e ON e.workspace = c.workspace AND e.erasure = c.erasure
WHERE c.workspace = ?1 AND c.content_hash = ?2
ORDER BY e.at DESC LIMIT 1;

-- Of these hashes, those of contents that were erased.
-- name: erased_among
SELECT content_hash FROM erased_contents
WHERE workspace = ?1 AND content_hash IN (SELECT value FROM blob_list(?2));

-- name: erasure_key
SELECT value FROM meta WHERE key = 'erasure_key';
-- on postgres:
SELECT value FROM key_of_database('erasure_key') AS value;

-- The seed of the key that signs receipts. Copies of the database are made without it.
-- name: signing_key
SELECT value FROM meta WHERE key = 'signing_key';
-- on postgres:
SELECT value FROM key_of_database('signing_key') AS value;

-- name: insert_signing_key
INSERT INTO meta (key, value) VALUES ('signing_key', ?1) ON CONFLICT (key) DO NOTHING;
-- on postgres:
SELECT COUNT(*) FROM keep_signing_key(?1);

-- name: all_memories
-- scans: purge of a whole workspace, in batches
SELECT memory FROM memories WHERE workspace = ?1 ORDER BY memory LIMIT ?2;

-- name: delete_plan_items
DELETE FROM plan_items WHERE workspace = ?1;

-- name: delete_plans
DELETE FROM plans WHERE workspace = ?1;

-- name: delete_jobs
DELETE FROM jobs WHERE workspace = ?1;

-- name: delete_untracked
DELETE FROM untracked WHERE workspace = ?1;

-- name: delete_relations
DELETE FROM relations WHERE workspace = ?1;

-- name: delete_entities
DELETE FROM entities WHERE workspace = ?1;

-- Of these memories that a run took, those whose final period was over.
-- name: period_over_among
SELECT p.object FROM runs r
JOIN plan_items p ON p.workspace = r.workspace AND p.plan = r.plan
WHERE r.workspace = ?1 AND r.run = ?2 AND p.object IN (SELECT value FROM blob_list(?3)) AND p.reason = 'period_over';

-- name: count_purged_chunks
UPDATE counters SET value = value + ?1 WHERE name = 'purged_chunks';
