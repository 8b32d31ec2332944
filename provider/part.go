package provider

import "strings"

// Part is an image, a document or another file in a message. It comes before the text of the message.
type Part struct {
	Type string `json:"type,omitempty"` // the media type, such as "image/png" or "application/pdf"
	Name string `json:"name,omitempty"` // the name of the file; "": it has none
	Hash string `json:"hash,omitempty"` // the SHA-256 of Data, in hexadecimal
	Data []byte `json:"-"`              // read only: requests share it
}

// Ability returns what a model needs to read the part.
func (p *Part) Ability() Ability { return MediaAbility(p.Type) }

// MediaAbility returns what a model needs to read a media type: AbilityImage, AbilityPDF or AbilityFile.
func MediaAbility(media string) Ability {
	media, _, _ = strings.Cut(strings.ToLower(media), ";")
	switch media = strings.TrimSpace(media); {
	case strings.HasPrefix(media, "image/"):
		return AbilityImage
	case media == "application/pdf":
		return AbilityPDF
	default:
		return AbilityFile
	}
}
