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

// Quote returns a text as one word of a shell, cleaned as by [Clean].
//
// Elsewhere than on Windows it is a word of sh. On Windows it is a word of PowerShell, and cmd obeys nothing in it either.
func Quote(word string) string { return quote(word, runtime.GOOS == "windows") }

func quote(word string, windows bool) string {
	word = Clean(word)
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./:@", r) || windows && r == '\\'
	}
	switch {
	case word != "" && strings.TrimLeftFunc(word, plain) == "":
		return word
	case !windows:
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	// PowerShell takes typographic quotes for quotes. A doubled quote leaves cmd inside of the quotes.
	return `"` + strings.NewReplacer("`", "``", "$", "`$", `"`, `""`, "“", "`“", "”", "`”", "„", "`„").Replace(word) + `"`
}
