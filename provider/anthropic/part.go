package anthropic

import (
	"encoding/base64"
	"slices"
	"unicode/utf8"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

const (
	mediaPDF  = "application/pdf"
	mediaText = "text/plain"
)

// images are the media types of images that the API takes.
//
//nolint:gochecknoglobals // read only
var images = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

// taken reports whether the API takes a part.
func taken(p *provider.Part) bool {
	switch media := wire.MediaType(p); media {
	case mediaPDF:
		return true
	case mediaText:
		return utf8.Valid(p.Data) && !blank(string(p.Data))
	default:
		return slices.Contains(images, media)
	}
}

// parts adds the parts of a message. They are the user's, whoever speaks: models make none.
func (c *conversation) parts(m *provider.Message) {
	for i := range m.Parts {
		p := &m.Parts[i]
		media := wire.MediaType(p)
		if slices.Contains(images, media) {
			c.add(sdk.MessageParamRoleUser, sdk.NewImageBlockBase64(media, base64.StdEncoding.EncodeToString(p.Data)))
			continue
		}
		block := sdk.NewDocumentBlock(sdk.PlainTextSourceParam{Data: string(p.Data)})
		if media == mediaPDF {
			block = sdk.NewDocumentBlock(sdk.Base64PDFSourceParam{Data: base64.StdEncoding.EncodeToString(p.Data)})
		}
		if !blank(p.Name) {
			block.OfDocument.Title = param.NewOpt(p.Name)
		}
		c.add(sdk.MessageParamRoleUser, block)
	}
}
