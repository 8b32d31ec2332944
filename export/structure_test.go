package export_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/agonist-dev/debate/export"
)

// what a text of a model's may be made of in a page, with the attributes that may be there.
var (
	permitted = map[string][]string{
		"p": {"class"}, "h4": nil, "h5": nil, "h6": nil, "ul": nil, "ol": {"start"}, "li": nil, "blockquote": nil, "hr": nil, "br": nil,
		"pre": {"class"}, "code": {"class"}, "em": nil, "strong": nil, "bdi": nil, "del": nil, "a": {"href", "rel"},
		"table": nil, "thead": nil, "tbody": nil, "tr": nil, "th": {"align"}, "td": {"align"},
	}
	reachable = regexp.MustCompile(`^(?i:https?://|mailto:)[\x21-\x7e]+$`)
	classes   = regexp.MustCompile(`^(language-[A-Za-z0-9+#.-]+|plain|nothing)$`)
	embedded  = regexp.MustCompile(`^data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$`)
	// Where something is drawn follows from figures, such as how many tokens a text has.
	geometry = map[string]bool{
		"x": true, "y": true, "x1": true, "y1": true, "x2": true, "y2": true, "cx": true, "cy": true, "r": true, "d": true, "width": true,
		"height": true, "viewBox": true,
	}
	coordinates = regexp.MustCompile(`^[-0-9.% MLCZlvhz]+$`)
	unseen      = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x{9f}\x{202a}-\x{202e}\x{2066}-\x{2069}\x{feff}\x{fffe}\x{ffff}\x{e0000}-\x{e007f}]`)
)

// pageStructure parses a page strictly, as XML, and yields its elements but for those in models' texts,
// of which it checks that they are permitted.
func pageStructure(page []byte) ([]string, error) {
	if found := unseen.Find(page); found != nil {
		return nil, fmt.Errorf("the character %q", found)
	}
	var out []string
	inside, depth, links := 0, 0, 0 // the depth at which a model's text begins, and the links that are open
	d := xml.NewDecoder(bytes.NewReader(page))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.Comment, xml.ProcInst:
			return nil, fmt.Errorf("%T", token)
		case xml.EndElement:
			if depth == inside {
				inside = 0
			}
			if token.Name.Local == "a" {
				links--
			}
			depth--
		case xml.StartElement:
			depth++
			if token.Name.Local == "a" {
				if links++; links > 1 {
					return nil, errors.New("a link in a link")
				}
			}
			if inside > 0 && depth-inside > 110 {
				return nil, errors.New("too deep")
			}
			if inside > 0 {
				if err := check(token); err != nil {
					return nil, err
				}
				continue
			}
			element := strings.Repeat(" ", depth) + token.Name.Local
			for _, a := range token.Attr {
				switch {
				case geometry[a.Name.Local] && token.Name.Space == "" && token.Name.Local != "img":
					if !coordinates.MatchString(a.Value) {
						return nil, fmt.Errorf("%s=%q", a.Name.Local, a.Value)
					}
					element += " " + a.Name.Local
				case token.Name.Local == "img" && a.Name.Local == "src" && embedded.MatchString(a.Value), a.Name.Local == "alt":
				case strings.HasPrefix(a.Name.Local, "on"), a.Name.Local == "style", a.Name.Local == "src":
					return nil, fmt.Errorf("an attribute %s", a.Name.Local)
				case a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#"):
					return nil, fmt.Errorf("a link to %s", a.Value)
				case a.Name.Local != "title":
					element += " " + a.Name.Local + "=" + a.Value
				}
				if a.Name.Local == "lang" && a.Value == "" {
					inside = depth
				}
			}
			out = append(out, element)
		}
	}
}

func check(e xml.StartElement) error {
	attributes, ok := permitted[e.Name.Local]
	if !ok {
		return fmt.Errorf("an element %s", e.Name.Local)
	}
	for _, a := range e.Attr {
		switch {
		case !slices.Contains(attributes, a.Name.Local):
			return fmt.Errorf("an attribute %s of %s", a.Name.Local, e.Name.Local)
		case a.Name.Local == "href" && !reachable.MatchString(a.Value):
			return fmt.Errorf("a link to %q", a.Value)
		case a.Name.Local == "class" && !classes.MatchString(a.Value):
			return fmt.Errorf("class=%q", a.Value)
		case a.Name.Local == "rel" && a.Value != "noopener noreferrer nofollow":
			return fmt.Errorf("rel=%q", a.Value)
		}
	}
	return nil
}

// dialects are parsers with more and with less than the documents use: the structure must be the same to all
// that know tables.
var dialects = []goldmark.Markdown{
	goldmark.New(goldmark.WithExtensions(extension.Table)),
	goldmark.New(
		goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList),
		goldmark.WithParserOptions(parser.WithAttribute(), parser.WithAutoHeadingID()),
	),
}

// markdownStructure parses a Markdown document and yields its blocks but for those in models' texts, of
// which it checks that they are harmless.
func markdownStructure(source []byte, dialect goldmark.Markdown) (out []string, err error) {
	if found := unseen.Find(source); found != nil {
		return nil, fmt.Errorf("the character %q", found)
	}
	root := dialect.Parser().Parse(text.NewReader(source))
	quoted := 0
	err = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Kind() == ast.KindBlockquote {
			if quoted == 0 && entering {
				out = append(out, "quote")
			}
			if entering {
				quoted++
			} else {
				quoted--
			}
		}
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.HTMLBlock, *ast.RawHTML, *ast.Image, *ast.LinkReferenceDefinition, *extast.FootnoteLink, *extast.FootnoteList, *extast.DefinitionList:
			return ast.WalkStop, fmt.Errorf("a %s", n.Kind())
		case *ast.Link:
			if !reachable.Match(n.Destination) {
				return ast.WalkStop, fmt.Errorf("a link to %q", n.Destination)
			}
		case *ast.AutoLink:
			if u := n.URL(source); n.AutoLinkType == ast.AutoLinkURL && !reachable.Match(u) && !bytes.HasPrefix(u, []byte("http")) {
				return ast.WalkStop, fmt.Errorf("a link to %q", u)
			}
		case *ast.Heading:
			if quoted > 0 && n.Level < 4 {
				return ast.WalkStop, fmt.Errorf("a heading of level %d in a quote", n.Level)
			}
		}
		if quoted == 0 && n.Type() == ast.TypeBlock {
			entry := n.Kind().String()
			if h, ok := n.(*ast.Heading); ok {
				entry += fmt.Sprint(h.Level)
			}
			out = append(out, entry)
		}
		return ast.WalkContinue, nil
	})
	return out, err
}

// structures returns the structure of both documents.
func structures(d *export.Document) ([]string, error) {
	var md, page bytes.Buffer
	if err := d.Markdown(&md); err != nil {
		return nil, err
	}
	if err := d.HTML(&page); err != nil {
		return nil, err
	}
	out, err := pageStructure(page.Bytes())
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	for i, dialect := range dialects {
		blocks, err := markdownStructure(md.Bytes(), dialect)
		if err != nil {
			return nil, fmt.Errorf("markdown, dialect %d: %w\n%s", i, err, md.Bytes())
		}
		out = append(out, blocks...)
	}
	return out, nil
}

func TestStructureOfScenes(t *testing.T) {
	t.Parallel()
	for name, scene := range scenes() {
		t.Run(name, func(t *testing.T) {
			d := scene().play(t)
			s, err := structures(d)
			require.NoError(t, err)
			assert.Greater(t, len(s), 50)
		})
	}
}
