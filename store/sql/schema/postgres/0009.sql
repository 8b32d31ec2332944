-- The open questions to persons: when the oldest was asked, a space, and how many there are; '': none.
ALTER TABLE debate ADD COLUMN asked text COLLATE "C" NOT NULL DEFAULT '';

-- A debate that waits since before this version says nothing of its questions.
CREATE INDEX debate_asked ON debate (id) WHERE asked <> '' OR state = 'awaitingInput';
