package stage

import "strings"

// Speeches reads a script. A line "# r1.opening.1.Ada" names a call. The lines up to the next such line
// are its text, joined into one line.
func Speeches(script string) map[string]string {
	said := make(map[string]string)
	for part := range strings.SplitSeq("\n"+script, "\n# ") {
		call, text, _ := strings.Cut(part, "\n")
		said[call] = strings.Join(strings.Fields(text), " ")
	}
	return said
}
