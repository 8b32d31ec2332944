package progress_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
)

func TestQuote(t *testing.T) {
	for _, tc := range []struct{ word, sh, windows string }{
		{"ask.r1.opening.Ada.1", "ask.r1.opening.Ada.1", "ask.r1.opening.Ada.1"},
		{"/tmp/a-b_c:d@e", "/tmp/a-b_c:d@e", `"/tmp/a-b_c:d@e"`},
		{"Renée", "Renée", "Renée"},
		{"", "''", `""`},
		{"System Architect", "'System Architect'", `"System Architect"`},
		{"it's", `'it'\''s'`, `"it's"`},
		{"$(touch x)", "'$(touch x)'", "\"`$(touch x)\""},
		{"`touch x`", "'`touch x`'", "\"``touch x``\""},
		{"; touch x;", "'; touch x;'", `"; touch x;"`},
		{`" & calc & "`, `'" & calc & "'`, `"' & calc & '"`},
		{`Ada.1" --approve --text="`, `'Ada.1" --approve --text="'`, `"Ada.1' --approve --text='"`},
		{"Ada  L", "'Ada  L'", `"Ada  L"`},
		{"@x", "@x", `"@x"`},
		{"“$x”", "'“$x”'", "\"`“`$x`”\""},
		{"~root", "'~root'", `"~root"`},
		{`C:\docs`, `'C:\docs'`, `C:\docs`},
		{`C:\my docs\`, `'C:\my docs\'`, `"C:\my docs\\"`},
		{"two\nlines \x1b[2J", "'two lines ␛'", `"two lines ␛"`},
	} {
		assert.Equal(t, tc.sh, progress.QuoteFor(tc.word, false))
		assert.Equal(t, tc.windows, progress.QuoteFor(tc.word, true))
	}
}

// TestCommand: what looks like a flag is an operand.
func TestCommand(t *testing.T) {
	assert.Equal(t, "debate resume d1", progress.Command("resume", "d1"))
	assert.Equal(t, "debate answer -- -d1 q", progress.Command("answer", "-d1", "q"))
	assert.Equal(t, "debate resume", progress.Command("resume"))
}
