package openai

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// These are the media types that the API takes, besides all texts. Source: OpenAI's guides to images and to file
// inputs (2026).
//
//nolint:gochecknoglobals // read only
var (
	images = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}
	files  = map[string]string{ // with the name of a file that has none
		"text/csv":           "document.csv",
		"text/html":          "document.html",
		"text/markdown":      "document.md",
		"application/pdf":    "document.pdf",
		"application/json":   "document.json",
		"application/xml":    "document.xml",
		"application/rtf":    "document.rtf",
		"application/msword": "document.doc",
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document":   "document.docx",
		"application/vnd.oasis.opendocument.text":                                   "document.odt",
		"application/vnd.ms-powerpoint":                                             "document.ppt",
		"application/vnd.openxmlformats-officedocument.presentationml.presentation": "document.pptx",
		"application/vnd.ms-excel":                                                  "document.xls",
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":         "document.xlsx",
	}
)

// taken reports whether the API takes a part.
func taken(p *provider.Part) bool {
	media := wire.MediaType(p)
	return slices.Contains(images, media) || files[media] != "" || strings.HasPrefix(media, "text/")
}

// withParts writes a message with parts, which come before the text. Nothing but the text is the speaker's own: models
// make no parts.
func withParts(list []any, m *provider.Message, own bool) []any {
	var content []part
	for i := range m.Parts {
		p := &m.Parts[i]
		media := wire.MediaType(p)
		if slices.Contains(images, media) {
			content = append(content, part{Detail: "auto", ImageURL: wire.DataURL(p), Type: "input_image"})
			continue
		}
		content = append(content, part{
			FileData: wire.DataURL(p), Filename: cmp.Or(p.Name, files[media], "document.txt"), Type: "input_file",
		})
	}
	if m.Text != "" && !own {
		content = append(content, part{Text: m.Enclosed(), Type: "input_text"})
	}
	list = append(list, message{content, user})
	if m.Text != "" && own {
		list = append(list, message{m.Text, assistant})
	}
	return list
}
