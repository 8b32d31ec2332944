-- JSON: what a debate has cost when its state changed last, and who has won; '' before the first.
ALTER TABLE debate ADD COLUMN result TEXT NOT NULL DEFAULT '';
ALTER TABLE debate_commit ADD COLUMN result TEXT; -- with the state

DROP TRIGGER debate_moved;

CREATE TRIGGER debate_moved AFTER INSERT ON debate_commit WHEN new.state IS NOT NULL BEGIN
	UPDATE debate SET state = new.state, result = coalesce(new.result, result) WHERE no = new.key / 4294967296;
END;
