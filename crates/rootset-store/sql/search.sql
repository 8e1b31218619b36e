-- Chunks with what ranking needs of their memories, and whether these pass the caller's filters; only of memories current
-- at ?2.
-- name: candidates
SELECT {{candidate_columns}}
FROM chunks ch JOIN memories m ON m.workspace = ch.workspace AND m.memory = ch.memory
WHERE ch.workspace = ?1 AND ch.chunk IN (SELECT value FROM integer_list(?3)) AND {{m_is_current}};

-- The same for the first ?9 chunks of the memories in these places of threads.
-- name: candidates_in_places
SELECT {{candidate_columns}}
FROM memories m JOIN chunks ch ON ch.workspace = m.workspace AND ch.memory = m.memory AND ch.ordinal < ?9
WHERE m.workspace = ?1 AND m.place IN (SELECT value FROM integer_list(?3)) AND {{m_is_current}};

-- The same for the beginnings of memories that carry one of the tags or names in ?3, with what they carry and how many carry it,
-- counted up to ?10. Of a tag the newest ?9 + 1. The limit of what is told keeps it from being counted for each row.
-- name: candidates_labelled
SELECT {{candidate_columns}}, tagged.label, tagged.carriers
FROM (SELECT t.memory, told.tag AS label, told.carriers
      FROM (SELECT value AS tag,
              (SELECT COUNT(*) FROM (SELECT 1 FROM memory_tags o WHERE o.workspace = ?1 AND o.tag = value LIMIT ?10) ones) AS carriers,
              COALESCE((SELECT o.memory FROM memory_tags o WHERE o.workspace = ?1 AND o.tag = value
                        ORDER BY o.memory DESC LIMIT 1 OFFSET ?9),
                       (SELECT MIN(o.memory) FROM memory_tags o WHERE o.workspace = ?1 AND o.tag = value)) AS oldest
            FROM text_list(?3) LIMIT 1000) told
      JOIN memory_tags t ON t.workspace = ?1 AND t.tag = told.tag AND t.memory >= told.oldest
      UNION ALL
      SELECT n.memory, n.name, 1 FROM memories n
      WHERE n.workspace = ?1 AND n.name IN (SELECT value FROM text_list(?3)) AND n.trashed_run IS NULL) tagged
CROSS JOIN memories m CROSS JOIN chunks ch
WHERE m.workspace = ?1 AND m.memory = tagged.memory AND {{m_is_current}}
  AND ch.workspace = m.workspace AND ch.memory = m.memory AND ch.ordinal = 0;

-- fragment: candidate_columns
ch.chunk, ch.memory, ch.is_question, m.updated_at, m.place, m.occurred_from, m.occurred_until, m.name, m.tags,
CAST(CASE WHEN (m.source = ?4 OR (?4 IS NULL AND m.repo IS NULL))
      AND (?5 = 0 OR (SELECT COUNT(*) FROM memory_tags t
                      WHERE t.workspace = ?1 AND t.memory = m.memory
                        AND t.tag IN (SELECT value FROM text_list(?6))) = ?5)
      AND (m.created_at >= ?7 OR ?7 IS NULL)
      AND (m.created_at <= ?8 OR ?8 IS NULL) THEN 1 ELSE 0 END AS BIGINT)

-- The memories of these chunks, where they are current at ?2.
-- name: current_chunks
SELECT ch.chunk, ch.memory
FROM chunks ch JOIN memories m ON m.workspace = ch.workspace AND m.memory = ch.memory
WHERE ch.workspace = ?1 AND ch.chunk IN (SELECT value FROM integer_list(?3)) AND {{m_is_current}};

-- What an answer shows of a hit: the chunk's place and the memory's words.
-- name: hits
SELECT ch.chunk, ch.memory, m.name, m.source, m.updated_at, ch.part, ch.start, ch.length,
       r.topic, r.context, r.decisions, r.rationale, m.trust, m.pinned_by, m.tags, m.ingested_at, m.metadata,
       m.occurred_from
FROM chunks ch
JOIN memories m ON m.workspace = ch.workspace AND m.memory = ch.memory
JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory AND r.revision = m.revision
WHERE ch.workspace = ?1 AND ch.chunk IN (SELECT value FROM integer_list(?2));

-- name: first_chunks
SELECT memory, chunk FROM chunks
WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2)) AND ordinal = 0;

-- name: linked_memories
SELECT c.memory
FROM entities e JOIN contributions c ON c.workspace = e.workspace AND c.object = e.entity
WHERE e.workspace = ?1 AND e.normal_name IN (SELECT value FROM text_list(?2))
  AND c.memory IN (SELECT value FROM blob_list(?3));

-- name: entities_of_memories
SELECT c.object, c.memory, c.weight FROM contributions c
WHERE c.workspace = ?1 AND c.memory IN (SELECT value FROM blob_list(?2)) AND c.kind = 0;
