// Package media tells what the bytes of a file are: their media type, and how many pages a PDF has.
package media

import (
	"bytes"
	"unicode/utf8"
)

// PDF is the media type of a PDF.
const PDF = "application/pdf"

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
	{PDF, "%PDF-", 0},
}

// Signed reports whether files of a media type begin with a signature.
func Signed(media string) bool {
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
