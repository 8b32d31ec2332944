package flow

import (
	"cmp"
	"time"
)

// Redaction says what is to be removed from a log, at most 100 texts, events and files each. See Engine.Redact.
type Redaction struct {
	// Texts are removed from all strings of the log but identifiers: from turns, prompts, the config, summaries, answers, labels,
	// arguments of tools, also within JSON that is a text, however that escapes them. They must match exactly. A
	// number that is one of them is removed from arguments, data and payloads without a type of the flow, and stays where the log counts
	// with it. Each is valid UTF-8.
	Texts []string
	// Events are the numbers of events (Event.Seq) of which the texts are removed: all that somebody has written or said in the event and,
	// for a turn, in the parts of its reply. To find the number of a turn, read Engine.Events up to Record.Seq, or Store.Read. Texts of at
	// least 16 bytes are then removed wherever they stand, as Texts are. So are numbers in JSON without a type; its keys stay. The start
	// cannot be one of them: name its texts in Texts.
	Events []int64
	// Files are the hashes of files. Each is replaced by a blank file of the same kind. What was found about quotations from it stays, with
	// its hash.
	Files []string
	// With replaces each text: one line of at most 100 bytes that contains none of the texts. "": "[redacted]".
	With string
	// By names who removes it, and Reason says why: one line of at most [MaxReason] bytes each, without any of the texts. The log keeps
	// both.
	By, Reason string
}

// Redacted records that something was removed from the events before it. These have kept their numbers, times, names, usage and
// costs. They do not come again to readers, which load the conversation anew. Whoever has the old text can prove with Removed that it was
// there. A short text can be guessed from its hash.
type Redacted struct {
	Texts []Removed `json:"texts,omitempty"`
	Files []Removed `json:"files,omitempty"`
	// Events are the numbers of the events that were changed.
	Events []int64 `json:"events,omitempty"`
	// Kept are places where a text remains because it is an identifier there: the name of an actor, a model, a tool or a call (see
	// [Flow].Bodies), or a number that the log counts with. At most 20 of them.
	Kept   []string  `json:"kept,omitempty"`
	With   string    `json:"with"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"` // by the clock of the process that removed it
}

// Removed describes a text or a file that was removed.
type Removed struct {
	Hash  string `json:"hash" redact:"-"` // SHA-256 of its bytes, in lower-case hexadecimal digits
	Size  int    `json:"size"`            // in bytes
	Count int    `json:"count"`
	// As is the hash of the file that stands there now.
	As string `json:"as,omitempty" redact:"-"`
}

// EventKind implements [Body].
func (*Redacted) EventKind() EventKind { return EventRedacted }

// foldRedacted folds what was removed. A log may be hostile: what stands here is shown.
func (r *Record) foldRedacted(body *Redacted) error {
	for _, all := range [][]Removed{body.Texts, body.Files} {
		for i := range all {
			if !IsHash(all[i].Hash) {
				return invalid("redacted.hash", "is no SHA-256 in lower-case hexadecimal digits")
			}
		}
	}
	if why := cmp.Or(notReason(body.Reason), notReason(body.By), notReason(body.With)); why != "" {
		return invalid("redacted.reason", "%s", why)
	}
	r.Redactions = append(r.Redactions, *body)
	return nil
}
