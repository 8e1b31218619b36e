-- Candidates of a forget by filters alone, or among the chunks that full text found.
-- name: by_filters
-- scans: a forget by filters looks at every memory
SELECT m.memory, m.version, m.pinned, m.repo IS NOT NULL
FROM memories m
WHERE m.workspace = ?1 AND (?9 = 1 OR m.trashed_run IS NULL)
  AND (?8 = 1 OR m.repo IS NULL)
  AND (m.source = ?2 OR ?2 IS NULL)
  AND (m.written_by = ?3 OR ?3 IS NULL)
  AND (?4 = 0 OR (SELECT COUNT(*) FROM memory_tags t
                  WHERE t.workspace = ?1 AND t.memory = m.memory
                    AND t.tag IN (SELECT value FROM text_list(?5))) = ?4)
  AND (m.created_at >= ?6 OR ?6 IS NULL)
  AND (m.created_at <= ?7 OR ?7 IS NULL)
ORDER BY m.memory DESC;

-- name: memories_of_chunks
SELECT DISTINCT memory FROM chunks WHERE workspace = ?1 AND chunk IN (SELECT value FROM integer_list(?2));

-- Memories with words that the full-text index does not hold: metadata, tags, and text that awaits its extraction.
-- name: with_unindexed_words
-- scans: metadata and tags are in no index
SELECT memory FROM memories
WHERE workspace = ?1
  AND (metadata IS NOT NULL OR tags IS NOT NULL OR pending_revision IS NOT NULL);

-- The words of memories, for the exact match: of the text that is served, and of the one that awaits its extraction.
-- name: texts
SELECT m.memory, m.version, m.pinned, m.name, m.tags, m.metadata, r.topic, r.context, r.decisions, r.rationale, r.revision,
       m.pending_revision IS NOT NULL
FROM memories m
JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory
  AND (r.revision = m.revision OR r.revision = m.pending_revision)
WHERE m.workspace = ?1 AND m.memory IN (SELECT value FROM blob_list(?2));
