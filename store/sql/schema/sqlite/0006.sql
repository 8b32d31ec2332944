-- The debates that could not be opened: how often in a row, why at last, and until when in microseconds since 1970 workers
-- leave them alone.
CREATE TABLE debate_quarantine (
	id     TEXT    NOT NULL PRIMARY KEY,
	count  INTEGER NOT NULL,
	reason TEXT    NOT NULL,
	until  INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TRIGGER debate_let_out AFTER DELETE ON debate_quarantine
	WHEN EXISTS (SELECT 1 FROM debate WHERE id = old.id AND state NOT IN
		('', 'configuring', 'validating', 'ready', 'paused', 'awaitingInput', 'completed', 'canceled', 'error'))
BEGIN
	UPDATE debate_work SET announced = announced + 1;
END;
