-- The open questions to persons: when the oldest was asked, a space, and how many there are; '': none.
ALTER TABLE debate ADD COLUMN asked TEXT NOT NULL DEFAULT '';
ALTER TABLE debate_commit ADD COLUMN asked TEXT; -- if that has changed

-- A debate that waits since before this version says nothing of its questions.
CREATE INDEX debate_asked ON debate (id) WHERE asked <> '' OR state = 'awaitingInput';

-- It is touched only where it changes: the index depends on it.
CREATE TRIGGER debate_asking AFTER INSERT ON debate_commit WHEN new.asked IS NOT NULL BEGIN
	UPDATE debate SET asked = new.asked WHERE no = new.key / 4294967296 AND asked <> new.asked;
END;
