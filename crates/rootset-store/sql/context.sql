-- name: session
SELECT session, version, epoch, settings, focus, collections, next_step, created_at, updated_at
FROM sessions WHERE workspace = ?1 AND session_id = ?2 AND trashed_run IS NULL;

-- name: trashed_session
SELECT session, version FROM sessions WHERE workspace = ?1 AND session_id = ?2 AND trashed_run IS NOT NULL;

-- name: session_by_number
SELECT session_id, version, epoch, trashed_run IS NOT NULL, trashed_run, trashed_at
FROM sessions WHERE workspace = ?1 AND session = ?2;

-- fragment: segment_columns
segment, segment_id, type, role, tool_call_id, tokens, created_at, created_step, touched_at, touched_step, pinned,
pin_reason, invariant, file_path, first_line, last_line, tags, topic_id, task_id, refs, reply_to, derived_from, names,
text_hash, text_chars, state, stashed_at, stash_reason, entered_collection, version, written_by, trashed_run IS NOT NULL

-- One stretch of the table.
-- name: segments
SELECT {{segment_columns}} FROM segments WHERE workspace = ?1 AND session = ?2 ORDER BY segment;

-- name: segments_since
SELECT {{segment_columns}} FROM segments WHERE workspace = ?1 AND session = ?2 AND version > ?3;

-- name: texts
SELECT segment, text, raw FROM segment_texts
WHERE workspace = ?1 AND segment IN (SELECT value FROM integer_list(?2));

-- Draws numbers, counts what is about to be stored, answers the first of both drawn.
-- name: draw
UPDATE workspaces
SET next_session = next_session + ?2,
    next_segment = next_segment + ?3,
    content_bytes = content_bytes + ?4,
    last_write_at = ?5
WHERE workspace = ?1
RETURNING next_session - ?2, next_segment - ?3;

-- name: insert_session
INSERT INTO sessions (workspace, session, session_id, version, epoch, settings, focus, collections, next_step,
                      created_at, updated_at, created_by)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?11);

-- name: update_session
UPDATE sessions
SET version = ?3, settings = ?4, focus = ?5, collections = ?6, next_step = ?7, updated_at = ?8
WHERE workspace = ?1 AND session = ?2;

-- name: insert_segment
INSERT INTO segments (workspace, session, segment, segment_id, type, role, tool_call_id, tokens, created_at,
                      created_step, touched_at, touched_step, pinned, pin_reason, invariant, file_path, first_line,
                      last_line, tags, topic_id, task_id, refs, reply_to, derived_from, names, text_hash, text_chars,
                      bytes, state, stashed_at, stash_reason, is_indexed, entered_collection, version, written_by,
                      seal)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24,
        ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36);

-- name: insert_text
INSERT INTO segment_texts (workspace, segment, text, raw, seal) VALUES (?1, ?2, ?3, ?4, ?5);

-- What was stashed once stays in full text.
-- name: update_segment
UPDATE segments
SET state = ?4, stashed_at = ?5, stash_reason = ?6, pinned = ?7, pin_reason = ?8, invariant = ?9, touched_at = ?10,
    touched_step = ?11, entered_collection = ?12, version = ?13,
    is_indexed = CASE WHEN ?4 = 'stashed' THEN 1 ELSE is_indexed END
WHERE workspace = ?1 AND session = ?2 AND segment = ?3 AND trashed_run IS NULL
RETURNING segment;

-- Of these segments, those that full text has.
-- name: indexed_among
SELECT segment FROM segments
WHERE workspace = ?1 AND segment IN (SELECT value FROM integer_list(?2)) AND is_indexed = 1;

-- name: last_ledger_seq
SELECT COALESCE(MAX(seq), 0) FROM ledger WHERE workspace = ?1 AND session = ?2;

-- name: insert_ledger
INSERT INTO ledger (workspace, session, seq, at, actor, segment, action, tokens, reason)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9);

-- What a run did to segments, line by line, after what each session's ledger has.
-- name: note_segments
INSERT INTO ledger (workspace, session, seq, at, actor, segment, action, tokens, reason)
SELECT g.workspace, g.session,
       (SELECT COALESCE(MAX(l.seq), 0) FROM ledger l WHERE l.workspace = g.workspace AND l.session = g.session)
           + ROW_NUMBER() OVER (PARTITION BY g.session ORDER BY g.segment),
       ?3, ?4, g.segment, ?5, g.tokens, ?6
FROM segments g
WHERE g.workspace = ?1 AND g.segment IN (SELECT value FROM integer_list(?2)) AND (g.trashed_run = ?7 OR ?7 IS NULL);

-- name: ledger
SELECT l.seq, l.at, l.actor, l.segment, g.segment_id, l.action, l.tokens, l.reason
FROM ledger l LEFT JOIN segments g ON g.workspace = l.workspace AND g.session = l.session AND g.segment = l.segment
WHERE l.workspace = ?1 AND l.session = ?2
ORDER BY l.seq DESC LIMIT ?3 OFFSET ?4;

-- name: ledger_count
SELECT COUNT(*) FROM ledger WHERE workspace = ?1 AND session = ?2;

-- name: session_count
-- scans: a list counts what it pages through
SELECT COUNT(*) FROM sessions WHERE workspace = ?1 AND trashed_run IS NULL;

-- name: list_sessions
SELECT session, session_id, created_at, updated_at FROM sessions
WHERE workspace = ?1 AND trashed_run IS NULL
ORDER BY updated_at DESC, session DESC LIMIT ?2 OFFSET ?3;

-- name: counts_of_sessions
SELECT session,
       SUM(CASE WHEN state = 'active' THEN 1 ELSE 0 END), SUM(CASE WHEN state = 'stashed' THEN 1 ELSE 0 END),
       CAST(SUM(CASE WHEN state = 'active' THEN tokens ELSE 0 END) AS BIGINT)
FROM segments
WHERE workspace = ?1 AND session IN (SELECT value FROM integer_list(?2)) AND trashed_run IS NULL
GROUP BY session;

-- fragment: stash_columns
g.segment, g.segment_id, s.session_id, g.type, g.text_chars, g.tokens, g.stashed_at, g.stash_reason, g.tags

-- fragment: stash_filters
g.state = 'stashed' AND g.trashed_run IS NULL AND s.trashed_run IS NULL
  AND (s.session_id = ?3 OR ?3 IS NULL)
  AND (g.type = ?4 OR ?4 IS NULL)
  AND (g.file_path = ?5 OR ?5 IS NULL)
  AND (g.created_at >= ?6 OR ?6 IS NULL)
  AND (g.created_at <= ?7 OR ?7 IS NULL)

-- Among those that full text found.
-- name: stash_among
SELECT {{stash_columns}}
FROM segments g JOIN sessions s ON s.workspace = g.workspace AND s.session = g.session
WHERE g.workspace = ?1 AND g.segment IN (SELECT value FROM integer_list(?2)) AND {{stash_filters}};

-- A page of the stash from (?2, ?8) on, newest first.
-- name: stash_page
SELECT {{stash_columns}}
FROM segments g JOIN sessions s ON s.workspace = g.workspace AND s.session = g.session
WHERE g.workspace = ?1 AND (g.stashed_at, g.segment) < (?2, ?8) AND {{stash_filters}}
ORDER BY g.stashed_at DESC, g.segment DESC LIMIT ?9;

-- name: previews
SELECT segment, SUBSTR(text, 1, ?3) FROM segment_texts
WHERE workspace = ?1 AND segment IN (SELECT value FROM integer_list(?2));

-- What follows is the protocol's part: states, the flip and the flip back, removal, selection.

-- name: segment_states
SELECT g.segment, g.version, g.trashed_run IS NOT NULL OR s.trashed_run IS NOT NULL, g.pinned, g.session,
       g.tool_call_id
FROM segments g JOIN sessions s ON s.workspace = g.workspace AND s.session = g.session
WHERE g.workspace = ?1 AND g.segment IN (SELECT value FROM integer_list(?2));

-- name: pinned_calls
SELECT session, tool_call_id FROM segments
WHERE workspace = ?1 AND session IN (SELECT value FROM integer_list(?2)) AND pinned = 1 AND tool_call_id IS NOT NULL
  AND trashed_run IS NULL;

-- name: session_states
SELECT session, version, trashed_run IS NOT NULL FROM sessions
WHERE workspace = ?1 AND session IN (SELECT value FROM integer_list(?2));

-- name: raise_heads
UPDATE sessions SET version = version + 1, epoch = epoch + ?3, updated_at = COALESCE(?4, updated_at)
WHERE workspace = ?1 AND session IN (
    SELECT g.session FROM segments g
    WHERE g.workspace = ?1 AND g.segment IN (SELECT value FROM integer_list(?2)));

-- fragment: version_of_session
(SELECT s.version FROM sessions s WHERE s.workspace = segments.workspace AND s.session = segments.session)

-- name: trash_segments
UPDATE segments SET trashed_run = ?3, trashed_at = ?4, version = {{version_of_session}}
WHERE workspace = ?1 AND segment IN (SELECT value FROM integer_list(?2)) AND trashed_run IS NULL;

-- Those of the segments whose words are not searchable yet.
-- name: texts_to_index
SELECT t.segment, t.text
FROM segments g JOIN segment_texts t ON t.workspace = g.workspace AND t.segment = g.segment
WHERE g.workspace = ?1 AND g.segment IN (SELECT value FROM integer_list(?2)) AND g.is_indexed = 0;

-- name: stash_segments
UPDATE segments SET state = 'stashed', stashed_at = ?3, stash_reason = ?4, is_indexed = 1, version = {{version_of_session}}
WHERE workspace = ?1 AND segment IN (SELECT value FROM integer_list(?2)) AND trashed_run IS NULL;

-- Segments that a run has stashed: the items of its plan, less those that it left alone.
-- name: stashed_by
SELECT p.object FROM plan_items p
WHERE p.workspace = ?1 AND p.plan = ?2 AND p.kind = 'segment' AND p.action = 'stash'
  AND NOT EXISTS (SELECT 1 FROM run_skips s WHERE s.workspace = p.workspace AND s.run = ?3 AND s.position = p.position)
ORDER BY p.position;

-- Those that were not restored, or stashed again, since the run from ?3 to ?4.
-- name: still_stashed
SELECT segment FROM segments
WHERE workspace = ?1 AND segment IN (SELECT value FROM integer_list(?2))
  AND state = 'stashed' AND trashed_run IS NULL AND stashed_at >= ?3 AND stashed_at <= ?4;

-- name: unstash_segments
UPDATE segments SET state = 'active', stashed_at = NULL, version = {{version_of_session}}
WHERE workspace = ?1 AND segment IN (SELECT value FROM integer_list(?2));

-- name: trash_sessions
UPDATE sessions SET trashed_run = ?3, trashed_at = ?4, version = version + 1
WHERE workspace = ?1 AND session IN (SELECT value FROM integer_list(?2)) AND trashed_run IS NULL;

-- name: segments_trashed_by
SELECT segment FROM segments WHERE workspace = ?1 AND trashed_run = ?2 ORDER BY segment;

-- name: restore_segments
UPDATE segments SET trashed_run = NULL, trashed_at = NULL, version = {{version_of_session}}
WHERE workspace = ?1 AND segment IN (SELECT value FROM integer_list(?2));

-- A living session may have the name only after a restore.
-- name: restore_sessions
UPDATE sessions SET trashed_run = NULL, trashed_at = NULL, version = version + 1, epoch = epoch + 1, updated_at = ?3
WHERE workspace = ?1 AND trashed_run = ?2
  AND NOT EXISTS (SELECT 1 FROM sessions living
                  WHERE living.workspace = sessions.workspace AND living.session_id = sessions.session_id
                    AND living.trashed_run IS NULL);

-- name: sessions_trashed_by
SELECT s.session, s.session_id, s.created_at, {{s_bytes}} FROM sessions s
WHERE s.workspace = ?1 AND s.trashed_run = ?2 ORDER BY s.session;

-- What a purge of a run takes: segments it trashed, and all others of the sessions it trashed. In the order of the
-- indexes, so that a batch costs what it takes.
-- fragment: rest_of_trashed_sessions
FROM sessions s JOIN segments g ON g.workspace = s.workspace AND g.session = s.session
WHERE s.workspace = ?1 AND s.trashed_run = ?2 AND (g.trashed_run IS NULL OR g.trashed_run <> ?2)

-- name: trashed_segments
SELECT segment FROM segments WHERE workspace = ?1 AND trashed_run = ?2 LIMIT ?3;

-- name: rest_of_trashed_sessions
SELECT g.segment {{rest_of_trashed_sessions}} LIMIT ?3;

-- As far as ?3, which is all that anybody wants to know.
-- name: count_to_purge
SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM segments WHERE workspace = ?1 AND trashed_run = ?2 LIMIT ?3) t)
     + (SELECT COUNT(*) FROM (SELECT 1 {{rest_of_trashed_sessions}} LIMIT ?3) t);

-- name: all_segments
-- scans: purge of a whole workspace, in batches
SELECT segment FROM segments WHERE workspace = ?1 ORDER BY segment LIMIT ?2;

-- name: removed_segments
SELECT g.segment, g.text_hash, g.bytes, g.is_indexed, g.created_at, g.segment_id, {{g_bytes}} FROM segments g
WHERE g.workspace = ?1 AND g.segment IN (SELECT value FROM integer_list(?2)) ORDER BY g.segment;

-- name: delete_texts
DELETE FROM segment_texts WHERE workspace = ?1 AND segment IN (SELECT value FROM integer_list(?2));

-- name: delete_segments
DELETE FROM segments WHERE workspace = ?1 AND segment IN (SELECT value FROM integer_list(?2));

-- name: segments_of_sessions
SELECT segment FROM segments WHERE workspace = ?1 AND session IN (SELECT value FROM integer_list(?2));

-- name: delete_ledgers
DELETE FROM ledger WHERE workspace = ?1 AND session IN (SELECT value FROM integer_list(?2));

-- name: delete_sessions
DELETE FROM sessions WHERE workspace = ?1 AND session IN (SELECT value FROM integer_list(?2));

-- name: segment_totals
SELECT COUNT(*), CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM segments
WHERE workspace = ?1 AND segment IN (SELECT value FROM integer_list(?2));

-- name: session_totals
SELECT CAST(COALESCE(SUM(g.bytes), 0) AS BIGINT) FROM segments g
WHERE g.workspace = ?1 AND g.session IN (SELECT value FROM integer_list(?2));

-- What a preview shows.
-- name: segment_descriptions
SELECT g.segment, g.segment_id, s.session_id, g.file_path, g.created_at
FROM segments g JOIN sessions s ON s.workspace = g.workspace AND s.session = g.session
WHERE g.workspace = ?1 AND g.segment IN (SELECT value FROM integer_list(?2));

-- name: session_descriptions
SELECT s.session, s.session_id, s.created_at, {{s_bytes}} FROM sessions s
WHERE s.workspace = ?1 AND s.session IN (SELECT value FROM integer_list(?2));

-- fragment: forget_filters
g.workspace = ?1 AND (?2 = 1 OR (g.trashed_run IS NULL AND s.trashed_run IS NULL))
  AND (g.written_by = ?3 OR ?3 IS NULL)
  AND (g.created_at >= ?4 OR ?4 IS NULL)
  AND (g.created_at <= ?5 OR ?5 IS NULL)

-- name: forget_by_filters
-- scans: a forget by filters looks at every segment
SELECT g.segment, g.session, g.version, g.pinned, g.tool_call_id, g.tags
FROM segments g JOIN sessions s ON s.workspace = g.workspace AND s.session = g.session
WHERE {{forget_filters}};

-- Every word of a segment: only what was stashed is in an index.
-- name: forget_by_words
-- scans: only what was stashed is in an index
SELECT g.segment, g.session, g.version, g.pinned, g.tool_call_id, g.tags, g.segment_id, g.file_path, g.topic_id,
       g.task_id, t.text, t.raw
FROM segments g
JOIN sessions s ON s.workspace = g.workspace AND s.session = g.session
JOIN segment_texts t ON t.workspace = g.workspace AND t.segment = g.segment
WHERE {{forget_filters}};

-- Halves of tool calls of some sessions.
-- name: tool_halves
SELECT g.segment, g.session, g.version, g.pinned, g.tool_call_id
FROM segments g JOIN sessions s ON s.workspace = g.workspace AND s.session = g.session
WHERE g.workspace = ?1 AND g.session IN (SELECT value FROM integer_list(?2)) AND g.tool_call_id IS NOT NULL
  AND (?3 = 1 OR (g.trashed_run IS NULL AND s.trashed_run IS NULL));

-- name: only_stashes
SELECT EXISTS (SELECT 1 FROM plan_items WHERE workspace = ?1 AND plan = ?2 AND action = 'stash')
   AND NOT EXISTS (SELECT 1 FROM plan_items WHERE workspace = ?1 AND plan = ?2 AND action <> 'stash');

-- name: explained_segment
SELECT g.segment_id, s.session_id, g.state, g.pinned, g.pin_reason, g.trashed_run, g.trashed_at, s.trashed_run,
       s.trashed_at
FROM segments g JOIN sessions s ON s.workspace = g.workspace AND s.session = g.session
WHERE g.workspace = ?1 AND g.segment = ?2;

-- What follows are parts of statements that ask about every kind at once (`each`).

-- fragment: runs_with_trash_before.segment
SELECT DISTINCT trashed_run FROM segments
WHERE workspace = ?1 AND trashed_run IS NOT NULL AND trashed_at <= ?2

-- fragment: has_trash_of_run.segment
EXISTS (SELECT 1 FROM segments g WHERE g.workspace = r.workspace AND g.trashed_run = r.run row_by_row())

-- fragment: trash_without_run.segment
(SELECT COUNT(*) FROM segments g WHERE g.workspace = ?1 AND g.trashed_run IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM runs r WHERE r.workspace = g.workspace AND r.run = g.trashed_run))

-- Of segments and sessions the last column is the number that their id packs.
-- fragment: trash_rows.segment
SELECT 'segment' AS kind, CAST(NULL AS BYTEA) AS object, g.segment_id AS name, s.session_id AS topic,
       g.trashed_at AS trashed_at, g.trashed_run AS run, g.segment AS revision
FROM segments g JOIN sessions s ON s.workspace = g.workspace AND s.session = g.session
WHERE g.workspace = ?1 AND g.trashed_run IS NOT NULL

-- fragment: trash_bytes.segment
(SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM segments WHERE workspace = ?1 AND trashed_run IS NOT NULL)

-- fragment: runs_with_trash_before.session
SELECT DISTINCT trashed_run FROM sessions
WHERE workspace = ?1 AND trashed_run IS NOT NULL AND trashed_at <= ?2

-- fragment: has_trash_of_run.session
EXISTS (SELECT 1 FROM sessions s WHERE s.workspace = r.workspace AND s.trashed_run = r.run row_by_row())

-- fragment: trash_without_run.session
(SELECT COUNT(*) FROM sessions s WHERE s.workspace = ?1 AND s.trashed_run IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM runs r WHERE r.workspace = s.workspace AND r.run = s.trashed_run))

-- fragment: trash_rows.session
SELECT 'session' AS kind, CAST(NULL AS BYTEA) AS object, s.session_id AS name, CAST(NULL AS TEXT) AS topic,
       s.trashed_at AS trashed_at, s.trashed_run AS run, s.session AS revision
FROM sessions s WHERE s.workspace = ?1 AND s.trashed_run IS NOT NULL

-- fragment: trash_bytes.session
(SELECT CAST(COALESCE(SUM(g.bytes), 0) AS BIGINT)
 FROM sessions s JOIN segments g ON g.workspace = s.workspace AND g.session = s.session
 WHERE s.workspace = ?1 AND s.trashed_run IS NOT NULL AND g.trashed_run IS NULL)
