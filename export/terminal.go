package export

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"golang.org/x/text/width"
)

// Terminal is how texts of models are written for a terminal.
type Terminal struct {
	Width int  // columns, at least 10; 0: 80
	Plain bool // no colour and no style, as NO_COLOR asks
}

const (
	usualWidth = 80
	leastWidth = 10 // columns: what has less room stands below its marker, and not behind it
	tabColumns = 4
)

// Markdown writes a text of a model, parsed and made harmless as in documents, and wrapped at words. Tables that are wider than the
// terminal become lists. A text that is too much to parse is wrapped as it is.
func (t Terminal) Markdown(w io.Writer, text string) error {
	columns := usualWidth
	if t.Width > 0 {
		columns = max(leastWidth, t.Width)
	}
	text = strings.Trim(unified(text), "\n")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	set := &typesetter{plain: t.Plain}
	var lines []string
	if read, ok := newSpeeches().read(text); ok {
		set.source = read.source
		lines = set.blocks(read.root, columns, false)
	}
	if len(lines) == 0 { // too much to parse, or nothing visible
		lines = set.asItIs(text, columns, 0)
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// face is a set of ways in which characters are shown.
type face uint8

const (
	bold face = 1 << iota
	faint
	italic
	underlined
	struck
	coloured // as code
)

// sequence returns what makes a terminal show the style. These are the only control characters that a typesetter writes.
func (s face) sequence() string {
	var codes []string
	for i, code := range []string{"1", "2", "3", "4", "9", "36"} {
		if s&(1<<i) != 0 {
			codes = append(codes, code)
		}
	}
	return "\x1b[" + strings.Join(codes, ";") + "m"
}

// glyph is a visible character in its style. '\n' ends a line.
type glyph struct {
	r  rune
	as face
}

// typesetter sets a harmless speech in lines of a terminal.
type typesetter struct {
	source []byte
	plain  bool
}

// blocks sets the blocks inside another. In a tight list, no blank lines separate them.
func (t *typesetter) blocks(parent ast.Node, columns int, tight bool) []string {
	var out []string
	for c := parent.FirstChild(); c != nil; c = c.NextSibling() {
		lines := t.block(c, columns)
		if len(out) > 0 && len(lines) > 0 && !tight {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	return out
}

func (t *typesetter) block(n ast.Node, columns int) []string {
	switch b := n.(type) {
	case *ast.Heading:
		var level []glyph
		if t.plain {
			level = t.words(nil, strings.Repeat("#", max(1, b.Level-demoted))+" ", 0)
		}
		return t.wrap(append(level, t.inline(b, bold)...), columns)
	case *ast.ThematicBreak:
		return []string{strings.Repeat("─", min(columns, 20))}
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return t.code(string(b.Lines().Value(t.source)), columns)
	case *ast.Blockquote:
		return t.hang(b, "│ ", "│ ", columns, false)
	case *ast.List:
		return t.list(b, columns)
	case *extast.Table:
		return t.table(b, columns)
	default: // a paragraph
		return t.wrap(t.inline(b, 0), columns)
	}
}

// hang sets blocks behind a marker. rest stands before the lines below.
func (t *typesetter) hang(n ast.Node, first, rest string, columns int, tight bool) []string {
	room := columns - wide(first)
	if room < leastWidth {
		return append([]string{strings.TrimRight(first, " ")}, t.blocks(n, columns, tight)...)
	}
	return behind(t.blocks(n, room, tight), first, rest)
}

// behind puts markers before lines.
func behind(lines []string, first, rest string) []string {
	if len(lines) == 0 {
		lines = []string{""}
	}
	for i, l := range lines {
		lines[i] = strings.TrimRight(first+l, " ")
		first = rest
	}
	return lines
}

func (t *typesetter) list(list *ast.List, columns int) []string {
	var out []string
	number := list.Start
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		marker := "• "
		if list.IsOrdered() {
			marker = strconv.Itoa(number) + string(list.Marker) + " "
			number++
		}
		if len(out) > 0 && !list.IsTight {
			out = append(out, "")
		}
		out = append(out, t.hang(item, marker, strings.Repeat(" ", wide(marker)), columns, list.IsTight)...)
	}
	return out
}

// code sets lines as they are, four columns to the right if there is room.
func (t *typesetter) code(code string, columns int) []string {
	code = strings.TrimRight(code, "\n")
	const indent = "    "
	if columns < leastWidth+len(indent) {
		return t.asItIs(code, columns, coloured)
	}
	return behind(t.asItIs(code, columns-len(indent), coloured), indent, indent)
}

// asItIs wraps each line of a text, and keeps its blanks.
func (t *typesetter) asItIs(text string, columns int, as face) []string {
	var out []string
	for l := range strings.SplitSeq(text, "\n") {
		var marks []glyph
		for _, r := range strings.ReplaceAll(l, "\t", strings.Repeat(" ", tabColumns)) {
			marks = append(marks, glyph{visible(r), as})
		}
		out = append(out, t.wrap(marks, columns)...)
	}
	return out
}

// table sets rows in columns if they fit, and otherwise as a list that has the name of the column before each cell.
func (t *typesetter) table(table *extast.Table, columns int) []string {
	var rows [][][]glyph
	widths, sum := make([]int, len(table.Alignments)), 0
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		as, cells := face(0), make([][]glyph, len(widths))
		if row.Kind() == extast.KindTableHeader {
			as = bold
		}
		cell := row.FirstChild()
		for i := range cells {
			if cell == nil {
				break
			}
			cells[i] = t.inline(cell, as)
			widths[i] = max(widths[i], extent(cells[i]))
			cell = cell.NextSibling()
		}
		rows = append(rows, cells)
	}
	for _, w := range widths {
		sum += w + len(" | ")
	}
	if sum-len(" | ") > columns {
		return t.unfolded(rows, columns)
	}
	return t.grid(rows, widths, table.Alignments)
}

// grid sets a table whose columns have these widths.
func (t *typesetter) grid(rows [][][]glyph, widths []int, alignments []extast.Alignment) []string {
	var out []string
	for n, cells := range rows {
		texts := make([]string, len(cells))
		for i, cell := range cells {
			texts[i] = t.paint(cell)
			blank := strings.Repeat(" ", widths[i]-extent(cell))
			if alignments[i] == extast.AlignRight {
				texts[i] = blank + texts[i]
			} else {
				texts[i] += blank
			}
		}
		out = append(out, strings.TrimRight(strings.Join(texts, " │ "), " "))
		if n > 0 {
			continue
		}
		rules := make([]string, len(widths))
		for i, w := range widths {
			rules[i] = strings.Repeat("─", w)
		}
		out = append(out, strings.Join(rules, "─┼─"))
	}
	return out
}

// unfolded sets each row of a table but the first, which names the columns, as an item of a list.
func (t *typesetter) unfolded(rows [][][]glyph, columns int) []string {
	var out []string
	for _, cells := range rows[1:] {
		marker := "• "
		for i, cell := range cells {
			named := t.words(slices.Clone(rows[0][i]), ": ", 0)
			out = append(out, behind(t.wrap(append(named, cell...), columns-wide(marker)), marker, "  ")...)
			marker = "  "
		}
	}
	if len(rows) == 1 { // nothing but names
		for _, name := range rows[0] {
			out = append(out, behind(t.wrap(name, columns-2), "• ", "  ")...)
		}
	}
	return out
}

// inline returns the characters of what stands in lines.
func (t *typesetter) inline(parent ast.Node, as face) []glyph {
	var out []glyph
	for c := parent.FirstChild(); c != nil; c = c.NextSibling() {
		switch n := c.(type) {
		case *ast.String:
			out = t.words(out, string(n.Value), as)
		case *ast.Text: // only the end of a line is left of it
			if n.HardLineBreak() {
				out = append(out, glyph{'\n', 0})
			} else {
				out = t.words(out, " ", as)
			}
		case *ast.CodeSpan:
			out = t.signed(out, "`", t.span(n, as|coloured), as)
		case *ast.Emphasis:
			way := italic
			if n.Level > 1 {
				way = bold
			}
			out = append(out, t.inline(n, as|way)...)
		case *extast.Strikethrough:
			out = t.signed(out, "~~", t.inline(n, as|struck), as)
		case *ast.Link:
			out = t.link(out, n, as)
		default:
			out = append(out, t.inline(n, as)...)
		}
	}
	return out
}

// signed appends characters whose style says what they are. Where there are no styles, a sign at both ends does.
func (t *typesetter) signed(out []glyph, ends string, marks []glyph, as face) []glyph {
	if !t.plain {
		return append(out, marks...)
	}
	out = t.words(out, ends, as)
	return t.words(append(out, marks...), ends, as)
}

// span returns the characters of code within a line.
func (t *typesetter) span(n *ast.CodeSpan, as face) []glyph {
	var out []glyph
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if text, ok := c.(*ast.Text); ok {
			out = t.words(out, string(text.Value(t.source)), as)
		}
	}
	return out
}

// link appends the words of a link, and its address unless the words are that.
func (t *typesetter) link(out []glyph, n *ast.Link, as face) []glyph {
	label := t.inline(n, as|underlined)
	out = append(out, label...)
	address := string(n.Destination)
	shown := make([]rune, len(label))
	for i, m := range label {
		shown[i] = m.r
	}
	if string(shown) == address || "mailto:"+string(shown) == address {
		return out
	}
	return t.words(out, " ("+address+")", as|faint)
}

// words appends the characters of a text, and makes each visible. All white space in a row is one blank.
func (t *typesetter) words(out []glyph, text string, as face) []glyph {
	for _, r := range text {
		if r = visible(r); r == '\n' || r == '\t' {
			r = ' '
		}
		if last := len(out) - 1; r == ' ' && last >= 0 && (out[last].r == ' ' || out[last].r == '\n') {
			continue
		}
		out = append(out, glyph{r, as})
	}
	return out
}

// wrap breaks characters into lines of at most so many columns: at blanks, and within a word that is longer than a line.
func (t *typesetter) wrap(marks []glyph, columns int) []string {
	if len(marks) == 0 {
		return []string{""}
	}
	var out []string
	for len(marks) > 0 {
		end, next := lineEnd(marks, columns)
		out = append(out, t.paint(marks[:end]))
		marks = marks[next:]
	}
	return out
}

// lineEnd returns where the first line of characters ends, and where the next one begins.
func lineEnd(marks []glyph, columns int) (end, next int) {
	used, blank, begun := 0, 0, false // blank: the last one behind a word
	for i, m := range marks {
		switch {
		case m.r == '\n':
			return i, i + 1
		case m.r == ' ' && begun:
			blank = i
		case m.r != ' ':
			begun = true
		}
		if used += breadth(m.r); used <= columns {
			continue
		}
		if blank > 0 {
			return blank, blank + 1
		}
		return max(1, i), max(1, i)
	}
	return len(marks), len(marks)
}

// paint writes the characters of a line. What is at its end is not shown if it is blank.
func (t *typesetter) paint(marks []glyph) string {
	for len(marks) > 0 && marks[len(marks)-1].r == ' ' {
		marks = marks[:len(marks)-1]
	}
	var b strings.Builder
	now := face(0)
	turn := func(to face) {
		if to == now || t.plain {
			return
		}
		if now != 0 {
			b.WriteString("\x1b[0m")
		}
		if now = to; to != 0 {
			b.WriteString(to.sequence())
		}
	}
	for _, m := range marks {
		turn(m.as)
		b.WriteRune(m.r)
	}
	turn(0)
	return b.String()
}

// extent returns how many columns characters take.
func extent(marks []glyph) (columns int) {
	for _, m := range marks {
		columns += breadth(m.r)
	}
	return columns
}

// wide returns how many columns a text takes that has no styles.
func wide(text string) (columns int) {
	for _, r := range text {
		columns += breadth(r)
	}
	return columns
}

// breadth returns how many columns a character takes. Characters that make one sign together may take fewer.
func breadth(r rune) int {
	switch {
	case r < 0x7F:
		return 1
	case r >= 0x1F1E6 && r <= 0x1F1FF: // half of a flag
		return 2
	case r == 0xFE0F: // makes the character before it a wide picture
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	}
	if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
		return 2
	}
	return 1
}
