-- name: last
SELECT seq, hash FROM audit WHERE chain = ?1 ORDER BY seq DESC LIMIT 1;

-- name: insert
INSERT INTO audit (chain, seq, at, actor, operation, counts, plan, run, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9);

-- name: chains
SELECT DISTINCT chain FROM audit ORDER BY chain;

-- name: chain
SELECT seq, at, actor, operation, counts, plan, run, hash FROM audit WHERE chain = ?1 ORDER BY seq;
