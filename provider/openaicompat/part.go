package openaicompat

import (
	"cmp"
	"slices"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

const mediaPDF = "application/pdf"

// images are the media types of images that servers of the protocol take.
//
//nolint:gochecknoglobals // read only
var images = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// wirePart is a part of a message's content. Only one of its fields is set besides Type.
type wirePart struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	Image    *wireURL  `json:"image_url,omitempty"`
	File     *wireFile `json:"file,omitempty"`
	Document string    `json:"document_url,omitempty"`
}

type wireURL struct {
	URL string `json:"url"`
}

type wireFile struct {
	Name string `json:"filename"`
	Data string `json:"file_data"`
}

// taken reports whether the protocol has a form for a part.
func taken(p *provider.Part) bool {
	media := wire.MediaType(p)
	return media == mediaPDF || slices.Contains(images, media)
}

// parts writes parts, as data and never as a URL that the vendor would fetch.
func (d *Dialect) parts(list []provider.Part) []wirePart {
	out := make([]wirePart, 0, len(list))
	for i := range list {
		p := &list[i]
		switch data := wire.DataURL(p); {
		case wire.MediaType(p) != mediaPDF:
			out = append(out, wirePart{Type: "image_url", Image: &wireURL{data}})
		case d.DocumentURL:
			out = append(out, wirePart{Type: "document_url", Document: data})
		default:
			out = append(out, wirePart{Type: "file", File: &wireFile{cmp.Or(p.Name, "document.pdf"), data}})
		}
	}
	return out
}

// content returns the content of a message: its text, or its parts and then its text.
func (m *wireMessage) content() any {
	switch {
	case len(m.parts) == 0 && m.text == nil:
		return nil
	case len(m.parts) == 0:
		return *m.text
	case m.text == nil:
		return m.parts
	default:
		return append(slices.Clip(m.parts), wirePart{Type: "text", Text: *m.text})
	}
}
