// Package export writes a debate as a document for people: as Markdown, or as a page of HTML that needs
// nothing beside itself.
//
// [Markdown] and [HTML] write what a [debate.Record] holds; a [Document] adds what only the log tells.
// Neither holds a seed, a key or a prompt.
//
// # What a model wrote
//
// Every text of a model is taken for hostile. It is read as Markdown (CommonMark with tables, struck out
// text and bare links) and written anew with nothing but headings below the document's own, paragraphs,
// lists, quotes, tables, code, emphasis and links. What else it holds is shown as text:
//
//   - Raw HTML is text. In the Markdown document no "<" of a model's is left outside code but that of a bare
//     link, <https://…>.
//   - A link leads to an absolute http or https address, or to a mailto address. Others are text, with
//     their address behind them: nothing comes of javascript: and data:, and none points into the document.
//   - An image is a link to it, marked as an image. No document loads anything.
//   - Link reference definitions are resolved where they are used, and are gone: they reach no other text.
//   - Control characters, escape sequences of terminals among them, are shown as symbols; characters that
//     override the direction of text, or that are invisible copies of letters, as U+FFFD.
//
// In the Markdown document such a text stands in a block quote, so that nothing of it is at the document's
// own level. A text that would take long to read (it is larger than 64 KiB, or very deeply nested, or has
// very many lines in nested lists, or is full of brackets or table cells) stands there as it is, unformatted, so that the time to write a
// document, and its size, grow with the length of the debate and no faster.
package export

import (
	"errors"
	"io"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"

	"github.com/agonist-dev/debate"
)

// Document is what is written of a debate. It only reads: several goroutines may write the same
// Document, as long as nobody changes the record.
type Document struct {
	// Record is the debate, finished or not.
	Record *debate.Record
	// Events is the debate's log, or its facts up to now. It tells what the record does not keep: when
	// turns were spoken, which attempts failed, why somebody was dropped, and the questions that were
	// answered. nil: the document does without.
	Events []debate.Event
	// Title stands at the head: the topic if empty.
	Title string
}

// Markdown writes a debate as a Markdown document (CommonMark with the tables of GitHub). It yields the
// writer's error, or one of kind validation if there is no record.
func Markdown(w io.Writer, r *debate.Record) error {
	return (&Document{Record: r}).Markdown(w)
}

// HTML writes a debate as a page of HTML. It yields the writer's error, or one of kind validation if there
// is no record.
func HTML(w io.Writer, r *debate.Record) error {
	return (&Document{Record: r}).HTML(w)
}

// Markdown writes the document as Markdown does.
func (d *Document) Markdown(w io.Writer) error { return d.write(w, writeMarkdown) }

// HTML writes the document as HTML does. The page is well-formed XML as well. It has no script, and its
// content security policy allows none, nor anything from outside.
func (d *Document) HTML(w io.Writer) error { return d.write(w, writeHTML) }

// write lets everything pass a filter of characters, whatever it was made of.
func (d *Document) write(w io.Writer, format func(io.Writer, *report) error) error {
	if d == nil || d.Record == nil {
		return &debate.Error{Kind: debate.KindValidation, Op: "export", Field: "record", Err: errors.New("is missing")}
	}
	filter := transform.NewWriter(w, runes.Map(visible))
	if err := format(filter, newReport(d)); err != nil {
		return err
	}
	return filter.Close()
}
