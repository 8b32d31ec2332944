package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	repository = "https://github.com/agonist-dev/debate" // links lead there that have no page here
	home       = "README.md"
	contents   = "docs/README.md" // orders the other pages
	markdown   = ".md"
)

// maxShown bounds a file of an example that has a place on a page, in bytes.
const maxShown = 64 << 10

// Site is all pages, in the order of the navigation.
type Site struct {
	Pages []*Page

	root    fs.FS
	byPath  map[string]*Page
	sources map[*Page][]string // the files of an example
}

// groups are the headings of the navigation. The last is for maintainers.
func groups() []string {
	return []string{"Start", "Guides", "Concepts", "Reference", "Examples", "For maintainers"}
}

// groupOf returns the heading under which a document stands.
func groupOf(name string) string {
	folder, _, _ := strings.Cut(strings.TrimPrefix(name, "docs/"), "/")
	switch {
	case name == home || name == contents || folder == "start":
		return "Start"
	case folder == "guides":
		return "Guides"
	case folder == "reference":
		return "Reference"
	case !strings.HasPrefix(name, "docs/") || folder == "internal" || folder == "architecture.md":
		return "For maintainers"
	}
	return "Concepts"
}

// Read reads the documents and the examples of a repository.
func Read(root fs.FS) (*Site, error) {
	s := &Site{root: root, byPath: map[string]*Page{}, sources: map[*Page][]string{}}
	r := newReader()
	names := []string{home, "CONTRIBUTING.md", "CHANGELOG.md"}
	for _, folder := range []string{"docs", "examples"} {
		err := fs.WalkDir(root, folder, func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && (folder == "docs" && path.Ext(name) == markdown || path.Base(name) == "main.go") {
				names = append(names, name)
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	for _, name := range names {
		data, err := fs.ReadFile(root, name)
		if errors.Is(err, fs.ErrNotExist) && name != home {
			continue
		}
		if err != nil {
			return nil, err
		}
		var p *Page
		if path.Ext(name) == markdown {
			p = r.read(name, data)
			p.Group = groupOf(name)
			p.URL = strings.Replace(strings.TrimSuffix(name, markdown)+".html", "README.html", "index.html", 1)
		} else if p, err = s.example(name, data); err != nil {
			return nil, err
		}
		s.Pages = append(s.Pages, p)
		s.byPath[name] = p
	}
	s.sort()
	return s, nil
}

// example makes the page of an example from its main.go and what stands beside it.
func (s *Site) example(name string, data []byte) (*Page, error) {
	folder := path.Dir(name)
	p := &Page{Path: name, URL: folder + "/index.html", Title: strings.TrimPrefix(folder, "examples/"), Group: "Examples"}
	file, err := parser.ParseFile(token.NewFileSet(), name, data, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		return nil, err
	}
	head := strings.TrimPrefix(file.Doc.Text(), "Command "+path.Base(folder)+" ")
	first, _, _ := strings.Cut(head, "\n\n")
	p.Line = sentence(upper(first))
	p.sections = []section{{text: strings.Join(strings.Fields(head), " ")}}
	entries, err := fs.ReadDir(s.root, folder)
	if err != nil {
		return nil, err
	}
	s.sources[p] = []string{name}
	for _, e := range entries {
		switch path.Ext(e.Name()) {
		case ".go", ".json", ".yaml", ".tmpl", markdown, ".txt", ".html":
			if !e.IsDir() && e.Name() != "main.go" && !strings.HasSuffix(e.Name(), "_test.go") {
				s.sources[p] = append(s.sources[p], folder+"/"+e.Name())
			}
		}
	}
	return p, nil
}

// upper returns a text that begins with a capital letter.
func upper(words string) string {
	first, size := utf8.DecodeRuneInString(words)
	return string(unicode.ToUpper(first)) + words[size:]
}

// sort puts the pages in the order of the navigation: by group, then as docs/README.md names them, then by path.
func (s *Site) sort() {
	place := map[string]int{home: -2, contents: -1}
	if first := s.byPath[contents]; first != nil {
		for i, l := range first.Links {
			name, _, _ := s.target(first, l.Destination)
			if p := s.page(name); p != nil && place[p.Path] == 0 {
				place[p.Path] = i + 1
			}
		}
	}
	rank := func(p *Page) int {
		if n := place[p.Path]; n != 0 {
			return n
		}
		return len(s.Pages) + 1000
	}
	slices.SortStableFunc(s.Pages, func(a, b *Page) int {
		return cmp.Or(
			cmp.Compare(slices.Index(groups(), a.Group), slices.Index(groups(), b.Group)),
			cmp.Compare(rank(a), rank(b)),
			cmp.Compare(a.Path, b.Path),
		)
	})
}

// target returns the path in the repository and the fragment that a link of a page leads to. ok is false if it leads elsewhere.
func (s *Site) target(p *Page, destination string) (name, fragment string, ok bool) {
	u, err := url.Parse(destination)
	if err != nil || u.Scheme != "" || u.Host != "" || strings.HasPrefix(u.Path, "/") {
		return "", "", false
	}
	if u.Path == "" {
		return p.Path, u.Fragment, true
	}
	return path.Join(path.Dir(p.Path), u.Path), u.Fragment, true
}

// page returns the page of a path, which may be that of a folder; nil: there is none.
func (s *Site) page(name string) *Page {
	return cmp.Or(s.byPath[name], s.byPath[path.Join(name, home)], s.byPath[path.Join(name, "main.go")])
}

// Check says what is wrong with a link; nil: it leads to something. It does not follow links to other hosts.
func (s *Site) Check(p *Page, l Link) error {
	name, fragment, ok := s.target(p, l.Destination)
	if !ok {
		if l.Image || !ofTheWeb(l.Destination) {
			return errors.New("is neither relative nor an address of the web")
		}
		return nil
	}
	if _, err := fs.Stat(s.root, name); err != nil {
		return fmt.Errorf("there is no %s", name)
	}
	if fragment == "" {
		return nil
	}
	if to := s.page(name); to != nil && slices.ContainsFunc(to.Headings, func(h Heading) bool { return h.Anchor == fragment }) {
		return nil
	}
	return fmt.Errorf("%s has no heading #%s", name, fragment)
}

// ofTheWeb reports whether a link that leads elsewhere may be followed by a browser.
func ofTheWeb(destination string) bool {
	u, err := url.Parse(destination)
	return err == nil && slices.Contains([]string{"https", "http", "mailto"}, u.Scheme)
}

// address returns where a link leads from the page, in the site.
func (s *Site) address(p *Page, destination string) string {
	name, fragment, ok := s.target(p, destination)
	if !ok {
		if ofTheWeb(destination) {
			return destination
		}
		return "#"
	}
	if fragment != "" {
		fragment = "#" + fragment
	}
	if to := s.page(name); to != nil {
		return relative(p.URL, to.URL) + fragment
	}
	if to := s.page(path.Dir(name)); to != nil && slices.Contains(s.sources[to], name) {
		return relative(p.URL, to.URL) + "#" + Anchor(path.Base(name))
	}
	if !fs.ValidPath(name) {
		return "#"
	}
	return repository + "/tree/HEAD/" + name + fragment
}

// relative returns the address of a page of the site, as another page names it.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

// LLMs returns llms.txt: title, first sentence and path of each page, for programs that read the repository.
func (s *Site) LLMs() string {
	var b strings.Builder
	first, group := s.byPath[home], ""
	fmt.Fprintf(&b, "# %s\n\n> %s\n", first.Title, first.Line)
	for _, p := range s.Pages {
		if p.Group != group {
			group = p.Group
			fmt.Fprintf(&b, "\n## %s\n\n", group)
		}
		fmt.Fprintf(&b, "- [%s](%s)", p.Title, p.Path)
		if p.Line != "" {
			b.WriteString(": " + p.Line)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
