-- fragment: roots_as_seen
SELECT m.memory, m.version, m.source, m.repo, m.ingested_at, u.last_used_at, m.expires_at,
       CASE WHEN s.memory IS NULL THEN NULL ELSE m.superseded_at END, m.stale_at, m.source_version, m.pinned,
       m.ingested_observed_ms, m.is_stamp_in_doubt, CASE WHEN ?2 = 1 THEN m.tags END
FROM memories m
LEFT JOIN uses u ON u.workspace = m.workspace AND u.memory = m.memory
LEFT JOIN memories s ON s.workspace = m.workspace AND s.memory = m.superseded_by AND s.trashed_run IS NULL

-- name: all_roots
-- scans: retention ranks every memory of its bucket
{{roots_as_seen}}
WHERE m.workspace = ?1 AND m.trashed_run IS NULL;

-- Without rules of retention only these can be garbage: found by their indexes, however large the workspace.
-- name: dated_roots
-- scans: only stale files are in that index
{{roots_as_seen}}
WHERE m.workspace = ?1 AND m.trashed_run IS NULL AND m.memory IN (
    SELECT memory FROM memories WHERE workspace = ?1 AND stale_at IS NOT NULL
    UNION
    SELECT memory FROM memories WHERE workspace = ?1 AND superseded_by IS NOT NULL
    UNION
    SELECT memory FROM memories WHERE workspace = ?1 AND expires_at IS NOT NULL AND expires_at <= ?3);

-- The next of the dates that are not reached yet.
-- name: next_date
SELECT MIN(expires_at) FROM memories WHERE workspace = ?1 AND expires_at > ?2 AND expires_at IS NOT NULL AND trashed_run IS NULL;

-- Memories that somebody works on right now.
-- name: in_flight
SELECT subject FROM jobs WHERE workspace = ?1 AND kind = 'complete' AND lease_until > ?2;

-- What follows is read whole, in the order of an index, and compared: see `orphans.rs`.
-- name: memory_ids
-- scans: orphans are found by comparing whole indexes
SELECT memory FROM memories WHERE workspace = ?1;

-- name: chunk_owners
-- scans: orphans are found by comparing whole indexes
SELECT memory, chunk FROM chunks WHERE workspace = ?1 ORDER BY memory;

-- name: contributors
-- scans: orphans are found by comparing whole indexes
SELECT object, memory FROM contributions WHERE workspace = ?1 ORDER BY object;

-- name: untracked_objects
-- scans: orphans are found by comparing whole indexes
SELECT DISTINCT object FROM untracked WHERE workspace = ?1;

-- name: relation_ids
-- scans: orphans are found by comparing whole indexes
SELECT relation FROM relations WHERE workspace = ?1 ORDER BY relation;

-- name: entity_ids
-- scans: orphans are found by comparing whole indexes
SELECT entity FROM entities WHERE workspace = ?1 ORDER BY entity;

-- name: relations_of
SELECT relation, source, target FROM relations
WHERE workspace = ?1 AND source IN (SELECT value FROM blob_list(?2))
UNION ALL
SELECT relation, source, target FROM relations
WHERE workspace = ?1 AND target IN (SELECT value FROM blob_list(?2));

-- Of these chunks, those whose memory is gone.
-- name: orphans_among_chunks
SELECT ch.chunk FROM chunks ch
WHERE ch.workspace = ?1 AND ch.chunk IN (SELECT value FROM integer_list(?2))
  AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.workspace = ch.workspace AND m.memory = ch.memory);

-- Of these entities and relations, those that exist, and whether anybody vouches for them.
-- name: vouched_among
SELECT o.object,
       EXISTS (SELECT 1 FROM contributions c JOIN memories m ON m.workspace = c.workspace AND m.memory = c.memory
               WHERE c.workspace = ?1 AND c.object = o.object row_by_row())
    OR EXISTS (SELECT 1 FROM untracked u WHERE u.workspace = ?1 AND u.object = o.object row_by_row())
FROM (SELECT entity AS object FROM entities WHERE workspace = ?1 AND entity IN (SELECT value FROM blob_list(?2))
      UNION ALL
      SELECT relation FROM relations WHERE workspace = ?1 AND relation IN (SELECT value FROM blob_list(?2))) o;

-- name: delete_dangling_contributions
DELETE FROM contributions
WHERE workspace = ?1 AND object IN (SELECT value FROM blob_list(?2))
  AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.workspace = contributions.workspace AND m.memory = contributions.memory);

-- name: delete_chunks
DELETE FROM chunks WHERE workspace = ?1 AND chunk IN (SELECT value FROM integer_list(?2));

-- Living memories and their chunks, by source and repository.
-- name: bucket_totals
-- scans: a report counts every memory
SELECT m.source, m.repo, COUNT(*),
       CAST(SUM((SELECT COUNT(*) FROM chunks ch
                 WHERE ch.workspace = m.workspace AND ch.memory = m.memory)) AS BIGINT)
FROM memories m
WHERE m.workspace = ?1 AND m.trashed_run IS NULL
GROUP BY m.source, m.repo ORDER BY m.source, m.repo;

-- What a plan has seen: when this is still the same, nothing was written since.
-- name: marker
SELECT w.last_write_at, COALESCE((SELECT MAX(seq) FROM audit WHERE chain = ?1), 0)
FROM workspaces w WHERE w.workspace = ?1;
