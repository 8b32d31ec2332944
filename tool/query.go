package tool

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
)

const (
	mostQuery   = 256 // bytes
	mostProgram = 200 // instructions of a regular expression

	// mostWork bounds instructions times bytes in one use. Each takes Go's machines up to some 60 ns, measured with
	// hostile expressions, so that one use takes about a second.
	mostWork = 16 << 20
	perPiece = 8 // bytes that stand for what each piece costs beside its own
)

// query is what a search looks for.
type query struct {
	*regexp.Regexp
	size   int             // instructions
	plain  string          // the text that every match is, by its letters; empty if the query is a regular expression
	letter func(rune) rune // what counts as the same letter becomes the same
}

// queryOf takes a query that a model wrote. Go's expressions take time in proportion to the text and to their own
// size, which has to be bounded: x{1000} is short.
func queryOf(args debateArguments) (query, error) {
	text := args.Query
	if text == "" || len(text) > mostQuery {
		return query{}, fmt.Errorf("the query has %d bytes, and may have 1 to %d", len(text), mostQuery)
	}
	q := query{letter: folded}
	if args.CaseSensitive {
		q.letter = func(r rune) rune { return r }
	}
	if !args.Regexp {
		q.plain, text = strings.Map(q.letter, text), regexp.QuoteMeta(text)
	}
	if !args.CaseSensitive {
		text = "(?i)" + text
	}
	var err error
	if q.Regexp, err = regexp.Compile(text); err != nil {
		return query{}, fmt.Errorf("the query is no regular expression: %w", err)
	}
	if q.size = instructions(text); args.Regexp && q.size > mostProgram {
		return query{}, errors.New("the query repeats too much for a regular expression")
	}
	return q, nil
}

// instructions is the size of an expression that is known to be one.
func instructions(text string) int {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 1
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 1
	}
	return len(program.Inst)
}

// possible reports whether a piece may hold the query. It is what makes plain queries cheap, however long they are.
func (q query) possible(piece string) bool {
	return q.plain == "" || strings.Contains(strings.Map(q.letter, piece), q.plain)
}

// work is how much it takes to look for the query in a piece once.
func (q query) work(piece string) int { return q.size * (len(piece) + perPiece) }

// folded is the least of the letters that differ only in being capital, as regular expressions take them: k, K and
// the sign for kelvin are one.
func folded(r rune) rune {
	switch {
	case r <= unicode.MaxASCII && ('a' > r || r > 'z'):
		return r
	case r <= unicode.MaxASCII:
		return r - 'a' + 'A'
	}
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	return least
}
