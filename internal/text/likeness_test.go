package text_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/text"
)

// confused reports whether a set refuses the second of two names, whichever it is, and whether or not it has a third that looks
// like nothing in the tests.
func confused(t *testing.T, one, other string) bool {
	t.Helper()
	var names, turned, three text.Names
	_, ok := names.Add(one, "one")
	require.True(t, ok, "the first")
	like, ok := names.Add(other, "other")
	if !ok {
		assert.Equal(t, "one", like)
	}
	turned.Add(other, "other")
	_, again := turned.Add(one, "one")
	assert.Equal(t, ok, again, "%q and %q the other way round", one, other)
	three.Add("\u4e2d\u5fc3", "three")
	if _, fits := three.Add(one, "one"); fits {
		like, _ = three.Add(other, "other")
		assert.Equal(t, !ok, like == "one", "%q and %q beside a third", one, other)
	}
	return !ok
}

func TestNamesThatLookAlike(t *testing.T) {
	for _, c := range []struct{ what, one, other string }{
		{"the same", "Ben", "Ben"},
		{"case", "Kim", "KIM"},
		{"an Armenian letter", "Ben", "Be\u0578"},
		{"a Cherokee letter", "Ada", "\u13aada"},
		{"a small Cherokee letter", "Via", "\uaba9ia"},
		{"a Lisu letter", "Ada", "\ua4eeda"},
		{"a bold letter", "Ben", "\U0001d401en"},
		{"a Roman numeral for m", "Amo", "A\u217fo"},
		{"a Roman numeral for rn", "Arno", "A\u217fo"},
		{"a Roman numeral for l", "Al", "A\u217c"},
		{"a Greek Iota for an I", "Ian", "\u0399an"},
		{"a Greek Iota for an l", "lan", "\u0399an"},
		{"Greek capitals beside small ASCII", "kim", "\u039a\u0399\u039c"},
		{"Cyrillic capitals beside small ASCII", "beh", "\u0412\u0415\u041d"},
		{"the case of Cyrillic letters", "\u0412\u0435\u043d", "\u0432\u0435\u043d"},
		{"a Cyrillic capital and an Armenian letter", "BON", "\u0412o\u0578"},
		{"a Cyrillic soft sign", "agent b", "agent \u042c"},
		{"a Cyrillic letter beside a Greek one", "\u0391\u03bd\u03bd\u03b1", "\u0410\u03bd\u03bd\u03b1"},
		{"two Latin letters beyond ASCII", "\u0110uro", "\u00d0uro"},
		{"a Latin letter beyond ASCII", "Ada", "Ad\u0251"},
		{"an Arabic digit for a 1", "agent 1", "agent \u0661"},
		{"a Thai digit for a 0", "agent 10", "agent 1\u0e50"},
		{"a ligature of Latin letters", "Aesop", "\u04d4sop"},
		{"a dash for a hyphen", "Jo-Ann", "Jo\u2013Ann"},
		{"a quotation mark", "O'Hara", "O\u2019Hara"},
		{"an accent of another script", "Jos\u00e9", "J\u043es\u00e9"},
		{"wide letters and Cyrillic capitals", "DBE", "\uff24\u0412\u0415"},
		{"the same symbol", "\U0001f34e", "\U0001f34e"},
		{"the same rare character", "\u5152", "\u5152"},
		{"a Greek kappa", "kim", "\u03baim"},
		{"a Greek kappa of another form", "kim", "\u03f0im"},
		{"a Greek tau", "Tim", "\u03c4im"},
		{"a Greek chi", "max", "ma\u03c7"},
		{"a Greek chi for a Cyrillic letter", "ma\u0445", "ma\u03c7"},
		{"a Greek kappa for a Cyrillic letter", "ma\u043a", "ma\u03ba"},
		{"two Cyrillic letters of different languages", "\u0406лья", "\u04c0лья"},
		{"two Cyrillic letters, one with a straight stem", "Гул", "Г\u04afл"},
		{"an Arabic ي and a Persian ی", "عل\u064a", "عل\u06cc"},
		{"an Arabic ك and a Persian ک", "\u0643ریم", "\u06a9ریم"},
		{"a digit for a letter of the same script", "agent \u101d", "agent \u1040"},
	} {
		t.Run(c.what, func(t *testing.T) { assert.True(t, confused(t, c.one, c.other)) })
	}
}

// What looks alike within ASCII, or within another script, is told apart, whatever else the names hold.
func TestOrdinaryNamesAreToldApart(t *testing.T) {
	for _, c := range [][2]string{
		{"A1", "Al"},
		{"A1", "AI"},
		{"Al", "AI"},
		{"R0", "RO"},
		{"Arno", "Amo"},
		{"Ian", "Lan"},
		{"Ian", "1an"},
		{"IVAN", "LVAN"},
		{"a|b", "alb"},
		{"Lan Nguy\u1ec5n", "Ian Nguy\u1ec5n"},
		{"Arno M\u00fcller", "Amo M\u00fcller"},
		{"Agent \u00c9 1", "Agent \u00c9 l"},
		{"Агент 10", "Агент 1O"},
		{"张伟 1", "张伟 l"},
		{"\u0410rno", "Amo"}, // an A of Cyrillic alone does not make m of rn
		{"José", "Jose"},
		{"Müller", "Muller"},
		{"Åse", "Ase"},
		{"Иван", "Игорь"},
		{"Анна", "Инна"},
		{"Νίκη", "Νίκος"},
		{"김민준", "김민중"},
		{"さくら", "ざくら"},
		{"张伟", "张玮"},
		{"ดา", "ตา"},
		{"土屋", "士屋"},
		{"Галя", "Уаля"},
		{"agent Σ", "agent Ο"},
		{"דוד", "דור"},
		{"גון", "גוו"},
		{"محمد", "محمود"},
		{"सना", "सेना"},
		{"ਗੁਰ", "ਗਰ"},
		{"മിര", "മീര"},
		{"Արո", "Արռ"},
		{"가까", "각가"},
		{"林鳳", "林鳳兒"},
		{"Bot 🍎", "Bot 🐍"},
		{"Bot", "Bot 🍎"},
	} {
		t.Run(c[0]+" and "+c[1], func(t *testing.T) { assert.False(t, confused(t, c[0], c[1])) })
	}
}

// The letters of Cyrillic and Greek that are known best are refused in every form and case.
func TestTheUsualLookAlikes(t *testing.T) {
	const (
		from = "аеорсухіјѕһԁԛԝүοανρυκτχϲ" + "АВЕЅІЈКМНОРСТУХҮԚԜ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ"
		to   = "aeopcyxijshdqwyoavpuktxc" + "ABESIJKMHOPCTYXYQW" + "ABEZHIKMNOPTYXC"
	)
	ascii := []rune(to)
	for i, letter := range []rune(from) {
		for _, other := range []string{to[i : i+1], strings.ToLower(to[i : i+1]), strings.ToUpper(to[i : i+1])} {
			assert.True(t, confused(t, "x"+string(letter)+"x", "x"+other+"x"), "%c and %s", letter, other)
		}
		for j, other := range []rune(from) {
			if ascii[i] == ascii[j] {
				assert.True(t, confused(t, "x"+string(letter)+"x", "x"+string(other)+"x"), "%c and %c", letter, other)
			}
		}
	}
}

// A set says which of its names is like the new one, also if only some of them are ASCII.
func TestWhomANameIsLike(t *testing.T) {
	var names text.Names
	for _, c := range []struct{ name, whose, like string }{
		{"Ben", "a", ""},
		{"BEN", "b", "a"},
		{" ", "c", ""},
		{"Amo", "d", ""},
		{"Be\u0578", "e", "a"},
		{"A\u217fo", "f", "d"},
		{"Jos\u00e9", "g", ""},
		{"Arno", "h", ""},
		{"b e n", "i", "a"},
		{"Ad\u0251", "j", ""},
		{"Ada", "k", "j"},
		{"Jose\u0301", "l", "g"},
		{" ", "m", ""},
	} {
		like, ok := names.Add(c.name, c.whose)
		assert.Equal(t, c.like, like, c.name)
		assert.Equal(t, c.like == "", ok, c.name)
	}
}

// A debate begins with a set of its names. Most are ASCII, which costs no look into the table.
func TestNamesOfASCIIAreComparedAtOnce(t *testing.T) {
	all := []string{"summarizer", "assigner", "Ada", "Ben", "Cy", "judge"}
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		var names text.Names
		for _, name := range all {
			names.Add(name, name)
		}
	}), 6.0)
}

func TestNumberedNamesAreToldApart(t *testing.T) {
	for _, zero := range []rune{'0', '\u0660', '\u06f0', '\u0966', '\u09e6', '\u0e50', '\uff10'} {
		var names text.Names
		for i := range 200 {
			name := strings.Map(func(r rune) rune { return r - '0' + zero }, strconv.Itoa(i))
			_, ok := names.Add("agent-"+name, name)
			assert.True(t, ok, "%q", name)
		}
	}
}

// Every character of the table beyond ASCII looks like what the table says, and like something. One that can be written with an
// accent apart is looked up as such, as the standard has it. Letters of one script are told apart. The table knows characters that
// package unicode does not know yet: no name may have them.
func TestTheWholeTable(t *testing.T) {
	longform.Lone(t)
	file, err := os.ReadFile("confusables.txt")
	require.NoError(t, err)
	table := strings.Split(strings.TrimSpace(string(file)), "\n")[1:]
	assert.Len(t, table, 6565)
	alike := 0
	for _, line := range table {
		var from, to string
		for i, code := range strings.Fields(line) {
			r, err := strconv.ParseUint(code, 16, 32)
			require.NoError(t, err, line)
			if i == 0 {
				from = string(rune(r))
			} else {
				to += string(rune(r))
			}
		}
		if !text.IsVisible(from) {
			continue
		}
		assert.False(t, confused(t, "x"+from+"x", "xx"), line)
		assert.True(t, confused(t, from, from), line)
		if from > "\u007f" && norm.NFD.String(from) == from && !strings.ContainsFunc(to, text.Invisible) && !oneScript(from, to) {
			assert.True(t, confused(t, "x"+from+"x", "x"+to+"x"), "%s: %q and %q", line, from, to)
			alike++
		}
	}
	assert.Greater(t, alike, 4500)
}

// oneScript reports whether two texts have letters or marks of a script that is not shared by many languages.
func oneScript(one, other string) bool {
	for name, script := range unicode.Scripts {
		in := func(r rune) bool { return unicode.Is(script, r) && unicode.In(r, unicode.L, unicode.M) }
		shared := slices.Contains([]string{"Latin", "Cyrillic", "Arabic", "Common", "Inherited"}, name)
		if !shared && strings.ContainsFunc(one, in) && strings.ContainsFunc(other, in) {
			return true
		}
	}
	return false
}

func TestIsVisible(t *testing.T) {
	for name, want := range map[string]bool{
		"": false, " ": false, "\u3164\u2800": false, "\ufe0f": false, "\u115f\u1160": false,
		"a": true, "\u0301": true, "張": true,
	} {
		assert.Equal(t, want, text.IsVisible(name), "%q", name)
	}
}

func TestIsLabel(t *testing.T) {
	for name, want := range map[string]bool{
		"Speaker A": true, "speaker m": true, "Speaker MM": true, "SpeakerAB": true, "Ѕpeaker A": true,
		"Speaker \u0410": true, "Speaker \u217f": true, "Speaker \u03ba": true,
		"Speaker": false, "Speaker ": false, "Speaker 1": false, "Speaker 0": false, "Speaker ABC": false,
		"Speaker -": false, "Speakar A": false, "Speake\u217f A": false, "": false,
	} {
		assert.Equal(t, want, text.IsLabel(name), "%q", name)
	}
}

// The order of two names does not matter, and a name that can be seen is like itself.
func FuzzNames(f *testing.F) {
	f.Add("Ben", "Be\u0578")
	f.Add("\xff\u0301", "\u3164")
	f.Add("\u217f|\"", "rnl''")
	f.Add("\U0001f34e", "\U0001f34e")
	f.Fuzz(func(t *testing.T, one, other string) {
		text.IsLabel(one)
		like := confused(t, one, other)
		if one == other {
			assert.Equal(t, text.IsVisible(one), like)
		}
	})
}
