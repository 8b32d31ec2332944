package text

import (
	_ "embed"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// confusables is the table of Unicode Technical Standard 39: a line for each character that looks like another one, or
// like several. The lines are sorted, also the first one, which is a comment: '#' is before all digits.
//
//go:generate go run confusables_gen.go $CONFUSABLES
//go:embed confusables.txt
var confusables string

// Names is a set of names of which none looks like another. Its zero value is empty.
type Names struct{ taken map[string][]taken }

type taken struct {
	sight []glyph
	whose string
}

// Add adds a name, and what a message says of it. It returns false, and what was said of the other name, if the
// name can be confused with one that is in the set. Two names can be confused that differ only by the following:
//   - compatible forms, case, and accents that are written apart
//   - characters that nobody sees; see [Invisible]
//   - characters that look like those in their places in the other name, by the table of Unicode Technical Standard 39,
//     unless those are ordinary letters beside each other
//
// For the table has letters that everybody tells apart who writes in their script: "l" and "I", "rn" and "m", or the
// Thai ด and ต. "Ian" and "Lan", "Arno" and "Amo", agents 1 and l are names of people and agents, also with an accent
// somewhere. What deceives is a character from elsewhere. So two characters of ASCII that differ are told apart, and so
// are two letters of any other script but Latin, which has many that look like ASCII, and like each other.
func (n *Names) Add(name, whose string) (other string, ok bool) {
	sights := sightsOf(name)
	for i, sight := range sights {
		for _, one := range n.taken[key(i, sight)] {
			if alike(one.sight, sight) {
				return one.whose, false
			}
		}
	}
	if n.taken == nil {
		n.taken = map[string][]taken{}
	}
	for i, sight := range sights {
		at := key(i, sight)
		n.taken[at] = append(n.taken[at], taken{sight, whose})
	}
	return "", true
}

// IsVisible reports whether a reader sees anything of a name.
func IsVisible(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return !Invisible(r) })
}

// glyph is what a reader sees in one place of a name.
type glyph struct {
	shown rune
	typed rune // what the name has here, in small
	first bool // false in further places of the same character
}

// sightsOf returns a name as it looks. It does so twice, because case and look-alikes are no matter of order: a
// Cyrillic В looks like a B, but the small в like no b. The first ignores the case of what the characters look like,
// the second what the characters look like that differ in case. Of ASCII they are the same.
func sightsOf(name string) [2][]glyph {
	first := sight(name)
	if strings.IndexFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		return [2][]glyph{first, first}
	}
	return [2][]glyph{first, sight(cases.Fold().String(norm.NFKC.String(name)))}
}

func sight(name string) []glyph {
	var out []glyph
	for _, r := range norm.NFD.String(name) {
		first := true
		for _, shown := range appearance(r) {
			if !Invisible(shown) {
				out = append(out, glyph{shown, unicode.ToLower(r), first})
				first = false
			}
		}
	}
	return out
}

// appearance returns the same for all characters that look alike, whatever the case of what they look like.
func appearance(r rune) []rune {
	var out []rune
	for _, r := range norm.NFKD.String(string(appendLike(nil, r))) {
		for _, r := range appendLike(nil, r) {
			switch r = unicode.ToLower(r); {
			case r == 'i':
				out = appendLike(out, 'I') // what looks like i and what looks like I differ in case alone
			case r <= unicode.MaxASCII:
				out = appendLike(out, r)
			default:
				out = append(out, r)
			}
		}
	}
	return out
}

// appendLike appends what a character looks like: by the table, or else itself. It searches the text of the table, so that
// nothing is read at the start of a program, or kept.
func appendLike(out []rune, r rune) []rune {
	const digits = "0123456789ABCDEF"
	line := string([]byte{digits[r>>16&15], digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15], ' '})
	i := sort.Search(len(confusables), func(i int) bool {
		return confusables[strings.LastIndexByte(confusables[:i], '\n')+1:] >= line
	})
	like, found := strings.CutPrefix(confusables[i:], line)
	if !found {
		return append(out, r)
	}
	like, _, _ = strings.Cut(like, "\n")
	for code := range strings.FieldsSeq(like) {
		n, _ := strconv.ParseInt(code, 16, 32) // the table is sound: a test reads all of it
		out = append(out, rune(n))
	}
	return out
}

// alike reports whether two names look the same, and nobody tells the characters in any place of them apart.
func alike(a, b []glyph) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, func(a, b glyph) bool { return a.shown == b.shown && !toldApart(a.typed, b.typed) })
}

// toldApart reports whether two characters that look alike are different to those who write with them.
func toldApart(a, b rune) bool {
	if a == b || a <= unicode.MaxASCII || b <= unicode.MaxASCII {
		return a != b && a <= unicode.MaxASCII && b <= unicode.MaxASCII
	}
	for name, script := range unicode.Scripts {
		if unicode.Is(script, a) {
			return name != "Latin" && name != "Common" && name != "Inherited" && unicode.Is(script, b)
		}
	}
	return false
}

// key is that of the names that may be like one.
func key(form int, sight []glyph) string {
	out := []rune{rune('0' + form)}
	for _, g := range sight {
		out = append(out, g.shown)
	}
	return string(out)
}
