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
