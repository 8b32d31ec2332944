// Package export writes a debate, a deliberation or arbitrated work as a document for people: as Markdown, or as an HTML page
// without other files.
//
// [Markdown] and [HTML] write what a [flow.Record] holds. The [Document] of a stored conversation ([Of]) adds what only the log holds.
// [Saved] reads a debate of another program.
//
// A document begins with what came of it: the verdict or the solution, with a chart of the rounds. Then it says who took part, with
// their models and costs, what everybody has read, and what was said round by round, notes among it. How it ran stands at its end. A
// page shows the rounds, and how it ran, when a reader opens them, and prints all of it. Times are in UTC.
//
// Neither contains a seed, a key or a prompt. Neither shows the thoughts of a model ([flow.Turn].Reasoning): a document is
// for readers of what was said. The pages that a turn cites are listed behind it.
// A deliberation has its problem, its solution, the agents with their roles, clarifications, contributions by round,
// evaluations, votes and summaries. Arbitrated work has its task, how it has ended, the plan, the agents with their models and
// tools, the executions with their uses of tools, the arbiter's decisions, and the inputs of the host program. A use of a tool
// shows the first 2,000 characters of the arguments and the first 4,000 of the result.
// A record of any other flow gives a plain report: its turns, what happened, and what it cost.
//
// # Drawings
//
// A page draws figures, beside a table that has all of them: the scores of each participant by round, or the judge's numbers for
// the rounds of a deliberation; tokens and cost by actor; the states that the conversation went through; and a timeline of all
// calls, with failures, waits, uses of tools and questions to persons. The last two need the log: see [Of]. Markdown has the tables.
// Drawings are SVG within the page. They have a title and a description, follow the reader's choice of light or dark, and fit
// paper and a phone. Lines have numbers and patterns beside their colours. More than 12 lines are drawn as their range and mean,
// of more than 20 actors the first 20 have bars, and a pause in the timeline is shortened.
//
// # Texts of models
//
// Every text of a model is treated as hostile. It is parsed as Markdown (CommonMark with tables,
// strikethrough and bare links). Only these parts are written: headings below the document's own,
// paragraphs, lists, quotes, tables, code, emphasis and links. Everything else is shown as text:
//
//   - Raw HTML is text. In the Markdown document, the only "<" of a model outside code is that of a bare
//     link, <https://…>.
//   - A link leads to an absolute http or https address, or to a mailto address. Other links are text,
//     followed by their address: javascript: and data: have no effect, and no link points into the
//     document.
//   - The list of sources of a turn is text, with a link for each http or https address and the host to which it leads.
//     So is that of its quotations, with a link to the documents, and with the words of the file at that place: see [Of].
//   - An image becomes a link to it, marked as an image. No document loads anything. The images of a page are the debate's own
//     image files, which it embeds: their bytes must match the hash in the log, and begin as their type does. SVG is not shown.
//   - Link reference definitions are resolved where they are used, and removed. They affect no other
//     text.
//   - Control characters are shown as symbols, and an escape sequence of a terminal as one. Characters that
//     override or mark the direction of text, signs without width, and invisible copies of letters, are shown as U+FFFD.
//
// The arguments and results of tools are shown as they are, line by line: nothing in them is Markdown.
//
// In the Markdown document, such a text is in a block quote, so that no part of it is at the document's
// own level. A text that would take long to parse is written unformatted: one that is larger than 64 KiB,
// very deeply nested, has very many lines in nested lists, or is full of brackets or table cells. So the
// time to write a document, and its size, are proportional to the length of the debate.
package export

import (
	"context"
	"errors"
	"io"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Document is a debate to be written. Writing only reads it: several goroutines may write the same
// Document, as long as nobody changes the record.
type Document struct {
	// Record is the debate, finished or not. The document of [Saved] has none.
	Record *flow.Record
	// Title is the title of the document; the topic if empty.
	Title string

	events []flow.Event                      // as the flow reads them
	file   func(hash string) ([]byte, error) // nil: files are named only
	saved  *report                           // that of a debate of another program, which has no record
}

// Of returns the document of a stored conversation: its record, its log as its flow reads it, and its files. The
// conversation may still run: the document has what was recorded when Of was called.
//
// The log adds what the record does not keep: when turns were spoken, which attempts failed, why somebody was dropped, the
// questions that were answered, the timeline of calls, and the course through the states.
//
// A page holds the images among the files, which are PNG, JPEG, GIF and WebP: at most [flow.MaxFiles] bytes of them, and at most
// 64 Mi pixels of each. An image that is missing, damaged or too large is named, and said not to be shown. Beside what a turn quotes
// from a text file stands what the file has there. If the store cannot read a file for another reason, writing the document returns
// that error and writes nothing.
//
// Of needs the flow of the conversation, and no provider. Its errors are those of [debate.Engine.Record] and
// [debate.Engine.Events]. Writing the document uses ctx too, to read the files.
func Of(ctx context.Context, e *debate.Engine, id string) (*Document, error) {
	record, err := e.Record(ctx, id)
	if err != nil {
		return nil, err
	}
	d := &Document{Record: record, file: func(hash string) ([]byte, error) { return e.File(ctx, id, hash) }}
	for event, err := range e.Events(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		if event.Seq > int64(len(d.events)) { // a chunk has the number of the fact before it
			d.events = append(d.events, event)
		}
		if event.Seq >= record.Seq {
			break
		}
	}
	return d, nil
}

// Markdown writes a debate as a Markdown document (CommonMark with the tables of GitHub). It returns the
// writer's error, or one of kind validation if r is nil.
func Markdown(w io.Writer, r *flow.Record) error {
	return (&Document{Record: r}).Markdown(w)
}

// HTML writes a debate as an HTML page. It returns the writer's error, or one of kind validation if r is
// nil.
func HTML(w io.Writer, r *flow.Record) error {
	return (&Document{Record: r}).HTML(w)
}

// Markdown writes the document like the function Markdown.
func (d *Document) Markdown(w io.Writer) error { return d.write(w, writeMarkdown, false) }

// HTML writes the document like the function HTML. The page is also well-formed XML. It has no script.
// Its content security policy allows neither scripts nor anything from outside. Images are part of the page: see [Of].
func (d *Document) HTML(w io.Writer) error { return d.write(w, writeHTML, true) }

// write passes everything through a filter of characters, whatever its source.
func (d *Document) write(w io.Writer, format func(io.Writer, *report) error, pictures bool) error {
	if d == nil || d.Record == nil && d.saved == nil {
		return &flow.Error{Kind: provider.KindValidation, Op: "export", Field: "record", Err: errors.New("is missing")}
	}
	report, err := newReport(d, pictures)
	if err != nil {
		return err
	}
	filter := transform.NewWriter(w, runes.Map(visible))
	if err := format(filter, report); err != nil {
		return err
	}
	return filter.Close()
}
