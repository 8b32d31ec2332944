// Package quote compares quotations with the documents that they name. It is pure: the same words and the same bytes always have the
// same result.
//
// A text marks a quotation as <quote document="report.txt">words</quote>. [Marks] finds these marks, [Read] prepares a document, and
// [Source.Check] compares the words with it.
package quote
