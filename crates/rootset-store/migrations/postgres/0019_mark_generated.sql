-- Whether a file of the code index was written by a program; NULL where no run has said so. Until now, such files were left out.
ALTER TABLE files ADD COLUMN is_generated BIGINT;
