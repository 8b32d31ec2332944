package export

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"html/template"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"

	"github.com/agonist-dev/debate/flow"
)

// Bounds of the images of one document. A browser takes some 4 bytes for a pixel, however few the file has.
const (
	maxPictures = flow.MaxFiles // bytes of all of them
	maxPixels   = 64 << 20      // of one
	maxAll      = 256 << 20     // pixels of all of them
)

// picture is the image of a file, as a page shows it.
type picture struct {
	Source        template.URL // it holds the bytes
	Name          string
	Width, Height int // in pixels
}

// gallery makes the pictures of a document, and reads its texts.
type gallery struct {
	file   func(hash string) ([]byte, error) // nil: nothing is shown
	shows  bool                              // whether there are pictures
	bytes  int
	pixels int64
	texts  map[string][]byte // by hash; nil: missing or damaged
	err    error             // the first of file, but for files that are missing
}

// picture returns the picture of a file. Without one, why says why it is not shown; "": it is no image, or none are shown.
func (g *gallery) picture(f *flow.File) (shown *picture, why string) {
	measure := measureOf(f.Type)
	if g.file == nil || !g.shows || g.err != nil || measure == nil {
		return nil, ""
	}
	data, err := g.file(f.Hash)
	switch {
	case errors.Is(err, flow.ErrNoFile):
		return nil, "its bytes are missing or damaged"
	case err != nil:
		g.err = err
		return nil, ""
	}
	if _, err := f.Described(data); err != nil {
		return nil, "its bytes are not those of the file"
	}
	size, err := measure(bytes.NewReader(data))
	switch pixels := int64(size.Width) * int64(size.Height); {
	case err != nil || size.Width <= 0 || size.Height <= 0:
		return nil, "its bytes do not tell its size"
	case max(size.Width, size.Height) > maxPixels || pixels > min(maxPixels, maxAll-g.pixels) || len(data) > maxPictures-g.bytes:
		return nil, "it is too large"
	default:
		g.bytes, g.pixels = g.bytes+len(data), g.pixels+pixels
	}
	// The type is one of measureOf's, and base64 has no character that ends an attribute or an address.
	source := "data:" + f.Type + ";base64," + base64.StdEncoding.EncodeToString(data)
	return &picture{template.URL(source), f.String(), size.Width, size.Height}, "" //nolint:gosec // made of safe parts
}

// text returns the bytes of a text file, which are read once. nil: nobody gives them.
func (g *gallery) text(hash string) []byte {
	if data, known := g.texts[hash]; known || g.file == nil || g.err != nil {
		return data
	}
	data, err := g.file(hash)
	if err != nil && !errors.Is(err, flow.ErrNoFile) {
		g.err = err
	}
	if err != nil || flow.HashOf(data) != hash {
		data = nil
	}
	if g.texts == nil {
		g.texts = make(map[string][]byte)
	}
	g.texts[hash] = data
	return data
}

// measureOf returns what reads the size of an image of a media type; nil: a page shows no such file. SVG is not among them: it
// is a document, which can hold a program.
func measureOf(media string) func(*bytes.Reader) (image.Config, error) {
	switch media {
	case "image/png":
		return func(r *bytes.Reader) (image.Config, error) { return png.DecodeConfig(r) }
	case "image/jpeg":
		return func(r *bytes.Reader) (image.Config, error) { return jpeg.DecodeConfig(r) }
	case "image/gif":
		return func(r *bytes.Reader) (image.Config, error) { return gif.DecodeConfig(r) }
	case "image/webp":
		return webpSize
	default:
		return nil
	}
}

// errWebP means that bytes are not the beginning of a WebP image.
var errWebP = errors.New("no WebP image")

// webpSize reads the size of a WebP image, of each of the three forms in RFC 9649.
func webpSize(r *bytes.Reader) (image.Config, error) {
	const (
		header, least = 30, 25 // bytes
		side          = 1<<14 - 1
	)
	var b [header]byte
	if n, _ := r.Read(b[:]); n < least || string(b[:4]) != "RIFF" || string(b[8:12]) != "WEBP" {
		return image.Config{}, errWebP
	}
	u24 := func(at int) int { return int(b[at]) | int(b[at+1])<<8 | int(b[at+2])<<16 }
	switch chunk := string(b[12:16]); {
	case chunk == "VP8 " && string(b[23:26]) == "\x9d\x01\x2a":
		return image.Config{Width: u24(26) & side, Height: int(binary.LittleEndian.Uint16(b[28:])) & side}, nil
	case chunk == "VP8L" && b[20] == 0x2f:
		bits := int(binary.LittleEndian.Uint32(b[21:]))
		return image.Config{Width: bits&side + 1, Height: bits>>14&side + 1}, nil
	case chunk == "VP8X":
		return image.Config{Width: u24(24) + 1, Height: u24(27) + 1}, nil
	default:
		return image.Config{}, errWebP
	}
}
