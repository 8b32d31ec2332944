package prompt

import (
	"strconv"
	"strings"
)

// Placeholders that a rendered text holds, which [Fill] replaces by numbers. Their outer runes are of private use and are
// removed from all values, so only a template can insert them.
const (
	Round  = string(mark) + "round" + string(mark)  // wherever the template says {{.Round}}
	Rounds = string(mark) + "rounds" + string(mark) // wherever the template turn, assess or verdict says {{.Rounds}}
)

const mark = '\uE000'

// Planned is a number of rounds in a text that is rendered once, although the number may be changed later. Templates compare
// and test it as a number, and {{.Rounds}} renders the placeholder [Rounds]. 0: open.
type Planned int

// String returns the placeholder, or "0".
func (p Planned) String() string {
	if p == 0 {
		return "0"
	}
	return Rounds
}

// Fill replaces every [Round] in text by the number of the round, and every [Rounds] by the number of rounds. It makes one
// allocation, or none if text has no placeholder.
func Fill(text string, round, rounds int) string {
	one, all := strings.Count(text, Round), strings.Count(text, Rounds)
	if one+all == 0 {
		return text
	}
	var digits, more [20]byte
	number, total := strconv.AppendInt(digits[:0], int64(round), 10), strconv.AppendInt(more[:0], int64(rounds), 10)
	var b strings.Builder
	b.Grow(len(text) + max(0, one*(len(number)-len(Round))+all*(len(total)-len(Rounds))))
	for {
		i := strings.Index(text, string(mark))
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		text = text[i:]
		if after, ok := strings.CutPrefix(text, Round); ok {
			b.Write(number)
			text = after
		} else if after, ok := strings.CutPrefix(text, Rounds); ok {
			b.Write(total)
			text = after
		} else {
			b.WriteRune(mark)
			text = text[len(string(mark)):]
		}
	}
}
