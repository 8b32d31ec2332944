package progress

import (
	"runtime"
	"slices"
	"strings"
	"unicode"
)

// Command returns a command line of this program that a person may paste into a shell. Operands may come from others, who have
// chosen them so that a shell obeys them, or the program takes them for flags.
func Command(name string, operands ...string) string { return "debate " + name + Operands(operands...) }

// Operands returns the operands of a command, each behind a blank. Flags stand before them.
func Operands(operands ...string) string {
	var out strings.Builder
	if slices.ContainsFunc(operands, func(operand string) bool { return strings.HasPrefix(operand, "-") }) {
		out.WriteString(" --")
	}
	for _, operand := range operands {
		out.WriteString(" " + Quote(operand))
	}
	return out.String()
}

// Quote returns a text as one word of a shell, cleaned as by [Line].
//
// Elsewhere than on Windows it is a word of sh. On Windows it is a word of PowerShell, which cmd takes for one word too: cmd
// obeys nothing in it, but replaces %NAME%. There a double quote becomes a single one, so that a name with a double quote has to
// be typed by hand.
func Quote(word string) string { return quote(word, runtime.GOOS == "windows") }

func quote(word string, windows bool) string {
	word = Line(word)
	signs := "-_./:@"
	if windows {
		signs = `-_./:\` // PowerShell would look for a variable behind @
	}
	plain := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(signs, r) }
	switch {
	case word != "" && strings.TrimLeftFunc(word, plain) == "":
		return word
	case !windows:
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	// A program gets its command line as one text. In each spelling of a double quote, PowerShell 5, PowerShell 7 or cmd lets the word
	// end there, so that the rest of a name could be flags. A backslash before the last quote would make it a part of the word, unless it
	// is doubled. PowerShell takes typographic quotes for quotes.
	word = strings.NewReplacer("`", "``", "$", "`$", `"`, "'", "“", "`“", "”", "`”", "„", "`„").Replace(word)
	return `"` + word + word[len(strings.TrimRight(word, `\`)):] + `"`
}
