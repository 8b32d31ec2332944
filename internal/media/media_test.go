package media_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/media"
)

// A PDF is priced by its pages, so their number is counted wherever it stands, and a lie makes it no smaller.
func TestThePagesOfAPDF(t *testing.T) {
	longform.Lone(t)
	packed := func(objects string) string {
		var out bytes.Buffer
		w := zlib.NewWriter(&out)
		_, err := w.Write([]byte(objects))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return fmt.Sprintf("5 0 obj<</Type/ObjStm/N 9/Filter/FlateDecode/Length %d>>stream\n%s\nendstream", out.Len(), out.String())
	}
	const one = "9 0 obj<</Type/Page>>endobj "
	long := strings.Repeat("1234 0 R ", 400)
	few := packed(strings.Repeat("<</Type/Page>>", 50))
	many := packed(strings.Repeat("<</Type/Page>>", 500))
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"one":                {"<</Type /Page /Parent 1 0 R>>", 1},
		"three":              {strings.Repeat("<</Type/Page>> ", 3), 3},
		"by the tree":        {"<</Type /Pages /Kids [] /Count 7>>", 7},
		"the tree backwards": {"<</Count 7 /Kids [1 0 R] /Type /Pages>>", 7},
		"a tree that lies":   {"<</Type/Pages/Count 1>>" + strings.Repeat("<</Type/Page>>", 4), 4},
		"packed":             {packed(strings.Repeat("<</Type/Page>>", 12)), 12},
		"both":               {"<</Type/Page>>" + packed("<</Type/Page>>"), 2},
		"encrypted":          {"<</Encrypt 3 0 R>> \x01\x02", 100},
		"outlines":           {"<</Type/Page>><</Type/Outlines/Count 90>>", 1},
		"without an end":     {strings.Repeat("<</Type/Page>>", 5000), 1000},
		"a broken stream":    {"<</Type/ObjStm>>stream\nno zlib", 100},
		"a bomb":             {packed(strings.Repeat(" ", 64<<20)) + "<</Type/Page>>", 100},
		"behind a bomb":      {one + packed(strings.Repeat(" ", 9<<20)) + many, 100},

		"escaped names":                 {one + strings.Repeat("<</#54ype/P#61g#65>>", 500), 501},
		"an escaped tree":               {one + "<</Type/P#61ges/C#6funt 500>>", 500},
		"an escaped stream":             {one + strings.Replace(many, "ObjStm", "Obj#53tm", 1), 501},
		"an escape that makes it other": {one + "<</Type/Page#41>>", 1},
		"comments":                      {one + "<</Type%x\r/Pages%y\n/Count%z\n500>>", 500},
		"a long tree":                   {one + "<</Type/Pages/Kids[" + long + "]/Count 500>>", 500},
		"a long tree backwards":         {one + "<</Count 500/Kids[" + long + "]/Type/Pages>>", 500},
		"a dictionary in the tree":      {one + "<</Type/Pages/Resources<</Font<</A<AB>>>>>/Count 500>>", 500},
		"one before its type":           {one + "<</Count 500/Resources<</Font<</A 1>>>>/Type/Pages>>", 500},
		"a string in the tree":          {one + "<</Count 500/X(<<)/Type/Pages>>", 100},
		"a number elsewhere":            {one + "<</Type/Pages/Count 8 0 R>>8 0 obj 500 endobj", 100},
		"a type elsewhere":              {one + strings.Repeat("<</Type 8 0 R>>", 500) + "8 0 obj/Page endobj", 100},
		"a type beyond white space":     {one + "<</Type" + strings.Repeat(" ", 500) + "/Pages/Count 500>>", 100},
		"a tree without an end":         {one + "<</Type/Pages" + strings.Repeat(" ", 100<<10) + "/Count 500>>", 100},
		"a long dictionary":             {one + strings.Replace(many, "/N 9", "/N 9/X<"+strings.Repeat("AB", 400)+">", 1), 501},
		"a string in a dictionary":      {one + strings.Replace(many, "/N 9", "/N 9/X(>>stream x)", 1), 100},
		"another filter":                {one + strings.Replace(many, "stream\n", "stream\n\x80\x0b", 1), 100},
		"a stream that is cut":          {one + few[:len(few)-30], 100},
		"too many trees":                {one + strings.Repeat("<</Type/Pages/Count 1>>", 1500) + "<</Type/Pages/Count 500>>", 100},
		"too many streams":              {one + strings.Repeat(packed(" "), 1500) + many, 100},
		"no more than can be sent":      {one + "<</Type/Pages/Count 99999>>", 1000},
	} {
		t.Run(name, func(t *testing.T) {
			data := []byte("%PDF-1.7\n" + c.body)
			assert.Equal(t, []any{media.PDF, c.want}, []any{media.TypeOf(data), media.Pages(data)})
		})
	}
}

// Reading a hostile file takes a time that grows with its size. What read all of it for each of its pieces would take hours, longer than
// go test lets a test run.
func TestHostileFilesAreReadInTime(t *testing.T) {
	longform.Lone(t)
	for name, piece := range map[string]string{
		"trees": "/Type/Pages ", "counts": "/Count 9999999 ", "streams": "/ObjStm ", "open streams": "/ObjStm stream\n", "pages": "/Type /Page ",
		"comments": "/Type%", "spaces": "/Type      ", "deep trees": "<</Type/Pages ", "names": "/Type/Pages/" + strings.Repeat("#41", 100_000), "slashes": "/",
		"zlib": "/Type/ObjStm stream\n\x78\x9c",
	} {
		t.Run(name, func(*testing.T) {
			media.Pages([]byte("%PDF-1.7\n" + strings.Repeat(piece, (flow.MaxFile-20)/len(piece))))
		})
	}
}

func TestTheTypeThatBytesShow(t *testing.T) {
	for want, data := range map[string]string{
		"image/png": "\x89PNG\r\n\x1a\n", "image/jpeg": "\xff\xd8\xff\xe0", "image/gif": "GIF89a", "image/webp": "RIFF\x00\x00\x00\x00WEBPVP8 ",
		"application/pdf": "%PDF-1.4", "text/plain": "words",
	} {
		assert.Equal(t, want, media.TypeOf([]byte(data)))
	}
}
