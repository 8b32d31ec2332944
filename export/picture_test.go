package export_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	stdhtml "html"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider/scripted"
)

// encoded returns an image of 4 by 3 pixels.
func encoded(t *testing.T, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, encode(&out, image.NewPaletted(image.Rect(0, 0, 4, 3), color.Palette{color.Black, color.White})))
	return out.Bytes()
}

// canvas returns the beginning of a GIF of this size.
func canvas(width, height int, rest string) []byte {
	b := binary.LittleEndian.AppendUint16([]byte("GIF89a"), uint16(width))
	return append(append(binary.LittleEndian.AppendUint16(b, uint16(height)), 0, 0, 0), rest...)
}

// webp returns the beginning of a WebP image with this chunk.
func webp(chunk string) []byte {
	return []byte("RIFF\x40\x00\x00\x00WEBP" + chunk + strings.Repeat("\x00", 16))
}

// reported plays a debate with files, and writes it with their bytes.
func reported(t *testing.T, file func(hash string) ([]byte, error), attachments ...flow.File) (page, markdown string) {
	t.Helper()
	config := stage.TwoDebaters()
	config.Rounds, config.Attachments = 1, attachments
	engine, _ := stage.Engine(config)
	s, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer s.Close()
	r := stage.Ended(t, s)
	if file == nil {
		file = func(hash string) ([]byte, error) { return engine.File(t.Context(), r.ID, hash) }
	}
	return written(t, (&export.Document{Record: r}).Picture(file))
}

// written writes a document, and checks that nothing has broken out of its page.
func written(t *testing.T, d *export.Document) (page, markdown string) {
	t.Helper()
	var html, plain strings.Builder
	require.NoError(t, d.HTML(&html))
	_, err := pageStructure([]byte(html.String()))
	require.NoError(t, err)
	d.Picture(func(string) ([]byte, error) { return nil, errors.New("Markdown has no images") })
	require.NoError(t, d.Markdown(&plain))
	assert.NotContains(t, plain.String(), "base64")
	return stdhtml.UnescapeString(html.String()), plain.String()
}

func embeds(media string, data []byte) string {
	return `src="data:` + media + ";base64," + base64.StdEncoding.EncodeToString(data) + `"`
}

// Images of the four types that models read are part of the page. Markdown has their names and hashes.
func TestAPageShowsTheImages(t *testing.T) {
	images := map[string][]byte{
		"image/png":  encoded(t, func(w *bytes.Buffer, m image.Image) error { return png.Encode(w, m) }),
		"image/jpeg": encoded(t, func(w *bytes.Buffer, m image.Image) error { return jpeg.Encode(w, m, nil) }),
		"image/gif":  encoded(t, func(w *bytes.Buffer, m image.Image) error { return gif.Encode(w, m, nil) }),
		"image/webp": webp("VP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x02\x00\x00"),
	}
	lossy, lossless := webp("VP8 \x0a\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\x04\x00\x03\x00"), webp("VP8L\x0a\x00\x00\x00/\x03\x80\x00\x00")
	var files []flow.File
	for _, data := range images {
		files = append(files, flow.File{Name: "image", Data: data})
	}
	files = append(files, flow.File{Data: lossy}, flow.File{Data: lossless}, flow.File{Name: "a.txt", Type: "text/plain", Data: []byte("words")})
	page, markdown := reported(t, nil, files...)
	images["image/webp"] = lossy
	for media, data := range images {
		assert.Contains(t, page, embeds(media, data))
		assert.Contains(t, page, flow.HashOf(data))
		assert.Contains(t, markdown, flow.HashOf(data))
	}
	assert.Contains(t, page, embeds("image/webp", lossless))
	assert.Equal(t, 6, strings.Count(page, `alt="[image: `))
	assert.Equal(t, 6, strings.Count(page, `width="4" height="3"`), "the size of each is known")
	assert.Contains(t, page, "; img-src data:")
	assert.NotContains(t, page, "not shown")
}

// A document without the bytes, or without an image, loads none.
func TestAPageWithoutImages(t *testing.T) {
	for name, part := range map[string]flow.File{
		"no image": {Name: "a.txt", Type: "text/plain", Data: []byte("words")},
		"a PDF":    {Name: "a.pdf", Data: []byte("%PDF-1.7 <script>alert(1)</script>")},
		"SVG text": {Name: "a.svg", Type: "text/plain", Data: []byte("<svg onload='alert(1)'/>")},
	} {
		t.Run(name, func(t *testing.T) {
			page, _ := reported(t, nil, part)
			assert.NotContains(t, page, "<img")
			assert.NotContains(t, page, "img-src")
			assert.NotContains(t, page, "data:")
		})
	}
}

// What an image is called, and what its bytes hold, stays what it is.
func TestHostileImages(t *testing.T) {
	pixels := encoded(t, func(w *bytes.Buffer, m image.Image) error { return png.Encode(w, m) })
	for name, data := range map[string][]byte{
		`"><script>alert(1)<b>`:           append(bytes.Clone(pixels), `"><script>alert(1)</script>`...),
		`' onerror='alert(1)' x='`:        canvas(4, 3, `/*"/><svg onload=alert(1)>*/=1;alert(1)`),
		`" onload="alert(1)" src="evil:x`: canvas(4, 3, "-->]]></html>"),
		"]]><![CDATA[ \u00a0{{.Style}}":   append(bytes.Clone(pixels), "\xff\xfe\x00"...),
	} {
		file := flow.File{Name: strings.NewReplacer("/", "", "\u00a0", "").Replace(name), Data: data}
		_, markdown := reported(t, nil, file)
		assert.NotContains(t, markdown, "<script>")
	}
}

// A page says why it does not show an image.
func TestImagesThatAreNotShown(t *testing.T) {
	pixels := encoded(t, func(w *bytes.Buffer, m image.Image) error { return png.Encode(w, m) })
	part := flow.File{Name: "chart.png", Data: pixels}
	for name, tc := range map[string]struct {
		part flow.File
		file func(string) ([]byte, error)
		why  string
	}{
		"missing": {part, func(string) ([]byte, error) { return nil, fmt.Errorf("chart: %w", flow.ErrNoFile) }, "its bytes are missing or damaged"},
		"others":  {part, func(string) ([]byte, error) { return []byte("<svg/>"), nil }, "its bytes are not those of the file"},
		"none":    {part, func(string) ([]byte, error) { return nil, nil }, "its bytes are not those of the file"},
		"no size": {flow.File{Data: []byte("\x89PNG\r\n\x1a\n<script>")}, nil, "its bytes do not tell its size"},
		"no area": {flow.File{Data: canvas(0, 9, "")}, nil, "its bytes do not tell its size"},
		"webp":    {flow.File{Data: webp("VP9 ")}, nil, "its bytes do not tell its size"},
		"a bomb":  {flow.File{Data: canvas(65535, 65535, "")}, nil, "it is too large"},
	} {
		t.Run(name, func(t *testing.T) {
			page, markdown := reported(t, tc.file, tc.part)
			assert.Contains(t, page, ", not shown: "+tc.why)
			assert.NotContains(t, page, "<img")
			assert.NotContains(t, page, "img-src")
			assert.NotContains(t, markdown, "not shown")
		})
	}
}

// All images of a page together are bounded: those that come later are named only.
func TestAPageHasABoundForItsImages(t *testing.T) {
	var files []flow.File
	for i := range 6 {
		files = append(files, flow.File{Data: canvas(8192, 8192, fmt.Sprint(i))})
	}
	page, _ := reported(t, nil, files...)
	assert.Equal(t, 4, strings.Count(page, "<img"))
	assert.Equal(t, 2, strings.Count(page, "not shown: it is too large"))
}

// Another failure than a missing file is the caller's, and nothing is written.
func TestAFailureToReadAFileIsReturned(t *testing.T) {
	config := stage.TwoDebaters()
	config.Rounds, config.Attachments = 1, []flow.File{{Data: canvas(4, 3, "")}}
	engine, _ := stage.Engine(config)
	r := stage.Run(t, engine, config)
	down := errors.New("the store is down")
	d := (&export.Document{Record: r}).Picture(func(string) ([]byte, error) { return nil, down })
	var out strings.Builder
	require.ErrorIs(t, d.HTML(&out), down)
	assert.Empty(t, out.String())
	require.NoError(t, d.Markdown(&out))
}

// A log that was changed names another file as an image: its bytes do not show the type.
func TestALogThatCallsAFileAnImage(t *testing.T) {
	config := stage.TwoDebaters()
	config.Rounds, config.Attachments = 1, []flow.File{{Data: canvas(4, 3, "")}}
	engine, _ := stage.Engine(config)
	start, err := kernel.Of(t, engine).Freeze(config)
	require.NoError(t, err)
	svg := []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`)
	for _, media := range []string{"image/gif", "image/webp", "image/svg+xml", "image/gif\" onload=\"x"} {
		start.Settings.Documents = []flow.Document{{Files: []flow.File{{Type: media, Hash: flow.HashOf(svg), Size: len(svg)}}}}
		core, err := kernel.Of(t, engine).NewCore("changed", []debate.Event{{Seq: 1, Body: &start}})
		if err != nil {
			assert.Contains(t, err.Error(), "type")
			continue
		}
		page, _ := written(t, (&export.Document{Record: core.Record()}).Picture(func(string) ([]byte, error) { return svg, nil }))
		assert.Contains(t, page, "not shown: its bytes are not those of the file")
		assert.NotContains(t, page, "<img")
	}
}

// What a person hands in is shown where it was said.
func TestAPageShowsTheImageOfAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := tickets()
		config.Unattended = false
		engine := &debate.Engine{
			Providers: map[string]debate.Provider{"acme": &scripted.Provider{Reply: ticketReply("so")}},
			Flows:     map[string]*flow.Flow{deliberation.FlowName: deliberation.Flow()},
		}
		s := stage.Started(t, engine, config)
		r := stage.AwaitsInput(t, s)
		data := canvas(4, 3, "")
		require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: r.Inquiries[0].ID, Text: "As drawn.", Attachments: []flow.File{{Name: "plan", Data: data}}}))
		r = stage.StoredRecord(t, engine, s.ID())
		page, markdown := written(t, (&export.Document{Record: r}).Picture(func(hash string) ([]byte, error) {
			return engine.File(t.Context(), s.ID(), hash)
		}))
		assert.Equal(t, 1, strings.Count(page, embeds("image/gif", data)))
		assert.Contains(t, markdown, flow.HashOf(data))
	})
}
