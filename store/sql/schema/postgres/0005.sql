-- What machines share of the limits of accounts.
CREATE TABLE debate_limit (
	name    text   COLLATE "C" PRIMARY KEY,
	version bigint NOT NULL, -- counts the updates
	value   text   NOT NULL  -- JSON
) WITH (fillfactor = 50);
