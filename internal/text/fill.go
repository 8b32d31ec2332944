package text

import "strings"

// MostFilled bounds what [Fill] returns, in bytes. Prompts that a conversation renders are far below it. A log that was written elsewhere
// may hold a text of many holes, each of which would take the place of much.
const MostFilled = 32 << 20

// Fill replaces every hole in a text. A text that would become longer than [MostFilled] is returned as it is.
func Fill(content, hole, with string) string {
	if n := strings.Count(content, hole); n > 0 && len(content)+n*(len(with)-len(hole)) > MostFilled {
		return content
	}
	return strings.ReplaceAll(content, hole, with)
}
