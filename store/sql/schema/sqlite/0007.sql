-- The hard limit of the cost of a conversation, in millionths of a millionth of a USD. 0: there is none.
ALTER TABLE debate ADD COLUMN hard INTEGER NOT NULL DEFAULT 0;
