package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Skeleton returns what a reader sees of a name. Two names with the same fold cannot be told apart, at least not by
// everybody. It ignores the following:
//   - compatible forms, case, and accents that are written apart
//   - characters that nobody sees; see [Invisible]
//   - the difference between Cyrillic or Greek letters and the Latin letters that they look like
func Skeleton(name string) string {
	name = strings.Map(latin, norm.NFKC.String(name)) // before case folding: capitals look different
	name = norm.NFKC.String(cases.Fold().String(name))
	return strings.Map(func(r rune) rune {
		if Invisible(r) {
			return -1
		}
		return latin(r)
	}, name)
}

// latin returns the Latin letter that a Cyrillic or Greek one looks like, and otherwise r itself. The pairs are
// from the table of confusable characters of Unicode Technical Standard 39.
func latin(r rune) rune {
	const (
		from = "аеорсухіјѕһԁԛԝүοανρυκτχϲ" + "АВЕЅІЈКМНОРСТУХҮԚԜ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ"
		to   = "aeopcyxijshdqwyoavpuktxc" + "ABESIJKMHOPCTYXYQW" + "ABEZHIKMNOPTYXC"
	)
	if r <= unicode.MaxASCII {
		return r
	}
	if i := strings.IndexRune(from, r); i >= 0 {
		return rune(to[utf8.RuneCountInString(from[:i])])
	}
	return r
}
