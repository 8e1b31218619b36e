-- name: last
SELECT seq, hash FROM audit WHERE chain = ?1 ORDER BY seq DESC LIMIT 1;

-- name: insert
INSERT INTO audit (chain, seq, at, actor, operation, counts, plan, run, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9);

-- name: chains
SELECT DISTINCT chain FROM audit ORDER BY chain;

-- name: chain
SELECT seq, at, actor, operation, counts, plan, run, hash FROM audit WHERE chain = ?1 ORDER BY seq;

-- fragment: matching_entries
FROM audit
WHERE chain = ?1 AND (?2 IS NULL OR at >= ?2) AND (?3 IS NULL OR at < ?3) AND (?4 IS NULL OR operation = ?4)

-- name: entries
SELECT seq, at, actor, operation, counts, plan, run {{matching_entries}}
ORDER BY seq DESC LIMIT ?5 OFFSET ?6;

-- name: entry_count
SELECT COUNT(*) {{matching_entries}};
