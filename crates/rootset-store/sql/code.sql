-- Repositories and files as a scan writes them. Reading code is in `symbols.sql`.

-- fragment: repo_columns
repo, root, run, run_at, scope, trusted_at

-- name: repo
SELECT {{repo_columns}} FROM repos WHERE workspace = ?1 AND repo = ?2;

-- name: repo_at
SELECT {{repo_columns}} FROM repos WHERE workspace = ?1 AND root = ?2 ORDER BY repo LIMIT 1;

-- name: repo_rows
-- scans: repositories are few
SELECT {{repo_columns}} FROM repos WHERE workspace = ?1 ORDER BY repo;

-- fragment: m_is_away
(m.trashed_run IS NOT NULL OR m.stale_at IS NOT NULL)

-- With the number of files that are served, and of those that are stale.
-- name: repos
-- scans: repositories are few; their files are counted
SELECT {{repo_columns}},
       (SELECT COUNT(*) FROM files f WHERE f.workspace = r.workspace AND f.repo = r.repo)
     - (SELECT COUNT(*) FROM memories m
        JOIN files f ON f.workspace = m.workspace AND f.memory = m.memory
        WHERE m.workspace = r.workspace AND m.repo = r.repo AND {{m_is_away}}),
       (SELECT COUNT(*) FROM memories m
        WHERE m.workspace = r.workspace AND m.repo = r.repo AND m.trashed_run IS NULL AND m.stale_at IS NOT NULL)
FROM repos r WHERE r.workspace = ?1 ORDER BY r.repo;

-- name: insert_repo
INSERT INTO repos (workspace, repo, root, created_at) VALUES (?1, ?2, ?3, ?4);

-- What is known of the times of files was known of another folder.
-- name: rebind_repo
UPDATE repos SET root = ?3, trusted_at = 0 WHERE workspace = ?1 AND repo = ?2;

-- name: files
-- scans: a scan compares every file of its repository
SELECT path, memory, size, modified_ns, changed_ns, inode, content_hash, extractor, language, is_test, is_mounted,
       lines, functions, classes
FROM files WHERE workspace = ?1 AND repo = ?2 ORDER BY path, memory;

-- What the last scan noted of some files, and when their content was written.
-- name: stamps
SELECT f.path, f.size, f.modified_ns, f.changed_ns, f.inode, m.updated_at
FROM files f JOIN memories m ON m.workspace = f.workspace AND m.memory = f.memory
WHERE f.workspace = ?1 AND f.repo = ?2 AND f.path IN (SELECT value FROM text_list(?3)) AND NOT {{m_is_away}};

-- name: away
SELECT m.memory, m.trashed_run IS NOT NULL FROM memories m
WHERE m.workspace = ?1 AND m.repo = ?2 AND {{m_is_away}};

-- name: stale_count
SELECT COUNT(*) FROM memories m
WHERE m.workspace = ?1 AND m.repo = ?2 AND m.trashed_run IS NULL AND m.stale_at IS NOT NULL;

-- What is stored of files that are about to be replaced, as long as they live.
-- name: replaced
SELECT m.memory, r.context, r.bytes
FROM memories m JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory AND r.revision = m.revision
WHERE m.workspace = ?1 AND m.memory IN (SELECT value FROM blob_list(?3)) AND m.repo = ?2 AND m.trashed_run IS NULL;

-- name: replaced_symbols
SELECT memory, ordinal, name, qualified_name, kind, parent FROM symbols
WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2)) ORDER BY memory, ordinal;

-- name: replaced_chunks
SELECT memory, chunk, ordinal, start, length, symbol FROM chunks
WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2)) ORDER BY memory, ordinal;

-- name: replaced_contributions
SELECT memory, object, kind, text FROM contributions
WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2));

-- name: insert_memory
INSERT INTO memories (workspace, memory, sequence, source, repo, file_path, written_by, status, version, revision,
                      source_version, created_at, updated_at, ingested_at, ingested_observed_ms, is_stamp_in_doubt,
                      seal, channel, trust)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'complete', 1, 1, ?8, ?9, ?9, ?9, ?10, ?11, ?12, 'index', 'imported');

-- name: replace_memory
UPDATE memories
SET file_path = ?3, source_version = ?4, updated_at = ?5, ingested_at = ?5, version = version + 1, stale_at = NULL,
    ingested_observed_ms = ?6, is_stamp_in_doubt = ?7
WHERE workspace = ?1 AND memory = ?2;

-- name: insert_revision
INSERT INTO revisions (workspace, memory, revision, topic, context, decisions, rationale, bytes, created_at, seal)
VALUES (?1, ?2, 1, ?3, ?4, '[]', '[]', ?5, ?6, ?7);

-- Of files no revisions are kept: git does that.
-- name: replace_revision
UPDATE revisions SET topic = ?3, context = ?4, bytes = ?5, created_at = ?6, seal = ?7
WHERE workspace = ?1 AND memory = ?2
  AND revision = (SELECT m.revision FROM memories m WHERE m.workspace = ?1 AND m.memory = ?2);

-- name: insert_file
INSERT INTO files (workspace, repo, path, memory, size, modified_ns, changed_ns, inode, content_hash, extractor,
                   language, is_test, is_mounted, lines, functions, classes, is_generated)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17);

-- name: delete_files
DELETE FROM files WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2));

-- name: refresh_file
UPDATE files SET size = ?5, modified_ns = ?6, changed_ns = ?7, inode = ?8
WHERE workspace = ?1 AND repo = ?2 AND path = ?3 AND memory = ?4;

-- name: insert_symbol
INSERT INTO symbols (workspace, memory, ordinal, name, qualified_name, kind, parent, first_line, last_line, start,
                     length, signature)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12);

-- name: delete_symbols
DELETE FROM symbols WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2));

-- name: insert_references
INSERT INTO code_references (workspace, memory, packed) VALUES (?1, ?2, ?3);

-- name: delete_references
DELETE FROM code_references WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2));

-- name: insert_chunk
INSERT INTO chunks (workspace, chunk, memory, ordinal, part, start, length, is_question, symbol)
VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, 0, ?7);

-- Out of the way of the new ordinals, which are unique per memory at every moment.
-- name: lift_chunks
UPDATE chunks SET ordinal = -1 - ordinal WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2));

-- name: move_chunk
UPDATE chunks SET ordinal = ?3, start = ?4, length = ?5, symbol = ?6 WHERE workspace = ?1 AND chunk = ?2;

-- name: delete_chunks
DELETE FROM chunks WHERE workspace = ?1 AND chunk IN (SELECT value FROM integer_list(?2));

-- name: insert_entity
INSERT INTO entities (workspace, entity, number, name, type, normal_name, normaliser, created_at, is_symbol)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1)
ON CONFLICT DO NOTHING;

-- name: delete_contribution
DELETE FROM contributions WHERE workspace = ?1 AND memory = ?2 AND object = ?3;

-- Whatever else lives at the paths of new files has been replaced by them.
-- name: retire_others
UPDATE memories SET stale_at = ?4
WHERE workspace = ?1
  AND memory IN (SELECT f.memory FROM files f
                 WHERE f.workspace = ?1 AND f.repo = ?2 AND f.path IN (SELECT value FROM text_list(?3)))
  AND memory NOT IN (SELECT value FROM blob_list(?5))
  AND trashed_run IS NULL AND stale_at IS NULL;

-- name: mark_gone
UPDATE memories SET stale_at = ?4
WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?3)) AND repo = ?2
  AND trashed_run IS NULL AND stale_at IS NULL;

-- name: mark_returned
UPDATE memories SET stale_at = NULL
WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?3)) AND repo = ?2 AND stale_at IS NOT NULL;

-- What the terms of the chunks of these files depend on, beside the texts.
-- name: chunk_origins
SELECT ch.memory, ch.chunk, ch.start, ch.length, f.path, s.name, s.qualified_name
FROM chunks ch
JOIN files f ON f.workspace = ch.workspace AND f.memory = ch.memory
LEFT JOIN symbols s ON s.workspace = ch.workspace AND s.memory = ch.memory AND s.ordinal = ch.symbol
WHERE ch.workspace = ?1 AND ch.memory IN (SELECT value FROM blob_list(?2));

-- name: complete_run
UPDATE repos SET run = run + 1, run_id = ?4, run_at = ?5, scope = ?6, trusted_at = ?7
WHERE workspace = ?1 AND repo = ?2 AND run = ?3;
