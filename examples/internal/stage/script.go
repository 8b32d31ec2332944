package stage

import "strings"

// Speeches reads a script: a line "# r1.opening.1.Ada" names a call, and what follows until the next such line is
// said in it, as one line.
func Speeches(script string) map[string]string {
	said := make(map[string]string)
	for part := range strings.SplitSeq("\n"+script, "\n# ") {
		call, text, _ := strings.Cut(part, "\n")
		said[call] = strings.Join(strings.Fields(text), " ")
	}
	return said
}
