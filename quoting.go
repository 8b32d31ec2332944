package debate

import (
	"errors"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// quoting tells a speaker how to mark words of a document, if the debate checks them. It is a part of the system prompt, and so of what
// a prompt cache holds.
const quoting = "\n\nWhere you quote one of the documents, mark its words as <quote document=\"NAME\">words</quote>, with the name of " +
	"the document or file as it is given to you. Quote word for word; put […] where you leave out words. A program compares each marked " +
	"quotation with the document, and everybody sees the result."

// quotable checks that there is a document whose quotations can be compared.
func (v *validation) quotable(c *Config) {
	if !c.Quotes {
		return
	}
	for _, f := range c.Files() {
		if f.IsText() || f.Type == "" { // the start sets it
			return
		}
	}
	v.Addf("quotes", "%w", flow.WithMend(errors.New("checks quotations from text documents, and there are none"),
		"leave it out, or add a document with a text file"))
}

// hideQuotation replaces names by labels in what was found about a quotation. The place is left out unless the turn's text is the same
// with labels.
func (d *Debate) hideQuotation(q *flow.Quotation, same bool) {
	q.File, q.Changed = d.Hide(q.File), d.Hide(q.Changed)
	if !same {
		q.Start, q.End = 0, 0
	}
}

// told returns a system prompt with what is said of quotations.
func (d *Debate) told(system string) string {
	if !d.config.Quotes {
		return system
	}
	return strings.TrimRight(system, "\n") + quoting
}
