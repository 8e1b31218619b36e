-- name: last
SELECT seq, hash FROM audit WHERE chain = ?1 ORDER BY seq DESC LIMIT 1;

-- name: insert
INSERT INTO audit (chain, seq, at, actor, operation, counts, plan, run, hash, details, token, origin)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12);

-- name: chain
-- scans: doctor reads a chain from its beginning
SELECT seq, at, actor, operation, counts, plan, run, details, token, origin, hash
FROM audit WHERE chain = ?1 ORDER BY seq;

-- fragment: matching_entries
FROM audit
WHERE chain = ?1 AND (at >= ?2 OR ?2 IS NULL) AND (at < ?3 OR ?3 IS NULL) 
  AND (operation IN (SELECT value FROM text_list(?4)) OR ?5 = 1)

-- name: entries
SELECT seq, at, actor, operation, counts, plan, run, details, token, origin {{matching_entries}}
ORDER BY seq DESC LIMIT ?6 OFFSET ?7;

-- name: entry_count
SELECT COUNT(*) {{matching_entries}};
