-- The debates at which a process works, or should. The words are exactly those of the queries.
CREATE INDEX debate_working ON debate (id) WHERE state NOT IN
	('', 'configuring', 'validating', 'ready', 'paused', 'awaitingInput', 'completed', 'canceled', 'error');

-- Work is announced to whoever listens, with the schema of these tables, when the transaction is committed.
CREATE FUNCTION debate_announce() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_notify('debate_work', TG_TABLE_SCHEMA);
	RETURN NULL;
END $$;

CREATE TRIGGER debate_begun AFTER INSERT ON debate FOR EACH ROW
	WHEN (NEW.state NOT IN ('', 'configuring', 'validating', 'ready', 'paused', 'awaitingInput', 'completed', 'canceled', 'error'))
	EXECUTE FUNCTION debate_announce();

CREATE TRIGGER debate_woken AFTER UPDATE OF state ON debate FOR EACH ROW
	WHEN (OLD.state IN ('', 'configuring', 'validating', 'ready', 'paused', 'awaitingInput', 'completed', 'canceled', 'error')
		AND NEW.state NOT IN ('', 'configuring', 'validating', 'ready', 'paused', 'awaitingInput', 'completed', 'canceled', 'error'))
	EXECUTE FUNCTION debate_announce();

CREATE FUNCTION debate_announce_release() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT 1 FROM debate WHERE id = OLD.id AND state NOT IN
		('', 'configuring', 'validating', 'ready', 'paused', 'awaitingInput', 'completed', 'canceled', 'error')) THEN
		PERFORM pg_notify('debate_work', TG_TABLE_SCHEMA);
	END IF;
	RETURN NULL;
END $$;

CREATE TRIGGER debate_released AFTER DELETE ON debate_lease FOR EACH ROW EXECUTE FUNCTION debate_announce_release();
