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

	"github.com/agonist-dev/debate/internal/order"
)

// confusables is the table of Unicode Technical Standard 39: a line for each character that looks like another one, or
// like several. The lines are sorted, also the first one, which is a comment: '#' is before all digits.
//
//go:generate go run confusables_gen.go $CONFUSABLES
//go:embed confusables.txt
var confusables string

// Names is a set of names of which none looks like another. Its zero value is empty.
type Names struct {
	ascii map[string]string  // what is said of the names of ASCII, by what is compared of them
	seen  map[string][]taken // all names, by key; nil until one is not of ASCII
}

type taken struct {
	sight []glyph
	whose string
}

// Add adds a name, and what a message says of it. It returns false, and what was said of the other name, if the
// name can be confused with one that is in the set. Two names can be confused that differ only by the following:
//   - compatible forms, case, and accents that are written apart
//   - characters that nobody sees; see [Invisible]
//   - characters that look like those in their places in the other name, by the table of Unicode Technical Standard 39,
//     unless both are ASCII, or both are letters or marks of one script other than Latin, Cyrillic and Arabic
//   - Greek κ, τ and χ in the places of k, t and x
//
// For the table has letters that everybody tells apart who writes with them: "l" and "I", "rn" and "m", Thai ด and ต,
// Hebrew ו and ן. "Ian" and "Lan", "Arno" and "Amo", agents 1 and l are names of people and agents, also with an accent
// somewhere. What deceives is a character from elsewhere. Latin, Cyrillic and Arabic are scripts of many languages. What
// looks alike in them is mostly one letter in two languages, such as ş and ș, or Arabic ي and Persian ی.
func (n *Names) Add(name, whose string) (other string, ok bool) {
	plain, ascii := ofASCII(name)
	switch said, known := n.ascii[plain]; {
	case ascii && plain == "":
		return "", true // nobody sees anything of it
	case ascii && known:
		return said, false
	case !ascii && n.seen == nil:
		n.seen = make(map[string][]taken)
		for small, said := range order.ByKey(n.ascii) {
			n.keep(sightsOf(small), said)
		}
	}
	if n.seen != nil {
		sights := sightsOf(name)
		if said, known := n.like(sights); known {
			return said, false
		}
		n.keep(sights, whose)
	}
	if ascii {
		if n.ascii == nil {
			n.ascii = make(map[string]string)
		}
		n.ascii[plain] = whose
	}
	return "", true
}

// like returns what was said of a name that looks like this.
func (n *Names) like(sights [2][]glyph) (whose string, found bool) {
	for form, seen := range sights {
		for _, one := range n.seen[key(form, seen)] {
			if alike(one.sight, seen) {
				return one.whose, true
			}
		}
	}
	return "", false
}

func (n *Names) keep(sights [2][]glyph, whose string) {
	for form, seen := range sights {
		at := key(form, seen)
		n.seen[at] = append(n.seen[at], taken{seen, whose})
	}
}

// ofASCII returns what is compared of a name of ASCII: all that is seen, in small. Two such names can be confused only if it is
// the same, so that no table is searched for most names.
func ofASCII(name string) (plain string, ok bool) {
	for i := range len(name) {
		if name[i] > unicode.MaxASCII {
			return "", false
		}
	}
	return strings.Map(func(r rune) rune {
		if Invisible(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name), true
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
//
// The table has small Greek κ and τ for small capitals, and χ for no x. The first has them for what most readers take them for.
func sightsOf(name string) [2][]glyph {
	if plain, ascii := ofASCII(name); ascii {
		seen := sight(plain)
		return [2][]glyph{seen, seen}
	}
	return [2][]glyph{sight(strings.Map(latin, name)), sight(cases.Fold().String(norm.NFKC.String(name)))}
}

// latin returns the letter of ASCII that three Greek ones look like, and otherwise r itself.
func latin(r rune) rune {
	switch norm.NFKD.String(string(r)) {
	case "κ":
		return 'k'
	case "τ":
		return 't'
	case "χ":
		return 'x'
	}
	return r
}

func sight(name string) []glyph {
	var room [32]rune
	out := make([]glyph, 0, len(name))
	for _, r := range norm.NFD.String(name) {
		if Invisible(r) {
			continue
		}
		first := true
		for _, shown := range appendAppearance(room[:0], r) {
			if shown > ' ' { // a later Unicode than that of package unicode has made the table, so Invisible is not asked
				out = append(out, glyph{shown, unicode.ToLower(r), first})
				first = false
			}
		}
	}
	return out
}

// appendAppearance appends the same for all characters that look alike, whatever the case of what they look like.
func appendAppearance(out []rune, r rune) []rune {
	var room, again [32]rune
	like := appendLike(room[:0], r)
	if slices.Max(like) > unicode.MaxASCII {
		like = []rune(norm.NFKD.String(string(like)))
	}
	for _, r := range like {
		for _, r := range appendLike(again[:0], r) {
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
	const digits, last = "0123456789ABCDEF", 0xFFFFF // the lines have five digits
	if r > last {
		return append(out, r)
	}
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

// toldApart reports whether two characters that look alike are different to those who write with them; see [Names.Add].
func toldApart(a, b rune) bool {
	if a == b || a <= unicode.MaxASCII || b <= unicode.MaxASCII {
		return a != b && a <= unicode.MaxASCII && b <= unicode.MaxASCII
	}
	if !unicode.In(a, unicode.L, unicode.M) || !unicode.In(b, unicode.L, unicode.M) {
		return false
	}
	for name, script := range unicode.Scripts {
		if unicode.Is(script, a) {
			return unicode.Is(script, b) && !slices.Contains([]string{"Latin", "Cyrillic", "Arabic", "Common", "Inherited"}, name)
		}
	}
	return false
}

// key is that of the names that may be like one.
func key(form int, seen []glyph) string {
	shown := make([]rune, len(seen))
	for i, g := range seen {
		shown[i] = g.shown
	}
	return strconv.Itoa(form) + string(shown)
}
