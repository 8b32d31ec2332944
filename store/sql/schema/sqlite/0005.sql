-- What machines share of the limits of accounts.
CREATE TABLE debate_limit (
	name    TEXT    NOT NULL PRIMARY KEY,
	version INTEGER NOT NULL, -- counts the updates
	value   TEXT    NOT NULL  -- JSON
) STRICT, WITHOUT ROWID;
