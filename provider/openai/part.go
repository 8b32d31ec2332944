package openai

import (
	"cmp"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

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
func withParts(list responses.ResponseInputParam, m *provider.Message, own bool) responses.ResponseInputParam {
	var content responses.ResponseInputMessageContentListParam
	for i := range m.Parts {
		p := &m.Parts[i]
		media := wire.MediaType(p)
		if slices.Contains(images, media) {
			image := responses.ResponseInputContentParamOfInputImage(responses.ResponseInputImageDetailAuto)
			image.OfInputImage.ImageURL = param.NewOpt(wire.DataURL(p))
			content = append(content, image)
			continue
		}
		content = append(content, responses.ResponseInputContentUnionParam{OfInputFile: &responses.ResponseInputFileParam{
			Filename: param.NewOpt(cmp.Or(p.Name, files[media], "document.txt")),
			FileData: param.NewOpt(wire.DataURL(p)),
		}})
	}
	if m.Text != "" && !own {
		content = append(content, responses.ResponseInputContentParamOfInputText(m.Enclosed()))
	}
	list = append(list, responses.ResponseInputItemParamOfMessage(content, responses.EasyInputMessageRoleUser))
	if m.Text != "" && own {
		list = append(list, responses.ResponseInputItemParamOfMessage(m.Text, responses.EasyInputMessageRoleAssistant))
	}
	return list
}
