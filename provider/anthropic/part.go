package anthropic

import (
	"encoding/base64"
	"slices"
	"unicode/utf8"

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
			c.add(user, content{Source: encoded(p, media), Type: "image"})
			continue
		}
		block := content{Source: encoded(p, media), Type: "document"}
		if media == mediaText {
			block.Source = &source{Data: string(p.Data), MediaType: media, Type: "text"}
		}
		if !blank(p.Name) {
			block.Title = p.Name
		}
		c.add(user, block)
	}
}

// encoded writes the bytes of a part in base64.
func encoded(p *provider.Part, media string) *source {
	return &source{Data: base64.StdEncoding.EncodeToString(p.Data), MediaType: media, Type: "base64"}
}
