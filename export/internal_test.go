package export

import "github.com/agonist-dev/debate/flow"

// Tell adds events to the log of a document, as Of does.
func (d *Document) Tell(events ...flow.Event) *Document {
	d.events = append(d.events, events...)
	return d
}

// Told returns the log of a document.
func (d *Document) Told() []flow.Event { return d.events }

// Picture sets what reads the files of a document, as Of does.
func (d *Document) Picture(file func(hash string) ([]byte, error)) *Document {
	d.file = file
	return d
}

// Gist returns the beginning of a text of a model, as tables have it.
func Gist(text string, most int) string { return newSpeeches().gist(text, most) }
