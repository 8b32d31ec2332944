-- JSON: what a debate has cost when its state changed last, and who has won; '' before the first.
ALTER TABLE debate ADD COLUMN result text NOT NULL DEFAULT '';
