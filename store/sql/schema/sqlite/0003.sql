-- The files of debates. A file may be stored before its debate has begun.
CREATE TABLE debate_blob (
	id TEXT NOT NULL,
	hash TEXT NOT NULL, -- SHA-256 in hexadecimal digits
	data BLOB NOT NULL,
	PRIMARY KEY (id, hash)
) STRICT;
