package main

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Page is a page of the site: a document, or the files of an example.
type Page struct {
	Path  string // in the repository, such as docs/guides/stream.md or examples/server/main.go
	URL   string // in the site, such as docs/guides/stream.html
	Title string
	Line  string // the first sentence
	Group string // the heading under which the navigation has it

	Headings []Heading
	Links    []Link
	Blocks   []Block
	Spans    []Block // code within sentences

	source   []byte
	root     ast.Node
	sections []section
}

// Heading is a heading of a document, with its anchor as GitHub makes it.
type Heading struct {
	Level        int
	Text, Anchor string
}

// Link is a link or an image of a document, as it stands there.
type Link struct {
	Destination string
	Line        int
	Image       bool
}

// Block is a block of code of a document. One that is indented has no language.
type Block struct {
	Language string
	Text     string
	Mark     string // the comment in the line before, without its signs: "from examples/server/main.go"
	Line     int    // of its first line
}

// section is what a search can find: the text under a heading.
type section struct{ heading, anchor, text string }

// reader reads documents.
type reader struct {
	markdown parser.Parser
	comment  *regexp.Regexp
}

func newReader() *reader {
	extensions := goldmark.WithExtensions(extension.NewTable(), extension.Strikethrough, extension.Linkify)
	return &reader{goldmark.New(extensions).Parser(), regexp.MustCompile(`^<!-- (.*) -->\s*$`)}
}

// read parses a document. HTML is left out.
func (r *reader) read(path string, source []byte) *Page {
	p := &Page{Path: path, source: source, root: r.markdown.Parse(text.NewReader(source)), sections: []section{{}}}
	used, html := map[string]bool{}, []ast.Node{}
	_ = ast.Walk(p.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it fails only if this function does
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			p.heading(n, used)
		case *ast.Link:
			p.Links = append(p.Links, Link{Destination: string(n.Destination), Line: p.line(n)})
		case *ast.Image:
			p.Links = append(p.Links, Link{Destination: string(n.Destination), Line: p.line(n), Image: true})
		case *ast.FencedCodeBlock:
			r.block(p, n)
		case *ast.CodeBlock:
			p.Blocks = append(p.Blocks, Block{Text: plain(n, source), Line: p.line(n)})
		case *ast.CodeSpan:
			p.Spans = append(p.Spans, Block{Text: strings.Join(strings.Fields(plain(n, source)), " "), Line: p.line(n)})
		case *ast.HTMLBlock, *ast.RawHTML:
			html = append(html, n)
		}
		if n.Type() == ast.TypeBlock && (n.FirstChild() == nil || n.FirstChild().Type() == ast.TypeInline) && n.Kind() != ast.KindHeading &&
			n.Kind() != ast.KindHTMLBlock {
			last := &p.sections[len(p.sections)-1]
			last.text = strings.TrimSpace(last.text + " " + strings.Join(strings.Fields(plain(n, source)), " "))
		}
		return ast.WalkContinue, nil
	})
	for _, n := range html {
		n.Parent().RemoveChild(n.Parent(), n)
	}
	if p.Title == "" {
		p.Title = path
	}
	for n := p.root.FirstChild(); n != nil && p.Line == ""; n = n.NextSibling() {
		if n.Kind() == ast.KindHeading && n.PreviousSibling() != nil {
			break
		}
		if n.Kind() == ast.KindParagraph {
			p.Line = sentence(plain(n, source))
		}
	}
	if p.Line == "" {
		p.Line = p.contents()
	}
	return p
}

func (p *Page) heading(n *ast.Heading, used map[string]bool) {
	words := strings.TrimSpace(plain(n, p.source))
	anchor := unused(Anchor(words), used)
	n.SetAttributeString("id", []byte(anchor))
	p.Headings = append(p.Headings, Heading{n.Level, words, anchor})
	if n.Level == 1 && p.Title == "" {
		p.Title = words
		return
	}
	p.sections = append(p.sections, section{heading: words, anchor: anchor})
}

// contents names the parts of a page that says nothing else about itself.
func (p *Page) contents() string {
	var parts []string
	for _, h := range p.Headings {
		if h.Level == 2 {
			parts = append(parts, strings.TrimRight(h.Text, ".:?"))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, " · ") + "."
}

func (r *reader) block(p *Page, n *ast.FencedCodeBlock) {
	b := Block{Language: string(n.Language(p.source)), Text: string(n.Lines().Value(p.source)), Line: p.line(n)}
	if before, ok := n.PreviousSibling().(*ast.HTMLBlock); ok && !n.HasBlankPreviousLines() {
		if m := r.comment.FindSubmatch(before.Lines().Value(p.source)); m != nil {
			b.Mark = string(m[1])
			n.SetAttributeString("mark", b.Mark)
		}
	}
	p.Blocks = append(p.Blocks, b)
}

// line returns the number of the line where a node begins. For an inline node it is that of its block.
func (p *Page) line(n ast.Node) int {
	for n.Type() == ast.TypeInline {
		n = n.Parent()
	}
	if n.Lines().Len() == 0 {
		return 0
	}
	return bytes.Count(p.source[:n.Lines().At(0).Start], []byte("\n")) + 1
}

// Anchor returns the anchor that GitHub gives to a heading.
func Anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '-':
			return '-'
		case unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Pc):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// unused returns an anchor, with a number if a heading above has it.
func unused(anchor string, used map[string]bool) string {
	name := anchor
	for i := 1; used[name]; i++ {
		name = anchor + "-" + strconv.Itoa(i)
	}
	used[name] = true
	return name
}

// plain returns the text of a node without its marks.
func plain(n ast.Node, source []byte) string {
	if n.Kind() == ast.KindFencedCodeBlock || n.Kind() == ast.KindCodeBlock {
		return string(n.Lines().Value(source))
	}
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			words := c.Value(source)
			if n.Kind() != ast.KindCodeSpan {
				words = util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(words)))
			}
			b.Write(words)
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.AutoLink:
			b.Write(c.Label(source))
		case *ast.RawHTML:
		default:
			b.WriteString(plain(c, source))
		}
	}
	return b.String()
}

// sentence returns the first sentence of a text: up to a full stop, and if there is none, up to a colon.
func sentence(words string) string {
	words = strings.Join(strings.Fields(words), " ")
	for i, r := range words {
		end := words[i+utf8.RuneLen(r):]
		if strings.ContainsRune(".!?", r) && (end == "" || len(end) > 1 && end[0] == ' ' && unicode.IsUpper(rune(end[1]))) {
			return words[:i+1]
		}
	}
	if before, ok := strings.CutSuffix(words, ":"); ok {
		return before + "."
	}
	return words
}
