-- The debates that could not be opened: how often in a row, why at last, and until when in microseconds since 1970 workers
-- leave them alone.
CREATE TABLE debate_quarantine (
	id     text   COLLATE "C" PRIMARY KEY,
	count  bigint NOT NULL,
	reason text   NOT NULL,
	until  bigint NOT NULL
);

CREATE TRIGGER debate_let_out AFTER DELETE ON debate_quarantine FOR EACH ROW EXECUTE FUNCTION debate_announce_release();
