package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"github.com/agonist-dev/debate/internal/look"
	"github.com/agonist-dev/debate/internal/text"
)

//go:embed page.html style.css script.js theme.js
var assets embed.FS

// policy lets a page load what is beside it, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"

// maxFound bounds what a search reads of a part of a page for maintainers, in bytes.
const maxFound = 200

// view is what the template shows of a page.
type view struct {
	*Page

	Home, Policy, Root, Source string
	Lead, Body                 template.HTML
	Parts                      []Heading // the headings of the second and third level
	Files                      []shown
	Nav                        []group
	Before, After              *Page
}

type group struct {
	Name    string
	Pages   []*Page
	Current bool
}

// shown is a file of an example.
type shown struct {
	Name, Anchor string
	Code         template.HTML
}

// Write writes the site into a folder, which it makes if it is missing.
func (s *Site) Write(out string) error {
	t, err := template.ParseFS(assets, "page.html")
	if err != nil {
		return err
	}
	files := map[string][]byte{"llms.txt": []byte(s.LLMs()), "icon.svg": []byte(look.Icon)}
	for _, name := range []string{"style.css", "script.js", "theme.js"} {
		if files[name], err = assets.ReadFile(name); err != nil {
			return err
		}
	}
	files["style.css"] = append([]byte(look.Themed()), files["style.css"]...)
	if files["found.js"], err = s.index(); err != nil {
		return err
	}
	for i, p := range s.Pages {
		v, err := s.view(i, p, files)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := t.Execute(&b, v); err != nil {
			return err
		}
		files[p.URL] = b.Bytes()
		if p.root != nil {
			files[p.Path] = p.source // llms.txt leads to it
		}
	}
	for name, data := range files {
		name = filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // a site is for everybody
			return err
		}
		if err := os.WriteFile(name, data, 0o644); err != nil { //nolint:gosec // as above
			return err
		}
	}
	return nil
}

// view renders a page. It adds the images that the page shows to files.
func (s *Site) view(i int, p *Page, files map[string][]byte) (*view, error) {
	v := &view{
		Page: p, Home: s.byPath[home].Title, Policy: policy,
		Root: relative(p.URL, ""), Source: repository + "/blob/HEAD/" + p.Path, Nav: s.nav(p),
	}
	if i > 0 {
		v.Before = s.Pages[i-1]
	}
	if i+1 < len(s.Pages) {
		v.After = s.Pages[i+1]
	}
	for _, h := range p.Headings {
		if h.Level == 2 || h.Level == 3 {
			v.Parts = append(v.Parts, h)
		}
	}
	for _, name := range s.sources[p] {
		data, err := fs.ReadFile(s.root, name)
		if err != nil {
			return nil, err
		}
		if len(data) <= maxShown {
			code := highlighted(strings.TrimPrefix(path.Ext(name), "."), string(data))
			v.Files = append(v.Files, shown{path.Base(name), Anchor(path.Base(name)), code})
		}
	}
	if p.root == nil {
		return v, nil
	}
	if err := s.localize(p, files); err != nil {
		return nil, err
	}
	var err error
	v.Lead, v.Body, err = s.render(p)
	return v, err
}

// nav returns the navigation of a page.
func (s *Site) nav(current *Page) []group {
	var all []group
	for _, name := range groups() {
		g := group{Name: name, Current: current.Group == name}
		for _, p := range s.Pages {
			if p.Group == name {
				g.Pages = append(g.Pages, p)
			}
		}
		all = append(all, g)
	}
	return all
}

// localize lets the links of a page lead to the pages of the site, and adds its images to files. An image of another host is no
// image any more: a page asks nothing of others.
func (s *Site) localize(p *Page, files map[string][]byte) error {
	var foreign []*ast.Image
	err := ast.Walk(p.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			name, _, ok := s.target(p, string(n.Destination))
			if to := s.page(name); ok && to != nil && path.Ext(plain(n, p.source)) == markdown { // a file's name is its title here
				n.RemoveChildren(n)
				n.AppendChild(n, words(to.Title))
			}
			n.Destination = []byte(s.address(p, string(n.Destination)))
		case *ast.Image:
			name, _, ok := s.target(p, string(n.Destination))
			if !ok || !fs.ValidPath(name) {
				foreign = append(foreign, n)
				break
			}
			data, err := fs.ReadFile(s.root, name)
			if err != nil {
				return ast.WalkStop, err
			}
			files[name] = data
			n.Destination = []byte(relative(p.URL, name))
		}
		return ast.WalkContinue, nil
	})
	for _, n := range foreign {
		n.Parent().ReplaceChild(n.Parent(), n, words(plain(n, p.source)))
	}
	return err
}

// words returns a text that is shown as it is.
func words(shown string) ast.Node {
	n := ast.NewString([]byte(shown))
	n.SetRaw(true)
	return n
}

// render returns the title with the first paragraph, and the rest.
func (s *Site) render(p *Page) (lead, body template.HTML, err error) {
	renderers := renderer.WithNodeRenderers(util.Prioritized(&elements{site: s, page: p}, 100))
	cells := extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute) // the policy lets no style through
	m := goldmark.New(
		goldmark.WithExtensions(extension.NewTable(cells), extension.Strikethrough),
		goldmark.WithRendererOptions(renderers),
	)
	head := ast.NewDocument()
	for range 2 {
		if n := p.root.FirstChild(); n != nil && (n.Kind() == ast.KindHeading && head.FirstChild() == nil || n.Kind() == ast.KindParagraph) {
			head.AppendChild(head, n)
		}
	}
	var b bytes.Buffer
	if err := m.Renderer().Render(&b, p.source, head); err != nil {
		return "", "", err
	}
	lead = template.HTML(b.String()) //nolint:gosec // made by a renderer that lets no HTML through
	b.Reset()
	err = m.Renderer().Render(&b, p.source, p.root)
	return lead, template.HTML(b.String()), err //nolint:gosec // likewise
}

// elements renders what the site shows in its own way.
type elements struct {
	site *Site
	page *Page
}

func (e *elements) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, e.code)
	r.Register(ast.KindHeading, heading)
	r.Register(extast.KindTable, table)
}

func (e *elements) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	language := ""
	if block, ok := n.(*ast.FencedCodeBlock); ok {
		language = string(block.Language(source))
	}
	class := template.HTMLEscapeString(language)
	_, _ = w.WriteString(`<figure class="code" data-language="` + class + `">`)
	mark, _ := n.AttributeString("mark")
	if words, ok := mark.(string); ok {
		if from, ok := strings.CutPrefix(words, "from "); ok {
			up := strings.Repeat("../", strings.Count(e.page.Path, "/"))
			to := template.HTMLEscapeString(e.site.address(e.page, up+from))
			_, _ = w.WriteString(`<figcaption><a href="` + to + `">` + template.HTMLEscapeString(from) + "</a></figcaption>")
		}
	}
	code := highlighted(language, string(n.Lines().Value(source)))
	_, _ = w.WriteString(`<pre tabindex="0"><code>` + string(code) + "</code></pre></figure>\n")
	return ast.WalkSkipChildren, nil
}

func heading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	level, anchor := "1", ""
	if h, ok := n.(*ast.Heading); ok {
		level = "0123456"[h.Level : h.Level+1]
	}
	if id, ok := n.AttributeString("id"); ok {
		if b, ok := id.([]byte); ok {
			anchor = template.HTMLEscapeString(string(b))
		}
	}
	if entering {
		_, _ = w.WriteString("<h" + level + ` id="` + anchor + `">`)
		return ast.WalkContinue, nil
	}
	if level != "1" {
		_, _ = w.WriteString(` <a class="anchor" href="#` + anchor + `" aria-label="Link to this part">#</a>`)
	}
	_, _ = w.WriteString("</h" + level + ">\n")
	return ast.WalkContinue, nil
}

// table lets a wide table scroll by itself.
func table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(`<div class="table" role="region" aria-label="Table" tabindex="0"><table>` + "\n")
	} else {
		_, _ = w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}

// index returns the script that holds what a search reads: for each part of a page its group, page, address, heading and text.
func (s *Site) index() ([]byte, error) {
	parts := [][5]string{}
	for _, p := range s.Pages {
		for _, part := range p.sections {
			address := p.URL
			if part.anchor != "" {
				address += "#" + part.anchor
			}
			if p.Group == groups()[len(groups())-1] { // maintainers have the repository
				part.text = text.Cut(part.text, maxFound)
			}
			parts = append(parts, [5]string{p.Group, p.Title, address, part.heading, part.text})
		}
	}
	data, err := json.Marshal(parts)
	return append(append([]byte("'use strict';\nconst found = "), data...), ";\n"...), err
}
