package quote_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
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
		"It is […] possible to close the plant":                        {Status: quote.Unchecked, Changed: "a part of it is too short"},
		"the report says. Sales fell ... and no site was spared": {
			Status: quote.Verified, Changed: `"by 1.5% to 10,000 units - 'a hard year',…" is left out`,
		},
		"The board met in May. It is ... possible to close the plant": {Status: quote.Altered, Changed: `"not" is left out`},
		"and no site was spared ... The board met in May.":            {Status: quote.Altered, Changed: "its parts do not follow each other"},
		"not possible":                 {Status: quote.Verified},
		"the plan":                     {Status: quote.Unchecked, Changed: "it is too short"},
		"............................": {Status: quote.Unchecked, Changed: "it is too short"},
		"Nobody has ever heard of such a decision": {Status: quote.Absent},
	} {
		got := source.Check(passage)
		assert.Equal(t, want.Status, got.Status, passage)
		assert.Equal(t, want.Changed, got.Changed, passage)
		if got.Status == quote.Verified || got.Status == quote.Altered {
			assert.Less(t, got.From, got.To, passage)
		}
	}
	for _, c := range []struct {
		document, passage, changed string
		want                       quote.Status
	}{
		// What belongs to a number is not left away.
		{"a dose of .5 mg per kilogram of weight", "5 mg per kilogram of weight", "", quote.Absent},
		{"a dose of .5 mg per kilogram of weight", "a dose of .5 mg per kilogram", "", quote.Verified},
		{"it was 3·5 per 1000 patients", "5 per 1000 patients", "", quote.Absent},
		{"it was 3·5 per 1000 patients", "3·5 per 1000 patients", "", quote.Verified},
		{"up to 1 234 people died in the flood", "234 people died in the flood", "", quote.Absent},
		{"up to 1\u202f234 people died in the flood", "234 people died in the flood", "", quote.Absent},
		{"up to 1\u202f234 people died in the flood", "1 234 people died in the flood", "", quote.Verified},
		{"they were up to 12 345 678", "they were up to 12 345", "", quote.Absent},
		{"in the year 1990 100 people died in the flood", "100 people died in the flood", "", quote.Verified},
		{"it had COVID-19 100 times in the flood", "100 times in the flood", "", quote.Verified},
		{"a loss of -$5 million in the year", "$5 million in the year", "", quote.Absent},
		{"a loss of -$5 million in the year", "-$5 million in the year", "", quote.Verified},
		{"a share of <5 % in all of the groups", "5 % in all of the groups", "", quote.Absent},
		{"<td>5 mg per kilogram of weight</td>", "5 mg per kilogram of weight", "", quote.Verified},
		{"<td>was closed in 1990</td>", "was closed in 1990", "", quote.Verified},
		{"takes x^2 steps in the worst case", "2 steps in the worst case", "", quote.Absent},
		{"takes 2ⁿ steps in the worst case", "takes 2n steps in the worst case", "", quote.Absent},
		{"takes 2ⁿ steps in the worst case", "takes 2ⁿ steps in the worst case", "", quote.Verified},
		{"a gap of 6″ between plates", "a gap of 6′ between plates", "", quote.Absent},
		{"a gap of 6″ between plates", `a gap of 6" between plates`, "", quote.Verified},
		{"they have a gap of 6″ there", "they have a gap of 6′", "", quote.Absent},
		{"it was closed “in the year 1990”, they say", "“in the year 1990”", "", quote.Verified},
		{"it was closed “in the year 1990”, they say", "closed 'in the year", "", quote.Verified},
		{"洪水之后大约二十三人死亡失踪者的人数还没有公布", "三人死亡失踪者的人数还没有公布", "", quote.Absent},

		// A part of a word is no word, also where a line breaks it, or something stands in it that nobody sees.
		{"the drug is un-\nsafe for all patients", "safe for all patients", "", quote.Absent},
		{"the drug is un-\nsafe for all patients", "unsafe for all patients", "", quote.Verified},
		{"the drug is un-\nsafe for all patients", "un-\nsafe for all patients", "", quote.Verified},
		{"the drug is un-\nsafe for all patients", "un- safe for all patients", "", quote.Verified},
		{"the drug is un\u00ad\nsafe for all patients", "safe for all patients", "", quote.Absent},
		{"the drug is un\u00ad\nsafe for all patients", "unsafe for all patients", "", quote.Verified},
		{"the drug is un\ufffdsafe for all patients", "safe for all patients", "", quote.Absent},
		{"COVID-\n19 was seen in all of them", "COVID-19 was seen in all", "", quote.Verified},
		{"un- s afe words are not joined for ever", "afe words are not joined", "", quote.Verified},
		{"it has short- and long-term effects on them", "short- and long-term effects", "", quote.Verified},
		{"医生说这种药并不安全有效的常规治疗方法之一", "安全有效的常规治疗方法之一", "", quote.Absent},

		// An ellipsis stands for some words, and not for a negation, unless it stands for whole sentences.
		{
			"The committee found that the drug is not in any way safe for children under twelve.",
			"The committee found that the drug is … safe for children under twelve.", `"not in any way" is left out`, quote.Altered,
		},
		{
			"The committee found that the drug is not by any means safe for children under twelve.",
			"The committee found that the drug is […] safe for children under twelve.", `"not by any means" is left out`, quote.Altered,
		},
		{
			"The committee found that the drug is, for all it has read of it, never safe for children.",
			"The committee found that the drug is ... safe for children.", `"never" is left out`, quote.Altered,
		},
		{
			"委员会认为这种药物对十二岁以下的儿童来说并不能算是安全有效的常规治疗方法之一",
			"委员会认为这种药物对十二岁以下的儿童来说……安全有效的常规治疗方法之一", `"并不能算是" is left out`, quote.Altered,
		},
		{
			"The old plant in the north of the country was closed in May by the board.",
			"The old plant […] was closed in May", `"in the north of the country" is left out`, quote.Verified,
		},
		{
			"Sales fell in May. It is not known why that was so. The board met in June.",
			"Sales fell in May. … The board met in June.", `"It is not known why that was so" is left out`, quote.Verified,
		},
	} {
		got := quote.Read([]byte(c.document)).Check(c.passage)
		assert.Equal(t, c.want, got.Status, "%q in %q", c.passage, c.document)
		assert.Equal(t, c.changed, got.Changed, "%q in %q", c.passage, c.document)
	}
	for _, unseen := range []string{"\u00ad", "\u034f", "\u200b", "\u200c", "\u200d", "\u200e", "\u2063", "\ufe0f", "\x01"} {
		source := quote.Read([]byte("the drug is un" + unseen + "safe for all patients"))
		assert.Equal(t, quote.Absent, source.Check("safe for all patients").Status, "%q", unseen)
		assert.Equal(t, quote.Verified, source.Check("unsafe for all patients").Status, "%q", unseen)
	}
	found := source.Check("“did not agree to the plan.”")
	assert.Equal(t, "did not agree to the plan", report[found.From:found.To])
	assert.Equal(t, quote.Unchecked, quote.Read([]byte{0xff, 0xfe}).Check("It is not possible to close the plant").Status, "no text")
}

// TestMemory: a document takes a bounded amount of memory for each of its bytes, or cannot be compared.
func TestMemory(t *testing.T) {
	for name, unit := range map[string]string{
		"one word": "a", "words of one letter": "a ", "prose": "The board met in May. ", "characters that are words": "委员会",
		"characters that become many": "\ufdfa", "marks": "e\u0301\u0323", "signs": "$-", "dashes": "-", "line breaks": "a-\n", "numbers": "1 234 ",
	} {
		document := []byte(strings.Repeat(unit, 1<<20/len(unit)))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		source := quote.Read(document)
		runtime.ReadMemStats(&after)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(128<<20), name)
		assert.Equal(t, name == "characters that become many", source == nil, name)
	}
	assert.Nil(t, quote.Read([]byte(strings.Repeat("a ", 5<<20))), "more words than are kept")
	assert.Nil(t, quote.Read(make([]byte, quote.MaxDocument+1)))
}

// TestMarks: a mark names a document if it is written as it has to be, is closed and holds no other. What looks like one counts all the
// same, and each counts once.
func TestMarks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`As <quote document="a.txt">one</quote> and <quote document='b "c"'>two</quote> say`: {"a.txt: one", `b "c": two`},
		`<quote document="a.txt">one`:                                     {`: <quote document="a.txt">one`},
		`<quote document="a.txt">one <quote document="b.txt">two</quote>`: {`: <quote document="a.txt">one `, "b.txt: two"},
		`<quote>one</quote> <quotes document="a">two</quote>`:             {": <quote>one"},
		`<quote document="a" class="b">one</quote> <quote document="a`:    {`: <quote document="a" class="b">one`, `: <quote document="a`},
		`<Quote document="a">one</Quote> < quote document=a>two</ quote>`: {`: <Quote document="a">one`, ": < quote document=a>two"},
		`<quote document="a">one</Quote> <blockquote>two</blockquote>`:    {`: <quote document="a">one`},
		`<quote document="">one</quote>`:                                  {": one"},
		strings.Repeat(`<quote document="a">one</quote>`, 30):             {"a: one"},
	} {
		var got []string
		for _, m := range quote.Marks(text, 10) {
			got = append(got, m.Document+": "+text[m.Start:m.End])
		}
		assert.Equal(t, want, got, text)
	}
	var many strings.Builder
	for i := range 30 {
		fmt.Fprintf(&many, `<quote document="a">b%d</quote>`, i)
	}
	marks := quote.Marks(many.String(), 20)
	require.Len(t, marks, 21)
	assert.Equal(t, "b19", many.String()[marks[19].Start:marks[19].End])
	assert.Empty(t, marks[20].Document)
	assert.Contains(t, many.String()[marks[20].Start:marks[20].End], "b20")
	assert.Contains(t, many.String()[marks[20].Start:marks[20].End], "b29")
	// A time that grows with the square of such a text would not end.
	assert.Len(t, quote.Marks(strings.Repeat(`<quote document="">`, 1<<19)+"</quote>", 20), 2)
	assert.Len(t, quote.Marks(strings.Repeat(`<quote document="`, 1<<19), 20), 1)
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

// TestQuotations: of 1,625 quotations none is verified that was changed.
func TestQuotations(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(36, 1))
	sentences, others := prose(r, 400), prose(r, 400)
	numbers := [][2]string{
		{".5", "5"}, {"3·5", "5"}, {"3.5", "5"}, {"1 234", "234"}, {"1\u202f234", "234"}, {"-$5", "$5"}, {"\u22125", "5"}, {"1/5", "5"}, {"~5", "5"},
	}
	breaks := []string{"-\n", "-\r\n  ", "\u2010\n", "\u00ad\n", "\u00ad", "\u200d", "\u200c", "\u034f", "\u2063"}
	var measured, broken []string // how a passage goes on behind its number, and behind the first half of its word
	document := slices.Clone(sentences)
	for i, s := range prose(r, 400) {
		measured, broken = append(measured, " mg of "+s), append(broken, "safe in "+s)
		document = append(document, "Somebody took "+numbers[i/3%len(numbers)][0]+measured[i], "It was un"+breaks[i/3%len(breaks)]+broken[i])
	}
	source := quote.Read([]byte(strings.Join(document, " ")))
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
			return strings.Join(w[:6], " ") + " […] " + strings.Join(w[12:], " ")
		}, quote.Verified},
		"negation elided with others": {func(i int) string {
			w := strings.Fields(sentences[i] + " " + sentences[i+1])
			return strings.Join(w[:4], " ") + " […] " + strings.Join(w[12:], " ")
		}, quote.Altered},
		"number":              {func(i int) string { return numbers[i/3%len(numbers)][0] + measured[i] }, quote.Verified},
		"part of a number":    {func(i int) string { return numbers[i/3%len(numbers)][1] + measured[i] }, quote.Altered},
		"broken word":         {func(i int) string { return "un" + broken[i] }, quote.Verified},
		"half a word":         {func(i int) string { return broken[i] }, quote.Altered},
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
		told := got.Status == quote.Altered || got.Status == quote.Unchecked
		if told && got.Changed == "" || got.Status == quote.Absent && got.Changed != "" {
			t.Fatalf("altered without a change, unchecked without a reason, or absent with one: %+v", got)
		}
	})
}
