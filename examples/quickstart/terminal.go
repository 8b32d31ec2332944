package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sayf writes for a reader. It ignores errors: if nobody reads any more, there is nobody to report them
// to.
func sayf(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

// isTerminal reports whether a person watches w.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// cleaner removes from a text what a terminal would obey: escape sequences, control characters and marks
// that change the direction of writing. The text may come in pieces, cut anywhere.
type cleaner struct {
	state sequence
	part  string // the first bytes of a character
}

// sequence is the position of a cleaner inside an escape sequence.
type sequence int

const (
	outside  sequence = iota
	escaped           // after ESC
	control           // in a control sequence, up to its letter
	quoted            // in a string for the terminal (a title, a link), up to its end
	unquoted          // there, after ESC
)

const esc = 0x1b

// clean returns what may be shown of the next piece.
func (c *cleaner) clean(piece string) string {
	text := c.part + piece
	c.part = ""
	var out strings.Builder
	for text != "" {
		if !utf8.FullRuneInString(text) {
			c.part = text
			break
		}
		r, n := utf8.DecodeRuneInString(text)
		text = text[n:]
		if c.shows(r) {
			out.WriteRune(printable(r))
		}
	}
	return out.String()
}

// shows reads the next character, and reports whether it is visible.
func (c *cleaner) shows(r rune) bool {
	if c.state != outside && r == '\n' {
		c.state = outside // an unfinished sequence does not hide the next line
	}
	switch c.state {
	case escaped:
		c.state = afterEscape(r)
		return false
	case control:
		switch {
		case r >= 0x40 && r <= 0x7e:
			c.state = outside
			return false
		case r >= 0x20 && r < 0x40:
			return false
		}
		c.state = outside // broken off
	case quoted:
		switch r {
		case '\a', 0x9c:
			c.state = outside
		case esc:
			c.state = unquoted
		}
		return false
	case unquoted:
		c.state = outside
		if r != '\\' {
			c.state = afterEscape(r)
		}
		return false
	}
	switch r {
	case esc:
		c.state = escaped
		return false
	case 0x9b:
		c.state = control
		return false
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		c.state = quoted
		return false
	}
	return printable(r) >= 0
}

func afterEscape(r rune) sequence {
	switch {
	case r == '[':
		return control
	case strings.ContainsRune("]PX^_", r):
		return quoted
	case r == esc, r >= 0x20 && r < 0x30:
		return escaped
	default:
		return outside
	}
}

// printable returns the character to show in place of r; negative: nothing.
func printable(r rune) rune {
	const joiner, nonJoiner = '\u200d', '\u200c' // several scripts, and emoji, need them
	switch {
	case r == '\n' || r == '\u2028' || r == '\u2029':
		return '\n'
	case r == '\t':
		return ' '
	case r == joiner, r == nonJoiner, !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
		return r
	default:
		return -1
	}
}

// clean returns a whole text, cleaned.
func clean(text string) string {
	var c cleaner
	return c.clean(text)
}

// oneLine returns a whole text, cleaned, on one line of at most that many characters.
func oneLine(text string, most int) string {
	line := strings.Join(strings.Fields(clean(text)), " ")
	if utf8.RuneCountInString(line) <= most {
		return line
	}
	line = string([]rune(line)[:most-1])
	if space := strings.LastIndexByte(line, ' '); space > 0 {
		line = line[:space]
	}
	return strings.TrimRight(line, " ,;:") + "…"
}

const (
	lineWidth = 78 // columns; most terminals have 80
	indent    = "  "
)

// wrapper writes text as indented lines, word by word as it arrives.
type wrapper struct {
	out    io.Writer
	word   strings.Builder
	wide   int  // columns of the word
	column int  // columns of the line so far; 0: nothing is written on it
	gap    bool // white space precedes the word
	breaks int  // how many line breaks precede it
	any    bool // something was written
}

func (w *wrapper) write(text string) {
	for _, r := range text {
		switch {
		case r == '\n':
			w.flush()
			w.breaks++
		case unicode.IsSpace(r):
			w.flush()
			w.gap = true
		default:
			w.word.WriteRune(r)
			n := columns(r)
			w.wide += n
			if n == 2 || w.wide >= lineWidth-len(indent) { // scripts without spaces, and endless words
				w.flush()
			}
		}
	}
}

// flush writes the word, on the next line if it does not fit.
func (w *wrapper) flush() {
	if w.word.Len() == 0 {
		return
	}
	var out strings.Builder
	space := 0
	if w.gap {
		space = 1
	}
	switch {
	case w.any && w.breaks > 0:
		out.WriteString(strings.Repeat("\n", min(w.breaks, 2)))
		w.column = 0
	case w.column > 0 && w.column+space+w.wide > lineWidth:
		out.WriteByte('\n')
		w.column = 0
	}
	switch {
	case w.column == 0:
		out.WriteString(indent)
		w.column = len(indent)
	case w.gap:
		out.WriteByte(' ')
		w.column++
	}
	out.WriteString(w.word.String())
	w.column += w.wide
	sayf(w.out, "%s", out.String())
	w.word.Reset()
	w.wide, w.gap, w.breaks, w.any = 0, false, 0, true
}

// end ends the paragraph, and its line if there is one.
func (w *wrapper) end() {
	w.flush()
	if w.any {
		sayf(w.out, "\n")
	}
	*w = wrapper{out: w.out}
}

// columns returns the width of a character on the screen.
func columns(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul),
		r >= 0x3000 && r <= 0x303f, r >= 0xff01 && r <= 0xff60, r >= 0x1f300 && r <= 0x1faff:
		return 2
	default:
		return 1
	}
}
