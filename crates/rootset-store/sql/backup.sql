-- What a backup holds, table by table: read in the order of the key, so that equal rows make equal files. The columns
-- stand in the order of `backup/tables.rs`. Workspaces have numbers here and names in a bundle.

-- Quotas of earlier versions may be greater than any count can be: they are read as the greatest count.
-- name: read_workspaces
SELECT workspace_id, name, description,
       CASE WHEN quota_memories > 9007199254740992 THEN 9007199254740992 ELSE quota_memories END,
       CASE WHEN quota_bytes > 9007199254740992 THEN 9007199254740992 ELSE quota_bytes END,
       created_at, last_write_at, trashed_run, trashed_at, class, person, workspace
FROM workspaces ORDER BY workspace_id;

-- name: read_runs
SELECT run, operation, plan, actor, started_at, finished_at, cursor, counts, undo_until, undone_at, purged_at,
       erasure, receipt, is_stamp_in_doubt, drain, channel, trust
FROM runs WHERE workspace = ?1 ORDER BY run;

-- name: read_memories
SELECT memory, sequence, name, source, repo, file_path, written_by, status, last_error, attempts, version, revision,
       pending_revision, source_version, doc_hash, metadata, tags, created_at, updated_at, ingested_at, expires_at,
       pinned, pin_reason, superseded_by, superseded_at, supersede_reason, trashed_run, trashed_at, stale_at,
       is_stamp_in_doubt, seal, channel, trust, pinned_by, pinned_actor, place, occurred_from, occurred_until
FROM memories WHERE workspace = ?1 ORDER BY memory;

-- name: read_revisions
SELECT memory, revision, topic, context, decisions, rationale, bytes, created_at, extractor, extractor_version,
       extraction, trashed_run, trashed_at, seal, channel, trust, written_by
FROM revisions WHERE workspace = ?1 ORDER BY memory, revision;

-- name: read_chunks
SELECT chunk, memory, ordinal, part, start, length, is_question, symbol
FROM chunks WHERE workspace = ?1 ORDER BY chunk;

-- name: read_memory_tags
SELECT tag, memory
FROM memory_tags WHERE workspace = ?1 ORDER BY tag, memory;

-- name: read_memory_names
SELECT memory, kind, name
FROM memory_names WHERE workspace = ?1 ORDER BY kind, name, memory;

-- name: read_uses
SELECT memory, use_count, last_used_at
FROM uses WHERE workspace = ?1 ORDER BY memory;

-- name: read_shown
SELECT memory, shown_count, last_shown_at
FROM shown WHERE workspace = ?1 ORDER BY memory;

-- name: read_entities
SELECT entity, number, name, type, normal_name, normaliser, created_at, is_symbol
FROM entities WHERE workspace = ?1 ORDER BY entity;

-- name: read_relations
SELECT relation, source, verb, target, normaliser, created_at
FROM relations WHERE workspace = ?1 ORDER BY relation;

-- name: read_contributions
SELECT memory, object, kind, revision, text, weight
FROM contributions WHERE workspace = ?1 ORDER BY memory, object;

-- name: read_untracked
SELECT object, run, kind, description, created_at, trashed_run, trashed_at
FROM untracked WHERE workspace = ?1 ORDER BY object, run;

-- name: read_vectors
SELECT chunk, space, scale, codes
FROM vectors WHERE workspace = ?1 ORDER BY chunk;

-- name: read_vector_originals
SELECT chunk, vector
FROM vector_originals WHERE workspace = ?1 ORDER BY chunk;

-- name: read_repos
SELECT repo, root, run, run_id, run_at, scope, trusted_at, created_at
FROM repos WHERE workspace = ?1 ORDER BY repo;

-- name: read_files
SELECT repo, path, memory, size, modified_ns, changed_ns, inode, content_hash, extractor, language, is_test,
       is_mounted, lines, functions, classes, is_generated
FROM files WHERE workspace = ?1 ORDER BY repo, path, memory;

-- name: read_symbols
SELECT memory, ordinal, name, qualified_name, kind, parent, first_line, last_line, start, length, signature
FROM symbols WHERE workspace = ?1 ORDER BY memory, ordinal;

-- name: read_code_references
SELECT memory, packed
FROM code_references WHERE workspace = ?1 ORDER BY memory;

-- name: read_sessions
SELECT session, session_id, version, epoch, settings, focus, collections, next_step, created_at, updated_at, created_by,
       trashed_run, trashed_at
FROM sessions WHERE workspace = ?1 ORDER BY session;

-- name: read_segments
SELECT session, segment, segment_id, type, role, tool_call_id, tokens, created_at, created_step, touched_at,
       touched_step, pinned, pin_reason, invariant, file_path, first_line, last_line, tags, topic_id, task_id, refs,
       reply_to, derived_from, names, text_hash, text_chars, bytes, state, stashed_at, stash_reason, is_indexed,
       entered_collection, version, written_by, trashed_run, trashed_at, seal
FROM segments WHERE workspace = ?1 ORDER BY session, segment;

-- name: read_segment_texts
SELECT segment, text, raw, seal
FROM segment_texts WHERE workspace = ?1 ORDER BY segment;

-- name: read_ledger
SELECT session, seq, at, actor, segment, action, tokens, reason
FROM ledger WHERE workspace = ?1 ORDER BY session, seq;

-- name: read_retention
SELECT scope, target, policy, set_by, set_at, shown
FROM retention WHERE workspace = ?1 ORDER BY scope, target;

-- name: read_drains
SELECT drain, source, state, policies, found, total, announced_at, begins_at, ended_at
FROM drains WHERE workspace = ?1 ORDER BY drain;

-- name: read_projects
SELECT place, path, remote, root_commit, is_linked, declared, related, related_by, looked_at
FROM projects WHERE workspace = ?1 ORDER BY place;

-- name: read_erasures
SELECT erasure, at, actor, cause, run, class
FROM erasures WHERE workspace = ?1 ORDER BY erasure;

-- name: read_erased_contents
SELECT content_hash, memory, erasure
FROM erased_contents WHERE workspace = ?1 ORDER BY content_hash, memory;

-- name: read_erasure
SELECT erasure, at, actor, cause, run, class
FROM erasures WHERE workspace = ?1 AND erasure = ?2;

-- name: read_contents_of_erasure
SELECT content_hash, memory, erasure
FROM erased_contents WHERE workspace = ?1 AND erasure = ?2 ORDER BY content_hash, memory;

-- The number of notes of each erasure.
-- name: count_erased_contents
SELECT erasure, CAST(COUNT(*) AS BIGINT) FROM erased_contents WHERE workspace = ?1 GROUP BY erasure;

-- name: workspace_name
SELECT workspace_id FROM workspaces WHERE workspace = ?1;

-- A run that is known already gets the state of the backup; what was purged since stays purged. Observed times are those of
-- the restore: what the database saw before has nothing to do with what it sees now.
-- name: insert_runs
INSERT INTO runs (workspace, run, operation, plan, actor, started_at, finished_at, cursor, counts, undo_until,
                  undone_at, purged_at, erasure, receipt, is_stamp_in_doubt, drain, channel, trust, observed_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)
ON CONFLICT (workspace, run) DO UPDATE
SET finished_at = excluded.finished_at, cursor = excluded.cursor, counts = excluded.counts,
    started_at = excluded.started_at, undo_until = excluded.undo_until, undone_at = excluded.undone_at,
    is_stamp_in_doubt = excluded.is_stamp_in_doubt, observed_ms = excluded.observed_ms,
    purged_at = COALESCE(runs.purged_at, excluded.purged_at);

-- Rows of backups from before provenance was noted get what is known of them, as in migration 11.
-- name: insert_memories
INSERT INTO memories (workspace, memory, sequence, name, source, repo, file_path, written_by, status, last_error,
                      attempts, version, revision, pending_revision, source_version, doc_hash, metadata, tags,
                      created_at, updated_at, ingested_at, expires_at, pinned, pin_reason, superseded_by,
                      superseded_at, supersede_reason, trashed_run, trashed_at, stale_at, is_stamp_in_doubt, seal,
                      channel, trust, pinned_by, pinned_actor, place, occurred_from, occurred_until,
                      ingested_observed_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24,
        ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32,
        COALESCE(?33, CASE
          WHEN ?5 = 'code_indexer' THEN 'index'
          WHEN ?8 = 'cli' AND ?5 = 'server-memory' THEN 'import'
          WHEN ?8 = 'cli' AND ?5 <> 'agent' THEN 'cli'
          WHEN ?5 = 'user' THEN 'http'
          ELSE 'mcp' END),
        COALESCE(?34, CASE
          WHEN ?5 = 'code_indexer' OR (?8 = 'cli' AND ?5 = 'server-memory') THEN 'imported'
          WHEN ?8 = 'cli' AND ?5 <> 'agent' AND CAST(?13 AS BIGINT) = 1 AND CAST(?14 AS BIGINT) IS NULL THEN 'person'
          ELSE 'agent' END),
        COALESCE(?35, CASE
          WHEN CAST(?23 AS BIGINT) = 0 THEN NULL
          WHEN ?8 = 'cli' AND ?5 NOT IN ('agent', 'server-memory') THEN 'person'
          ELSE 'agent' END),
        ?36, ?37, ?38, ?39, ?40);

-- name: insert_revisions
INSERT INTO revisions (workspace, memory, revision, topic, context, decisions, rationale, bytes, created_at,
                       extractor, extractor_version, extraction, trashed_run, trashed_at, seal, channel, trust,
                       written_by)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18);

-- name: insert_chunks
INSERT INTO chunks (workspace, chunk, memory, ordinal, part, start, length, is_question, symbol)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9);

-- name: insert_memory_tags
INSERT INTO memory_tags (workspace, tag, memory) VALUES (?1, ?2, ?3);

-- name: insert_memory_names
INSERT INTO memory_names (workspace, memory, kind, name) VALUES (?1, ?2, ?3, ?4);

-- name: insert_uses
INSERT INTO uses (workspace, memory, use_count, last_used_at) VALUES (?1, ?2, ?3, ?4);

-- name: insert_shown
INSERT INTO shown (workspace, memory, shown_count, last_shown_at) VALUES (?1, ?2, ?3, ?4);

-- Before there was an index of code, no entity was a symbol.
-- name: insert_entities
INSERT INTO entities (workspace, entity, number, name, type, normal_name, normaliser, created_at, is_symbol)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, COALESCE(?9, 0));

-- name: insert_relations
INSERT INTO relations (workspace, relation, source, verb, target, normaliser, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: insert_contributions
INSERT INTO contributions (workspace, memory, object, kind, revision, text, weight)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: insert_untracked
INSERT INTO untracked (workspace, object, run, kind, description, created_at, trashed_run, trashed_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8);

-- The number is drawn anew: processes that keep vectors in memory look for numbers they have not seen.
-- name: insert_vectors
INSERT INTO vectors (workspace, chunk, space, scale, codes, number) VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: insert_vector_originals
INSERT INTO vector_originals (workspace, chunk, vector) VALUES (?1, ?2, ?3);

-- name: insert_repos
INSERT INTO repos (workspace, repo, root, run, run_id, run_at, scope, trusted_at, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9);

-- name: insert_files
INSERT INTO files (workspace, repo, path, memory, size, modified_ns, changed_ns, inode, content_hash, extractor,
                   language, is_test, is_mounted, lines, functions, classes, is_generated)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17);

-- name: insert_symbols
INSERT INTO symbols (workspace, memory, ordinal, name, qualified_name, kind, parent, first_line, last_line, start,
                     length, signature)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12);

-- name: insert_code_references
INSERT INTO code_references (workspace, memory, packed) VALUES (?1, ?2, ?3);

-- name: insert_sessions
INSERT INTO sessions (workspace, session, session_id, version, epoch, settings, focus, collections, next_step,
                      created_at, updated_at, created_by, trashed_run, trashed_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14);

-- name: insert_segments
INSERT INTO segments (workspace, session, segment, segment_id, type, role, tool_call_id, tokens, created_at,
                      created_step, touched_at, touched_step, pinned, pin_reason, invariant, file_path, first_line,
                      last_line, tags, topic_id, task_id, refs, reply_to, derived_from, names, text_hash, text_chars,
                      bytes, state, stashed_at, stash_reason, is_indexed, entered_collection, version, written_by,
                      trashed_run, trashed_at, seal)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24,
        ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38);

-- name: insert_segment_texts
INSERT INTO segment_texts (workspace, segment, text, raw, seal) VALUES (?1, ?2, ?3, ?4, ?5);

-- name: insert_ledger
INSERT INTO ledger (workspace, session, seq, at, actor, segment, action, tokens, reason)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9);

-- name: insert_retention
INSERT INTO retention (workspace, scope, target, policy, set_by, set_at, shown) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: insert_drains
INSERT INTO drains (workspace, drain, source, state, policies, found, total, announced_at, begins_at, ended_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10);

-- What is known of a folder now is newer than the backup.
-- name: insert_projects
INSERT INTO projects (workspace, place, path, remote, root_commit, is_linked, declared, related, related_by, looked_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
ON CONFLICT DO NOTHING;

-- A workspace out of a backup that is older than places.
-- name: note_unknown_place
INSERT INTO projects (workspace, place, path, looked_at)
SELECT w.workspace, '-', '', 0 FROM workspaces w
WHERE w.workspace = ?1 AND NOT EXISTS (SELECT 1 FROM projects p WHERE p.workspace = ?1);

-- Before there were classes, everything was erased.
-- name: insert_erasures
INSERT INTO erasures (workspace, erasure, at, actor, cause, run, class)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, COALESCE(?7, 'erased'))
ON CONFLICT DO NOTHING;

-- name: insert_erased_contents
INSERT INTO erased_contents (workspace, content_hash, memory, erasure) VALUES (?1, ?2, ?3, ?4)
{{on_noted_content}};

-- name: delete_memories
DELETE FROM memories WHERE workspace = ?1;

-- name: delete_revisions
DELETE FROM revisions WHERE workspace = ?1;

-- name: delete_chunks
DELETE FROM chunks WHERE workspace = ?1;

-- name: delete_memory_tags
DELETE FROM memory_tags WHERE workspace = ?1;

-- name: delete_memory_names
DELETE FROM memory_names WHERE workspace = ?1;

-- name: delete_uses
DELETE FROM uses WHERE workspace = ?1;

-- name: delete_shown
DELETE FROM shown WHERE workspace = ?1;

-- name: delete_contributions
DELETE FROM contributions WHERE workspace = ?1;

-- name: delete_vectors
DELETE FROM vectors WHERE workspace = ?1;

-- name: delete_vector_originals
DELETE FROM vector_originals WHERE workspace = ?1;

-- name: delete_repos
DELETE FROM repos WHERE workspace = ?1;

-- name: delete_files
DELETE FROM files WHERE workspace = ?1;

-- name: delete_symbols
DELETE FROM symbols WHERE workspace = ?1;

-- name: delete_code_references
DELETE FROM code_references WHERE workspace = ?1;

-- name: delete_sessions
DELETE FROM sessions WHERE workspace = ?1;

-- name: delete_segments
DELETE FROM segments WHERE workspace = ?1;

-- name: delete_segment_texts
DELETE FROM segment_texts WHERE workspace = ?1;

-- name: delete_ledger
DELETE FROM ledger WHERE workspace = ?1;

-- name: last_epoch
SELECT COALESCE(MAX(epoch), 0) FROM sessions WHERE workspace = ?1;

-- Whoever keeps a session in memory must not take the restored one for it, not even one that was purged in between.
-- name: raise_epochs
UPDATE sessions SET epoch = greatest(epoch, ?2, ?3) + 1 WHERE workspace = ?1;

-- name: delete_retention
DELETE FROM retention WHERE workspace = ?1;

-- name: delete_drains
DELETE FROM drains WHERE workspace = ?1;

-- name: delete_projects
DELETE FROM projects WHERE workspace = ?1;

-- name: delete_run_skips
DELETE FROM run_skips WHERE workspace = ?1;

-- name: find_number
SELECT 1 FROM workspaces WHERE workspace = ?1;

-- name: insert_workspace
INSERT INTO workspaces (workspace, workspace_id, name, description, quota_memories, quota_bytes, created_at,
                        last_write_at, trashed_run, trashed_at, class, person)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, COALESCE(?11, 'standard'), ?12);

-- name: update_workspace
UPDATE workspaces
SET workspace_id = ?2, name = ?3, description = ?4, quota_memories = ?5, quota_bytes = ?6, created_at = ?7,
    last_write_at = ?8, trashed_run = ?9, trashed_at = ?10, class = COALESCE(?11, 'standard'), person = ?12,
    look_at = NULL, looked_at_write = NULL
WHERE workspace = ?1;

-- Counters only ever grow: a number that was given once is never given again.
-- name: raise_counters
UPDATE workspaces
SET next_number = greatest(next_number, ?2,
        COALESCE((SELECT MAX(m.sequence) + 1 FROM memories m WHERE m.workspace = ?1), 1),
        COALESCE((SELECT MAX(e.number) + 1 FROM entities e WHERE e.workspace = ?1), 1)),
    next_chunk = greatest(next_chunk, ?3,
        COALESCE((SELECT MAX(ch.chunk) + 1 FROM chunks ch WHERE ch.workspace = ?1), 1)),
    next_session = greatest(next_session, ?4,
        COALESCE((SELECT MAX(s.session) + 1 FROM sessions s WHERE s.workspace = ?1), 1)),
    next_segment = greatest(next_segment, ?5,
        COALESCE((SELECT MAX(g.segment) + 1 FROM segments g WHERE g.workspace = ?1), 1))
WHERE workspace = ?1;

-- The counters of a workspace that goes, for the day it comes back under its number.
-- name: keep_counters
INSERT INTO kept_counters (workspace, next_number, next_chunk, next_session, next_segment)
SELECT workspace, next_number, next_chunk, next_session, next_segment FROM workspaces WHERE workspace = ?1
ON CONFLICT (workspace) DO UPDATE
SET next_number = excluded.next_number, next_chunk = excluded.next_chunk, next_session = excluded.next_session,
    next_segment = excluded.next_segment;

-- name: kept_counters
SELECT next_number, next_chunk, next_session, next_segment FROM kept_counters WHERE workspace = ?1;

-- name: count_again
UPDATE workspaces
SET memory_count = (SELECT COUNT(*) FROM memories m WHERE m.workspace = ?1),
    content_bytes = {{counted_bytes}}
WHERE workspace = ?1;

-- name: count_sources
INSERT INTO sources (workspace, source, memories)
SELECT workspace, source, COUNT(*) FROM memories WHERE workspace = ?1 GROUP BY workspace, source;

-- Nobody goes on with work that he began before the restore.
-- name: raise_fences
UPDATE jobs SET fence = fence + 1, lease_until = 0 WHERE workspace = ?1;

-- Completions of what is no longer there, and the leases of runs; the workspace's own leases have no subject.
-- name: delete_idle_jobs
DELETE FROM jobs
WHERE workspace = ?1 AND subject <> ?2 AND NOT (kind = 'complete' AND subject IN (
    SELECT m.memory FROM memories m WHERE m.workspace = ?1 AND m.status = 'pending'));

-- name: pending_memories
SELECT memory FROM memories WHERE workspace = ?1 AND status = 'pending' AND trashed_run IS NULL;

-- Runs that the backup does not know did their work on what is no longer there.
-- name: end_other_runs
UPDATE runs SET purged_at = COALESCE(purged_at, ?3), finished_at = COALESCE(finished_at, ?3)
WHERE workspace = ?1 AND run NOT IN (SELECT value FROM blob_list(?2));

-- Their plans are gone, so nobody can go on with them; what they took can be undone.
-- name: end_unfinished_runs
UPDATE runs SET finished_at = ?2 WHERE workspace = ?1 AND finished_at IS NULL;

-- The audit of a run from elsewhere is elsewhere, and so is its plan.
-- name: forget_foreign_plans
UPDATE runs SET plan = NULL
WHERE workspace = ?1 AND run NOT IN (SELECT a.run FROM audit a WHERE a.chain = ?1 AND a.run IS NOT NULL);

-- All that is noted, and how it went.
-- name: noted_contents
SELECT c.content_hash, c.memory, c.erasure, COALESCE(e.class, 'erased')
FROM erased_contents c LEFT JOIN erasures e ON e.workspace = c.workspace AND e.erasure = c.erasure
WHERE c.workspace = ?1;

-- fragment: was_only_removed
EXISTS (SELECT 1 FROM erasures e WHERE e.workspace = r.workspace AND e.run = r.run AND e.class = 'removed')
AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.workspace = r.workspace AND e.run = r.run AND e.class = 'erased')

-- Runs whose trash is gone, and whether what somebody had removed by them may come back into the trash.
-- name: purged_runs
SELECT r.run, {{was_only_removed}} FROM runs r WHERE r.workspace = ?1 AND r.purged_at IS NOT NULL;

-- Whatever trash they are in.
-- name: trash_memories_again
UPDATE memories SET trashed_run = ?3, trashed_at = ?4
WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2));

-- name: trash_revision_again
UPDATE revisions SET trashed_run = ?4, trashed_at = ?5 WHERE workspace = ?1 AND memory = ?2 AND revision = ?3;

-- name: trash_segments_again
UPDATE segments SET trashed_run = ?3, trashed_at = ?4
WHERE workspace = ?1 AND segment IN (SELECT value FROM integer_list(?2));

-- name: trash_sessions_again
UPDATE sessions SET trashed_run = ?3, trashed_at = ?4
WHERE workspace = ?1 AND session IN (SELECT value FROM integer_list(?2));

-- name: trash_untracked_again
UPDATE untracked SET trashed_run = ?3, trashed_at = ?4
WHERE workspace = ?1 AND trashed_run IN (SELECT value FROM blob_list(?2));

-- name: trash_untracked_row_again
UPDATE untracked SET trashed_run = ?4, trashed_at = ?5
WHERE workspace = ?1 AND object = ?2 AND run = ?3 AND (trashed_run IS NULL OR trashed_run <> ?4);

-- What the backup holds of a run's trash can be undone again.
-- name: revive_runs
UPDATE runs AS r SET purged_at = NULL
WHERE r.workspace = ?1 AND r.purged_at IS NOT NULL AND ({{each has_trash_of_run OR}});

-- name: current_revisions
SELECT memory, revision, pending_revision FROM memories
WHERE workspace = ?1 AND memory IN (SELECT value FROM blob_list(?2));

-- name: has_erased_contents
SELECT EXISTS (SELECT 1 FROM erased_contents WHERE workspace = ?1);

-- name: was_purged
SELECT erasure, class FROM erasures WHERE workspace = ?1 AND cause = 'purge_workspace';

-- name: set_erasure_key
UPDATE meta SET value = ?1 WHERE key = 'erasure_key';
-- on postgres:
SELECT COUNT(*) FROM set_erasure_key(?1);

-- name: reset_purged_chunks
UPDATE counters SET value = 0 WHERE name = 'purged_chunks';
