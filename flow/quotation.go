package flow

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/internal/quote"
	"github.com/agonist-dev/debate/internal/text"
)

// Quotation is a passage of a turn that is marked as the words of a document, and what the program has found by comparing both; see
// [Settings].Quotes.
type Quotation struct {
	// Start and End are the place of the words in the text of the turn, in bytes. A turn that was redacted has no places.
	Start int `json:"start"`
	End   int `json:"end"`
	// Status is what was found.
	Status QuoteStatus `json:"status" redact:"-"`
	// File is the name of the file with the words or, where none has them, the document that the turn names. Hash is that of the file.
	File string `json:"file,omitempty"`
	Hash string `json:"hash,omitempty" redact:"-"`
	// From and To are the place in the file, in bytes. Both are 0 where the words were not found.
	From int `json:"from,omitempty"`
	To   int `json:"to,omitempty"`
	// Changed says which words differ: `"not" is missing`. Of a verified passage it says which words an ellipsis leaves out, and of an
	// unchecked one why it is not compared.
	Changed string `json:"changed,omitempty"`
}

// QuoteStatus is the result of comparing a quotation with its document.
type QuoteStatus string

// The statuses of a quotation. Differences of white space, dashes, quotation marks and ligatures do not count. Words may be left out at an
// ellipsis if there are at least four, and no "not" among them; a negation may be among whole sentences that are left out.
const (
	QuoteVerified  QuoteStatus = "verified"  // the words stand in the document
	QuoteAltered   QuoteStatus = "altered"   // the document has them with few other words
	QuoteAbsent    QuoteStatus = "absent"    // the document does not have them
	QuoteUnchecked QuoteStatus = "unchecked" // no text document has this name, the mark is written in another way, or it cannot be compared
)

// MaxQuotations is how many different quotations of a turn are compared. If there are more, the last one that is recorded stands for all
// beyond, and is unchecked.
const MaxQuotations = 20

const (
	maxChanged = 300 // bytes
	mostQuoted = 40  // of one turn, in a log: earlier ones have the same passage more than once
	quotesRoom = 600 // bytes of a label that tell of quotations
)

// quotations returns what a turn quotes, with what the runtime has found.
func (c *Core) quotations(said string, found map[string]Quotation) (out []Quotation) {
	if !c.record.settings.Quotes {
		return nil
	}
	for _, m := range quote.Marks(said, MaxQuotations) {
		q := found[m.Key(said)]
		known := q.Status == QuoteVerified || q.Status == QuoteAltered || q.Status == QuoteAbsent || q.Status == QuoteUnchecked
		switch {
		case len(out) == MaxQuotations:
			q = Quotation{Status: QuoteUnchecked, Changed: "there are too many"}
		case m.Document == "":
			q = Quotation{Status: QuoteUnchecked, Changed: "its mark names no document"}
		case !known || q.From < 0 || q.To < q.From || !IsHash(q.Hash):
			q = Quotation{Status: QuoteUnchecked, Changed: "no text document of this name can be read"}
		}
		q.Start, q.End, q.File = m.Start, m.End, cmp.Or(q.File, m.Document)
		q.File, q.Changed = text.OneLine(q.File, maxFileName), text.OneLine(q.Changed, maxChanged)
		out = append(out, q)
	}
	return out
}

// checkQuotations refuses what no runtime has recorded.
func checkQuotations(t *Turn) error {
	if len(t.Quotations) > mostQuoted {
		return invalid("turn.quotations", "are %d: at most %d are kept", len(t.Quotations), mostQuoted)
	}
	for i := range t.Quotations {
		if q := &t.Quotations[i]; q.Start < 0 || q.End < q.Start || q.End > len(t.Text) || q.From < 0 || q.To < q.From {
			return invalid("turn.quotations", "has a place outside of the text")
		}
	}
	return nil
}

// quoted says what was found about the quotations of a turn, as the label of the turn says it. "": there are none. What has no room is said
// without names and words, so that each quotation is counted.
func quoted(all []Quotation) string {
	if len(all) == 0 {
		return ""
	}
	said := ", quotations checked by the program: "
	if full := said + counted(all, false); len(full) <= quotesRoom {
		return full
	}
	return said + counted(all, true)
}

// counted says how many quotations have each result.
func counted(all []Quotation, brief bool) string {
	var parts []string
	counts := make(map[string]int)
	for i := range min(len(all), MaxQuotations) {
		part := all[i].words(brief)
		if counts[part]++; counts[part] == 1 {
			parts = append(parts, part)
		}
	}
	for i, part := range parts {
		parts[i] = fmt.Sprintf("%d %s", counts[part], part)
	}
	if len(all) > MaxQuotations {
		parts = append(parts, "all others not checked")
	}
	return strings.Join(parts, "; ")
}

// String says what was found about the quotation, as readers of the turn are told it: `altered in report.txt ("not" is missing)`.
func (q *Quotation) String() string { return q.words(false) }

// words says what was found about a quotation, in brief without the file, and without the words that differ.
func (q *Quotation) words(brief bool) string {
	file, changed := q.File, ""
	switch {
	case brief && q.Status == QuoteVerified && q.Changed != "":
		file, changed = "a document", ", with words left out"
	case brief:
		file = "a document"
	case q.Changed != "":
		changed = " (" + q.Changed + ")"
	}
	switch q.Status {
	case QuoteVerified:
		return "as in " + file + changed
	case QuoteAltered:
		return "altered in " + file + changed
	case QuoteAbsent:
		return "not found in " + file
	default:
		return "not checked" + changed
	}
}
