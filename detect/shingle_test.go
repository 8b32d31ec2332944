package detect_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/detect"
	"github.com/agonist-dev/debate/internal/longform"
)

// spell is a slow second opinion of what the words of a text are.
func spell(text string) []string {
	unspaced := []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}
	var runes []rune
	for _, r := range strings.ReplaceAll(text, "’", "'") {
		if !unicode.Is(unicode.Cf, r) {
			runes = append(runes, r)
		}
	}
	part := func(r rune) bool { return unicode.IsDigit(r) || unicode.IsLetter(r) && !unicode.In(r, unspaced...) }
	var words []string
	for i := 0; i < len(runes); {
		first := runes[i]
		i++
		if !unicode.IsLetter(first) && !unicode.IsDigit(first) {
			continue
		}
		word := []rune{first}
		for i < len(runes) {
			switch {
			case unicode.IsMark(runes[i]):
			case part(first) && part(runes[i]):
			case part(first) && runes[i] == '\'' && i+1 < len(runes) && part(runes[i+1]):
				word = append(word, '\'')
				i++
			default:
				goto done
			}
			word = append(word, runes[i])
			i++
		}
	done:
		words = append(words, strings.ToLower(strings.ToUpper(string(word))))
	}
	return words
}

// sequences are the distinct sequences of three words; all words if they are fewer.
func sequences(text string) map[string]bool {
	words := spell(text)
	set := map[string]bool{}
	if n := len(words); n == 1 || n == 2 {
		set[strings.Join(words, " ")] = true
	}
	for i := range max(0, len(words)-2) {
		set[strings.Join(words[i:i+3], " ")] = true
	}
	return set
}

func overlap(a, b string) float64 {
	x, y := sequences(a), sequences(b)
	common := 0
	for s := range x {
		if y[s] {
			common++
		}
	}
	if common == 0 {
		return 0
	}
	return float64(common) / float64(len(x)+len(y)-common)
}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		want       float64
	}{
		{"the same", "Cars harm the city.", "Cars harm the city.", 1},
		{"nothing in common", "Cars harm the city.", "Shops need their customers.", 0},
		{"the same words in another order", "cars harm the city", "city the harm cars", 0},
		{"one of three sequences", "cars harm the city", "harm the city centre", 1. / 3},
		{"a repeated sequence counts once", "cars harm the cars harm the", "cars harm the", 1. / 3},
		{"case and punctuation do not matter", "CARS — harm; the\n\n*city*!", "cars harm the city", 1},
		{"digits of other scripts too", "عام ٢٠١٩ وعام", "عام ٢٠٢٠ وعام", 0},
		{"digits are words", "in 2019 and 2020", "in 2019 and 2021", 1. / 3},

		{"no words at all", "", "", 0},
		{"still no words", "… !? 👍", "… !? 👍", 0},
		{"nothing and something", "", "cars harm the city", 0},
		{"one word", "Yes.", "yes", 1},
		{"one other word", "Yes.", "No.", 0},
		{"two words", "I agree.", "I agree!", 1},
		{"two words, one of them another", "I agree", "I disagree", 0},
		{"a short text in a long one", "I agree", "I agree with you", 0},
		{"one word is not two", "I", "I I", 0},
		{"two words are not three", "oh no", "oh no oh", 0},

		{"apostrophes", "don't ban all cars", "don’t ban all cars", 1},
		{"an apostrophe makes another word", "don't do it", "dont do it", 0},
		{"quotes around a word", "they call it 'progress' 'tis", "they call it progress tis", 1},
		{"two apostrophes divide", "rock''n roll", "rock n roll", 1},
		{"an apostrophe before a mark divides", "a'\u0301b c", "a b c", 1},

		{"case in other scripts", "ΟΔΟΣ ВОЛЯ ΟΔΟΣ", "οδος воля οδοσ", 1},
		{"ß is not SS", "die große Straße", "die GROSSE STRASSE", 0},
		{"composed letters stay what they are", "le caf\u00e9 noir", "le cafe\u0301 noir", 0},
		{"marks belong to the word", "हिन्दी में बहस", "हिन्दी में बहस", 1},
		{"marks make a difference", "हिन्दी में बहस", "हन्द म बहस", 0},
		{"a mark alone is no word", "a \u0301 b c", "a b c", 1},
		{"invisible characters", "con\u00adgestion char\u200bge wo\u2060rks", "congestion charge works", 1},
		{"not UTF-8", "cars\xffharm\xc3 the\xed\xa0\x80 city", "cars harm the city", 1},

		{"Chinese goes by the character", "汽车很危险", "汽车很方便", 1. / 5},
		{"Japanese too", "くるまは", "くるまも", 1. / 3},
		{"Thai with its marks", "รถยนต์", "ร ถ ย น ต์", 1},
		{"digits are not letters", "ก๗๘ข ค", "ก ๗๘ ข ค", 1},
		{"a script ends a word", "日abc語 3日", "日 abc 語 3 日", 1},
		{"no apostrophe inside unspaced letters", "日'語'a", "日 語 a", 1},
		{"Korean has spaces", "자동차는 도시를 해친다", "자동차는 도시를 돕는다", 0},
	} {
		assert.Equal(t, c.want, detect.Overlap(c.a, c.b), c.name)
		assert.Equal(t, c.want, overlap(c.a, c.b), "%s, by the second opinion", c.name)
	}
}

func TestShinglesLen(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "…": 0, "a": 1, "a b": 1, "a b c": 1, "a b c d": 2, strings.Repeat("a ", 9): 1, "汽车很危险": 3,
		strings.Repeat("a", 1<<16): 1, strings.Repeat("\xff", 1<<16): 0, strings.Repeat("'", 1<<16): 0, "a" + strings.Repeat("\u0301", 1<<16): 1,
	} {
		assert.Equal(t, want, detect.Shingle(text).Len(), "%.20q", text)
	}
	assert.Zero(t, detect.Shingle("?"))
	assert.Equal(t, 0., detect.Shingles{}.Jaccard(detect.Shingle("a b c")))
}

func TestOverlapProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		a, b := speech(random, random.IntN(20)), speech(random, random.IntN(20))
		b = append(b, a[:random.IntN(len(a)+1)]...)
		x, y := detect.Shingle(text(a)), detect.Shingle(text(b))
		require.Equal(t, overlap(text(a), text(b)), x.Jaccard(y))
		require.Equal(t, x.Jaccard(y), y.Jaccard(x), "symmetry")
		require.Equal(t, x.Jaccard(y), detect.Overlap(text(a), text(b)))
		if x.Len() > 0 {
			require.Equal(t, 1., x.Jaccard(x), "identity")
			require.Equal(t, 1., detect.Overlap(text(a), strings.ToUpper(text(a))))
			require.Equal(t, x, detect.Shingle("\n\n"+strings.ReplaceAll(text(a), " ", " — ")))
		}
		// What has no word in common has no sequence in common.
		require.Zero(t, x.Jaccard(detect.Shingle(strings.ReplaceAll(text(b), " ", "x "))))
	}
}

// Every letter is the same in either case.
func TestCaseDoesNotMatter(t *testing.T) {
	for r := range rune(unicode.MaxRune + 1) {
		if !unicode.IsLetter(r) {
			continue
		}
		for _, other := range []rune{unicode.ToUpper(r), unicode.ToLower(r), unicode.ToTitle(r)} {
			if other != r {
				require.Equal(t, 1., detect.Overlap(string(r), string(other)), "%c %c", r, other)
			}
		}
	}
}

// Speeches that repeat a part of an earlier one's sentences overlap with it as was measured on those
// of models, see Noticeable: as a block about as much as the median, scattered between others less,
// because the sequences across their ends are lost, but more than the measured 5th percentile.
func TestSentencesRepeated(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	median := func(repeated int, scattered bool) float64 {
		var figures []float64
		for range 100 {
			before, now := speech(random, 20), speech(random, 20)
			copy(now[random.IntN(len(now)-repeated+1):], before[:repeated])
			if scattered {
				random.Shuffle(len(now), func(i, j int) { now[i], now[j] = now[j], now[i] })
			}
			figures = append(figures, detect.Overlap(text(before), text(now)))
		}
		slices.Sort(figures)
		return figures[len(figures)/2]
	}
	assert.InDelta(t, 0.013, median(0, false), 0.013)
	for _, c := range []struct {
		repeated       int
		median, lowest float64
	}{
		{5, 0.15, 0.09},
		{10, 0.35, 0.25},
		{15, 0.61, 0.45},
	} {
		assert.InDelta(t, c.median, median(c.repeated, false), 0.03, "%d of 20 sentences", c.repeated)
		scattered := median(c.repeated, true)
		assert.Greater(t, scattered, c.lowest, "%d of 20 sentences", c.repeated)
		assert.Less(t, scattered, c.median, "%d of 20 sentences", c.repeated)
	}
}

// What a text costs grows with its length, whatever is in it.
func TestHostileText(t *testing.T) {
	longform.Lone(t)
	random := rand.New(rand.NewPCG(5, 6))
	long := text(speech(random, 6700))
	require.Greater(t, len(strings.Fields(long)), 90_000)
	for name, text := range map[string]string{
		"no spaces": strings.Repeat("a", 1<<20), "no text": strings.Repeat("\xff", 1<<20), "many words": long,
		"Chinese": chinese(random, 1<<17), "apostrophes": strings.Repeat("a'", 1<<17), "marks": strings.Repeat("\u0301", 1<<17),
		"invisible": strings.Repeat("\u200b", 1<<17), "one sequence": strings.Repeat("no ", 1<<17),
	} {
		shingles := detect.Shingle(text)
		assert.LessOrEqual(t, shingles.Len(), utf8.RuneCountInString(text), name)
		want := 1.
		if shingles.Len() == 0 {
			want = 0
		}
		assert.Equal(t, want, shingles.Jaccard(detect.Shingle(text)), name)
	}
}

func FuzzOverlap(f *testing.F) {
	for _, seed := range [][2]string{
		{"", ""},
		{"a b c d", "b c d e"},
		{"don't", "don’t"},
		{"日a日", "日 a"},
		{"a\xffb", "a b"},
		{"ΟΔΟΣ", "οδος"},
		{"a'\u0301'b", "a''b"},
		{"ก็ a", "ก ็a"},
		{"'a'", "a"},
		{"กa๗ข", "ก a๗ ข"},
		{"a\u200b'b", "a'\u200bb"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := detect.Shingle(a), detect.Shingle(b)
		got := x.Jaccard(y)
		assert.Equal(t, overlap(a, b), got)
		assert.Equal(t, got, y.Jaccard(x))
		assert.Equal(t, len(sequences(a)), x.Len())
		if x.Len() > 0 {
			assert.Equal(t, 1., x.Jaccard(detect.Shingle(a)))
		}
	})
}
