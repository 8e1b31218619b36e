-- Everything that is stored as text, page by page, for whoever looks for secrets in it. Keys go up, so a page begins where the last one ended.
-- name: revisions_after
SELECT r.memory, r.revision, m.name, m.repo IS NOT NULL, m.trashed_run IS NOT NULL OR r.trashed_run IS NOT NULL,
  m.file_path, m.source, m.metadata, m.tags, m.pin_reason, m.supersede_reason,
  r.topic, r.context, r.decisions, r.rationale
FROM revisions r
JOIN memories m ON m.workspace = r.workspace AND m.memory = r.memory
WHERE r.workspace = ?1 AND (r.memory, r.revision) > (?2, ?3)
ORDER BY r.memory, r.revision
LIMIT ?4;

-- name: untracked_after
SELECT u.object, u.run, e.name, e.type, u.description, u.trashed_run IS NOT NULL
FROM untracked u
LEFT JOIN entities e ON e.workspace = u.workspace AND e.entity = u.object
WHERE u.workspace = ?1 AND (u.object, u.run) > (?2, ?3)
ORDER BY u.object, u.run
LIMIT ?4;

-- name: segments_after
SELECT t.segment, n.session_id, s.segment_id, t.text, t.raw, s.tags, s.topic_id, s.task_id, s.pin_reason, s.file_path,
  s.trashed_run IS NOT NULL OR n.trashed_run IS NOT NULL
FROM segment_texts t
JOIN segments s ON s.workspace = t.workspace AND s.segment = t.segment
JOIN sessions n ON n.workspace = s.workspace AND n.session = s.session
WHERE t.workspace = ?1 AND t.segment > ?2
ORDER BY t.segment
LIMIT ?3;
