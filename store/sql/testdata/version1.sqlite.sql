-- A database of version 1. From the first release on it never changes.

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

INSERT INTO debate_version (version) VALUES (1);

INSERT INTO debate (no, id, seq, at, started, state, round, about) VALUES (7, 'kept', 0, '', '2026-03-01T10:00:00.000000000Z', '', 0,
	'{"topic":"Should cities ban cars from their centres?","labels":{"tenant":"blue"}}');
INSERT INTO debate_commit (key, last, at, state, round, writer, body) VALUES
	(30064771072, 2, '2026-03-01T10:00:00.000000001Z', 'initializing', NULL, 'w', '{"seq":1,"at":"2026-03-01T10:00:00Z","kind":"start","body":{"version":1,"flow":"debate","flowVersion":1,"config":{"topic":"Should cities ban cars from their centres?","labels":{"tenant":"blue"}},"settings":{"id":"kept","topic":"Should cities ban cars from their centres?","labels":{"tenant":"blue"}},"seed":"5eed"}}
{"seq":2,"at":"2026-03-01T10:00:00.000000001Z","kind":"transition","body":{"from":"ready","to":"initializing","on":"start"}}'),
	(30064771074, 4, '2026-03-01T10:00:02.000000000Z', NULL, 1, 'w', '{"seq":3,"at":"2026-03-01T10:00:01.5Z","kind":"round","body":{"n":1,"of":3}}
{"seq":4,"at":"2026-03-01T10:00:02Z","kind":"turn","body":{"call":"r1.ada","attempt":1,"round":1,"slot":0,"kind":"turn","speaker":"Ada","text":"Yes: it''s quieter."}}');
INSERT INTO debate_label (pair, debate) VALUES ('["tenant","blue"]', 7);
INSERT INTO debate_lease (id, owner, until) VALUES ('kept', 'nobody is left', 1);
