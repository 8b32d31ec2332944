package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printer writes for a reader. What a model wrote is cleaned before.
type printer struct{ out io.Writer }

func (p printer) linef(format string, args ...any) { _, _ = fmt.Fprintf(p.out, format+"\n", args...) }

// speak writes a text in lines that fit a screen, behind an indent.
func (p printer) speak(indent, text string) {
	const width = 80
	line := ""
	for word := range strings.FieldsSeq(clean(text)) {
		if line != "" && utf8.RuneCountInString(indent+line+" "+word) > width {
			p.linef("%s%s", indent, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	p.linef("%s%s", indent, line)
}

// clean leaves out what could control a terminal, and writes a text as one line.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		default:
			return -1
		}
	}, text)
}
