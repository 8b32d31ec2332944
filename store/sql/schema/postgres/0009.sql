-- The open questions to persons: when the oldest was asked, a space, and how many there are; '': none.
ALTER TABLE debate ADD COLUMN asked text COLLATE "C" NOT NULL DEFAULT '';

-- When something follows although nobody answers them, in microseconds since 1970; 0: nothing does. An append in the state awaitingInput
-- sets due to it.
ALTER TABLE debate ADD COLUMN wake bigint NOT NULL DEFAULT 0;

-- A debate that waits since before this version says nothing of its questions.
CREATE INDEX debate_asked ON debate (id) WHERE asked <> '' OR state = 'awaitingInput';
