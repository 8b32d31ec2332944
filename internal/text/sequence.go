package text

import (
	"regexp"
	"strings"
)

// Sequenceless returns a text in which a sign stands for each control sequence of a terminal (CSI), and for each string that is one for it
// (OSC and its like), so that nothing is to be read of "[31m", or of a title for the window. Of a string that does not end on its line the
// sign stands for the beginning.
func Sequenceless(text string) string {
	if !strings.ContainsAny(text, "\x1b\u009b\u009d") {
		return text
	}
	return sequences().ReplaceAllLiteralString(text, "␛")
}

func sequences() *regexp.Regexp { // seldom needed
	return regexp.MustCompile(`(?:\x1b\[|\x{9b})[ -?]*[@-~]?|(?:\x1b[\]PX^_]|\x{9d})(?:[^\x07\x1b\x{9c}\n]*(?:\x07|\x1b\\|\x{9c}))?`)
}
