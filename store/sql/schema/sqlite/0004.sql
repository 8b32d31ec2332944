-- The debates at which a process works, or should. The words are exactly those of the queries.
CREATE INDEX debate_working ON debate (id) WHERE state NOT IN
	('', 'configuring', 'validating', 'ready', 'paused', 'awaitingInput', 'completed', 'canceled', 'error');

-- Work is announced by a number that grows. Whoever listens looks at it when the file has changed.
CREATE TABLE debate_work (announced INTEGER NOT NULL);
INSERT INTO debate_work VALUES (0);

-- A debate begins without a state, so this is told of each that begins too.
CREATE TRIGGER debate_woken AFTER UPDATE OF state ON debate
	WHEN old.state IN ('', 'configuring', 'validating', 'ready', 'paused', 'awaitingInput', 'completed', 'canceled', 'error')
		AND new.state NOT IN ('', 'configuring', 'validating', 'ready', 'paused', 'awaitingInput', 'completed', 'canceled', 'error')
BEGIN
	UPDATE debate_work SET announced = announced + 1;
END;

CREATE TRIGGER debate_released AFTER DELETE ON debate_lease
	WHEN EXISTS (SELECT 1 FROM debate WHERE id = old.id AND state NOT IN
		('', 'configuring', 'validating', 'ready', 'paused', 'awaitingInput', 'completed', 'canceled', 'error'))
BEGIN
	UPDATE debate_work SET announced = announced + 1;
END;
