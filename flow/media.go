package flow

import (
	"bytes"
	"unicode/utf8"
)

const typePDF = "application/pdf"

// signatures are the first bytes of the types that models read.
//
//nolint:gochecknoglobals // read only
var signatures = []struct {
	media string
	first string
	at    int // where it stands
}{
	{"image/png", "\x89PNG\r\n\x1a\n", 0},
	{"image/jpeg", "\xff\xd8\xff", 0},
	{"image/gif", "GIF8", 0},
	{"image/webp", "WEBP", 8},
	{typePDF, "%PDF-", 0},
}

// signed reports whether files of a media type begin with a signature.
func signed(media string) bool {
	for _, s := range signatures {
		if s.media == media {
			return true
		}
	}
	return false
}

// TypeOf returns the media type that bytes show: that of a known image, of a PDF or of plain text. "": they show none.
func TypeOf(data []byte) string {
	for _, s := range signatures {
		if len(data) >= s.at && bytes.HasPrefix(data[s.at:], []byte(s.first)) {
			return s.media
		}
	}
	if utf8.Valid(data) && !bytes.ContainsRune(data, 0) {
		return "text/plain"
	}
	return ""
}
