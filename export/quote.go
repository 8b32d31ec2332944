package export

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// quote returns a text of a model as a block quote, in which every line begins with ">".
func (s *speeches) quote(words string) string {
	words = unified(words)
	if strings.TrimSpace(words) == "" {
		return "> *(nothing)*\n"
	}
	out := ""
	if read, ok := s.read(words); ok {
		out = (&printer{source: read.source}).blocks(read.root, false)
	}
	if out == "" { // too much to parse, or nothing visible: indented code, which no text can end
		return quotedCode(words)
	}
	return indented(out, "> ", "> ") + "\n"
}

// quotedCode returns a text as it is, in a block quote: as indented code, which no text can end.
func quotedCode(words string) string {
	words = unified(words)
	if strings.TrimSpace(words) == "" {
		return "> *(nothing)*\n"
	}
	return indented(indented(strings.Trim(words, "\n"), "    ", "    "), "> ", "> ") + "\n"
}

// phraseMarkdown returns a text of a model on one line.
func (s *speeches) phraseMarkdown(words string) string {
	words = line(words)
	if read, ok := s.phrase(words); ok {
		return (&printer{source: read.source}).paragraph(read.root)
	}
	return literal(words)
}

// indented puts first before the first line of a text, and rest before all others.
func indented(words, first, rest string) string {
	var b strings.Builder
	prefix := first
	for i, l := range strings.Split(words, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		if l == "" {
			b.WriteString(strings.TrimRight(prefix, " "))
		} else {
			b.WriteString(prefix)
			b.WriteString(l)
		}
		prefix = rest
	}
	return b.String()
}

// printer writes a harmless speech as Markdown. It uses one form for each construct, so that a reader
// parses exactly what was printed.
type printer struct {
	source []byte
	cell   bool // within a table
	struck bool // within struck out text
}

// blocks prints the blocks inside another. In a tight list, no blank lines separate them.
func (p *printer) blocks(parent ast.Node, tight bool) string {
	var b strings.Builder
	for c := parent.FirstChild(); c != nil; c = c.NextSibling() {
		block := p.block(c)
		if block == "" {
			continue
		}
		switch {
		case b.Len() == 0:
		case tight:
			b.WriteByte('\n')
		default:
			b.WriteString("\n\n")
		}
		b.WriteString(block)
	}
	return b.String()
}

func (p *printer) block(n ast.Node) string {
	switch b := n.(type) {
	case *ast.Heading:
		return strings.Repeat("#", b.Level) + " " + p.heading(b)
	case *ast.ThematicBreak:
		return "___"
	case *ast.CodeBlock:
		return fenced("", b.Lines().Value(p.source))
	case *ast.FencedCodeBlock:
		return fenced(string(b.Language(p.source)), b.Lines().Value(p.source))
	case *ast.Blockquote:
		return indented(p.blocks(b, false), "> ", "> ")
	case *ast.List:
		return p.list(b)
	case *extast.Table:
		return p.table(b)
	default: // a paragraph
		return p.paragraph(b)
	}
}

func (p *printer) paragraph(n ast.Node) string {
	lines := strings.Split(p.inline(n), "\n")
	for i, l := range lines {
		trimmed := strings.TrimLeft(l, " ")
		lines[i] = opening(trimmed)
	}
	return strings.TrimRight(strings.Join(lines, "\n"), " \n")
}

// heading prints the content of a heading. A # at its end would be dropped, so it is escaped.
func (p *printer) heading(n ast.Node) string {
	words := opening(line(p.inline(n)))
	if rest, ok := strings.CutSuffix(words, "#"); ok && !strings.HasSuffix(rest, `\`) {
		return rest + `\#`
	}
	return words
}

func fenced(language string, code []byte) string {
	fence := strings.Repeat("`", max(3, longest(code)+1))
	words := string(code)
	if words != "" && !strings.HasSuffix(words, "\n") {
		words += "\n"
	}
	return fence + language + "\n" + words + fence
}

// longest returns the length of the longest run of backticks.
func longest(code []byte) int {
	most, run := 0, 0
	for _, c := range code {
		if c != '`' {
			run = 0
			continue
		}
		run++
		most = max(most, run)
	}
	return most
}

func (p *printer) list(list *ast.List) string {
	var items []string
	number := list.Start
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		marker := string(list.Marker)
		if list.IsOrdered() {
			marker = strconv.Itoa(number) + marker
			number++
		}
		items = append(items, indented(p.blocks(item, list.IsTight), marker+" ", strings.Repeat(" ", len(marker)+1)))
	}
	if list.IsTight {
		return strings.Join(items, "\n")
	}
	return strings.Join(items, "\n\n")
}

func (p *printer) table(table *extast.Table) string {
	var b strings.Builder
	p.cell = true
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteByte('|')
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			b.WriteString(" " + line(p.inline(cell)) + " |")
		}
		if row.Kind() == extast.KindTableHeader {
			b.WriteString("\n|")
			for _, alignment := range table.Alignments {
				b.WriteString(rule(alignment) + "|")
			}
		}
	}
	p.cell = false
	return b.String()
}

// rule returns the line below the head of a column.
func rule(a extast.Alignment) string {
	switch a {
	case extast.AlignLeft:
		return ":---"
	case extast.AlignRight:
		return "---:"
	case extast.AlignCenter:
		return ":---:"
	default:
		return "---"
	}
}

func (p *printer) inline(parent ast.Node) string {
	var out []byte
	for c := parent.FirstChild(); c != nil; c = c.NextSibling() {
		piece := p.piece(c)
		switch last := len(out) - 1; { // pieces that are harmless alone may not be so together
		case piece == "" || last < 0:
		case out[last] == '!' && piece[0] == '[': // an image
			out = append(out[:last], `\!`...)
		case out[last] == '`' && piece[0] == '`': // code that ends elsewhere
			out = append(out, ' ')
		}
		out = append(out, piece...)
	}
	return string(out)
}

func (p *printer) piece(n ast.Node) string {
	switch n := n.(type) {
	case *ast.String:
		return escaped(string(n.Value))
	case *ast.Text: // only the end of a line is left of it
		if n.HardLineBreak() {
			return "  \n"
		}
		return "\n"
	case *ast.CodeSpan:
		return p.code(n)
	case *ast.Emphasis:
		return around(strings.Repeat("*", n.Level), p.inline(n))
	case *extast.Strikethrough:
		if p.struck { // four of its marks would be a fence
			return p.inline(n)
		}
		p.struck = true
		defer func() { p.struck = false }()
		return around("~~", p.inline(n))
	case *ast.Link:
		return p.link(n)
	default:
		return p.inline(n)
	}
}

// around puts marks around a text. White space at the ends stays outside, because inside it would change
// the meaning of the marks.
func around(mark, words string) string {
	inner := strings.Trim(words, " \n")
	if inner == "" {
		return words
	}
	before, after, _ := strings.Cut(words, inner)
	return before + mark + inner + mark + after
}

func (p *printer) code(n *ast.CodeSpan) string {
	var code bytes.Buffer
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			code.Write(t.Value(p.source))
		}
	}
	words := strings.ReplaceAll(code.String(), "\n", " ")
	if p.cell {
		words = strings.ReplaceAll(words, "|", `\|`)
	}
	mark := strings.Repeat("`", longest([]byte(words))+1)
	if strings.HasPrefix(words, "`") || strings.HasSuffix(words, "`") ||
		strings.HasPrefix(words, " ") && strings.HasSuffix(words, " ") && strings.TrimSpace(words) != "" {
		words = " " + words + " "
	}
	if words == "" {
		return ""
	}
	return mark + words + mark
}

func (p *printer) link(n *ast.Link) string {
	destination := string(n.Destination)
	if only, ok := n.FirstChild().(*ast.String); ok && n.ChildCount() == 1 && string(only.Value) == destination {
		return "<" + destination + ">"
	}
	return "[" + p.inline(n) + "](" + destination + ")"
}
