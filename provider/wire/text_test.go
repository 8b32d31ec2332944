package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider/wire"
)

// The two halves of a character that JSON writes as two escapes are joined, wherever the pieces are cut. A half alone is no
// character.
func TestHalvesOfACharacter(t *testing.T) {
	for _, tt := range []struct {
		pieces []string // of a JSON string
		want   string
	}{
		{[]string{`Oaks \ud83c`, `\udf33 grow`}, "Oaks 🌳 grow"},
		{[]string{`\uD83C`, ``, `\uDF33`}, "🌳"},
		{[]string{`\ud83c\udf33`}, "🌳"},
		{[]string{`a\ud83c`, `b`}, "a\uFFFDb"},
		{[]string{`a\ud83c`}, "a\uFFFD"},
		{[]string{`a\udf33b`}, "a\uFFFDb"},
		{[]string{`a\ud83c\ud83c`, `\udf33`}, "a\uFFFD🌳"},
		{[]string{`\\ud83c`, `\\udf33`}, `\ud83c\udf33`},
		{[]string{`\u00e9\n\ud7a3`, `한국`}, "é\n\ud7a3한국"},
		{[]string{`\ud83c\u0041`, `🌳`}, "\uFFFDA🌳"},
	} {
		var seen collected
		r := seen.reply(t)
		r.Call(0, "a", "look", `{"x":"`)
		joined := ""
		for _, piece := range tt.pieces {
			var text wire.Text
			require.NoError(t, json.Unmarshal([]byte(`"`+piece+`"`), &text), piece)
			r.Say(string(text))
			r.Think(string(text))
			joined += string(text)
			if tt.want != `\ud83c\udf33` && tt.want != "é\n\ud7a3한국" { // in arguments, these are escapes
				r.Call(0, "", "", wire.Plain(json.RawMessage(`"`+piece+`"`)))
			}
		}
		r.Call(0, "", "", `"}`)
		got := end(t, r)
		assert.Equal(t, tt.want, got.Text, tt.pieces)
		assert.Equal(t, tt.want, got.Reasoning, tt.pieces)
		assert.Equal(t, tt.want, wire.Joined(joined), tt.pieces)
		var arguments struct{ X string }
		require.NoError(t, json.Unmarshal(got.Calls[0].Arguments, &arguments))
		if arguments.X != "" {
			assert.Equal(t, tt.want, arguments.X, tt.pieces)
		}
	}
	var text wire.Text
	require.NoError(t, json.Unmarshal([]byte("null"), &text))
	assert.Empty(t, text)
	require.Error(t, json.Unmarshal([]byte("5"), &text))
}
