package export

import (
	"fmt"

	"github.com/agonist-dev/debate/flow"
)

// quotations returns a block of what a turn quotes from documents, with what the program has found; nil: it quotes nothing.
func quotations(t *flow.Turn) []block {
	var items []string
	for i := range t.Quotations {
		q := &t.Quotations[i]
		found, file := "not checked", line(q.File)
		switch q.Status {
		case flow.QuoteVerified:
			found = fmt.Sprintf("as in %s, bytes %d to %d", file, q.From, q.To)
		case flow.QuoteAltered:
			found = fmt.Sprintf("altered in %s, bytes %d to %d: %s", file, q.From, q.To, line(q.Changed))
		case flow.QuoteAbsent:
			found = "not found in " + file
		}
		if words := short(passage(t.Text, q.Start, q.End), maxPassage); words != "" {
			found = "“" + words + "”: " + found
		}
		items = append(items, found)
	}
	if items == nil {
		return nil
	}
	return []block{{Label: "Quotations, checked by the program", Items: items}}
}
