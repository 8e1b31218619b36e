-- fragment: memory_columns
m.memory, m.sequence, m.name, m.source, m.repo, m.file_path, m.written_by, m.status, m.last_error, m.attempts,
m.version, m.revision, m.pending_revision, m.source_version, m.doc_hash, m.metadata, m.tags, m.created_at,
m.updated_at, m.ingested_at, m.expires_at, m.pinned, m.pin_reason, m.superseded_by, m.superseded_at,
m.supersede_reason, m.trashed_run, m.trashed_at, {{m_is_superseded}}, m.channel, m.trust, m.pinned_by, m.pinned_actor

-- name: insert
INSERT INTO memories (workspace, memory, sequence, name, source, written_by, status, version, revision, doc_hash,
                      metadata, tags, created_at, updated_at, ingested_at, expires_at, pinned, pin_reason,
                      ingested_observed_ms, is_stamp_in_doubt, seal, source_version, channel, trust, pinned_by,
                      pinned_actor, place, occurred_from, occurred_until)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, 1, ?8, ?9, ?10, ?11, ?11, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
        ?22, ?23, ?24, ?25);

-- The last place taken in each of these threads, which are given by their first places.
-- name: last_places
SELECT t.value, COALESCE((SELECT MAX(m.place) FROM memories m
                          WHERE m.workspace = ?1 AND m.place >= t.value AND m.place < t.value + 4294967296), t.value)
FROM (SELECT value FROM integer_list(?2)) AS t;

-- name: count_source
INSERT INTO sources (workspace, source, memories) VALUES (?1, ?2, ?3)
ON CONFLICT (workspace, source) DO UPDATE SET memories = sources.memories + excluded.memories;

-- name: by_id
SELECT {{memory_columns}} FROM memories m WHERE m.workspace = ?1 AND m.memory = ?2;

-- name: by_name
SELECT {{memory_columns}} FROM memories m WHERE m.workspace = ?1 AND m.name = ?2 AND m.trashed_run IS NULL;

-- name: trashed_by_name
SELECT {{memory_columns}} FROM memories m
WHERE m.workspace = ?1 AND m.name = ?2 AND m.trashed_run IS NOT NULL
ORDER BY m.trashed_at DESC LIMIT 1;

-- The living memory that another name leads to: a former one, or its writer's key.
-- name: led_to
SELECT {{memory_columns}} FROM memory_names n JOIN memories m ON m.workspace = n.workspace AND m.memory = n.memory
WHERE n.workspace = ?1 AND n.kind = ?2 AND n.name = ?3 AND m.trashed_run IS NULL
ORDER BY m.memory DESC LIMIT 1;

-- Ids between two, in the trash or not, as the beginning of an id names them.
-- name: ids_between
SELECT memory, trashed_run IS NOT NULL FROM memories
WHERE workspace = ?1 AND memory >= ?2 AND memory <= ?3
ORDER BY memory LIMIT ?4;

-- name: insert_other_name
INSERT INTO memory_names (workspace, memory, kind, name) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING;

-- name: other_names_of
SELECT memory, kind, name FROM memory_names
WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2))
ORDER BY memory, kind, name;

-- name: delete_other_name
DELETE FROM memory_names WHERE workspace = ?1 AND memory = ?2 AND kind = ?3 AND name = ?4;

-- A key leads to one memory: to the last that took it.
-- name: free_key
DELETE FROM memory_names WHERE workspace = ?1 AND kind = 'key' AND name = ?2;

-- name: delete_other_names
DELETE FROM memory_names WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2));

-- name: by_ids
SELECT {{memory_columns}} FROM memories m
WHERE m.workspace = ?1 AND m.memory IN (SELECT value FROM blob_list(?2));

-- Of these names, those that a memory has or had, in the trash or not.
-- name: known_names
SELECT name FROM memories
WHERE workspace = ?1 AND name IN (SELECT value FROM text_list(?2)) AND trashed_run IS NULL
UNION
SELECT name FROM memories
WHERE workspace = ?1 AND name IN (SELECT value FROM text_list(?2)) AND trashed_run IS NOT NULL
UNION
SELECT name FROM memory_names WHERE workspace = ?1 AND kind = 'alias' AND name IN (SELECT value FROM text_list(?2));

-- Of these contents, those that a memory has, in the trash or not.
-- name: known_contents
SELECT doc_hash FROM memories
WHERE workspace = ?1 AND doc_hash IN (SELECT value FROM blob_list(?2)) AND trashed_run IS NULL
UNION
SELECT doc_hash FROM memories
WHERE workspace = ?1 AND doc_hash IN (SELECT value FROM blob_list(?2)) AND trashed_run IS NOT NULL;

-- name: live_with_content
SELECT memory, name FROM memories WHERE workspace = ?1 AND doc_hash = ?2 AND trashed_run IS NULL;

-- name: trashed_with_content
SELECT m.memory, m.trashed_run, m.trashed_at, r.operation
FROM memories m LEFT JOIN runs r ON r.workspace = m.workspace AND r.run = m.trashed_run
WHERE m.workspace = ?1 AND m.doc_hash = ?2 AND m.trashed_run IS NOT NULL
ORDER BY m.trashed_at DESC LIMIT 1;

-- name: set_attributes
UPDATE memories
SET name = ?3, metadata = ?4, tags = ?5, pinned = ?6, pin_reason = ?7, expires_at = ?8, updated_at = ?9, version = ?10,
    seal = ?11, source_version = ?12, trust = ?13, pinned_by = ?14, pinned_actor = ?15
WHERE workspace = ?1 AND memory = ?2;

-- name: set_trust
UPDATE memories SET trust = ?3, version = ?4, updated_at = ?5 WHERE workspace = ?1 AND memory = ?2;

-- Names of notes, each with the newest topic of its memory.
-- name: names_with_topics
SELECT m.memory, m.name, r.topic
FROM memories m
JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory
  AND r.revision = COALESCE(m.pending_revision, m.revision)
WHERE m.workspace = ?1 AND m.memory IN (SELECT value FROM blob_list(?2)) AND m.name IS NOT NULL AND m.repo IS NULL;

-- name: set_name
UPDATE memories SET name = ?3, seal = ?4 WHERE workspace = ?1 AND memory = ?2;

-- Without a time it is as old as it was.
-- name: set_revision
UPDATE memories
SET revision = ?3, pending_revision = NULL, doc_hash = ?4, ingested_at = COALESCE(?5, ingested_at),
    ingested_observed_ms = COALESCE(?6, ingested_observed_ms), is_stamp_in_doubt = COALESCE(?7, is_stamp_in_doubt),
    status = 'complete', last_error = NULL, attempts = 0
WHERE workspace = ?1 AND memory = ?2;

-- name: set_pending_revision
UPDATE memories
SET pending_revision = ?3, doc_hash = ?4, status = 'pending', last_error = NULL, attempts = 0
WHERE workspace = ?1 AND memory = ?2;

-- name: set_failure
UPDATE memories SET last_error = ?3, attempts = ?4 WHERE workspace = ?1 AND memory = ?2 AND status = 'pending';

-- name: supersede
UPDATE memories
SET superseded_by = ?3, superseded_at = ?4, supersede_reason = ?5, version = version + 1, updated_at = ?4
WHERE workspace = ?1 AND memory = ?2;

-- name: predecessors
SELECT memory, name FROM memories
WHERE workspace = ?1 AND superseded_by = ?2 AND trashed_run IS NULL
ORDER BY sequence;

-- name: insert_tag
INSERT INTO memory_tags (workspace, tag, memory) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING;

-- name: delete_tags
DELETE FROM memory_tags WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2));

-- name: insert_revision
INSERT INTO revisions (workspace, memory, revision, topic, context, decisions, rationale, bytes, created_at, extractor,
                       extractor_version, seal, channel, trust, written_by)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15);

-- Of a revision in the trash, too.
-- name: revision_writer
SELECT topic, channel, trust, written_by FROM revisions WHERE workspace = ?1 AND memory = ?2 AND revision = ?3;

-- name: revision
SELECT topic, context, decisions, rationale, created_at, channel, trust, written_by FROM revisions
WHERE workspace = ?1 AND memory = ?2 AND revision = ?3 AND trashed_run IS NULL;

-- name: newest_revision
SELECT MAX(revision) FROM revisions WHERE workspace = ?1 AND memory = ?2;

-- name: previous_revisions
SELECT revision FROM revisions
WHERE workspace = ?1 AND memory = ?2 AND revision < ?3
ORDER BY revision DESC;

-- Earlier revisions that can be read.
-- name: kept_revisions
SELECT revision FROM revisions
WHERE workspace = ?1 AND memory = ?2 AND revision < ?3 AND trashed_run IS NULL
ORDER BY revision DESC;

-- name: trash_of_revision
SELECT trashed_run, trashed_at FROM revisions
WHERE workspace = ?1 AND memory = ?2 AND revision = ?3 AND trashed_run IS NOT NULL;

-- name: untrash_previous_revisions
UPDATE revisions SET trashed_run = NULL, trashed_at = NULL
WHERE workspace = ?1 AND memory = ?2 AND revision < ?3 AND trashed_run IS NOT NULL;

-- name: delete_revision
DELETE FROM revisions WHERE workspace = ?1 AND memory = ?2 AND revision = ?3;

-- name: set_extraction
UPDATE revisions SET extractor = ?4, extractor_version = ?5, extraction = ?6
WHERE workspace = ?1 AND memory = ?2 AND revision = ?3;

-- name: extraction
SELECT extraction FROM revisions WHERE workspace = ?1 AND memory = ?2 AND revision = ?3;

-- name: insert_chunk
INSERT INTO chunks (workspace, chunk, memory, ordinal, part, start, length, is_question)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8);

-- name: chunks_of
SELECT chunk FROM chunks WHERE workspace = ?1 AND memory = ?2 ORDER BY ordinal;

-- name: delete_chunks
DELETE FROM chunks WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2));

-- name: derived_ids
SELECT object, kind FROM contributions WHERE workspace = ?1 AND memory = ?2 ORDER BY object;

-- name: use_of
SELECT COALESCE((SELECT use_count FROM uses WHERE workspace = ?1 AND memory = ?2), 0),
       (SELECT last_used_at FROM uses WHERE workspace = ?1 AND memory = ?2),
       COALESCE((SELECT shown_count FROM shown WHERE workspace = ?1 AND memory = ?2), 0);

-- name: add_use
INSERT INTO uses (workspace, memory, use_count, last_used_at)
SELECT workspace, memory, ?3, ?4 FROM memories WHERE workspace = ?1 AND memory = ?2
ON CONFLICT (workspace, memory) DO UPDATE
SET use_count = uses.use_count + excluded.use_count,
    last_used_at = greatest(uses.last_used_at, excluded.last_used_at);

-- name: add_shown
INSERT INTO shown (workspace, memory, shown_count, last_shown_at)
SELECT workspace, memory, ?3, ?4 FROM memories WHERE workspace = ?1 AND memory = ?2
ON CONFLICT (workspace, memory) DO UPDATE
SET shown_count = shown.shown_count + excluded.shown_count,
    last_shown_at = greatest(shown.last_shown_at, excluded.last_shown_at);

-- fragment: list_filter
FROM memories m
JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory AND r.revision = m.revision
LEFT JOIN uses u ON u.workspace = m.workspace AND u.memory = m.memory
WHERE m.workspace = ?1
  AND (m.source = ?2 OR (?2 IS NULL AND m.repo IS NULL))
  AND (m.written_by = ?3 OR ?3 IS NULL)
  AND (m.status = ?4 OR ?4 IS NULL)
  AND (?5 = 'all'
       OR (?5 = 'trashed' AND m.trashed_run IS NOT NULL)
       OR (?5 = 'superseded' AND m.trashed_run IS NULL AND {{m_is_superseded}})
       OR (?5 = 'live' AND m.trashed_run IS NULL AND NOT {{m_is_superseded}}))
  AND (?6 = 0 OR (SELECT COUNT(*) FROM memory_tags t
                  WHERE t.workspace = ?1 AND t.memory = m.memory
                    AND t.tag IN (SELECT value FROM text_list(?7))) = ?6)
  AND (?8 = 0 OR m.memory IN (SELECT value FROM blob_list(?9)))
  AND (m.trust = ?10 OR ?10 IS NULL)
  AND (m.channel = ?11 OR ?11 IS NULL)
  AND (?12 = 0 OR {{m_waits}})

-- fragment: list_columns
SELECT m.memory, m.name, m.created_at, m.updated_at, m.source, m.pinned, m.status, r.topic, r.context, r.decisions,
       m.channel, m.trust, m.pinned_by, m.tags

-- name: list_count
-- scans: a list counts what it pages through
SELECT COUNT(*) {{list_filter}};

-- name: list_by_updated_descending
{{list_columns}} {{list_filter}} ORDER BY m.updated_at DESC, m.memory DESC LIMIT ?13 OFFSET ?14;

-- name: list_by_updated_ascending
{{list_columns}} {{list_filter}} ORDER BY m.updated_at, m.memory LIMIT ?13 OFFSET ?14;

-- name: list_by_created_descending
{{list_columns}} {{list_filter}} ORDER BY m.memory DESC LIMIT ?13 OFFSET ?14;

-- name: list_by_created_ascending
{{list_columns}} {{list_filter}} ORDER BY m.memory LIMIT ?13 OFFSET ?14;

-- name: list_by_uses_descending
-- scans: uses are not indexed: written often, ordered by seldom
{{list_columns}} {{list_filter}} ORDER BY COALESCE(u.use_count, 0) DESC, m.memory DESC LIMIT ?13 OFFSET ?14;

-- name: list_by_uses_ascending
-- scans: uses are not indexed: written often, ordered by seldom
{{list_columns}} {{list_filter}} ORDER BY COALESCE(u.use_count, 0), m.memory LIMIT ?13 OFFSET ?14;

-- fragment: recent_filter
WHERE m.workspace = ?1 AND m.repo IS NULL AND {{m_is_current}}
  AND (m.source = ?3 OR ?3 IS NULL)
  AND (?4 = 0 OR (SELECT COUNT(*) FROM memory_tags t
                  WHERE t.workspace = ?1 AND t.memory = m.memory
                    AND t.tag IN (SELECT value FROM text_list(?5))) = ?4)
  AND (m.created_at >= ?6 OR ?6 IS NULL)
  AND (m.created_at <= ?7 OR ?7 IS NULL)

-- name: recent_pinned
SELECT m.memory FROM memories m {{recent_filter}} AND m.pinned = 1
ORDER BY m.updated_at DESC, m.memory DESC LIMIT ?8;

-- name: recent_unpinned
SELECT m.memory FROM memories m {{recent_filter}} AND m.pinned = 0
ORDER BY m.updated_at DESC, m.memory DESC LIMIT ?8;

-- Names of notes that may be shown to somebody who did not ask for them, each with its text.
-- name: recent_names
-- scans: stops after the notes that changed last
SELECT m.memory, m.name, r.context
FROM memories m
JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory AND r.revision = m.revision
WHERE m.workspace = ?1 AND m.repo IS NULL AND m.name IS NOT NULL AND m.trust <> 'untrusted' AND {{m_is_current}}
ORDER BY m.updated_at DESC, m.memory DESC LIMIT ?3;

-- Names of notes, for who mistyped one.
-- name: names_that_changed_last
-- scans: stops after the notes that changed last
SELECT m.name FROM memories m
WHERE m.workspace = ?1 AND m.repo IS NULL AND m.name IS NOT NULL AND m.trust <> 'untrusted' AND m.trashed_run IS NULL
ORDER BY m.updated_at DESC, m.memory DESC LIMIT ?2;

-- Notes that may contradict each other, with what tells which is newer and what somebody said of the pair.
-- name: comparable_notes
-- scans: stops after the notes that changed last
SELECT m.memory, m.name, m.ingested_at, m.metadata, r.context
FROM memories m
JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory AND r.revision = m.revision
WHERE m.workspace = ?1 AND m.repo IS NULL AND m.trust <> 'untrusted' AND {{m_is_current}}
ORDER BY m.updated_at DESC, m.memory DESC LIMIT ?3;

-- What follows are parts of statements that ask about every kind at once (`each`).

-- fragment: runs_with_trash_before.memory
SELECT DISTINCT trashed_run FROM memories
WHERE workspace = ?1 AND trashed_run IS NOT NULL AND trashed_at <= ?2

-- fragment: has_trash_of_run.memory
EXISTS (SELECT 1 FROM memories m WHERE m.workspace = r.workspace AND m.trashed_run = r.run row_by_row())

-- fragment: trash_without_run.memory
(SELECT COUNT(*) FROM memories m WHERE m.workspace = ?1 AND m.trashed_run IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM runs r WHERE r.workspace = m.workspace AND r.run = m.trashed_run))

-- fragment: trash_rows.memory
SELECT 'memory' AS kind, m.memory AS object, m.name AS name, r.topic AS topic, m.trashed_at AS trashed_at,
       m.trashed_run AS run, 0 AS revision
FROM memories m
JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory AND r.revision = m.revision
WHERE m.workspace = ?1 AND m.trashed_run IS NOT NULL

-- fragment: trash_bytes.memory
(SELECT CAST(COALESCE(SUM(r.bytes), 0) AS BIGINT)
 FROM memories m JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory
 WHERE m.workspace = ?1 AND m.trashed_run IS NOT NULL)

-- What a brief is chosen from, with how the texts begin.
-- name: notes
SELECT m.memory, m.name, m.written_by, m.tags, m.updated_at, m.trust, m.pinned_by, r.created_at, r.topic,
       SUBSTR(r.context, 1, 600), r.decisions, r.rationale, j.cursor
FROM memories m
JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory AND r.revision = m.revision
LEFT JOIN jobs j ON j.workspace = m.workspace AND j.kind = 'witness' AND j.subject = m.memory
WHERE m.workspace = ?1 AND m.memory IN (SELECT value FROM blob_list(?2));

-- name: of_agents_since
-- scans: stops after the notes that changed last
SELECT m.memory FROM memories m
WHERE m.workspace = ?1 AND m.updated_at >= ?2 AND m.repo IS NULL AND m.channel = 'mcp' AND m.trust = 'agent'
  AND m.trashed_run IS NULL
ORDER BY m.updated_at DESC, m.memory DESC LIMIT ?3;

-- name: count_waiting
-- scans: personal memory is small; asked once a day
SELECT COUNT(*) FROM memories m WHERE m.workspace = ?1 AND {{m_is_current}} AND {{m_waits}};
