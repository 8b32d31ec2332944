-- The versions that the database has been brought to.
CREATE TABLE debate_version (version INTEGER NOT NULL);

-- A debate, and what a list tells of it.
CREATE TABLE debate (
	no      INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice
	id      TEXT    NOT NULL UNIQUE,
	seq     INTEGER NOT NULL, -- of the last event
	at      TEXT    NOT NULL, -- of the last event; UTC, all times equally wide, so that their order is that of texts
	started TEXT    NOT NULL,
	state   TEXT    NOT NULL,
	round   INTEGER NOT NULL,
	about   TEXT    NOT NULL  -- JSON: topic and labels
);

CREATE INDEX debate_started ON debate (started);
CREATE INDEX debate_unfinished ON debate (id) WHERE state NOT IN ('completed', 'canceled');

-- One commit to the log of a debate: the events numbered after+1 to last, where key is
-- debate.no * 4294967296 + after. The commits of a debate lie side by side, in their order, in one tree.
CREATE TABLE debate_commit (
	key    INTEGER PRIMARY KEY,
	last   INTEGER NOT NULL,
	at     TEXT    NOT NULL, -- of the last event
	state  TEXT,             -- of the debate, if the commit changes it
	round  INTEGER,          -- likewise
	writer TEXT    NOT NULL,
	body   TEXT    NOT NULL  -- one event a line, as JSON
);

-- A commit is one statement. The state is touched only where it changes: an index depends on it.
CREATE TRIGGER debate_committed AFTER INSERT ON debate_commit BEGIN
	UPDATE debate SET seq = new.last, at = new.at, round = coalesce(new.round, round) WHERE no = new.key / 4294967296;
END;

CREATE TRIGGER debate_moved AFTER INSERT ON debate_commit WHEN new.state IS NOT NULL BEGIN
	UPDATE debate SET state = new.state WHERE no = new.key / 4294967296;
END;

-- Where to look for labels: pair is name and value as JSON, cut after so many bytes. A debate may stand
-- at pairs that it has no more, or that are longer; debate.about says which it has.
CREATE TABLE debate_label (
	pair   TEXT    NOT NULL,
	debate INTEGER NOT NULL,
	PRIMARY KEY (pair, debate)
) WITHOUT ROWID;

CREATE INDEX debate_label_debate ON debate_label (debate);

-- Who runs a debate, and until when in microseconds since 1970.
CREATE TABLE debate_lease (
	id    TEXT    NOT NULL PRIMARY KEY,
	owner TEXT    NOT NULL,
	until INTEGER NOT NULL
) WITHOUT ROWID;
