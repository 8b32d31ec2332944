package export

import (
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// quotations returns a block of what a turn quotes from documents, with what the program has found, and what stands there; nil: it quotes
// nothing.
func (w *reporter) quotations(t *flow.Turn) []block {
	var all []source
	for i := range t.Quotations {
		q := &t.Quotations[i]
		s := source{Passage: short(passage(t.Text, q.Start, q.End), maxPassage)}
		file := line(q.File)
		switch q.Status {
		case flow.QuoteVerified:
			s.Title = fmt.Sprintf("as in %s, bytes %d to %d", file, q.From, q.To)
		case flow.QuoteAltered:
			s.Title = fmt.Sprintf("altered in %s, bytes %d to %d", file, q.From, q.To)
		case flow.QuoteAbsent:
			s.Title = "not found in " + file
		default:
			s.Title = "not checked"
		}
		if q.Changed != "" {
			s.Title += ": " + line(q.Changed)
		}
		if q.From < q.To {
			if settings := w.record.Settings(); settings != nil && len(settings.Documents) > 0 {
				s.Address = "#" + documentsID
			}
			s.Quote = wordsAt(w.gallery.text(q.Hash), q.From, q.To)
		}
		all = append(all, s)
	}
	if all == nil {
		return nil
	}
	return []block{{Label: "Quotations, checked by the program", Sources: all}}
}

const (
	mostAround = 80      // bytes of a file that stand on each side of what is quoted from it
	mostRead   = 4 << 10 // bytes of a file that are read for that: a log may name any place
)

// wordsAt returns what stands at a place in a file, with some of what stands before and behind it; "": the file has no such place.
func wordsAt(data []byte, from, to int) string {
	if from < 0 || to > len(data) {
		return ""
	}
	first, last := max(0, from-mostAround), min(len(data), to+mostAround)
	last = min(last, first+mostRead)
	words := short(line(strings.ToValidUTF8(string(data[first:last]), "")), 2*mostAround+2*maxPassage)
	if first > 0 {
		words = "…" + words
	}
	if last < len(data) {
		words = strings.TrimSuffix(words, "…") + "…"
	}
	return words
}
