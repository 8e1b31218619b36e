-- Seals: each row of these tables holds a hash of what it says, so that a text that rotted on the disk is noticed. NULL in
-- rows that were last written before there were seals.
ALTER TABLE memories ADD COLUMN seal BYTEA;
ALTER TABLE revisions ADD COLUMN seal BYTEA;
ALTER TABLE segments ADD COLUMN seal BYTEA;
ALTER TABLE segment_texts ADD COLUMN seal BYTEA;
