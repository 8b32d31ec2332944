package text

import (
	"fmt"
	"strings"
)

// Bounds of the problems that a re-ask shows: their number, the bytes of each, and the bytes of all.
const (
	maxProblems   = 12
	problemLength = 300
	ProblemBytes  = (maxProblems + 1) * (problemLength + 8)
)

// Bulleted writes the problems as a list. Of the rejected answer they contain only short, escaped extracts.
func Bulleted(problems []string) string {
	var b strings.Builder
	for i, p := range problems {
		if i == maxProblems {
			fmt.Fprintf(&b, "\n- and %d more", len(problems)-i)
			break
		}
		if i > 0 {
			b.WriteString("\n- ")
		}
		b.WriteString(OneLine(p, problemLength))
	}
	return b.String()
}
