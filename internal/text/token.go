package text

import "strings"

// A server that runs a model may read certain strings of any text as control tokens: the end of a message, the beginning of
// another one's. Escape puts a backslash behind the bracket that begins such a string: "<\|im_end|>". A reader sees what was
// written. Other text stays as it is.

// ShortestToken is the length in bytes of the shortest string that Escape makes longer, by one byte each.
const ShortestToken = 4

// maxTokenName bounds what stands between the bars of a token, in bytes.
const maxTokenName = 64

// controlTokens are the tokens that have no bars, without the bracket that begins them. Those of Gemma, Llama and Mistral.
func controlTokens(bracket byte) []string {
	if bracket == '[' {
		return []string{
			"INST]", "/INST]", "SYSTEM_PROMPT]", "/SYSTEM_PROMPT]", "AVAILABLE_TOOLS]", "/AVAILABLE_TOOLS]",
			"TOOL_CALLS]", "TOOL_RESULTS]", "/TOOL_RESULTS]",
		}
	}
	return []string{"start_of_turn>", "end_of_turn>", "<SYS>>", "</SYS>>", "bos>", "eos>", "/s>"}
}

// Defused returns the text with a backslash in each control token, behind its bracket and before the backslashes that stand
// there. So nothing is lost: without that backslash it is the text again.
func Defused(text string) string {
	var b strings.Builder
	last := 0
	angle, square := -1, -1 // where the next brackets stand
	for from := 0; ; {
		if angle < from {
			angle = from + until(text[from:], '<')
		}
		if square < from {
			square = from + until(text[from:], '[')
		}
		at := min(angle, square)
		if at == len(text) {
			break
		}
		from = at + 1
		rest := strings.TrimLeft(text[from:], `\`)
		if !controls(text[at], rest) {
			continue
		}
		b.WriteString(text[last:from])
		b.WriteByte('\\')
		last, from = from, len(text)-len(rest)
	}
	if last == 0 {
		return text
	}
	b.WriteString(text[last:])
	return b.String()
}

// controls reports whether a text that stands behind a bracket makes a control token of it.
func controls(bracket byte, rest string) bool {
	for _, token := range controlTokens(bracket) {
		if strings.HasPrefix(rest, token) {
			return true
		}
	}
	if bracket != '<' {
		return false
	}
	for _, bar := range []string{"|", "\uff5c"} { // some families write the wide one
		name, ok := strings.CutPrefix(rest, bar)
		if !ok {
			continue
		}
		end := strings.Index(name, bar+">")
		return end > 0 && end <= maxTokenName && !strings.ContainsAny(name[:end], "<>[]|\uff5c \t\r\n")
	}
	return false
}
