package export

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
)

// sentence turns a text into a sentence, with a capital and a full stop.
func sentence(text string) string {
	text = line(text)
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if last, _ := utf8.DecodeLastRuneInString(text); last != '…' && !unicode.Is(unicode.STerm, last) {
		text += "."
	}
	return text
}

// plural writes a number of things.
func plural(n int, thing string) string { return text.Plural(n, thing) }

// count writes a number.
func count(n int) string { return text.Number(n) }

// mark writes a score or a share, with at most two decimals.
func mark(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) || math.Abs(x) > 1e9 {
		return "—"
	}
	return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64)
}

// bar returns the cell of a score, with most as the full length. What is no number has no length.
func bar(x, most float64) cell {
	length := max(0, min(1, x/most))
	if math.IsNaN(length) {
		length = 0
	}
	return cell{Text: mark(x), Bar: true, Share: length}
}

// failure describes a failure in one line.
func failure(e *flow.Error) string {
	if e == nil {
		return ""
	}
	kind := strings.ReplaceAll(string(e.Kind), "_", " ")
	if e.Err == nil {
		return kind
	}
	return fmt.Sprintf("%s: %s", kind, e.Err)
}

// brief shortens a text for a table.
func brief(text string) string { return short(line(text), 300) }
