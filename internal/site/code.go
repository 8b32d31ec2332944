package main

import (
	"go/scanner"
	"go/token"
	"html/template"
	"strings"
)

// highlighted returns a block of code as HTML.
func highlighted(language, code string) template.HTML {
	var b strings.Builder
	switch language {
	case "go", "json":
		tokens(&b, code, language == "json")
	case "sh":
		for l := range strings.Lines(code) {
			if strings.HasPrefix(strings.TrimSpace(l), "#") {
				span(&b, "c", l)
				continue
			}
			b.WriteString(template.HTMLEscapeString(l))
		}
	default:
		b.WriteString(template.HTMLEscapeString(code))
	}
	return template.HTML(b.String()) //nolint:gosec // escaped
}

// lexeme is a token of Go.
type lexeme struct {
	at, end int
	class   string
}

// tokens writes Go code, or JSON, whose tokens Go has too. What is no token stays plain.
func tokens(b *strings.Builder, code string, isJSON bool) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(code))
	s.Init(file, []byte(code), func(token.Position, string) {}, scanner.ScanComments)
	all := []lexeme{{}}
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			break
		}
		before := &all[len(all)-1]
		switch {
		case tok == token.LPAREN && before.class == "i":
			before.class = "f"
		case tok == token.COLON && before.class == "s" && isJSON:
			before.class = "k"
		}
		at := file.Offset(pos)
		all = append(all, lexeme{at, min(at+len(literal), len(code)), classOf(tok, literal)})
	}
	written := 0
	for _, l := range all {
		if l.class != "" && l.class != "i" && l.at >= written {
			b.WriteString(template.HTMLEscapeString(code[written:l.at]))
			span(b, l.class, code[l.at:l.end])
			written = l.end
		}
	}
	b.WriteString(template.HTMLEscapeString(code[written:]))
}

func classOf(tok token.Token, literal string) string {
	switch {
	case tok == token.COMMENT:
		return "c"
	case tok == token.STRING || tok == token.CHAR:
		return "s"
	case tok == token.INT || tok == token.FLOAT || tok == token.IMAG:
		return "n"
	case tok.IsKeyword() || literal == "nil" || literal == "true" || literal == "false" || literal == "null":
		return "k"
	case tok == token.IDENT:
		return "i"
	}
	return ""
}

func span(b *strings.Builder, class, code string) {
	b.WriteString(`<span class="` + class + `">` + template.HTMLEscapeString(code) + "</span>")
}
