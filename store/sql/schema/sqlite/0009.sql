-- The open questions to persons: when the oldest was asked, a space, and how many there are; '': none.
ALTER TABLE debate ADD COLUMN asked TEXT NOT NULL DEFAULT '';
ALTER TABLE debate_commit ADD COLUMN asked TEXT; -- if that has changed

-- When something follows although nobody answers them, in microseconds since 1970; 0: nothing does.
ALTER TABLE debate ADD COLUMN wake INTEGER NOT NULL DEFAULT 0;
ALTER TABLE debate_commit ADD COLUMN wake INTEGER; -- with asked

-- A debate that waits since before this version says nothing of its questions.
CREATE INDEX debate_asked ON debate (id) WHERE asked <> '' OR state = 'awaitingInput';

-- They are touched only where they change: the index depends on one.
CREATE TRIGGER debate_asking AFTER INSERT ON debate_commit WHEN new.asked IS NOT NULL BEGIN
	UPDATE debate SET asked = new.asked, wake = new.wake
		WHERE no = new.key / 4294967296 AND (asked <> new.asked OR wake <> new.wake);
END;

DROP TRIGGER debate_rung;

-- An append sets the alarm, in whatever order the triggers run. It is touched only where it changes: an index depends on it.
CREATE TRIGGER debate_rung AFTER INSERT ON debate_commit
	WHEN EXISTS (SELECT 1 FROM debate WHERE no = new.key / 4294967296 AND due <>
		CASE WHEN coalesce(new.state, state) = 'awaitingInput' THEN coalesce(new.wake, wake) ELSE 0 END)
BEGIN
	UPDATE debate SET due = CASE WHEN coalesce(new.state, state) = 'awaitingInput' THEN coalesce(new.wake, wake) ELSE 0 END
		WHERE no = new.key / 4294967296;
END;
