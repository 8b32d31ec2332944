package export

import (
	"bufio"
	"bytes"
	"cmp"
	stdhtml "html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Bounds of what is parsed as Markdown. For some texts a parser takes quadratic time, or makes a page
// that is a thousand times larger. Readers hardly miss the formatting of speeches beyond these bounds.
const (
	maxFormatted = 64 << 10 // bytes of a text
	maxBrackets  = 1000
	maxCells     = 20_000  // of the tables that the lines could be
	maxNested    = 12      // markers of quotes and lists at the beginning of a line
	maxOpen      = 100_000 // quotes and lists that a line could be inside, summed over the lines
	maxDepth     = 100     // elements inside each other
	maxAddress   = 2048    // bytes of a link's address
	maxAddresses = 4       // times the size of a text: the total of all its escaped addresses, which references repeat
)

// demoted is by how many levels a heading inside a text is lowered. The levels above are the document's.
const demoted = 3

// speech is a text of a model, parsed as Markdown and made harmless.
type speech struct {
	source []byte
	root   ast.Node
}

// speeches parses texts of models. It is for one goroutine.
type speeches struct {
	markdown goldmark.Markdown
	language *regexp.Regexp // matches the name of a programming language
	out      bytes.Buffer
}

func newSpeeches() *speeches {
	return &speeches{
		markdown: goldmark.New(
			goldmark.WithExtensions(
				extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
				extension.Strikethrough, extension.Linkify,
			),
			goldmark.WithRendererOptions(html.WithXHTML()),
		),
		language: regexp.MustCompile(`^[A-Za-z0-9+#.-]{1,32}$`),
	}
}

// read parses a text. If ok is false, show the text unformatted.
func (s *speeches) read(words string) (out speech, ok bool) {
	if !modest(words) {
		return speech{}, false
	}
	out.source = []byte(words)
	out.root = s.markdown.Parser().Parse(text.NewReader(out.source))
	t := tamer{source: out.source, language: s.language, out: &s.out}
	return out, t.tame(out.root, 0)
}

// phrase parses a text of one line. If ok is false, it is more than a few words with emphasis, code and
// links.
func (s *speeches) phrase(words string) (out speech, ok bool) {
	out, ok = s.read(words)
	if !ok || out.root.ChildCount() != 1 || out.root.FirstChild().Kind() != ast.KindParagraph {
		return speech{}, false
	}
	paragraph := out.root.FirstChild()
	out.root = ast.NewTextBlock()
	moveChildren(paragraph, func(child ast.Node) { out.root.AppendChild(out.root, child) })
	return out, true
}

// gist returns the beginning of a text as words on one line, without headings and marks: at most so many characters, which end
// with a word. If there is nothing else, the words of headings count. No text that says something has an empty gist.
func (s *speeches) gist(text string, most int) string {
	text = unified(text)
	said := ""
	if read, ok := s.read(text); ok {
		said = cmp.Or(line(read.words(false)), line(read.words(true)))
	}
	return cutAtWord(cmp.Or(said, line(text)), most)
}

// words returns the words of a speech.
func (s *speech) words(headings bool) string {
	var b strings.Builder
	_ = ast.Walk(s.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if !entering {
			if n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if !headings {
				return ast.WalkSkipChildren, nil
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.Text:
			b.Write(n.Value(s.source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.CodeBlock:
			b.Write(n.Lines().Value(s.source))
		case *ast.FencedCodeBlock:
			b.Write(n.Lines().Value(s.source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// cutAtWord cuts a text to at most so many characters, if it can behind a word.
func cutAtWord(text string, most int) string {
	if short(text, most) == text {
		return text
	}
	cut := strings.TrimSuffix(short(text, most), "…")
	if at := strings.LastIndexByte(cut, ' '); at >= len(cut)/2 && text[len(cut)] != ' ' {
		cut = cut[:at]
	}
	return strings.TrimRight(cut, " ,;:") + "…"
}

// modest reports whether a text is sure to be parsed quickly.
func modest(words string) bool {
	if len(words) > maxFormatted || strings.Count(words, "[") > maxBrackets {
		return false
	}
	lines, columns := 0, 0
	level, sum, blank := 0, 0, true // level: how many quotes and lists may be open
	for l := range strings.Lines(words) {
		lines++
		columns = max(columns, strings.Count(l, "|"))
		switch markers, spaces := opened(l); {
		case markers > maxNested:
			return false
		case strings.Trim(l, " \t\r\n") == "": // a blank line ends no list
			blank = true
		case blank: // what the line does not continue ends
			level, blank = markers+spaces/2, false
		default: // it may continue the paragraph above it, wherever that is
			level = max(level, markers+spaces/2)
		}
		sum += level
	}
	return lines*columns <= maxCells && sum <= maxOpen
}

// opened counts what a line begins with: markers of quotes and lists (and some characters that look like
// them), and columns of white space. A line needs at least two columns to belong to a list of a line
// above.
func opened(l string) (markers, spaces int) {
	for i, c := range l {
		switch {
		case c == '>':
			markers++
		case c == ' ':
			spaces++
		case c == '\t':
			spaces += 4
		case strings.ContainsRune("-+*.)", c):
			if rest := l[i+1:]; rest != "" && strings.ContainsRune(" \t", rune(rest[0])) {
				markers++
			}
		case '0' <= c && c <= '9':
		default:
			return markers, spaces
		}
	}
	return markers, spaces
}

// tamer removes everything from a parsed text that could do harm.
type tamer struct {
	source   []byte
	language *regexp.Regexp
	out      *bytes.Buffer
	linked   bool // within a link
	written  int  // bytes of addresses
}

// tame changes everything below a node. It returns false if that is too deep.
func (t *tamer) tame(n ast.Node, depth int) bool {
	if depth > maxDepth {
		return false
	}
	for child := n.FirstChild(); child != nil; {
		next := child.NextSibling()
		linked := t.linked
		t.linked = linked || child.Kind() == ast.KindLink || child.Kind() == ast.KindImage
		ok := child.Kind() == ast.KindCodeSpan || t.tame(child, depth+1)
		t.linked = linked
		if !ok {
			return false
		}
		t.child(n, child)
		child = next
	}
	return true
}

func (t *tamer) child(parent, child ast.Node) {
	switch c := child.(type) {
	case *ast.Heading:
		c.Level = min(6, c.Level+demoted)
	case *ast.FencedCodeBlock:
		if c.Info != nil { // Language would keep its first result
			name, _, _ := bytes.Cut(c.Info.Value(t.source), []byte(" "))
			if !t.language.Match(name) {
				c.Info = nil
			}
		}
	case *ast.LinkReferenceDefinition:
		parent.RemoveChild(parent, c)
	case *ast.HTMLBlock:
		t.htmlBlock(parent, c)
	case *ast.RawHTML:
		parent.ReplaceChild(parent, c, plain(string(c.Segments.Value(t.source))))
	case *ast.Text:
		t.text(parent, c)
	case *ast.AutoLink:
		t.autoLink(parent, c)
	case *ast.Link:
		t.link(parent, c, c.Destination)
	case *ast.Image:
		c.InsertBefore(c, c.FirstChild(), plain("image: "))
		t.link(parent, c, c.Destination)
	}
}

// plain returns a node with a text that means only itself.
func plain(words string) *ast.String {
	s := ast.NewString([]byte(strings.Map(func(r rune) rune {
		if strings.ContainsRune("\n\t\r\v\f\u0085\u2028\u2029", r) {
			return ' '
		}
		return r
	}, sequenceless(words))))
	s.SetRaw(true)
	return s
}

// htmlBlock turns an HTML block into a paragraph of its source.
func (t *tamer) htmlBlock(parent ast.Node, block *ast.HTMLBlock) {
	p := ast.NewParagraph()
	lines := string(block.Lines().Value(t.source))
	if block.HasClosure() {
		lines += string(block.ClosureLine.Value(t.source))
	}
	for l := range strings.Lines(lines) {
		if p.HasChildren() {
			p.AppendChild(p, breakOf(false))
		}
		p.AppendChild(p, plain(strings.TrimSpace(l)))
	}
	parent.ReplaceChild(parent, block, p)
}

// breakOf returns a node that ends a line.
func breakOf(hard bool) *ast.Text {
	b := ast.NewTextSegment(text.NewSegment(0, 0))
	b.SetSoftLineBreak(!hard)
	b.SetHardLineBreak(hard)
	return b
}

// text resolves character references while the node is known to be text.
func (t *tamer) text(parent ast.Node, c *ast.Text) {
	value := c.Value(t.source)
	if bytes.ContainsAny(value, `\&`) && !c.IsRaw() {
		t.out.Reset()
		w := bufio.NewWriter(t.out)
		html.DefaultWriter.Write(w, value)
		_ = w.Flush() // into memory
		value = []byte(stdhtml.UnescapeString(t.out.String()))
	}
	if c.HardLineBreak() || c.SoftLineBreak() {
		parent.InsertAfter(parent, c, breakOf(c.HardLineBreak()))
	}
	parent.ReplaceChild(parent, c, plain(string(value)))
}

func (t *tamer) autoLink(parent ast.Node, c *ast.AutoLink) {
	label := plain(string(c.Label(t.source)))
	address := c.URL(t.source)
	if c.AutoLinkType == ast.AutoLinkEmail && !bytes.HasPrefix(bytes.ToLower(address), []byte("mailto:")) {
		address = append([]byte("mailto:"), address...)
	}
	destination, ok := t.reachable(address)
	if !ok {
		parent.ReplaceChild(parent, c, label)
		return
	}
	link := newLink(destination)
	link.AppendChild(link, label)
	parent.ReplaceChild(parent, c, link)
}

func newLink(destination []byte) *ast.Link {
	link := ast.NewLink()
	link.Destination = destination
	link.SetAttributeString("rel", []byte("noopener noreferrer nofollow"))
	return link
}

// link turns a link or an image into a link that leads somewhere, or into text.
func (t *tamer) link(parent, c ast.Node, address []byte) {
	if destination, ok := t.reachable(address); ok {
		link := newLink(destination)
		moveChildren(c, func(child ast.Node) { link.AppendChild(link, child) })
		parent.ReplaceChild(parent, c, link)
		return
	}
	moveChildren(c, func(child ast.Node) { parent.InsertBefore(parent, c, child) })
	if len(address) > 0 && !t.linked {
		parent.InsertBefore(parent, c, plain(" ("+short(string(address), 100)+")"))
	}
	parent.RemoveChild(parent, c)
}

func moveChildren(from ast.Node, to func(ast.Node)) {
	for child := from.FirstChild(); child != nil; {
		next := child.NextSibling()
		from.RemoveChild(from, child)
		to(child)
		child = next
	}
}

// reachable returns the address of a link in the form for a document. ok is false if no link is allowed
// here, or not to that address.
func (t *tamer) reachable(address []byte) ([]byte, bool) {
	if t.linked || len(address) > maxAddress || t.written > maxAddresses*len(t.source) {
		return nil, false
	}
	escaped := util.URLEscape(address, true)
	lower := bytes.ToLower(escaped)
	for _, scheme := range []string{"https://", "http://", "mailto:"} {
		if bytes.HasPrefix(lower, []byte(scheme)) && len(lower) > len(scheme) {
			t.written += len(escaped)
			return bare(escaped), true
		}
	}
	return nil, false
}

// bare replaces what could end an address in a Markdown document, or be read as another character there.
func bare(address []byte) []byte {
	var out bytes.Buffer
	address = encoded(address)
	for i, c := range address {
		if c == '&' && entity(string(address[i:min(len(address), i+40)])) {
			out.WriteString("&amp;")
		} else {
			out.WriteByte(c)
		}
	}
	return out.Bytes()
}

// encoded replaces the characters that could end an address by their percent encoding.
func encoded(address []byte) []byte {
	var out bytes.Buffer
	for _, c := range address {
		if c <= ' ' || c >= 0x7F || strings.IndexByte("<>()[]\\`\"'*|{}~^$", c) >= 0 {
			out.WriteByte('%')
			out.WriteByte("0123456789ABCDEF"[c>>4])
			out.WriteByte("0123456789ABCDEF"[c&15])
		} else {
			out.WriteByte(c)
		}
	}
	return out.Bytes()
}

// short cuts a text to that many characters.
func short(words string, most int) string {
	n := 0
	for i := range words {
		if n++; n > most {
			return words[:i] + "…"
		}
	}
	return words
}
