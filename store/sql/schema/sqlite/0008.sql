-- When a debate needs a process next, in microseconds since 1970, and not before; 0: there is no alarm. An append sets it to 0.
ALTER TABLE debate ADD COLUMN due INTEGER NOT NULL DEFAULT 0;

-- When the state was entered; '': unknown.
ALTER TABLE debate ADD COLUMN since TEXT NOT NULL DEFAULT '';
ALTER TABLE debate_commit ADD COLUMN since TEXT; -- with the state, if that is another one

-- The oldest version whose programs can use the tables.
ALTER TABLE debate_version ADD COLUMN oldest INTEGER NOT NULL DEFAULT 1;

-- The debates that need a process, now or later. The words are exactly those of the queries.
CREATE INDEX debate_due ON debate (due, id) WHERE due > 0 OR state NOT IN
	('', 'configuring', 'validating', 'ready', 'paused', 'awaitingInput', 'completed', 'canceled', 'error');

DROP TRIGGER debate_moved;

CREATE TRIGGER debate_moved AFTER INSERT ON debate_commit WHEN new.state IS NOT NULL BEGIN
	UPDATE debate SET state = new.state, result = coalesce(new.result, result), since = coalesce(new.since, since)
		WHERE no = new.key / 4294967296;
END;

-- The alarm is touched only where there is one, as the state is only where it changes: an index depends on it.
CREATE TRIGGER debate_rung AFTER INSERT ON debate_commit
	WHEN EXISTS (SELECT 1 FROM debate WHERE no = new.key / 4294967296 AND due > 0)
BEGIN
	UPDATE debate SET due = 0 WHERE no = new.key / 4294967296;
END;

DROP TRIGGER debate_released;

-- A debate whose alarm is set needs nobody yet.
CREATE TRIGGER debate_released AFTER DELETE ON debate_lease
	WHEN EXISTS (SELECT 1 FROM debate WHERE id = old.id AND due = 0 AND state NOT IN
		('', 'configuring', 'validating', 'ready', 'paused', 'awaitingInput', 'completed', 'canceled', 'error'))
BEGIN
	UPDATE debate_work SET announced = announced + 1;
END;
