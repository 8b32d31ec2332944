package debate

import (
	"bytes"
	"cmp"
	"image"
	"image/png"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// blankFile returns a file that takes the place of one that is removed: of a kind that whoever could read the one can read too,
// so that the debate goes on.
func blankFile(f *flow.File, with string) (flow.File, []byte, error) {
	blank, data := flow.File{Name: f.Name, Type: "text/plain"}, []byte(cmp.Or(with, "[redacted]")+"\n")
	switch provider.MediaAbility(f.Type) {
	case provider.AbilityImage:
		var out bytes.Buffer
		if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
			return blank, nil, err
		}
		blank.Type, data = "image/png", out.Bytes()
	case provider.AbilityPDF:
		blank.Type, data = "application/pdf", blankPDF()
	}
	described, err := blank.Described(data)
	return described, data, err
}

// blankPDF returns a page without content.
func blankPDF() []byte {
	return []byte(strings.Join([]string{
		"%PDF-1.4",
		"1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj",
		"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj",
		"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 72]>>endobj",
		"trailer<</Root 1 0 R>>",
		"%%EOF", "",
	}, "\n"))
}
