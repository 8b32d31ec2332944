package prompt

import (
	"strconv"
	"strings"
)

// Round is the placeholder that a rendered text holds wherever its template says {{.Round}}. Its outer
// runes are of private use and are removed from all values, so only a template can insert it.
const Round = string(mark) + "round" + string(mark)

const mark = '\uE000'

// Fill replaces every [Round] in text by the number of the round. It makes one allocation, or none if
// text has no placeholder.
func Fill(text string, round int) string {
	count := strings.Count(text, Round)
	if count == 0 {
		return text
	}
	var digits [20]byte
	number := strconv.AppendInt(digits[:0], int64(round), 10)
	var b strings.Builder
	b.Grow(len(text) + count*(len(number)-len(Round)))
	for {
		before, after, found := strings.Cut(text, Round)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.Write(number)
		text = after
	}
}
