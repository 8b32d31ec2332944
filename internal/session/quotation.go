package session

import (
	"context"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/quote"
	"github.com/agonist-dev/debate/internal/text"
)

// Quotations compares what a text quotes from documents of a conversation with their bytes. The results are by [quote.Mark.Key]. If the
// conversation is not open in this host, its documents are prepared for this text alone: one text after another, which bounds the memory.
func (h *Host) Quotations(
	ctx context.Context, id string, documents []flow.Document, said string,
) (map[string]flow.Quotation, error) {
	if s := h.Session(id); s != nil {
		return h.quotations(ctx, id, &s.files, documents, said), nil
	}
	if err := h.checks.enter(ctx); err != nil {
		return nil, err
	}
	defer h.checks.Unlock()
	return h.quotations(ctx, id, &shelf{}, documents, said), nil
}

// quotations does it with the bytes on a shelf. A quotation from a file that cannot be read is not in the results: the reply counts all the
// same.
func (h *Host) quotations(
	ctx context.Context, id string, files *shelf, documents []flow.Document, said string,
) map[string]flow.Quotation {
	said = text.Readable(said)
	var out map[string]flow.Quotation
	for _, m := range quote.Marks(said, flow.MaxQuotations) {
		if q, ok := h.quotation(ctx, id, files, documents, m, said[m.Start:m.End]); ok {
			if out == nil {
				out = make(map[string]flow.Quotation)
			}
			out[m.Key(said)] = q
		}
	}
	return out
}

// quotation compares words with each text file that a mark may mean, and returns the best result. false: there is none.
func (h *Host) quotation(
	ctx context.Context, id string, files *shelf, documents []flow.Document, m quote.Mark, words string,
) (best flow.Quotation, found bool) {
	order := map[flow.QuoteStatus]int{flow.QuoteUnchecked: 1, flow.QuoteAbsent: 2, flow.QuoteAltered: 3, flow.QuoteVerified: 4}
	for i := range documents {
		d := &documents[i]
		for k := range d.Files {
			f := &d.Files[k]
			if !f.IsText() || m.Document == "" || f.Name != m.Document && d.Name != m.Document {
				continue
			}
			if h.readFile(ctx, id, files, f) != nil {
				continue
			}
			data, ok := files.get(f.Hash)
			if !ok { // a session that was closed since
				continue
			}
			got := files.source(f.Hash, data).Check(words)
			q := flow.Quotation{
				Status: flow.QuoteStatus(got.Status), File: f.Name, Hash: f.Hash, From: got.From, To: got.To, Changed: got.Changed,
			}
			if order[q.Status] > order[best.Status] {
				best, found = q, true
			}
		}
	}
	return best, found
}
