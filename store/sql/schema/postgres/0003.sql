-- The files of debates. A file may be stored before its debate has begun.
CREATE TABLE debate_blob (
	id text COLLATE "C" NOT NULL,
	hash text COLLATE "C" NOT NULL, -- SHA-256 in hexadecimal digits
	data bytea NOT NULL,
	PRIMARY KEY (id, hash)
);
