package sql_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/sql"
)

func TestPattern(t *testing.T) {
	for _, tt := range []struct{ name, part, want string }{
		{"letters", "Cars ban", "%Cars ban%"},
		{"what is a sign in patterns", "100% a_b!", "%100!% a!_b!!%"},
		{"what JSON escapes", "a\"b\\c\nd\x00e", "%a%b%c%d%e%"},
		{"one after the other", "a\n\n\"\tb", "%a%b%"},
		{"at its ends", "\na\n", "%a%"},
		{"nothing else", "\n", "%"},
		{"what JSON may escape", "<b>&\u2028", "%b%"},
		{"letters that are not ASCII", "Straße", "%Stra_e%"},
		{"letters that have others for their small ones", "Kiki", "%____%"},
		{"no UTF-8", "a\xffb", "%a%b%"},
		{"what stands for it", "a\ufffdb", "%a%b%"},
		{"a long text", strings.Repeat("ab", 400), "%" + strings.Repeat("ab", 100) + "%"},
		{"a long text of others", strings.Repeat("é", 400), "%" + strings.Repeat("_", 100) + "%"},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, sql.Pattern(tt.part)) })
	}
}

// matches is LIKE, as it knows the case of ASCII letters alone.
func matches(text, pattern []rune) bool {
	for len(pattern) > 0 {
		switch r := pattern[0]; {
		case r == '%':
			for i := range len(text) + 1 {
				if matches(text[i:], pattern[1:]) {
					return true
				}
			}
			return false
		case len(text) == 0:
			return false
		case r == '!':
			pattern = pattern[1:]
			if pattern[0] != text[0] {
				return false
			}
		case r != '_' && lower(r) != lower(text[0]):
			return false
		}
		text, pattern = text[1:], pattern[1:]
	}
	return len(text) == 0
}

func lower(r rune) rune {
	if r < utf8.RuneSelf {
		return unicode.ToLower(r)
	}
	return r
}

// missed reports whether a text that Finds would find is not found by its pattern, however the event is
// encoded.
func missed(t testing.TB, text, part string) bool {
	t.Helper()
	event := turn(1, text)[0]
	filter := store.Filter{Text: part}
	for _, escape := range []bool{true, false} {
		var body bytes.Buffer
		encoder := json.NewEncoder(&body)
		encoder.SetEscapeHTML(escape)
		require.NoError(t, encoder.Encode(event))
		var decoded flow.Event
		require.NoError(t, json.Unmarshal(body.Bytes(), &decoded))
		if filter.Finds(&decoded) && !matches([]rune(body.String()), []rune(sql.Pattern(part))) {
			return true
		}
	}
	return false
}

func FuzzPattern(f *testing.F) {
	f.Add("Should cities ban cars?", "CITIES")
	f.Add("100 \u212Aelvin in \u0130stanbul", "kelvin in i")
	f.Add("a\x00b\xffc\u2028<d>", "\xffC\u2028<D")
	f.Fuzz(func(t *testing.T, text, part string) {
		if len(text) < 1000 && len(part) < 100 && missed(t, text, part) {
			t.Errorf("%q in %q is missed by %q", part, text, sql.Pattern(part))
		}
	})
}

// Texts of the characters that are difficult, and parts of them in other cases.
func TestNoTextIsMissed(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	alphabet := []rune("abkiKI\u212A\u0130\u0131 ßẞΣσςéÉ\"\\/<>&%_!\n\x00\x7f\u2028\ufffd🙂")
	found := 0
	for range 20_000 {
		text := make([]rune, random.IntN(12))
		for i := range text {
			text[i] = alphabet[random.IntN(len(alphabet))]
		}
		from := random.IntN(len(text) + 1)
		part := slices.Clone(text[from : from+random.IntN(len(text)-from+1)])
		for i, r := range part {
			part[i] = []rune{r, unicode.ToLower(r), unicode.ToUpper(r)}[random.IntN(3)]
		}
		if (store.Filter{Text: string(part)}).Finds(&turn(1, string(text))[0]) {
			found++
		}
		require.False(t, missed(t, string(text), string(part)), "%q in %q", string(part), string(text))
	}
	assert.Greater(t, found, 5000)
}
