package flow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
)

// The bytes of a file tell what the file is.
func TestAFileIsDescribedByItsBytes(t *testing.T) {
	f, err := (&flow.File{}).Described([]byte("%PDF-1.7\n<</Type/Page>>"))
	require.NoError(t, err)
	assert.Equal(t, []any{"application/pdf", 1, 23}, []any{f.Type, f.Pages, f.Size})
}

func TestAFileAsTranscriptsShowIt(t *testing.T) {
	for want, f := range map[string]flow.File{
		"[image: a.png]":       {Name: "a.png", Type: "image/png"},
		"[PDF: a_b_.pdf]":      {Name: "a[b].pdf", Type: "application/pdf"},
		"[file: 0123456789ab]": {Type: "text/csv", Hash: "0123456789abcdef"},
	} {
		assert.Equal(t, want, f.String())
	}
}
