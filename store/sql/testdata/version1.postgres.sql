-- A database of version 1. From the first release on it never changes.

-- The versions that the database has been brought to.
CREATE TABLE debate_version (version bigint NOT NULL);

-- A debate, and what a list tells of it. A page keeps room for the next version of its rows.
CREATE TABLE debate (
	no      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- never given twice
	id      text   COLLATE "C" NOT NULL UNIQUE,
	seq     bigint NOT NULL, -- of the last event
	at      text   COLLATE "C" NOT NULL, -- of the last event; UTC, all times equally wide, so that their order is that of texts
	started text   COLLATE "C" NOT NULL,
	state   text   COLLATE "C" NOT NULL,
	round   bigint NOT NULL,
	about   text   NOT NULL  -- JSON: topic and labels
) WITH (fillfactor = 50);

CREATE INDEX debate_started ON debate (started);
CREATE INDEX debate_unfinished ON debate (id) WHERE state NOT IN ('completed', 'canceled');

-- One commit to the log of a debate: the events numbered after+1 to last, where key is
-- debate.no * 4294967296 + after. The commits of a debate lie side by side, in their order, in one index.
CREATE TABLE debate_commit (
	key    bigint PRIMARY KEY,
	last   bigint NOT NULL,
	writer text   NOT NULL,
	body   text   COLLATE "C" NOT NULL -- one event a line, as JSON
);

-- Where to look for labels: pair is name and value as JSON, cut after so many bytes. A debate may stand
-- at pairs that it has no more, or that are longer; debate.about says which it has.
CREATE TABLE debate_label (
	pair   text   COLLATE "C" NOT NULL,
	debate bigint NOT NULL,
	PRIMARY KEY (pair, debate)
);

CREATE INDEX debate_label_debate ON debate_label (debate);

-- Who runs a debate, and until when in microseconds since 1970.
CREATE TABLE debate_lease (
	id    text   COLLATE "C" PRIMARY KEY,
	owner text   NOT NULL,
	until bigint NOT NULL
);

INSERT INTO debate_version (version) VALUES (1);

INSERT INTO debate (no, id, seq, at, started, state, round, about) OVERRIDING SYSTEM VALUE VALUES (7, 'kept', 4, '2026-03-01T10:00:02.000000000Z',
	'2026-03-01T10:00:00.000000000Z', 'initializing', 1, '{"topic":"Should cities ban cars from their centres?","labels":{"tenant":"blue"}}');
SELECT setval(pg_get_serial_sequence('debate', 'no'), 7);
INSERT INTO debate_commit (key, last, writer, body) VALUES
	(30064771072, 2, 'w', '{"seq":1,"at":"2026-03-01T10:00:00Z","kind":"start","body":{"version":1,"flow":"debate","flowVersion":1,"config":{"topic":"Should cities ban cars from their centres?","labels":{"tenant":"blue"}},"settings":{"id":"kept","topic":"Should cities ban cars from their centres?","labels":{"tenant":"blue"}},"seed":"5eed"}}
{"seq":2,"at":"2026-03-01T10:00:00.000000001Z","kind":"transition","body":{"from":"ready","to":"initializing","on":"start"}}'),
	(30064771074, 4, 'w', '{"seq":3,"at":"2026-03-01T10:00:01.5Z","kind":"round","body":{"n":1,"of":3}}
{"seq":4,"at":"2026-03-01T10:00:02Z","kind":"turn","body":{"call":"r1.ada","attempt":1,"round":1,"slot":0,"kind":"turn","speaker":"Ada","text":"Yes: it''s quieter."}}');
INSERT INTO debate_label (pair, debate) VALUES ('["tenant","blue"]', 7);
INSERT INTO debate_lease (id, owner, until) VALUES ('kept', 'nobody is left', 1);
