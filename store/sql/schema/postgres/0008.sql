-- When a debate needs a process next, in microseconds since 1970, and not before; 0: there is no alarm. An append sets it to 0.
ALTER TABLE debate ADD COLUMN due bigint NOT NULL DEFAULT 0;

-- When the state was entered; '': unknown.
ALTER TABLE debate ADD COLUMN since text COLLATE "C" NOT NULL DEFAULT '';

-- The oldest version whose programs can use the tables.
ALTER TABLE debate_version ADD COLUMN oldest bigint NOT NULL DEFAULT 1;

-- When a debate needs a process: at its alarm, or from the beginning of time on. The words are exactly those of the queries. The server
-- keeps statistics of such an expression, by which it knows that few debates need one now. It heeds none of an index with a condition.
CREATE INDEX debate_due ON debate ((CASE WHEN due > 0 THEN due WHEN state NOT IN
	('', 'configuring', 'validating', 'ready', 'paused', 'awaitingInput', 'completed', 'canceled', 'error') THEN 0 END));

-- A debate whose alarm is set needs nobody yet. Whoever releases it may have another search path.
CREATE OR REPLACE FUNCTION debate_announce_release() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE works boolean;
BEGIN
	EXECUTE format($q$
		SELECT EXISTS (SELECT 1 FROM %I.debate WHERE id = $1 AND due = 0 AND state NOT IN
			('', 'configuring', 'validating', 'ready', 'paused', 'awaitingInput', 'completed', 'canceled', 'error'))
	$q$, TG_TABLE_SCHEMA) INTO works USING OLD.id;
	IF works THEN
		PERFORM pg_notify('debate_work', TG_TABLE_SCHEMA);
	END IF;
	RETURN NULL;
END $$;
