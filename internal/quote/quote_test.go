package quote_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/quote"
)

const report = "The board met in May. It is not possible to close the plant before the end of the year, the report says. " +
	"Sales fell by 1.5% to 10,000 units — “a hard year”, as the chair called it — and no site was spared. " +
	"The workers' council did not agree to the plan. An area of 10² km was left, about 102 miles from the coast at -5 degrees Celsius."

// TestCheck: words are verified if they stand in the document as whole words, however they are set.
func TestCheck(t *testing.T) {
	t.Parallel()
	source := quote.Read([]byte(report))
	for passage, want := range map[string]quote.Finding{
		"It is not possible to close the plant":                   {Status: quote.Verified},
		"It is not possible\n  to close the\u00a0plant":           {Status: quote.Verified},
		"“It is not possi\u00adble to close the plant.”":          {Status: quote.Verified},
		"10,000 units -- \"a hard year\", as the chair called it": {Status: quote.Verified},
		"the workers’ council did not agree to the ﬁnal plan": {
			Status: quote.Altered, Changed: `"the" for "The", "final" is added`,
		},
		"It is possible to close the plant before the end of the year": {Status: quote.Altered, Changed: `"not" is missing`},
		"possible to close the plant":                                  {Status: quote.Verified},
		"ssible to close the plant":                                    {Status: quote.Absent}, // within a word
		"5% to 10,000 units":                                           {Status: quote.Absent}, // of 1.5%
		"000 units — “a hard year”":                                    {Status: quote.Absent}, // of 10,000
		"5 degrees Celsius":                                            {Status: quote.Absent}, // of -5
		"An area of 102 km was left, about 102 miles from the coast":   {Status: quote.Altered, Changed: `"102" for "10²"`},
		"It is […] possible to close the plant":                        {Status: quote.Unchecked},
		"the report says. Sales fell ... and no site was spared":       {Status: quote.Verified},
		"The board met in May. It is ... possible to close the plant":  {Status: quote.Altered, Changed: `"not" is left out`},
		"and no site was spared ... The board met in May.":             {Status: quote.Altered, Changed: "its parts do not follow each other"},
		"not possible":                 {Status: quote.Verified},
		"the plan":                     {Status: quote.Unchecked}, // too short
		"............................": {Status: quote.Unchecked},
		"Nobody has ever heard of such a decision": {Status: quote.Absent},
	} {
		got := source.Check(passage)
		assert.Equal(t, want.Status, got.Status, passage)
		assert.Equal(t, want.Changed, got.Changed, passage)
		if got.Status == quote.Verified || got.Status == quote.Altered {
			assert.Less(t, got.From, got.To, passage)
		}
	}
	found := source.Check("“did not agree to the plan.”")
	assert.Equal(t, "did not agree to the plan", report[found.From:found.To])
	assert.Equal(t, quote.Unchecked, quote.Read([]byte{0xff, 0xfe}).Check("It is not possible to close the plant").Status, "no text")
}

// TestMarks: a mark counts if it names a document, is closed and holds no other.
func TestMarks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`As <quote document="a.txt">one</quote> and <quote document='b "c"'>two</quote> say`: {"a.txt: one", `b "c": two`},
		`<quote document="a.txt">one`:                                     nil,
		`<quote document="a.txt">one <quote document="b.txt">two</quote>`: {"b.txt: two"},
		`<quote>one</quote> <quotes document="a">two</quote>`:             nil,
		`<quote document="a" class="b">one</quote> <quote document="a`:    nil,
		`<quote document="">one</quote>`:                                  {": one"},
	} {
		var got []string
		for _, m := range quote.Marks(text, 10) {
			got = append(got, m.Document+": "+text[m.Start:m.End])
		}
		assert.Equal(t, want, got, text)
	}
	assert.Len(t, quote.Marks(strings.Repeat(`<quote document="a">b</quote>`, 30), 20), 20)
}

// prose writes sentences. Each has a negation, and each second one a quotation or a dash.
func prose(r *rand.Rand, sentences int) []string {
	var words []string
	for _, begin := range []string{"har", "lim", "sto", "ven", "cra", "pel", "dos", "min", "tra", "fi"} {
		for _, end := range []string{"vest", "iting", "rage", "ding", "tion", "low", "per", "fine", "gent", "est", "ish", "als"} {
			words = append(words, begin+end)
		}
	}
	var out []string
	for i := range sentences {
		var s []string
		for range 12 + r.IntN(12) {
			s = append(s, words[r.IntN(len(words))])
		}
		s[5] = "not"
		if i%2 == 0 {
			s[7], s[8] = `"`+s[7], s[8]+`" -`
		}
		s[0] = strings.ToUpper(s[0][:1]) + s[0][1:]
		out = append(out, strings.Join(s, " ")+".")
	}
	return out
}

// TestQuotations: of a thousand quotations none is verified that was changed.
func TestQuotations(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(36, 1))
	sentences, others := prose(r, 400), prose(r, 400)
	source := quote.Read([]byte(strings.Join(sentences, " ")))
	require.NotNil(t, source)
	without := func(s string, i int, with ...string) string {
		return strings.Join(slices.Replace(strings.Fields(s), i, i+1, with...), " ")
	}
	classes := map[string]struct {
		make func(i int) string
		want quote.Status
	}{
		"verbatim": {func(i int) string { return sentences[i] }, quote.Verified},
		"folded": {func(i int) string {
			set := strings.NewReplacer(" - ", " \u2013\u00a0", `"`, "”", "fi", "ﬁ", " ", "\u00a0\n", "es", "e\u00ads")
			return "„" + set.Replace(sentences[i]) + "“"
		}, quote.Verified},
		"elided": {func(i int) string {
			w := strings.Fields(sentences[i] + " " + sentences[i+1])
			return strings.Join(w[:5], " ") + " […] " + strings.Join(w[12:], " ")
		}, quote.Verified},
		"one word changed":    {func(i int) string { return without(sentences[i], 3, "entirely") }, quote.Altered},
		"negation dropped":    {func(i int) string { return without(sentences[i], 5) }, quote.Altered},
		"negation elided":     {func(i int) string { return without(sentences[i], 5, "...") }, quote.Altered},
		"invented":            {func(int) string { return strings.Join(prose(r, 1), " ") }, quote.Absent},
		"of another document": {func(i int) string { return others[i] }, quote.Absent},
	}
	for _, name := range slices.Sorted(maps.Keys(classes)) {
		class, got := classes[name], make(map[quote.Status]int)
		for i := range 125 {
			got[source.Check(class.make(3*i)).Status]++
		}
		t.Log(name, got)
		assert.Equal(t, map[quote.Status]int{class.want: 125}, got, name)
	}
}

// TestManyQuotations: a hundred quotations of a document of the largest size that a conversation takes are found where they stand.
func TestManyQuotations(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	r := rand.New(rand.NewPCG(36, 2))
	block := strings.Join(prose(r, 1000), " ")
	for i := 0; b.Len() < 10<<20-len(block); i++ {
		fmt.Fprintf(&b, "Section %d has not been read by anybody but the clerk %d. %s ", i, 7*i, block)
	}
	source := quote.Read([]byte(b.String()))
	for i := range 50 {
		right := fmt.Sprintf("Section %d has not been read by anybody but the clerk %d", i, 7*i)
		got := source.Check(right)
		require.Equal(t, quote.Verified, got.Status)
		require.Equal(t, right, b.String()[got.From:got.To])
		got = source.Check(strings.Replace(right, " not", "", 1))
		require.Equal(t, quote.Altered, got.Status)
		require.Equal(t, `"not" is missing`, got.Changed)
	}
}

// FuzzCheck: no document and no passage make the comparison fail. Verified words are those of the document.
func FuzzCheck(f *testing.F) {
	f.Add(report, "It is not possible to close the plant")
	f.Add(report, "The board met in May ... <quote document=\"a\">possible</quote> to close the plant")
	f.Add("10² é ﬁ -- - 5% 1,0 日本語テスト", "日本語テスト ... ... […]")
	f.Fuzz(func(t *testing.T, document, passage string) {
		for _, m := range quote.Marks(passage, 20) {
			if m.Start > m.End || m.End > len(passage) {
				t.Fatalf("a place outside of the text: %+v", m)
			}
		}
		got := quote.Read([]byte(document)).Check(passage)
		switch {
		case got.From < 0 || got.To < got.From || got.To > len(document):
			t.Fatalf("a place outside of the document: %+v", got)
		case got.Status != quote.Verified:
		case !strings.ContainsFunc(document[got.From:got.To], unicode.IsPrint):
			t.Fatalf("verified where nothing stands: %+v", got)
		}
		if (got.Status == quote.Altered) != (got.Changed != "") {
			t.Fatalf("altered without a change, or a change without: %+v", got)
		}
	})
}
