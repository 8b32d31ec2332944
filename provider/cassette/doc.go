// Package cassette records what providers answer in a file that people can read, and replays it: a test of
// a whole debate runs without a network, without keys and without cost, and says the same each time.
//
//	tape, err := cassette.Open("testdata/debate.json", cassette.Options{}) // or Mode: cassette.Record
//	if err != nil {
//		return err
//	}
//	defer tape.Close()
//	engine := &debate.Engine{Providers: map[string]debate.Provider{
//		"openai":  tape.Wrap("openai", nil), // in a recording: the real provider
//		"mistral": tape.Wrap("mistral", nil),
//	}}
//
// It works on the level of [provider.Request] and [provider.Response], so that it serves every provider,
// whatever protocol that speaks. It is no cache: a replay never asks anybody, and a request that the file
// does not hold fails, with the code [CodeUnseen] and a message that says what differs from the nearest one.
//
// # What is the same request
//
// Provider, model, system prompt, self, messages, last message, limit of tokens, temperature, schema and
// tools are compared; ID and Labels are not. The n-th of several equal requests gets the n-th of their
// answers, in the order of the file; among those, one that was recorded under the same ID comes first, so
// that equal requests that are made at the same time are not mixed up. When all answers are used up the
// request fails, or, with [Options.Repeat], gets the last one again.
//
// The fence words around other speakers' texts are secrets that are drawn anew for each debate. They do
// not count: a placeholder, "⟦fence 1⟧", stands for the word wherever it stands in a request or in an
// answer, and a replayed answer has the word of the request that it answers. A fence word is the Fence of
// any message and, because the first speaker reads no messages, what a line "<<<end WORD>>>" of the system
// prompt names, if it is a number of ten digits or more. Of one request 64 words are told apart so; what
// goes beyond them is text like any other.
//
// # What is recorded
//
// Chunks, Response, usage and failure of each call of Generate, CountTokens and Embed, and which models
// passed a Check. A replay emits the same text in the same pieces, at once or at [Options.Interval], and
// yields the same Response and error: kind, status, code, message, request id, RetryAfter and NotSent. Of
// an error's cause only the text is kept, and of an error that is no [*provider.Error] too. A call that its
// context has ended is not recorded, for its end is not the provider's answer; a replayed call that is
// broken off gives its answer back.
//
// The file is written after each exchange, as a whole and in one step, and is private to its owner (mode
// 0600): a crash loses at most what has not been answered yet. A recording never replaces a file; remove
// the old one first.
//
// # Keys
//
// Nothing reaches the disk before [Options.Secrets], in all forms that are known of them, and what looks
// like a vendor's key (sk-…, AIza…, gsk_…, xai-…, Bearer …) have been replaced by "[redacted]", in requests,
// answers and errors alike. Who is asked now still sees the answer as it is; a replay sees it redacted. All
// else is in clear: a cassette is as confidential as the debate.
//
// # The file
//
// A cassette is one indented JSON object with a version and a list of exchanges, one field to a line and
// long texts as lists of their lines. JSON Lines would have put a whole conversation on one line, where a
// review shows that something has changed and not what. Each exchange holds its whole request, so that it
// can be read by itself; a file grows with the square of a conversation.
//
// The exchanges stand in the order of their request's IDs, with numbers by their value after the first
// slash, and equal ones in the order in which they began. So the file does not depend on which of two
// speakers at once was done first. Give the config of a debate that is recorded again a fixed ID, or each
// recording has another one in every exchange.
//
// A file is read strictly: it must be what this package writes, white space aside. Anything else is a
// [*FileError] that names the line.
//
// # Replaying a whole debate
//
// More than the fence is drawn from a debate's random seed: the order in which a judge is shown the
// participants, and the neutral labels of Judging.Anonymous. A debate without judges replays under any seed.
// One with judges asks other requests under another seed, so give both engines the same:
//
//	engine := &debate.Engine{
//		Providers: map[string]debate.Provider{"openai": tape.Wrap("openai", nil)},
//		Seed:      func() string { return "of this test alone" },
//	}
//
// The replaying engine needs, under the same names, the formats, flows, context managers and judges that
// the debate used.
//
// A replay costs what the recording did, in the record's accounts. Failures are replayed too, so that the
// engine waits and tries again; the random part of that wait is drawn anew and changes no request. What
// depends on time can differ: a call that was recorded as late answers at once, and a debate that a limit
// of time has cut short goes on to requests that are not recorded. Persons, and judges from outside, are
// asked again.
package cassette
