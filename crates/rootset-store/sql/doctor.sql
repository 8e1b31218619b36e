-- Each statement counts what must not exist. The invariants are named in docs and in `doctor.rs`.

-- I4: an untracked mark without its graph row would let a strategy believe the row is derived.
-- name: untracked_without_object
-- scans: doctor
SELECT COUNT(*) FROM untracked u
WHERE u.workspace = ?1
  AND NOT EXISTS (SELECT 1 FROM entities e WHERE e.workspace = u.workspace AND e.entity = u.object)
  AND NOT EXISTS (SELECT 1 FROM relations r WHERE r.workspace = u.workspace AND r.relation = u.object);

-- I6
-- name: relations_without_ends
-- scans: doctor
SELECT COUNT(*) FROM relations r
WHERE r.workspace = ?1
  AND (NOT EXISTS (SELECT 1 FROM entities e WHERE e.workspace = r.workspace AND e.entity = r.source)
    OR NOT EXISTS (SELECT 1 FROM entities e WHERE e.workspace = r.workspace AND e.entity = r.target));

-- For engines whose foreign keys leave it to us.
-- name: rows_without_workspace
-- scans: doctor
SELECT (SELECT COUNT(*) FROM memories WHERE workspace NOT IN (SELECT workspace FROM workspaces))
     + (SELECT COUNT(*) FROM entities WHERE workspace NOT IN (SELECT workspace FROM workspaces))
     + (SELECT COUNT(*) FROM relations WHERE workspace NOT IN (SELECT workspace FROM workspaces))
     + (SELECT COUNT(*) FROM contributions WHERE workspace NOT IN (SELECT workspace FROM workspaces))
     + (SELECT COUNT(*) FROM chunks WHERE workspace NOT IN (SELECT workspace FROM workspaces))
     + (SELECT COUNT(*) FROM repos WHERE workspace NOT IN (SELECT workspace FROM workspaces))
     + (SELECT COUNT(*) FROM files WHERE workspace NOT IN (SELECT workspace FROM workspaces))
     + (SELECT COUNT(*) FROM symbols WHERE workspace NOT IN (SELECT workspace FROM workspaces))
     + (SELECT COUNT(*) FROM code_references WHERE workspace NOT IN (SELECT workspace FROM workspaces))
     + (SELECT COUNT(*) FROM sessions WHERE workspace NOT IN (SELECT workspace FROM workspaces))
     + (SELECT COUNT(*) FROM segments WHERE workspace NOT IN (SELECT workspace FROM workspaces))
     + (SELECT COUNT(*) FROM segment_texts WHERE workspace NOT IN (SELECT workspace FROM workspaces))
     + (SELECT COUNT(*) FROM ledger WHERE workspace NOT IN (SELECT workspace FROM workspaces));

-- I7
-- name: contributions_without_memory
-- scans: doctor
SELECT COUNT(*) FROM contributions c
WHERE c.workspace = ?1
  AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.workspace = c.workspace AND m.memory = c.memory);

-- name: contributions_without_object
-- scans: doctor
SELECT COUNT(*) FROM contributions c
WHERE c.workspace = ?1
  AND NOT EXISTS (SELECT 1 FROM entities e WHERE e.workspace = c.workspace AND e.entity = c.object)
  AND NOT EXISTS (SELECT 1 FROM relations r WHERE r.workspace = c.workspace AND r.relation = c.object);

-- name: objects_without_contributor
-- scans: doctor
SELECT COUNT(*) FROM (
    SELECT workspace, entity AS object FROM entities WHERE workspace = ?1
    UNION ALL
    SELECT workspace, relation FROM relations WHERE workspace = ?1) o
WHERE NOT EXISTS (SELECT 1 FROM contributions c WHERE c.workspace = o.workspace AND c.object = o.object)
  AND NOT EXISTS (SELECT 1 FROM untracked u WHERE u.workspace = o.workspace AND u.object = o.object);

-- A memory that contributes a relation contributes both its ends.
-- name: relations_with_unvouched_ends
-- scans: doctor
SELECT COUNT(*) FROM contributions c
JOIN relations r ON r.workspace = c.workspace AND r.relation = c.object
WHERE c.workspace = ?1 AND c.kind = 1
  AND (NOT EXISTS (SELECT 1 FROM contributions e
                   WHERE e.workspace = c.workspace AND e.memory = c.memory AND e.object = r.source)
    OR NOT EXISTS (SELECT 1 FROM contributions e
                   WHERE e.workspace = c.workspace AND e.memory = c.memory AND e.object = r.target));

-- I8
-- name: memories_without_revision
-- scans: doctor
SELECT COUNT(*) FROM memories m
WHERE m.workspace = ?1
  AND NOT EXISTS (SELECT 1 FROM revisions r
                  WHERE r.workspace = m.workspace AND r.memory = m.memory AND r.revision = m.revision);

-- name: names_without_memory
-- scans: doctor
SELECT COUNT(*) FROM memory_names n
WHERE n.workspace = ?1
  AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.workspace = n.workspace AND m.memory = n.memory);

-- name: pins_of_nobody
-- scans: doctor
SELECT COUNT(*) FROM memories
WHERE workspace = ?1 AND (CASE WHEN pinned = 1 THEN 1 ELSE 0 END) <> (CASE WHEN pinned_by IS NULL THEN 0 ELSE 1 END);

-- name: memories_without_chunks
-- scans: doctor
SELECT COUNT(*) FROM memories m
WHERE m.workspace = ?1 AND m.repo IS NULL
  AND NOT EXISTS (SELECT 1 FROM chunks ch WHERE ch.workspace = m.workspace AND ch.memory = m.memory);

-- name: chunks_without_memory
-- scans: doctor
SELECT COUNT(*) FROM chunks ch
WHERE ch.workspace = ?1
  AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.workspace = ch.workspace AND m.memory = ch.memory);

-- name: chunk_keys
-- scans: doctor
SELECT ch.chunk FROM chunks ch
WHERE ch.workspace = ?1
  AND NOT EXISTS (SELECT 1 FROM files f WHERE f.workspace = ch.workspace AND f.memory = ch.memory)
ORDER BY ch.chunk;

-- Chunks that code search has to find. Those of stale files are not among them.
-- name: code_chunk_keys
-- scans: doctor
SELECT ch.chunk FROM files f
JOIN chunks ch ON ch.workspace = f.workspace AND ch.memory = f.memory
JOIN memories m ON m.workspace = f.workspace AND m.memory = f.memory
WHERE f.workspace = ?1 AND m.stale_at IS NULL ORDER BY ch.chunk;

-- Earlier versions kept stale files in full text, and a scan that was overtaken may.
-- name: stale_code_chunk_keys
-- scans: doctor
SELECT ch.chunk FROM files f
JOIN chunks ch ON ch.workspace = f.workspace AND ch.memory = f.memory
JOIN memories m ON m.workspace = f.workspace AND m.memory = f.memory
WHERE f.workspace = ?1 AND m.stale_at IS NOT NULL ORDER BY ch.chunk;

-- Symbols are in no full text of names.
-- name: entity_numbers
-- scans: doctor
SELECT number FROM entities WHERE workspace = ?1 AND is_symbol = 0 ORDER BY number;

-- name: broken_contexts
-- scans: doctor
SELECT (SELECT COUNT(*) FROM segments g WHERE g.workspace = ?1 AND NOT EXISTS (
            SELECT 1 FROM sessions s WHERE s.workspace = g.workspace AND s.session = g.session))
     + (SELECT COUNT(*) FROM segments g WHERE g.workspace = ?1 AND NOT EXISTS (
            SELECT 1 FROM segment_texts t WHERE t.workspace = g.workspace AND t.segment = g.segment))
     + (SELECT COUNT(*) FROM segment_texts t WHERE t.workspace = ?1 AND NOT EXISTS (
            SELECT 1 FROM segments g WHERE g.workspace = t.workspace AND g.segment = t.segment))
     + (SELECT COUNT(*) FROM ledger l WHERE l.workspace = ?1 AND NOT EXISTS (
            SELECT 1 FROM sessions s WHERE s.workspace = l.workspace AND s.session = l.session));

-- What nothing leads to any more.
-- name: delete_stray_texts
-- scans: doctor
DELETE FROM segment_texts WHERE workspace = ?1 AND NOT EXISTS (
    SELECT 1 FROM segments g WHERE g.workspace = segment_texts.workspace AND g.segment = segment_texts.segment);

-- name: delete_stray_lines
-- scans: doctor
DELETE FROM ledger WHERE workspace = ?1 AND NOT EXISTS (
    SELECT 1 FROM sessions s WHERE s.workspace = ledger.workspace AND s.session = ledger.session);

-- name: segment_texts
SELECT segment, text FROM segment_texts
WHERE workspace = ?1 AND segment IN (SELECT value FROM integer_list(?2));

-- name: indexed_segments
-- scans: doctor
SELECT segment FROM segments WHERE workspace = ?1 AND is_indexed = 1 ORDER BY segment;

-- The row that a scan compares and the memory that it stands for say the same. Files have no names, notes do.
-- name: files_without_memory
-- scans: doctor
SELECT (SELECT COUNT(*) FROM files f WHERE f.workspace = ?1 AND NOT EXISTS (
            SELECT 1 FROM memories m
            WHERE m.workspace = f.workspace AND m.memory = f.memory AND m.repo = f.repo AND m.file_path = f.path))
     + (SELECT COUNT(*) FROM memories m
        WHERE m.workspace = ?1 AND m.repo IS NOT NULL AND m.name IS NULL
          AND NOT EXISTS (SELECT 1 FROM files f WHERE f.workspace = m.workspace AND f.memory = m.memory));

-- fragment: f_is_incomplete
(NOT EXISTS (SELECT 1 FROM code_references c WHERE c.workspace = f.workspace AND c.memory = f.memory)
 OR EXISTS (SELECT 1 FROM chunks ch
            WHERE ch.workspace = f.workspace AND ch.memory = f.memory AND ch.symbol IS NOT NULL
              AND NOT EXISTS (SELECT 1 FROM symbols s
                              WHERE s.workspace = ch.workspace AND s.memory = ch.memory AND s.ordinal = ch.symbol))
 OR (EXISTS (SELECT 1 FROM symbols s WHERE s.workspace = f.workspace AND s.memory = f.memory AND s.ordinal > 0)
     AND NOT EXISTS (SELECT 1 FROM chunks ch WHERE ch.workspace = f.workspace AND ch.memory = f.memory)))

-- name: incomplete_files
-- scans: doctor
SELECT COUNT(*) FROM files f WHERE f.workspace = ?1 AND {{f_is_incomplete}};

-- name: code_without_file
-- scans: doctor
SELECT (SELECT COUNT(*) FROM symbols s WHERE s.workspace = ?1 AND NOT EXISTS (
            SELECT 1 FROM files f WHERE f.workspace = s.workspace AND f.memory = s.memory))
     + (SELECT COUNT(*) FROM code_references c WHERE c.workspace = ?1 AND NOT EXISTS (
            SELECT 1 FROM files f WHERE f.workspace = c.workspace AND f.memory = c.memory));

-- Files whose derived rows are incomplete are read again by the next scan: no extractor has this version.
-- name: forget_extraction
-- scans: doctor
UPDATE files AS f SET extractor = -1 WHERE f.workspace = ?1 AND {{f_is_incomplete}};

-- The same for files that lost the row that a scan compares.
-- name: restore_files
-- scans: doctor
INSERT INTO files (workspace, repo, path, memory, size, modified_ns, changed_ns, inode, content_hash, extractor,
                   language, is_test, is_mounted, lines, functions, classes)
SELECT m.workspace, m.repo, m.file_path, m.memory, 0, 0, 0, 0, ?2, -1, '', 0, 0, 0, 0, 0
FROM memories m
WHERE m.workspace = ?1 AND m.repo IS NOT NULL AND m.name IS NULL AND m.file_path IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM files f WHERE f.workspace = m.workspace AND f.memory = m.memory);

-- name: delete_stray_files
-- scans: doctor
DELETE FROM files WHERE workspace = ?1 AND NOT EXISTS (
    SELECT 1 FROM memories m WHERE m.workspace = files.workspace AND m.memory = files.memory
      AND m.repo = files.repo AND m.file_path = files.path);

-- name: delete_stray_symbols
-- scans: doctor
DELETE FROM symbols WHERE workspace = ?1 AND NOT EXISTS (
    SELECT 1 FROM files f WHERE f.workspace = symbols.workspace AND f.memory = symbols.memory);

-- name: delete_stray_references
-- scans: doctor
DELETE FROM code_references WHERE workspace = ?1 AND NOT EXISTS (
    SELECT 1 FROM files f WHERE f.workspace = code_references.workspace AND f.memory = code_references.memory);

-- name: chunk_origins
SELECT ch.chunk, f.path, f.language, s.qualified_name
FROM chunks ch
JOIN files f ON f.workspace = ch.workspace AND f.memory = ch.memory
LEFT JOIN symbols s ON s.workspace = ch.workspace AND s.memory = ch.memory AND s.ordinal = ch.symbol
WHERE ch.workspace = ?1 AND ch.chunk IN (SELECT value FROM integer_list(?2));

-- name: vectors_without_chunk
-- scans: doctor
SELECT (SELECT COUNT(*) FROM vectors v WHERE v.workspace = ?1 AND NOT EXISTS (
            SELECT 1 FROM chunks ch WHERE ch.workspace = v.workspace AND ch.chunk = v.chunk))
     + (SELECT COUNT(*) FROM vector_originals v WHERE v.workspace = ?1 AND NOT EXISTS (
            SELECT 1 FROM chunks ch WHERE ch.workspace = v.workspace AND ch.chunk = v.chunk));

-- name: pending_without_job
-- scans: doctor
SELECT COUNT(*) FROM memories m
WHERE m.workspace = ?1 AND m.status = 'pending' AND m.trashed_run IS NULL
  AND NOT EXISTS (SELECT 1 FROM jobs j
                  WHERE j.workspace = m.workspace AND j.kind = 'complete' AND j.subject = m.memory);

-- name: counters
-- scans: doctor
SELECT w.memory_count - (SELECT COUNT(*) FROM memories m WHERE m.workspace = ?1),
       w.content_bytes - {{counted_bytes}},
       w.memory_count - (SELECT CAST(COALESCE(SUM(s.memories), 0) AS BIGINT) FROM sources s WHERE s.workspace = ?1)
FROM workspaces w WHERE w.workspace = ?1;

-- name: chunk_texts
SELECT ch.chunk, ch.part, ch.start, ch.length, r.topic, r.context, r.decisions, r.rationale
FROM chunks ch
JOIN memories m ON m.workspace = ch.workspace AND m.memory = ch.memory
JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory AND r.revision = m.revision
WHERE ch.workspace = ?1 AND ch.chunk IN (SELECT value FROM integer_list(?2));

-- name: entity_names
SELECT number, name FROM entities WHERE workspace = ?1 AND number IN (SELECT value FROM integer_list(?2));

-- Texts from before there were seals; for a current one, the hash that finds duplicates vouches.
-- name: unsealed_contents
-- scans: doctor
SELECT m.memory, r.revision, m.doc_hash, r.topic, r.context, r.decisions, r.rationale
FROM memories m
JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory
    AND r.revision = COALESCE(m.pending_revision, m.revision)
WHERE m.workspace = ?1 AND m.doc_hash IS NOT NULL AND r.seal IS NULL;

-- I9: what a run trashed can only come back through it.
-- name: trash_without_run
-- scans: doctor
SELECT {{each trash_without_run +}};

-- I11
-- name: runs_without_audit
-- scans: doctor
SELECT COUNT(*) FROM runs r
WHERE r.workspace = ?1 AND r.plan IS NOT NULL
  AND r.run NOT IN (SELECT a.run FROM audit a WHERE a.chain = ?1 AND a.run IS NOT NULL);

-- Names that differ only in case, spaces, hyphens and underscores, each with its types.
-- fragment: bare_name
REPLACE(REPLACE(REPLACE(normal_name, ' ', ''), '-', ''), '_', '')

-- name: duplicates
-- scans: doctor
SELECT {{bare_name}}, name, type FROM entities
WHERE workspace = ?1 AND is_symbol = 0 AND {{bare_name}} IN (
    SELECT {{bare_name}} FROM entities WHERE workspace = ?1 AND is_symbol = 0
    GROUP BY {{bare_name}} HAVING COUNT(*) > 1
    ORDER BY 1 LIMIT ?2)
ORDER BY 1, name, type;

-- Memories whose chunks are missing, whose contributions point nowhere, or that vouch for a relation without its ends.
-- name: broken_memories
-- scans: doctor
SELECT m.memory FROM memories m
WHERE m.workspace = ?1 AND m.repo IS NULL AND m.status = 'complete'
  AND EXISTS (SELECT 1 FROM revisions r
              WHERE r.workspace = m.workspace AND r.memory = m.memory AND r.revision = m.revision)
  AND (NOT EXISTS (SELECT 1 FROM chunks ch WHERE ch.workspace = m.workspace AND ch.memory = m.memory)
    OR EXISTS (
        SELECT 1 FROM contributions c WHERE c.workspace = m.workspace AND c.memory = m.memory
          AND NOT EXISTS (SELECT 1 FROM entities e WHERE e.workspace = c.workspace AND e.entity = c.object)
          AND NOT EXISTS (SELECT 1 FROM relations r WHERE r.workspace = c.workspace AND r.relation = c.object))
    OR EXISTS (
        SELECT 1 FROM contributions c JOIN relations r ON r.workspace = c.workspace AND r.relation = c.object
        WHERE c.workspace = m.workspace AND c.memory = m.memory AND c.kind = 1
          AND (NOT EXISTS (SELECT 1 FROM contributions e
                           WHERE e.workspace = c.workspace AND e.memory = c.memory AND e.object = r.source)
            OR NOT EXISTS (SELECT 1 FROM contributions e
                           WHERE e.workspace = c.workspace AND e.memory = c.memory AND e.object = r.target)
            OR NOT EXISTS (SELECT 1 FROM entities e WHERE e.workspace = c.workspace AND e.entity = r.source)
            OR NOT EXISTS (SELECT 1 FROM entities e WHERE e.workspace = c.workspace AND e.entity = r.target))));

-- name: recount_workspace
-- scans: doctor
UPDATE workspaces
SET memory_count = (SELECT COUNT(*) FROM memories m WHERE m.workspace = ?1),
    content_bytes = {{counted_bytes}}
WHERE workspace = ?1;

-- name: recount_sources
-- scans: doctor
INSERT INTO sources (workspace, source, memories)
SELECT workspace, source, COUNT(*) FROM memories WHERE workspace = ?1 GROUP BY workspace, source;

-- name: delete_stray_vectors
-- scans: doctor
DELETE FROM vectors WHERE workspace = ?1 AND NOT EXISTS (
    SELECT 1 FROM chunks ch WHERE ch.workspace = vectors.workspace AND ch.chunk = vectors.chunk);

-- name: delete_stray_originals
-- scans: doctor
DELETE FROM vector_originals WHERE workspace = ?1 AND NOT EXISTS (
    SELECT 1 FROM chunks ch WHERE ch.workspace = vector_originals.workspace AND ch.chunk = vector_originals.chunk);

-- name: pending_without_a_job
-- scans: doctor
SELECT m.memory FROM memories m
WHERE m.workspace = ?1 AND m.status = 'pending' AND m.trashed_run IS NULL
  AND NOT EXISTS (SELECT 1 FROM jobs j
                  WHERE j.workspace = m.workspace AND j.kind = 'complete' AND j.subject = m.memory);
