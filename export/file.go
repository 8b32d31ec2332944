package export

import (
	"strconv"

	"github.com/agonist-dev/debate/flow"
)

// documentsID is the anchor of the list of documents.
const documentsID = "documents"

// documents lists the files that everybody has read.
func (w *reporter) documents() *section {
	s := &section{ID: documentsID, Title: "Documents"}
	settings := w.record.Settings()
	if settings == nil {
		return s
	}
	for i := range settings.Documents {
		d := &settings.Documents[i]
		b := w.files(d.Files)
		if b.Label = d.Name; d.Name == "" {
			b.Label = "Of the topic"
		}
		s.Blocks = append(s.Blocks, b)
	}
	return s
}

// files lists files by name, type, size and hash, with the pictures of those that a page can show. All of that is of the host
// program's users.
func (w *reporter) files(all []flow.File) block {
	var b block
	for i := range all {
		f := &all[i]
		item := f.String() + " " + f.Type + ", " + strconv.Itoa(f.Size) + " bytes"
		if f.Pages > 0 {
			item += ", " + strconv.Itoa(f.Pages) + " pages"
		}
		item += ", SHA-256 " + f.Hash
		shown, why := w.gallery.picture(f)
		if shown != nil {
			b.Pictures = append(b.Pictures, *shown)
		} else if why != "" {
			item += ", not shown: " + why
		}
		b.Items = append(b.Items, item)
	}
	return b
}
