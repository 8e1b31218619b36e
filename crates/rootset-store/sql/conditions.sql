-- What it means to be live, superseded, current or visible: written once, used by every statement that reads.

-- fragment: m_is_superseded
(m.superseded_by IS NOT NULL AND EXISTS (
    SELECT 1 FROM memories successor
    WHERE successor.workspace = m.workspace AND successor.memory = m.superseded_by
      AND successor.trashed_run IS NULL row_by_row()))

-- Current at the time ?2: what searches and descriptions use. Only the memory of an indexed file can be stale.
-- fragment: m_is_current
(m.trashed_run IS NULL AND (m.expires_at IS NULL OR m.expires_at > ?2) AND (m.stale_at IS NULL OR m.repo IS NULL)
    AND NOT {{m_is_superseded}})

-- What waits for a person before it is pushed from a workspace that several projects share: `waits_for_a_person` of
-- rootset-gc decides the same.
-- fragment: m_waits
(m.trust = 'untrusted' OR (m.trust <> 'person' AND (m.pinned_by IS NULL OR m.pinned_by <> 'person')))

-- An object (entity or relation) named o.object in o.workspace that somebody living vouches for.
-- fragment: o_has_living_contributor
EXISTS (
    SELECT 1 FROM contributions c
    JOIN memories m ON m.workspace = c.workspace AND m.memory = c.memory
    WHERE c.workspace = o.workspace AND c.object = o.object AND m.trashed_run IS NULL row_by_row())

-- What a row that an import brought counts against a quota: its text, and what its name and its indexes take at most.
-- `imported_bytes` of graph.rs counts the same.
-- fragment: u_bytes
CAST(256 + COALESCE(OCTET_LENGTH(u.description), 0) AS BIGINT)

-- What a memory, a segment and a session count against a quota beside their texts.
-- `attribute_bytes` of memories.rs counts the same.
-- fragment: m_bytes
CAST(COALESCE(OCTET_LENGTH(m.metadata), 0) + COALESCE(OCTET_LENGTH(m.tags), 0)
     + COALESCE(OCTET_LENGTH(m.pin_reason), 0) AS BIGINT)

-- `Packed::bytes` of context/change.rs counts the same.
-- fragment: g_bytes
CAST(COALESCE(OCTET_LENGTH(g.tags), 0) + COALESCE(OCTET_LENGTH(g.refs), 0) AS BIGINT)

-- fragment: s_bytes
CAST(OCTET_LENGTH(s.focus) AS BIGINT)

-- All that counts against the quota of the workspace ?1.
-- fragment: counted_bytes
((SELECT CAST(COALESCE(SUM(r.bytes), 0) AS BIGINT) FROM revisions r WHERE r.workspace = ?1)
 + (SELECT CAST(COALESCE(SUM({{m_bytes}}), 0) AS BIGINT) FROM memories m WHERE m.workspace = ?1)
 + (SELECT CAST(COALESCE(SUM(g.bytes + {{g_bytes}}), 0) AS BIGINT) FROM segments g WHERE g.workspace = ?1)
 + (SELECT CAST(COALESCE(SUM({{s_bytes}}), 0) AS BIGINT) FROM sessions s WHERE s.workspace = ?1)
 + (SELECT CAST(COALESCE(SUM({{u_bytes}}), 0) AS BIGINT) FROM untracked u WHERE u.workspace = ?1))

-- fragment: o_is_untracked
EXISTS (
    SELECT 1 FROM untracked u
    WHERE u.workspace = o.workspace AND u.object = o.object AND u.trashed_run IS NULL row_by_row())

-- fragment: o_is_visible
({{o_is_untracked}} OR {{o_has_living_contributor}})
