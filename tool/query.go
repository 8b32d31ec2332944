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
	maxQuery   = 256 // bytes
	maxProgram = 200 // instructions of a regular expression

	// maxWork bounds the product of instructions and bytes in one use. Each unit takes Go's machines up
	// to some 60 ns, measured with hostile expressions, so one use takes about a second.
	maxWork  = 16 << 20
	perPiece = 8 // bytes that stand for the fixed cost of a piece
)

// query is what a search looks for.
type query struct {
	*regexp.Regexp
	size   int             // instructions
	plain  string          // the text of every match, after letter; empty if the query is a regular expression
	letter func(rune) rune // maps equal letters to the same letter
}

// queryOf parses a query that a model wrote. Go's expressions take time in proportion to the text and to
// their own size. The size must be bounded, because a short query such as x{1000} can be large.
func queryOf(args debateArguments) (query, error) {
	text := args.Query
	if text == "" || len(text) > maxQuery {
		return query{}, fmt.Errorf("the query has %d bytes, and may have 1 to %d", len(text), maxQuery)
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
	if q.size = instructions(text); args.Regexp && q.size > maxProgram {
		return query{}, errors.New("the query repeats too much for a regular expression")
	}
	return q, nil
}

// instructions returns the size of a valid expression.
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

// possible reports whether a piece may hold the query. It makes plain queries cheap, however long they
// are.
func (q query) possible(piece string) bool {
	return q.plain == "" || strings.Contains(strings.Map(q.letter, piece), q.plain)
}

// work returns the cost of searching a piece once.
func (q query) work(piece string) int { return q.size * (len(piece) + perPiece) }

// folded returns the least of the letters that differ only in case, as regular expressions see them: k, K
// and the Kelvin sign are one letter.
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
