-- Reading code: only of files that are current at the time ?2.

-- fragment: symbol_columns
s.memory, s.ordinal, f.repo, f.path, f.language, s.qualified_name, s.name, s.kind, s.first_line, s.last_line, s.start,
s.length, s.signature

-- fragment: current_symbols
FROM symbols s
JOIN files f ON f.workspace = s.workspace AND f.memory = s.memory
JOIN memories m ON m.workspace = s.workspace AND m.memory = s.memory

-- name: named
SELECT {{symbol_columns}} {{current_symbols}}
WHERE s.workspace = ?1 AND s.name IN (SELECT value FROM text_list(?3))
  AND (f.repo = ?4 OR ?4 IS NULL) AND {{m_is_current}}
ORDER BY f.repo, f.path, s.ordinal;

-- name: of_files
SELECT {{symbol_columns}} {{current_symbols}}
WHERE s.workspace = ?1 AND s.memory IN (SELECT value FROM blob_list(?3)) AND {{m_is_current}}
ORDER BY f.repo, f.path, s.ordinal;

-- Of files at these paths, in the order of their text.
-- name: at_paths
-- scans: repositories are few
SELECT {{symbol_columns}}
FROM repos r
JOIN files f ON f.workspace = r.workspace AND f.repo = r.repo AND f.path IN (SELECT value FROM text_list(?3))
JOIN memories m ON m.workspace = f.workspace AND m.memory = f.memory
JOIN symbols s ON s.workspace = f.workspace AND s.memory = f.memory
WHERE r.workspace = ?1 AND (r.repo = ?4 OR ?4 IS NULL) AND {{m_is_current}}
ORDER BY f.repo, f.path, s.ordinal;

-- name: texts
SELECT m.memory, r.context
FROM files f
JOIN memories m ON m.workspace = f.workspace AND m.memory = f.memory
JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory AND r.revision = m.revision
WHERE f.workspace = ?1 AND f.memory IN (SELECT value FROM blob_list(?3)) AND {{m_is_current}}
ORDER BY f.repo, f.path;

-- name: files_among
SELECT f.memory
FROM files f JOIN memories m ON m.workspace = f.workspace AND m.memory = f.memory
WHERE f.workspace = ?1 AND f.memory IN (SELECT value FROM blob_list(?3)) AND (f.repo = ?4 OR ?4 IS NULL)
  AND {{m_is_current}}
ORDER BY f.repo, f.path LIMIT ?5;

-- name: references_of
SELECT f.memory, f.repo, f.path, f.language, c.packed
FROM code_references c
JOIN files f ON f.workspace = c.workspace AND f.memory = c.memory
JOIN memories m ON m.workspace = c.workspace AND m.memory = c.memory
WHERE c.workspace = ?1 AND c.memory IN (SELECT value FROM blob_list(?3)) AND {{m_is_current}}
ORDER BY f.repo, f.path;

-- Of these chunks, those of files that may be served and pass the filters, in the order of paths.
-- name: servable_chunks
SELECT ch.chunk
FROM chunks ch
JOIN files f ON f.workspace = ch.workspace AND f.memory = ch.memory
JOIN memories m ON m.workspace = f.workspace AND m.memory = f.memory
LEFT JOIN symbols s ON s.workspace = ch.workspace AND s.memory = ch.memory AND s.ordinal = ch.symbol
WHERE ch.workspace = ?1 AND ch.chunk IN (SELECT value FROM integer_list(?3)) AND (f.repo = ?4 OR ?4 IS NULL)
  AND (?5 = 0 OR f.language IN (SELECT value FROM text_list(?6)))
  AND (f.path = ?7 OR substr(f.path, 1, length(?8)) = ?8 OR ?7 IS NULL)
  AND (COALESCE(s.kind, 'text') = ?9 OR ?9 IS NULL) AND (f.is_test = ?10 OR ?10 IS NULL)
  AND (COALESCE(f.is_generated, 0) = ?11 OR ?11 IS NULL) AND {{m_is_current}}
ORDER BY f.repo, f.path, ch.ordinal;

-- All chunks of files that may be served and pass the filters, in the order of paths.
-- name: filtered_chunks
-- scans: files are few beside the chunks that were found in vain
SELECT ch.chunk
FROM files f
JOIN memories m ON m.workspace = f.workspace AND m.memory = f.memory
JOIN chunks ch ON ch.workspace = f.workspace AND ch.memory = f.memory
LEFT JOIN symbols s ON s.workspace = ch.workspace AND s.memory = ch.memory AND s.ordinal = ch.symbol
WHERE f.workspace = ?1 AND (f.repo = ?3 OR ?3 IS NULL)
  AND (?4 = 0 OR f.language IN (SELECT value FROM text_list(?5)))
  AND (f.path = ?6 OR substr(f.path, 1, length(?7)) = ?7 OR ?6 IS NULL)
  AND (COALESCE(s.kind, 'text') = ?8 OR ?8 IS NULL) AND (f.is_test = ?9 OR ?9 IS NULL)
  AND (COALESCE(f.is_generated, 0) = ?10 OR ?10 IS NULL) AND {{m_is_current}}
ORDER BY f.repo, f.path, ch.ordinal;

-- The next texts of files that pass the filters, in the order of paths.
-- name: texts_after
-- scans: every text is searched that the filters let through
SELECT f.memory, f.repo, f.path, r.context
FROM files f
JOIN memories m ON m.workspace = f.workspace AND m.memory = f.memory
JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory AND r.revision = m.revision
WHERE f.workspace = ?1 AND (f.repo, f.path) > (?3, ?4) AND (f.repo = ?5 OR ?5 IS NULL)
  AND (?6 = 0 OR f.language IN (SELECT value FROM text_list(?7)))
  AND (f.path = ?8 OR substr(f.path, 1, length(?9)) = ?9 OR ?8 IS NULL) AND (f.is_test = ?10 OR ?10 IS NULL)
  AND (COALESCE(f.is_generated, 0) = ?11 OR ?11 IS NULL) AND {{m_is_current}}
ORDER BY f.repo, f.path LIMIT ?12;

-- How many are left of them.
-- name: count_after
-- scans: what is not searched is counted
SELECT COUNT(*)
FROM files f JOIN memories m ON m.workspace = f.workspace AND m.memory = f.memory
WHERE f.workspace = ?1 AND (f.repo, f.path) > (?3, ?4) AND (f.repo = ?5 OR ?5 IS NULL)
  AND (?6 = 0 OR f.language IN (SELECT value FROM text_list(?7)))
  AND (f.path = ?8 OR substr(f.path, 1, length(?9)) = ?9 OR ?8 IS NULL) AND (f.is_test = ?10 OR ?10 IS NULL)
  AND (COALESCE(f.is_generated, 0) = ?11 OR ?11 IS NULL) AND {{m_is_current}};

-- name: candidates
SELECT ch.chunk, ch.memory, f.repo, f.path, f.language, s.qualified_name, s.kind, s.first_line, s.last_line, ch.start,
       ch.length, f.lines, s.signature
FROM chunks ch
JOIN files f ON f.workspace = ch.workspace AND f.memory = ch.memory
LEFT JOIN symbols s ON s.workspace = ch.workspace AND s.memory = ch.memory AND s.ordinal = ch.symbol
WHERE ch.workspace = ?1 AND ch.chunk IN (SELECT value FROM integer_list(?2));

-- name: chunk_texts
SELECT ch.chunk, r.context
FROM chunks ch
JOIN memories m ON m.workspace = ch.workspace AND m.memory = ch.memory
JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory AND r.revision = m.revision
WHERE ch.workspace = ?1 AND ch.chunk IN (SELECT value FROM integer_list(?2));

-- Notes among the memories of these chunks, newest first.
-- name: notes_of_chunks
SELECT m.memory, m.name, r.topic, r.context, r.decisions, r.rationale
FROM memories m
JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory AND r.revision = m.revision
WHERE m.workspace = ?1 AND m.repo IS NULL AND {{m_is_current}}
  AND m.memory IN (SELECT ch.memory FROM chunks ch
                   WHERE ch.workspace = ?1 AND ch.chunk IN (SELECT value FROM integer_list(?3)))
ORDER BY m.memory DESC LIMIT ?4;
