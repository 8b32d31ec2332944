package export

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/agonist-dev/debate/internal/look"
)

//go:embed page.html
var pageTemplate string

//go:embed style.css
var style string

// page holds the values of the template.
type page struct {
	*report

	Style  template.CSS
	Policy string
}

// writeHTML writes a report as a page. The template escapes everything in the report.
func writeHTML(w io.Writer, r *report) error {
	s := newSpeeches()
	t, err := template.New("page").Funcs(template.FuncMap{
		"speech":  s.html,
		"phrase":  s.phraseHTML,
		"code":    unified,
		"blank":   func(words string) bool { return strings.TrimSpace(words) == "" },
		"percent": func(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) },
		"last":    func(i, n int) bool { return i == n-1 },
	}).Parse(pageTemplate)
	if err != nil {
		return err
	}
	sheet := look.Tokens + style
	sum := sha256.Sum256([]byte(sheet))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
	if r.Pictured {
		policy += "; img-src data:"
	}
	out := bufio.NewWriter(w)
	if err := t.Execute(out, page{
		report: r,
		Style:  template.CSS(sheet), //nolint:gosec // our own
		Policy: policy,
	}); err != nil {
		return err
	}
	return out.Flush()
}

// html returns a text of a model as HTML elements for a page.
func (s *speeches) html(words string) (template.HTML, error) {
	words = unified(words)
	read, ok := s.read(words)
	if !ok || !read.root.HasChildren() { // too much to parse, or nothing visible
		return template.HTML(`<pre class="plain">` + template.HTMLEscapeString(words) + "</pre>"), nil //nolint:gosec // escaped
	}
	return s.render(read.source, read.root)
}

// phraseHTML returns a text of a model as HTML for a line.
func (s *speeches) phraseHTML(words string) (template.HTML, error) {
	words = line(words)
	read, ok := s.phrase(words)
	if !ok {
		return template.HTML(template.HTMLEscapeString(words)), nil //nolint:gosec // escaped
	}
	return s.render(read.source, read.root)
}

func (s *speeches) render(source []byte, n ast.Node) (template.HTML, error) {
	var out bytes.Buffer
	if err := s.markdown.Renderer().Render(&out, source, n); err != nil {
		return "", err
	}
	return template.HTML(out.String()), nil //nolint:gosec // tamed, and made by a renderer that lets no HTML through
}
