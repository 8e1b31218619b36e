-- name: send
INSERT INTO outgoing (sink, at, body) VALUES (?1, ?2, ?3);

-- The oldest that a place has not had yet.
-- name: waiting
SELECT number, at, body FROM outgoing WHERE sink = ?1 ORDER BY number LIMIT ?2;

-- name: delivered
DELETE FROM outgoing WHERE number IN (SELECT value FROM integer_list(?1));

-- Where a place cannot be reached for too long, the oldest go: the audit has them all.
-- name: drop_older
DELETE FROM outgoing WHERE sink = ?1 AND number <= (
    SELECT number FROM outgoing WHERE sink = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2);

-- name: waiting_counts
-- scans: one row per event that waits
SELECT sink, COUNT(*) FROM outgoing GROUP BY sink;
