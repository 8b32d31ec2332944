// Package cassette records the answers of providers in a readable file, and replays them. A test of a whole debate then runs without
// network, keys or cost, and with the same result each time.
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
// A cassette records [provider.Request] and [provider.Response], so it works with every provider, whatever its protocol. It is not a
// cache: a replay never calls a provider. A request that the file does not hold fails, with the code [CodeUnseen] and a message that
// says how it differs from the nearest recorded request.
//
// # Equal requests
//
// Two requests to a provider are equal if all their fields are, but for ID and Labels. Parts count by their data, of which the file holds
// the hash. The n-th of several equal requests gets the n-th recorded answer, in the order of the file. An answer that was recorded
// under the same ID comes first, so that equal requests made at the same time are not mixed up. When all answers are used up, the
// request fails or, with [Options.Repeat], gets the last answer again.
//
// The fence words around other speakers' texts are secrets that each debate draws anew. They do not count: a placeholder, "⟦fence 1⟧",
// replaces the word everywhere in a request or an answer, and a replayed answer has the fence word of the request that it answers. A
// word is a fence word if it is the Fence of a message, or if a line "<<<end WORD>>>" of the system prompt names it and it is a number
// of at least ten digits: the first speaker reads no messages. At most 64 words of one request are replaced; others are ordinary text.
//
// # Recorded content
//
// A cassette records chunks, Response, usage and failure of each call of Generate, and the models that passed a Check. A replay
// emits the same text in the same pieces, at once; the pieces of thoughts come first. It returns the same Response and error. Of an
// error's cause only the text is kept; the same goes for an error that is not a [*provider.Error]. A call that ended with its context
// is not recorded, because that end is not the provider's answer. A replay that is broken off does not use up its answer.
//
// The file is written after each exchange, in one step, with mode 0600. So a crash loses at most exchanges that have not ended. A
// recording never replaces a file; remove the old one first.
//
// # Keys
//
// Before anything is written, "[redacted]" replaces [Options.Secrets] (plain, wrapped, escaped or encoded), any eight consecutive bytes
// of a secret of 16 bytes or more, and text that looks like a vendor's key (sk-…, AIza…, gsk_…, xai-…, Bearer …), in requests, answers
// and errors alike. In errors it also replaces the users and queries of URLs, and headers that carry credentials. The recording program
// gets the original answer; a replay gets the redacted one. Everything else is in clear text: a cassette is as confidential as the
// debate.
//
// # The file
//
// A cassette is one indented JSON object with a version and a list of exchanges. Each field has a line of its own. A text of several
// lines is a list of them, which begins with "⟦lines⟧". Each exchange holds its whole request, so that it can be read by itself; the
// file grows with the square of the conversation.
//
// The exchanges are sorted by the IDs of their requests; after the first slash, numbers are sorted by value. Equal ones are in the order
// in which they began. So the file does not depend on which of two simultaneous calls ended first. Give the config of a debate that is
// recorded again a fixed ID; otherwise every exchange of a new recording has a different one.
//
// A file is read strictly: apart from white space, it must be exactly what this package writes. Anything else is a [*FileError] with
// the line. A file of another version is refused too: remove it and record it again.
//
// # Replaying a whole debate
//
// A debate draws more than the fence from its random seed: the order in which a judge is shown the participants, and the neutral labels
// of Judging.Anonymous. A debate without judges replays under any seed. A debate with judges makes other requests under another seed, so
// give both engines the same seed:
//
//	engine := &debate.Engine{
//		Providers: map[string]debate.Provider{"openai": tape.Wrap("openai", nil)},
//		Seed:      func() string { return "of this test alone" },
//	}
//
// The replaying engine needs the formats, flows, context managers and judges of the debate, under the same names.
//
// In the record's accounts, a replay costs what the recording cost. Failures are replayed too, so the engine backs off and retries; the
// random part of that wait changes no request. Behaviour that depends on time can differ: a call that was recorded as late is answered
// at once, and a debate that a time limit had cut short continues with requests that are not recorded. Persons and external judges are
// asked again.
package cassette
